"""What is to be played: a tournament is a value, and each of its games a pure function of that value and the game's number."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

from fourlab.agent import Agent, Limit
from fourlab.arena.game import close_all, play_game
from fourlab.arena.openings import openings
from fourlab.arena.sprt import Sprt
from fourlab.arena.store import StoredGame
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.record import Record
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Watch

BOUNDS = ("seconds", "simulations", "nodes", "depth")
"""The limits that can be written down."""
MOST_GAMES = 100_000_000
WITHOUT_LIMIT = Limit()


@dataclass(frozen=True)
class Player:
    """One entry of a tournament: an agent by its spec, its limit, and the name it goes by."""

    spec: str
    limit: Limit = WITHOUT_LIMIT
    name: str = ""

    @property
    def label(self) -> str:
        """The name; without one, the spec and the limit."""
        return self.name or " ".join([self.spec, *(f"{bound}={value}" for bound, value in limit_as_data(self.limit).items())])


@dataclass(frozen=True)
class Tournament:
    """Who plays whom, from where, how often. Every player meets every other."""

    players: tuple[Player, ...]
    boards: tuple[str, ...] = ("7x6x4",)
    openings: str | tuple[str, ...] = "random:4"
    """empty, random:K, all:K, balanced:K, a position, or a list of positions."""
    rounds: int | None = None
    """How many openings each two players play on each board; by default every opening of a list or of all:K, else 50."""
    starts: Literal["alternate", "fixed"] = "alternate"
    """alternate: each opening twice, colours swapped; fixed: once, the player named first is red."""
    seed: int = 0
    grace: float = 1.0
    """A move may take so many seconds longer than its limit before it loses the game."""
    sprt: Sprt | None = None
    """Stop as soon as this test is decided; for two players."""

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise UserError("a tournament needs at least two agents")
        labels = [player.label for player in self.players]
        if twice := next((label for label in labels if labels.count(label) > 1), None):
            raise UserError(f"two agents go by the same name {twice!r}: give them different names")
        if self.starts not in ("alternate", "fixed"):
            raise UserError(f"starts is alternate or fixed, not {self.starts!r}")
        if self.rounds is not None and self.rounds < 1:
            raise UserError(f"at least one round must be played, not {self.rounds}")
        if not self.boards or len(set(self.boards)) < len(self.boards):
            raise UserError("boards must be named, each once")
        if not self.openings:
            raise UserError("there are no openings in the list")
        if not 0 <= self.seed < 2**63:
            raise UserError(f"a seed is 0 or greater and below 2**63, not {self.seed}")
        if not 0 <= self.grace < math.inf:
            raise UserError(f"the grace is 0 seconds or more, not {self.grace}")
        if self.sprt is not None and len(self.players) != 2:
            raise UserError(f"an SPRT compares two agents, not {len(self.players)}")
        if len(self) > MOST_GAMES:
            raise UserError(f"{len(self):,} games are too many")

    @cached_property
    def starts_on(self) -> tuple[tuple[Position, ...], ...]:
        """The openings on each board, as many as there are rounds or fewer."""
        return tuple(tuple(openings(self.openings, board, self._rounds_asked, self.seed)) for board in self.boards)

    @property
    def _rounds_asked(self) -> int:
        return self.rounds or 50

    @cached_property
    def all_rounds(self) -> int:
        """How many rounds there are."""
        if self.rounds is not None:
            return self.rounds
        listed = not isinstance(self.openings, str) or self.openings.startswith("all:")
        return max(len(each) for each in self.starts_on) if listed else self._rounds_asked

    @cached_property
    def pairings(self) -> tuple[tuple[int, int], ...]:
        """The pairs of players, by number."""
        return tuple(itertools.combinations(range(len(self.players)), 2))

    @property
    def games_a_unit(self) -> int:
        """Two with swapped colours, or one."""
        return 2 if self.starts == "alternate" else 1

    def __len__(self) -> int:
        return self.all_rounds * len(self.boards) * len(self.pairings) * self.games_a_unit

    def game(self, number: int) -> "Game":
        """What game so-and-so is; they are numbered from 0, round by round."""
        unit, swapped = divmod(number, self.games_a_unit)
        rest, pairing = divmod(unit, len(self.pairings))
        turn, board = divmod(rest, len(self.boards))
        red, yellow = self.pairings[pairing][:: -1 if swapped else 1]
        starts = self.starts_on[board]
        return Game(number, unit, red, yellow, starts[turn % len(starts)])

    def stored(self, game: "Game", record: Record) -> StoredGame:
        """What is stored of a game."""
        red, yellow = self.players[game.red].label, self.players[game.yellow].label
        return StoredGame.of(game.number, game.unit, red, yellow, record, self.seed)

    def as_data(self) -> dict[str, Any]:
        """The tournament as TOML and JSON hold it; `read` is the way back."""
        data: dict[str, Any] = {
            "boards": list(self.boards),
            "openings": self.openings if isinstance(self.openings, str) else list(self.openings),
            "rounds": self.all_rounds,
            "starts": self.starts,
            "seed": self.seed,
            "grace": self.grace,
            "agents": [{"spec": player.spec, "name": player.label, **limit_as_data(player.limit)} for player in self.players],
        }
        if self.sprt is not None:
            data["sprt"] = {each.name: getattr(self.sprt, each.name) for each in fields(Sprt)}
        return data


@dataclass(frozen=True)
class Game:
    """One game to be played."""

    number: int
    unit: int
    """The two games of one opening with swapped colours have the same unit."""
    red: int
    """Which player, by number."""
    yellow: int
    start: Position


@dataclass(frozen=True)
class GamePlayer:
    """Plays games of a tournament by their numbers; it travels to the processes that do the work."""

    tournament: Tournament
    make: Callable[[str], Agent]

    def __call__(self, number: int, watch: Watch | None = None) -> StoredGame:
        """Play one game with fresh agents and fresh generators, so that nothing but its number matters."""
        import numpy as np

        game = self.tournament.game(number)
        seats = [self.tournament.players[game.red], self.tournament.players[game.yellow]]
        agents = [self.make(player.spec) for player in seats]
        rngs = [np.random.default_rng([self.tournament.seed, number, side]) for side in (0, 1)]
        try:
            record = play_game(game.start, agents, [player.limit for player in seats], rngs, self.tournament.grace, watch)
        finally:
            close_all(agents)
        return self.tournament.stored(game, record)

    def prepare(self) -> None:
        """Let agents on a clock make a move that does not count: what is loaded or compiled at first must not cost them."""
        import numpy as np

        for player in (each for each in self.tournament.players if each.limit.seconds is not None):
            agent = self.make(player.spec)
            start = self.tournament.starts_on[0][0]
            try:
                agent.decide(start, Limit(seconds=0.01, simulations=1, nodes=1, depth=1), np.random.default_rng(0))
            except Exception:
                pass  # it will go wrong again in its games, where that is recorded
            finally:
                close_all([agent])


def limit_as_data(limit: Limit) -> dict[str, Any]:
    """The bounds that are set."""
    return {bound: value for bound in BOUNDS if (value := getattr(limit, bound)) is not None}


def read_config(config: Mapping[str, Any]) -> Tournament:
    """The tournament of a run's configuration, which says more: its kind, and whether games are judged."""
    return read({name: value for name, value in config.items() if name not in ("kind", "accuracy")})


def read(data: Mapping[str, Any]) -> Tournament:
    """Make a tournament of what a TOML file says; an unknown setting is an error."""
    known = {each.name for each in fields(Tournament)} - {"players"} | {"agents"}
    _refuse_unknown(data, known, "a tournament")
    if not isinstance(agents := data.get("agents"), list):
        raise UserError('a tournament names its agents: agents = ["random", "rules"] or [[agents]] tables')
    settings = {name: value for name, value in data.items() if name not in ("agents", "sprt")}
    for name, kinds in _KINDS.items():
        if name in settings and (not isinstance(settings[name], kinds) or isinstance(settings[name], bool)):
            raise UserError(f"{name} cannot be {settings[name]!r}")
    for name in ("boards", "openings"):
        if isinstance(settings.get(name), list):
            if not all(isinstance(each, str) for each in settings[name]):
                raise UserError(f"{name} is a list of texts, not {settings[name]!r}")
            settings[name] = tuple(settings[name])
    if "boards" in settings:
        settings["boards"] = tuple(str(Rules.parse(board)) for board in settings["boards"])
    return Tournament(tuple(_player(each) for each in agents), sprt=_sprt(data.get("sprt")), **settings)


_KINDS: dict[str, Any] = {
    "boards": list,
    "openings": (str, list),
    "rounds": int,
    "starts": str,
    "seed": int,
    "grace": (int, float),
}


def _player(entry: object) -> Player:
    if isinstance(entry, str):
        return Player(entry)
    if not isinstance(entry, dict) or not isinstance(entry.get("spec"), str):
        raise UserError(f"an agent is a spec or a table with a spec, not {entry!r}")
    _refuse_unknown(entry, {"spec", "name", *BOUNDS}, f"agent {entry['spec']!r}")
    bounds = {bound: entry[bound] for bound in BOUNDS if bound in entry}
    for bound, value in bounds.items():
        if isinstance(value, bool) or not isinstance(value, (int, float) if bound == "seconds" else int):
            raise UserError(f"{bound} of agent {entry['spec']!r} cannot be {value!r}")
    return Player(entry["spec"], Limit(**bounds), str(entry.get("name", "")))


def _sprt(entry: object) -> Sprt | None:
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise UserError(f"sprt is a table with elo0 and elo1, not {entry!r}")
    _refuse_unknown(entry, {each.name for each in fields(Sprt)}, "sprt")
    try:
        return Sprt(**entry)
    except TypeError:
        raise UserError("sprt needs the numbers elo0 and elo1") from None


def _refuse_unknown(data: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    if unknown := sorted(set(data) - set(known)):
        raise UserError(f"{where} has no setting {unknown[0]!r}; its settings are {', '.join(sorted(known))}")
