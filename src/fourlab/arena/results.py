"""Results of a tournament by agent, pairing and colour, updated as games come in."""

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
    """Numbers of wins, draws and losses."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float | None:
        """Points per game, a draw being half a point; None without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else None

    def __add__(self, other: "Share") -> "Share":
        return Share(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def as_data(self) -> dict[str, Any]:
        """Return JSON data: each count with Wilson's 95 % interval of its share."""
        data: dict[str, Any] = {"games": self.games, "score": self.score}
        for name in ("wins", "draws", "losses"):
            count = getattr(self, name)
            data[name] = {"count": count, "interval": wilson(count, self.games)}
        return data


class _UnitGame(NamedTuple):
    """One game of a unit, reduced to what tells two units apart."""

    red: str
    yellow: str
    score: float | None
    """Red's points: 1, ½ or 0; None if the game has no result."""
    start: str
    moves: str


_Opening = tuple[frozenset[str], str]
"""Two agents and the position from which they start."""


class _Repetitions:
    """Keeps identical units of deterministic agents from being counted more than once.

    Two deterministic agents play the same games from an opening whenever they meet there, which
    adds no information. Agents that use randomness may repeat a game by chance, and such a
    repetition is a result like any other. So repetitions are left out only as long as all units
    from an opening are identical: the first one that differs makes all of them count.
    """

    def __init__(self) -> None:
        self._first: dict[_Opening, tuple[frozenset[_UnitGame], int]] = {}
        """The first unit from every opening, with its half points."""
        self._varied: set[_Opening] = set()
        """Openings from which different units were played."""
        self.left_out: Counter[_Opening] = Counter()

    def add(self, unit: list[_UnitGame], half_points: int) -> list[int]:
        """Add a unit; return the half points of all units that count from now on."""
        opening = (frozenset(unit[0][:2]), unit[0].start)
        games = frozenset(unit)
        first, first_half_points = self._first.setdefault(opening, (games, half_points))
        # `is` tells the unit that was just inserted from an equal one that came earlier.
        if first is games or opening in self._varied:
            return [half_points]
        if first == games:
            self.left_out[opening] += 1
            return []
        # The first difference: the repetitions left out so far, all equal to the first unit, count
        # after all.
        self._varied.add(opening)
        return [first_half_points] * self.left_out.pop(opening, 0) + [half_points]


class Results:
    """The results of a tournament's games; `add` counts one more game."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.names = [player.label for player in tournament.players]
        self.games = 0
        self._shares: defaultdict[tuple[str, str, bool], list[int]] = defaultdict(lambda: [0, 0, 0])
        """(agent, opponent, agent is red) to wins, draws, losses."""
        self._units: dict[int, list[_UnitGame]] = {}
        """The games of every unit so far, by the unit's number."""
        self.causes: Counter[tuple[str, str]] = Counter()
        """(agent at fault or "", cause) to the number of games."""
        self.interrupted: set[int] = set()
        """Numbers of the games that were begun and have to be played again."""
        self.lengths: Counter[int] = Counter()
        """Number of plies to the number of games that ended normally."""
        self.first_columns: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        """First column played, from 0, to wins, draws, losses of the side that played it."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        """Thinking time of every agent."""
        self.moves: Counter[str] = Counter()
        self.decided_at: int | None = None
        """The unit at which the sequential test was decided."""
        # A unit of n games is worth 0 to 2n half points.
        self._no_counts = [0] * (2 * tournament.games_per_unit + 1)
        self._counts: dict[tuple[str, str], list[int]] = {}
        """Two agents, in the order of `names`, to the counts of their units by half points."""
        self._repetitions = _Repetitions()
        # The sequential test must see the units in the order of their numbers, whatever order they
        # arrive in, so it has counts of its own.
        self._tested = list(self._no_counts)
        self._tested_repetitions = _Repetitions()
        self._next_tested = 0

    @classmethod
    def of(cls, tournament: Tournament, store: Store) -> "Results":
        """Count all stored games; raise UserError if one is not of this tournament."""
        results = cls(tournament)
        for game in store.games():
            tournament.refuse_foreign(game)
            results.add(game)
        return results

    def add(self, game: StoredGame) -> None:
        """Count one more game."""
        if game.cause == Cause.INTERRUPTED:
            self.interrupted.add(game.number)
            return
        self.interrupted.discard(game.number)  # it was interrupted earlier and played again
        self.causes[game.at_fault, game.cause] += 1
        self.games += 1
        columns = game.columns
        first_side = (game.plies - len(columns)) % 2  # side to move after the opening
        for side, agent, seconds in (
            (0, game.red, game.red_seconds),
            (1, game.yellow, game.yellow_seconds),
        ):
            self.seconds[agent] += seconds
            # Of an odd number of moves, the side that began made one more.
            self.moves[agent] += (len(columns) + (side == first_side)) // 2
        if game.result is not None:
            index = 1 - game.result  # 0 red won, 1 draw, 2 red lost
            self._shares[game.red, game.yellow, True][index] += 1
            self._shares[game.yellow, game.red, False][2 - index] += 1
            if columns:
                self.first_columns[columns[0]][2 - index if first_side else index] += 1
            # A forfeited game was cut short: its length says nothing about the play.
            if game.cause == Cause.NORMAL:
                self.lengths[game.plies] += 1
        unit = self._units.setdefault(game.unit, [])
        score = None if game.result is None else (game.result + 1) / 2
        start = f"{game.board} {game.start}"
        # With the board: the empty start is written alike on every board.
        unit.append(_UnitGame(game.red, game.yellow, score, start, game.moves))
        if len(unit) == self.tournament.games_per_unit:
            self._count_unit(unit)
            self._test()

    @property
    def repetitions(self) -> int:
        """Number of units left out because all units from their opening are identical."""
        return sum(self._repetitions.left_out.values())

    def _count_unit(self, unit: list[_UnitGame]) -> None:
        # One entry per pairing, whichever agent is red in the first game of the unit.
        one, other = sorted((unit[0].red, unit[0].yellow), key=self.names.index)
        half_points = self._half_points(unit, one)
        if half_points is not None:
            counts = self._counts.setdefault((one, other), list(self._no_counts))
            for index in self._repetitions.add(unit, half_points):
                counts[index] += 1

    def share(self, agent: str, opponent: str | None = None, red: bool | None = None) -> Share:
        """Return an agent's wins, draws and losses.

        `opponent` None means all opponents; `red` is True for its games as red, False for those as
        yellow, None for both.
        """
        total = Share()
        for (one, other, as_red), counts in self._shares.items():
            if one == agent and opponent in (None, other) and red in (None, as_red):
                total += Share(*counts)
        return total

    def first_player(self) -> Share:
        """Return red's wins, draws and losses in all games; red moves first on the empty board."""
        return sum((Share(*counts) for (_, _, red), counts in self._shares.items() if red), Share())

    def tally(self, agent: str, opponent: str) -> Tally:
        """Return the tally of two agents' complete units, from the first one's side."""
        if (agent, opponent) in self._counts:
            return Tally(tuple(self._counts[agent, opponent]))
        # From the other side, k half points of 2n are 2n - k.
        return Tally(tuple(reversed(self._counts.get((opponent, agent), self._no_counts))))

    def ratings(self, seed: int = 0) -> list[Rating]:
        """Return Bradley-Terry ratings of all agents with bootstrap intervals over units."""
        size = self.tournament.games_per_unit
        units = [
            (self.names.index(one), self.names.index(other), half_points / (2 * size), size)
            for (one, other), counts in self._counts.items()
            for half_points, count in enumerate(counts)
            for _ in range(count)
        ]
        return bootstrap(self.names, units, seed)

    def verdict(self) -> Verdict | None:
        """Return the state of the sequential test, None if the tournament has none."""
        if self.tournament.sprt is None:
            return None
        return self.tournament.sprt.verdict(Tally(tuple(self._tested)), *self.names)

    def _half_points(self, unit: list[_UnitGame], agent: str) -> int | None:
        """Return twice the agent's points in a unit, which is the unit's index in a tally.

        It is None if a game is missing or has no result.
        """
        scores = [
            game.score if game.red == agent else 1 - game.score
            for game in unit
            if game.score is not None
        ]
        return round(2 * sum(scores)) if len(scores) == self.tournament.games_per_unit else None

    def _test(self) -> None:
        """Give the sequential test the units that are complete, in order, until it decides."""
        if self.tournament.sprt is None:
            return
        while self.decided_at is None:
            unit = self._units.get(self._next_tested, [])
            if len(unit) < self.tournament.games_per_unit:
                return
            half_points = self._half_points(unit, self.names[0])
            # The test looks after every unit that counts; one without a result changes nothing.
            if half_points is not None:
                for index in self._tested_repetitions.add(unit, half_points):
                    self._tested[index] += 1
                if self.tournament.sprt.verdict(Tally(tuple(self._tested))).accepted is not None:
                    self.decided_at = self._next_tested
            self._next_tested += 1
