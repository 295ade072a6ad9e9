"""Who did how well: games counted by agents, by pairs and by colours, whole or while they come in."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

from fourlab.arena.ratings import Rating, bootstrap
from fourlab.arena.sprt import Verdict
from fourlab.arena.statistics import wilson
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.tally import Tally
from fourlab.arena.tournament import Tournament
from fourlab.game.record import Cause


@dataclass(frozen=True)
class Share:
    """Wins, draws and losses."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float | None:
        """Points per game, a draw being half a point; None without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else None

    def __add__(self, other: "Share") -> "Share":
        return Share(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def as_data(self) -> dict[str, Any]:
        """For JSON, each share with Wilson's interval."""
        data: dict[str, Any] = {"games": self.games, "score": self.score}
        for name in ("wins", "draws", "losses"):
            count = getattr(self, name)
            data[name] = {"count": count, "interval": wilson(count, self.games)}
        return data


class _Half(NamedTuple):
    """One game of a unit."""

    red: str
    yellow: str
    score: float | None
    """Red's, if there is one."""
    start: str
    moves: str


class _Repetitions:
    """Keeps units from counting twice where two agents play the same games from an opening whenever they meet there.

    Agents with chance may repeat a game, too, and that is a result like any other: as soon as one unit from an opening differs,
    all from there count.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[frozenset[str], str], tuple[frozenset[_Half], int]] = {}
        self._varied: set[tuple[frozenset[str], str]] = set()
        self.left_out: Counter[tuple[frozenset[str], str]] = Counter()

    def add(self, unit: list[_Half], place: int) -> list[int]:
        """Take one more unit with its place in the tally; returns the places that count now."""
        opening, games = (frozenset(unit[0][:2]), unit[0].start), frozenset(unit)
        first, first_place = self._first.setdefault(opening, (games, place))
        if first is games or opening in self._varied:
            return [place]
        if first == games:
            self.left_out[opening] += 1
            return []
        self._varied.add(opening)
        return [first_place] * self.left_out.pop(opening, 0) + [place]


class Results:
    """The games of a tournament, counted; more can be added."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.names = [player.label for player in tournament.players]
        self.games = 0
        self._shares: defaultdict[tuple[str, str, bool], list[int]] = defaultdict(lambda: [0, 0, 0])
        """(agent, opponent, agent is red) to wins, draws, losses."""
        self._units: dict[int, list[_Half]] = {}
        self._counted, self._taken_to_test = _Repetitions(), _Repetitions()
        self.causes: Counter[tuple[str, str]] = Counter()
        """(who was at fault or "", cause)."""
        self.interrupted: set[int] = set()
        """The games that were begun and have to be played again."""
        self.lengths: Counter[int] = Counter()
        """How many plies the whole games had."""
        self.first_columns: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        """The first column of the game, from 0, to wins, draws, losses of the side that played it."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        """How long each agent thought."""
        self.moves: Counter[str] = Counter()
        self.decided_at: int | None = None
        """The unit at which the sequential test was decided."""
        self._no_counts = [0] * (2 * tournament.games_a_unit + 1)
        self._counts: dict[tuple[str, str], list[int]] = {}
        """Two agents, in the order in which they are named, to the tally of their units."""
        self._tested = list(self._no_counts)
        self._next_tested = 0

    @classmethod
    def of(cls, tournament: Tournament, store: Store) -> "Results":
        """Count what is stored."""
        results = cls(tournament)
        for game in store.games():
            results.add(game)
        return results

    def add(self, game: StoredGame) -> None:
        """Count one more game."""
        if game.cause == Cause.INTERRUPTED:
            self.interrupted.add(game.number)
            return
        self.interrupted.discard(game.number)  # it was begun before, and now is played
        self.causes[game.at_fault, game.cause] += 1
        self.games += 1
        columns = game.columns
        first = (game.plies - len(columns)) % 2
        for side, agent, seconds in ((0, game.red, game.red_seconds), (1, game.yellow, game.yellow_seconds)):
            self.seconds[agent] += seconds
            self.moves[agent] += (len(columns) + (side == first)) // 2
        if game.result is not None:
            place = 1 - game.result
            self._shares[game.red, game.yellow, True][place] += 1
            self._shares[game.yellow, game.red, False][2 - place] += 1
            if columns:
                self.first_columns[columns[0]][2 - place if first else place] += 1
            if game.cause == Cause.NORMAL:
                self.lengths[game.plies] += 1
        unit = self._units.setdefault(game.unit, [])
        score = None if game.result is None else (game.result + 1) / 2
        unit.append(_Half(game.red, game.yellow, score, f"{game.board} {game.start}", game.moves))
        if len(unit) == self.tournament.games_a_unit:
            self._count_unit(unit)
            self._test()

    @property
    def repetitions(self) -> int:
        """Units left out because they repeat another one move by move, and there is nothing else from their opening."""
        return sum(self._counted.left_out.values())

    def _count_unit(self, unit: "list[_Half]") -> None:
        one, other = sorted((unit[0].red, unit[0].yellow), key=self.names.index)
        if (place := self._class(unit, one)) is not None:
            counts = self._counts.setdefault((one, other), list(self._no_counts))
            for each in self._counted.add(unit, place):
                counts[each] += 1

    def share(self, agent: str, opponent: str | None = None, red: bool | None = None) -> Share:
        """How an agent did, against one opponent or all, as red, as yellow or as both."""
        total = Share()
        for (one, other, as_red), counts in self._shares.items():
            if one == agent and opponent in (None, other) and red in (None, as_red):
                total += Share(*counts)
        return total

    def first_player(self) -> Share:
        """How red, who moves first on the empty board, did in all games."""
        return sum((Share(*counts) for (_, _, red), counts in self._shares.items() if red), Share())

    def tally(self, agent: str, opponent: str) -> Tally:
        """The complete units of two agents, as the first sees them."""
        if (agent, opponent) in self._counts:
            return Tally(tuple(self._counts[agent, opponent]))
        return Tally(tuple(reversed(self._counts.get((opponent, agent), self._no_counts))))

    def ratings(self, seed: int = 0) -> list[Rating]:
        """Bradley-Terry ratings of all agents with bootstrap intervals, by units."""
        size = self.tournament.games_a_unit
        units = [
            (self.names.index(one), self.names.index(other), place / (2 * size), size)
            for (one, other), counts in self._counts.items()
            for place, count in enumerate(counts)
            for _ in range(count)
        ]
        return bootstrap(self.names, units, seed)

    def verdict(self) -> Verdict | None:
        """Where the sequential test stands, over the games in the order of their numbers."""
        return None if self.tournament.sprt is None else self.tournament.sprt.verdict(Tally(tuple(self._tested)), *self.names)

    def _class(self, unit: "list[_Half]", agent: str) -> int | None:
        """The place of a unit in the tally, twice the agent's points; None if a game is missing or has no result."""
        scores = [half.score if half.red == agent else 1 - half.score for half in unit if half.score is not None]
        return round(2 * sum(scores)) if len(scores) == self.tournament.games_a_unit else None

    def _test(self) -> None:
        """Take the units that are complete, in order, to the sequential test."""
        if self.tournament.sprt is None:
            return
        while self.decided_at is None:
            unit = self._units.get(self._next_tested, [])
            if len(unit) < self.tournament.games_a_unit:
                return
            if (place := self._class(unit, self.names[0])) is not None:
                for each in self._taken_to_test.add(unit, place):
                    self._tested[each] += 1
                if self.tournament.sprt.verdict(Tally(tuple(self._tested))).accepted is not None:
                    self.decided_at = self._next_tested
            self._next_tested += 1
