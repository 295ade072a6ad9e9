"""Tournaments as values: each game is a pure function of the tournament and the game's number."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from fourlab.agent import UNLIMITED, Agent, Limit, remembers
from fourlab.arena.game import close_all, play_game
from fourlab.arena.openings import MOST_OPENINGS, MOST_RANDOM_OPENINGS, openings
from fourlab.arena.sprt import Sprt
from fourlab.arena.store import StoredGame
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.record import Cause, Record
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Watch
from fourlab.options import check, option, options_of

if TYPE_CHECKING:
    import numpy as np

BOUNDS = ("seconds", "simulations", "nodes", "depth")
"""The fields of a `Limit` that a configuration can set."""
MOST_GAMES = 100_000_000
MOST_PLAYERS = 500
"""Their pairings and the tables of results grow with the square of their number."""
DEFAULT_ROUNDS = 50
"""Number of rounds where neither the settings nor a list of openings determine it."""
WARM_UP_LIMIT = Limit(seconds=0.01, simulations=1, nodes=1, depth=1)
"""The smallest decision that still loads and compiles everything an agent needs."""
Agents = dict[int, Agent]
"""The agents of a game, by their place among the tournament's players."""


@dataclass(frozen=True)
class Player:
    """One entry of a tournament: an agent's spec, its limit per move and its name."""

    spec: str
    limit: Limit = UNLIMITED
    name: str = ""
    code: str = ""
    """A fingerprint of the agent's code if that is the user's own: other code is another agent."""

    @property
    def label(self) -> str:
        """The name; without one, the spec and the bounds of the limit."""
        if self.name:
            return self.name
        bounds = (f"{bound}={value}" for bound, value in limit_as_data(self.limit).items())
        return " ".join([self.spec, *bounds])


@dataclass(frozen=True)
class Tournament:
    """A round robin: every player meets every other, from the same openings."""

    players: tuple[Player, ...]
    boards: tuple[str, ...] = ("7x6x4",)
    openings: str | tuple[str, ...] = "random:4"
    """empty, random:K, all:K, balanced:K, a position, or a list of positions."""
    rounds: int | None = option(
        None,
        "Number of openings per pairing and board; none: all openings of a list or all:K, else 50.",
        least=1,
        most=10**8,
    )
    starts: Literal["alternate", "fixed"] = option(
        "alternate",
        "alternate: each opening twice, colours swapped; fixed: once, first-named player red.",
    )
    seed: int = option(0, "The same seed gives the same games.", least=0, most=2**63 - 1)
    grace: float = option(
        1.0,
        "Time by which a move may exceed its limit before the game is forfeited.",
        least=0,
        most=86_400,
        unit="s",
    )
    sprt: Sprt | None = None
    """Stop as soon as this test is decided; only for two players."""

    def __post_init__(self) -> None:
        check(self)
        if len(self.players) < 2:
            raise UserError("a tournament needs at least two agents")
        if len(self.players) > MOST_PLAYERS:
            raise UserError(
                f"{len(self.players):,} agents are too many; at most {MOST_PLAYERS} are allowed"
            )
        labels = [player.label for player in self.players]
        duplicate = next((label for label in labels if labels.count(label) > 1), None)
        if duplicate is not None:
            raise UserError(
                f"two agents have the same name {duplicate!r}: give them different names, in a "
                "file by name = ..., in Python by a dictionary"
            )
        if not self.boards or len(set(self.boards)) < len(self.boards):
            raise UserError("boards must be named, each once")
        if not self.openings:
            raise UserError("there are no openings in the list")
        if not isinstance(self.openings, str) and len(self.openings) > MOST_OPENINGS:
            raise UserError(
                f"{len(self.openings):,} openings are too many; at most {MOST_OPENINGS:,} are "
                "allowed"
            )
        if self.sprt is not None and len(self.players) != 2:
            raise UserError(f"an SPRT compares two agents, not {len(self.players)}")
        if len(self) > MOST_GAMES:
            raise UserError(f"{len(self):,} games are too many; at most {MOST_GAMES:,} are allowed")

    @cached_property
    def starts_on(self) -> tuple[tuple[Position, ...], ...]:
        """The openings on each board; if fewer than the rounds, they are used again in turn."""
        number = min(self.rounds or DEFAULT_ROUNDS, MOST_RANDOM_OPENINGS)
        return tuple(
            # With the same seed, a larger number begins with the openings of a smaller one, so
            # that more rounds extend a run.
            tuple(openings(self.openings, board, number, self.seed))
            for board in self.boards
        )

    @cached_property
    def all_rounds(self) -> int:
        """The number of rounds, with the default filled in."""
        if self.rounds is not None:
            return self.rounds
        if not isinstance(self.openings, str):
            return len(self.openings)
        is_list = self.openings.startswith("all:")
        return max(len(starts) for starts in self.starts_on) if is_list else DEFAULT_ROUNDS

    def notes(self) -> Iterator[str]:
        """Yield remarks on what the user may not expect."""
        # With fewer openings than rounds, the games of deterministic agents repeat. A single
        # opening is what the user asked for.
        for board, starts in zip(self.boards, self.starts_on, strict=True):
            if 1 < len(starts) < self.all_rounds:
                yield (
                    f"there are only {len(starts)} such openings on {board} "
                    f"for {self.all_rounds} rounds; they are repeated"
                )

    @cached_property
    def pairings(self) -> tuple[tuple[int, int], ...]:
        """All pairs of players, as indices into `players`."""
        return tuple(itertools.combinations(range(len(self.players)), 2))

    @property
    def games_per_unit(self) -> int:
        """Two if every opening is played with swapped colours, else one."""
        return 2 if self.starts == "alternate" else 1

    def __len__(self) -> int:
        return self.all_rounds * len(self.boards) * len(self.pairings) * self.games_per_unit

    def game(self, number: int) -> "Game":
        """Return the game with this number, from 0.

        Colours vary fastest, then pairings, then boards, then rounds, so more rounds only append
        games and a run can be extended.
        """
        unit, swapped = divmod(number, self.games_per_unit)
        rest, pairing = divmod(unit, len(self.pairings))
        turn, board = divmod(rest, len(self.boards))
        red, yellow = self.pairings[pairing][:: -1 if swapped else 1]
        starts = self.starts_on[board]
        return Game(number, unit, red, yellow, starts[turn % len(starts)])

    def chain(self, number: int) -> tuple[int, int]:
        """Return which chain of games a game belongs to, and how many of them come before it.

        The games between two players on one board are a chain, which is named by the number of its
        first game. An agent with a memory plays them one after another.
        """
        turn, in_round = divmod(number, len(self) // self.all_rounds)
        swapped = in_round % self.games_per_unit
        return in_round - swapped, turn * self.games_per_unit + swapped

    def games_of_chain(self, chain: int) -> Iterator[int]:
        """Yield the numbers of the games of a chain, in their order."""
        for start in range(chain, len(self), len(self) // self.all_rounds):
            yield from range(start, start + self.games_per_unit)

    def stored(self, game: "Game", record: Record) -> StoredGame:
        """Return the row to store for a finished game."""
        red = self.players[game.red].label
        yellow = self.players[game.yellow].label
        return StoredGame.of(game.number, game.unit, red, yellow, record, self.seed)

    def refuse_foreign(self, stored: StoredGame) -> None:
        """Raise UserError if a stored game is not one of this tournament's."""
        if not 0 <= stored.number < len(self):
            raise UserError(
                f"game {stored.number} is not of this tournament, which has {len(self)} games"
            )
        game = self.game(stored.number)
        expected = {
            "unit": game.unit,
            "red": self.players[game.red].label,
            "yellow": self.players[game.yellow].label,
            "board": str(game.start.rules),
            "seed": self.seed,
        }
        for name, value in expected.items():
            if value != getattr(stored, name):
                raise UserError(
                    f"game {stored.number} is not of this tournament: {name} is "
                    f"{getattr(stored, name)!r:.60}, not {value!r:.60}"
                )

    def as_data(self) -> dict[str, Any]:
        """Return the tournament as TOML or JSON data; `read` is the inverse."""
        data: dict[str, Any] = {
            "boards": list(self.boards),
            "openings": self.openings if isinstance(self.openings, str) else list(self.openings),
            "rounds": self.all_rounds,
            "starts": self.starts,
            "seed": self.seed,
            "grace": self.grace,
            "agents": [
                {
                    "spec": player.spec,
                    "name": player.label,
                    **limit_as_data(player.limit),
                    **({"code": player.code} if player.code else {}),
                }
                for player in self.players
            ],
        }
        if self.sprt is not None:
            data["sprt"] = asdict(self.sprt)
        return data


@dataclass(frozen=True)
class Game:
    """One game to be played."""

    number: int
    unit: int
    """The two games of one opening with swapped colours have the same unit."""
    red: int
    """Index into the tournament's players."""
    yellow: int
    start: Position

    @property
    def players(self) -> tuple[int, int]:
        """Red and yellow."""
        return self.red, self.yellow


@dataclass
class _Memory:
    """Agents that remember, after the first `games` games of a chain."""

    chain: int
    games: int
    agents: Agents


@dataclass(frozen=True)
class GamePlayer:
    """Plays games of a tournament by number; it is pickled and sent to worker processes.

    A game depends on its number alone. Agents are new in every game, except those that remember:
    they have played the earlier games of the same chain before. If this object has not just played
    them, it repeats them, so playing a chain in order is fastest.
    """

    tournament: Tournament
    make: Callable[[str], Agent]
    played: Mapping[int, StoredGame] = field(default_factory=dict)
    """Games that are stored already: of these, only what a memory needs is repeated."""
    in_order: bool = False
    """Whether executors shall play the games in their order, on one worker."""
    # At most one; a list, since the fields of a frozen class stay the same.
    _memory: list[_Memory] = field(default_factory=list, init=False, repr=False, compare=False)

    def __call__(self, number: int, watch: Watch | None = None) -> StoredGame:
        """Play one game."""
        watch = watch or Watch()
        game = self.tournament.game(number)
        agents = self._new_agents(game)
        remembering = {player: agent for player, agent in agents.items() if remembers(agent)}
        if not remembering:
            return self.tournament.stored(game, self._play(game, agents, watch))
        memory = self._recall(number, remembering, watch)
        # An error, or a game that is abandoned, leaves no usable memory.
        self._memory.clear()
        record = self._play(game, {**agents, **memory.agents}, watch)
        if record.cause != Cause.INTERRUPTED:
            memory.games += 1
            self._memory.append(memory)
        return self.tournament.stored(game, record)

    def _new_agents(self, game: Game) -> Agents:
        players = self.tournament.players
        return {player: self.make(players[player].spec) for player in game.players}

    def _play(self, game: Game, agents: Agents, watch: Watch) -> Record:
        players = [agents[player] for player in game.players]
        limits = [self.tournament.players[player].limit for player in game.players]
        rngs = self._generators(game.number)
        try:
            return play_game(game.start, players, limits, rngs, self.tournament.grace, watch)
        finally:
            close_all(list(agents.values()))

    def _generators(self, number: int) -> "list[np.random.Generator]":
        """Return one stream per side.

        How much randomness one side uses must not change the other's play.
        """
        import numpy as np

        return [np.random.default_rng([self.tournament.seed, number, side]) for side in (0, 1)]

    def _recall(self, number: int, new: Agents, watch: Watch) -> _Memory:
        """Return the memory of the games before a game; `new` are its agents that remember."""
        chain, place = self.tournament.chain(number)
        if self._memory and (self._memory[0].chain, self._memory[0].games) == (chain, place):
            return self._memory[0]
        for before in itertools.islice(self.tournament.games_of_chain(chain), place):
            if watch.aborted():
                break
            game = self.tournament.game(before)
            if before in self.played:
                self._repeat(game, self.played[before], new)
            else:
                self._play(game, {**self._new_agents(game), **new}, watch)
        return _Memory(chain, place, new)

    def _repeat(self, game: Game, stored: StoredGame, agents: Agents) -> None:
        """Let agents take their decisions in a stored game again, to remember it."""
        if not stored.moves:
            return  # the game was lost with its worker, and its memory
        rngs = self._generators(game.number)
        for position in stored.record.positions():
            side = position.to_move
            player = game.players[side]
            # A game that was forfeited has a last decision that led to no move.
            if player in agents and position.outcome() is None:
                limit = self.tournament.players[player].limit
                with suppress(Exception):  # the fault that ended the game
                    agents[player].decide(position, limit, rngs[side])

    def prepare(self) -> None:
        """Let agents with a time limit decide once before the games.

        Otherwise loading and compiling would be charged to their first move.
        """
        import numpy as np

        start = self.tournament.starts_on[0][0]
        for player in self.tournament.players:
            if player.limit.seconds is not None:
                agent = self.make(player.spec)
                with suppress(Exception):  # the same fault will be recorded in its games
                    agent.decide(start, WARM_UP_LIMIT, np.random.default_rng(0))
                close_all([agent])


def limit_as_data(limit: Limit) -> dict[str, Any]:
    """Return the bounds that are set, by name."""
    return {bound: value for bound in BOUNDS if (value := getattr(limit, bound)) is not None}


def read_config(config: Mapping[str, Any]) -> Tournament:
    """Return the tournament of a run's configuration, which also holds `kind` and `accuracy`.

    This is cheap: a run's configuration has the number of rounds, so no opening is looked for.
    """
    if config.get("rounds") is None:
        raise UserError("the configuration of a run must have the number of rounds")
    return read({name: value for name, value in config.items() if name not in ("kind", "accuracy")})


def read(data: Mapping[str, Any]) -> Tournament:
    """Return the tournament of a TOML file's data; raise UserError for unknown settings."""
    # Players and the test are tables of their own, so they are not among the options.
    options = options_of(Tournament)
    _refuse_unknown(data, {*options, "agents", "sprt"}, "a tournament")
    agents = data.get("agents")
    if not isinstance(agents, list):
        raise UserError(
            'a tournament names its agents: agents = ["random", "rules"] or [[agents]] tables'
        )
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
        if name in options
    }
    # Types are checked before the boards are parsed, ranges by `Tournament` as well.
    for name, value in settings.items():
        options[name].check(value)
    if "boards" in settings:
        # `7x6` and `7x6x4` are the same board; one spelling makes duplicates equal.
        settings["boards"] = tuple(str(Rules.parse(board)) for board in settings["boards"])
    players = tuple(_player(agent) for agent in agents)
    return Tournament(players, sprt=_sprt(data.get("sprt")), **settings)


def _player(entry: object) -> Player:
    """Return the player of an entry of `agents`: a spec, or a table with a spec."""
    if isinstance(entry, str):
        return Player(entry)
    if not isinstance(entry, dict) or not isinstance(entry.get("spec"), str):
        raise UserError(f"an agent is a spec or a table with a spec, not {entry!r}")
    _refuse_unknown(entry, {"spec", "name", "code", *BOUNDS}, f"agent {entry['spec']!r}")
    bounds = {bound: entry[bound] for bound in BOUNDS if bound in entry}
    for bound, value in bounds.items():
        types = (int, float) if bound == "seconds" else int
        # bool is a subclass of int, but no bound is a truth value.
        if isinstance(value, bool) or not isinstance(value, types):
            raise UserError(f"{bound} of agent {entry['spec']!r} cannot be {value!r}")
    name, code = (str(entry.get(key, "")) for key in ("name", "code"))
    return Player(entry["spec"], Limit(**bounds), name, code)


def _sprt(entry: object) -> Sprt | None:
    """Return the test of an `sprt` table, None if there is no table."""
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise UserError(f"sprt is a table with elo0 and elo1, not {entry!r}")
    _refuse_unknown(entry, options_of(Sprt), "sprt")
    try:
        return Sprt(**entry)
    except TypeError:
        raise UserError("sprt needs the numbers elo0 and elo1") from None


def _refuse_unknown(data: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Raise UserError if `data` has a key that is not allowed."""
    unknown = sorted(set(data) - set(allowed))
    if unknown:
        raise UserError(
            f"{where} has no setting {unknown[0]!r}; its settings are {', '.join(sorted(allowed))}"
        )
