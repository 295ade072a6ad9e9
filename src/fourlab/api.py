"""The functions that `import fourlab as fl` offers: one call each, with a default for everything.

They do what the commands of the same names do, with the same runs, and return results that are data
(`to_dict`, `to_pandas`), words (`str`), pictures (`plot`) and displays in notebooks. Positions are
accepted in every form: `Position`, moves, a name, any notation.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, Unpack

from fourlab.agent import Agent, Limit
from fourlab.api_runs import RunOptions, divided, work_on
from fourlab.compiled.announcing import announce_compilation
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, as_position
from fourlab.game.rules import Rules

if TYPE_CHECKING:
    from fourlab.agents.listing import AgentList
    from fourlab.analysis.position import PositionAnalysis
    from fourlab.analysis.review import Review
    from fourlab.arena.result import MatchResult, TournamentResult
    from fourlab.arena.tournament import Player, Tournament
    from fourlab.solver import Solution
    from fourlab.studies.result import StudyResult
    from fourlab.training.result import TrainingResult

AgentLike = Any
"""What stands for an agent: a spec, a Python file, an agent, or a function or class of your own."""
Openings = str | Position | Sequence[PositionLike]
"""Which openings, as in `fourlab match`, or the positions themselves."""
P = ParamSpec("P")
T = TypeVar("T")


def _front_door(function: Callable[P, T]) -> Callable[P, T]:
    """Announce slow compilations, and let errors of the user begin here.

    Their message says what is wrong; a traceback through Fourlab's own code would only hide it.
    """

    @functools.wraps(function)
    def called(*arguments: P.args, **keywords: P.kwargs) -> T:
        announce_compilation()
        try:
            return function(*arguments, **keywords)
        except UserError as error:
            raise error.with_traceback(None) from None

    return called


@_front_door
def make(agent: AgentLike, /, **options: Any) -> Agent:
    """Build the agent of a spec; keywords are options, which override those of the spec.

    A function, a class or an object of your own becomes an agent, too.

    >>> make("mcts", simulations=1000).decide(Position("4453")).column in range(7)
    True
    """
    from fourlab.agents import registry
    from fourlab.agents.own import as_agent

    if not isinstance(agent, str):
        if options:
            raise UserError("options are for agents that are written as text")
        return as_agent(agent)
    return registry.make(agent, **options)


@_front_door
def list_agents() -> "AgentList":
    """Return all agents with their options; `list_agents()["mcts"]` is one of them.

    >>> "mcts" in list_agents().names
    True
    """
    from fourlab.agents.listing import list_agents

    return list_agents()


@_front_door
def solve(
    position: PositionLike = "",
    *,
    board: str | None = None,
    weak: bool = False,
    all_columns: bool = False,
    seconds: float | None = None,
    nodes: int | None = None,
    threads: int = 1,
    memory_mb: float = 64,
    book: bool = True,
) -> "Solution":
    """Return the exact value of a position that is not over.

    `weak` proves only who wins, which is much faster. `all_columns` solves every column as well.
    If the limits are reached first, the solution has bounds that are proven so far.

    >>> print(solve("32751571231557"))
    loses in 24
    """
    from dataclasses import replace

    from fourlab.solver import Solver

    start = as_position(position, board)
    limit = Limit(seconds=seconds, nodes=nodes)
    solver = Solver(memory_mb, threads, "shipped" if book else None)
    if not all_columns:
        return replace(solver.solve(start, limit, weak), position=start)
    if (outcome := start.outcome()) is not None:
        raise UserError(f"the game is over ({outcome}), there is nothing to solve: {start!r}")
    columns = solver.columns(start, limit, weak)
    # The position is worth as much as its best column, so its bounds are maxima.
    return replace(
        next(iter(columns.values())),
        lower=max(solution.lower for solution in columns.values()),
        upper=max(solution.upper for solution in columns.values()),
        nodes=sum(solution.nodes for solution in columns.values()),
        seconds=sum(solution.seconds for solution in columns.values()),
        book=all(solution.book for solution in columns.values()),
        position=start,
        columns=columns,
    )


@_front_door
def analyse(
    position: PositionLike = "",
    agent: AgentLike = "mcts:simulations=100000",
    *,
    board: str | None = None,
    seconds: float | None = None,
    simulations: int | None = None,
    nodes: int | None = None,
    depth: int | None = None,
    seed: int = 0,
    proof: float = 10.0,
) -> "PositionAnalysis":
    """Return the exact value of every column, and what an agent thinks of the position.

    `proof` is the time limit of the solver in seconds; 0 turns it off.

    >>> analysis = analyse("445566", "mcts", simulations=1000, proof=0)
    >>> analysis.decision.proven.result.word
    'win'
    """
    from fourlab.agents.own import as_agent
    from fourlab.analysis.position import analyse_position

    limit = Limit(seconds, simulations, nodes, depth)
    start = as_position(position, board)
    player = _player(agent)
    return analyse_position(start, as_agent(agent), player.label, limit, seed, proof)


analyze = analyse
"""The American spelling, which the command has."""


@_front_door
def review(
    moves: str | Position,
    *,
    start: str | Position = "",
    board: str | None = None,
    seconds: float = 20,
    agent: AgentLike | None = None,
    move_seconds: float | None = None,
) -> "Review":
    """Return the review of a game, move by move: what each did to the exact value.

    `seconds` is the time limit of the solver for the whole game. With an `agent`, the review also
    says what that would have played, within `move_seconds` per move.

    >>> [move.number for move in review("4455661").mistakes]
    [3, 4]
    """
    from fourlab.agents.own import as_agent
    from fourlab.analysis.review import game_of, with_choices
    from fourlab.analysis.review import review as review_game

    first, columns = game_of(moves, start, board)
    player = None if agent is None else as_agent(agent)
    reviewed = review_game(first, columns, Limit(seconds=seconds), named_from=1)
    if agent is None or player is None:
        return reviewed
    return with_choices(reviewed, player, _player(agent).label, Limit(seconds=move_seconds), 0)


# --- runs -----------------------------------------------------------------------------------------


class GameOptions(RunOptions, total=False):
    """Keywords of matches and tournaments."""

    openings: Openings
    """empty, random:K, all:K, balanced:K (plies; default random:4), file:FILE, or positions."""
    starts: Literal["alternate", "fixed"]
    """alternate: each opening twice, colours swapped; fixed: the first agent is always red."""
    seconds: float | None
    """Time limit per move."""
    simulations: int | None
    """Limit on simulations per move."""
    nodes: int | None
    """Limit on nodes per move."""
    depth: int | None
    """Limit on depth, in plies."""
    grace: float
    """Seconds by which a move may exceed its limit before the game is forfeited."""
    accuracy: bool
    """Solve every position and count mistakes."""
    seed: int
    """The same seed gives the same games."""


class MatchOptions(GameOptions, total=False):
    """Keywords of a match."""

    board: str | Rules | None
    """COLUMNSxROWSxINAROW; default 7x6x4."""
    limit_a: str
    """The first agent's own limits, such as seconds=0.1,nodes=500."""
    limit_b: str
    """The second agent's own limits."""
    alpha: float
    """The SPRT's probability of accepting elo1 wrongly."""
    beta: float
    """The SPRT's probability of accepting elo0 wrongly."""
    sprt_model: Literal["normalized", "logistic"]
    """Which Elo the SPRT tests."""


class TournamentOptions(GameOptions, total=False):
    """Keywords of a tournament."""

    games: int | None
    """Number of games between every two agents on every board, instead of `rounds`."""
    boards: Sequence[str | Rules]
    """The boards to play on; default 7x6x4."""


@_front_door
def match(
    one: AgentLike,
    other: AgentLike,
    games: int = 100,
    sprt: tuple[float, float] | None = None,
    **settings: Unpack[MatchOptions],
) -> "MatchResult":
    """Play a match between two agents: which is stronger, and how certain that is.

    Every opening is played twice with colours swapped. The same call again resumes a stopped match,
    and with more `games` it extends a finished one. `sprt=(elo0, elo1)` stops as soon as one of two
    Elo differences is accepted. Other keywords are the options of `fourlab match`.

    >>> result = match("rules", "random", games=20, quiet=True)
    >>> result.score
    1.0
    """
    from dataclasses import fields, replace

    from fourlab.arena.match import MatchSettings
    from fourlab.arena.result import MatchResult

    names = {field.name for field in fields(MatchSettings)}
    own, options = divided("match", settings, names - {"games"}, ("games", "sprt"))
    openings = own.pop("openings", None)
    if own.get("board") is not None:
        own["board"] = str(own["board"])
    # A list of openings is put in place below.
    if isinstance(openings, str):
        own["openings"] = openings
    planned = MatchSettings(games=games, **own)
    tournament = planned.tournament(_player(one), _player(other), sprt)
    if openings is not None and not isinstance(openings, str):
        tournament = replace(tournament, openings=_texts(openings, tournament.boards[0]))
    return MatchResult(*_play(tournament, "match", planned.accuracy, options))


@_front_door
def tournament(
    agents: Sequence[AgentLike] | Mapping[str, AgentLike],
    rounds: int | None = None,
    **settings: Unpack[TournamentOptions],
) -> "TournamentResult":
    """Play a round robin; returns Bradley-Terry ratings with intervals.

    A mapping gives the agents names. In a round, every agent meets every other from one opening,
    with both colours. The same call again resumes, and with more `rounds` it extends.

    >>> result = tournament(["random", "rules", "mcts"], rounds=5)
    """
    from dataclasses import replace

    from fourlab.arena.match import TournamentSettings
    from fourlab.arena.result import TournamentResult

    names = set(TournamentOptions.__annotations__) - set(RunOptions.__annotations__)
    own, options = divided("tournament", settings, names, ("rounds",))
    if isinstance(agents, str):
        raise UserError(f"tournament() takes a list of agents, not {agents!r}")
    named = agents.items() if isinstance(agents, Mapping) else [("", agent) for agent in agents]
    players = [_player(agent, name) for name, agent in named]
    if "boards" in own:
        boards = own["boards"]
        own["boards"] = tuple(map(str, [boards] if isinstance(boards, str | Rules) else boards))
    # A list of openings is put in place below.
    openings = own.pop("openings", None)
    if isinstance(openings, str):
        own["openings"] = openings
    planned = TournamentSettings(rounds=rounds, **own)
    tournament = planned.tournament(players)
    if openings is not None and not isinstance(openings, str):
        tournament = replace(tournament, openings=_texts(openings, tournament.boards[0]))
    return TournamentResult(*_play(tournament, "tournament", planned.accuracy, options))


def _player(agent: AgentLike, name: str = "") -> "Player":
    """Return an agent as a player; agents of Fourlab are written as specs, which any run can."""
    from fourlab.agents.own import as_player
    from fourlab.agents.registry import spec_of

    return as_player(spec_of(agent) or agent, name=name)


def _texts(openings: Position | Sequence[PositionLike], board: str) -> tuple[str, ...]:
    """Return positions as a tournament stores them."""
    listed = [openings] if isinstance(openings, Position) else openings
    positions = [as_position(position, board) for position in listed]
    return tuple(
        position.write("fen" if position.moves is None else "moves") for position in positions
    )


def _play(
    tournament: "Tournament",
    kind: Literal["match", "tournament"],
    accuracy: bool,
    options: RunOptions,
) -> tuple[Any, dict[str, Any]]:
    from fourlab.agents.players import described
    from fourlab.arena.job import TournamentJob

    tournament = described(tournament)
    return work_on(TournamentJob(tournament, kind, accuracy), options, tournament.notes())


@_front_door
def train(
    kind: str, *, preset: str | None = None, faithful: bool = False, **settings: Any
) -> "TrainingResult":
    """Train alphazero, dqn, patterns, q or value; `fourlab settings KIND` lists the settings.

    Keywords are settings, which change those of the preset, and those of every run. The same call
    again resumes a stopped training. The result's `spec` is the trained agent.

    >>> result = train("q", board="4x3x3", games=2000, quiet=True)
    >>> agent = make(result.spec)
    """
    from fourlab.agents.trainings import training_named
    from fourlab.options import aliases_of, options_of
    from fourlab.training.result import TrainingResult

    training = training_named(kind)
    declared = options_of(training.settings)
    accepted = {*declared, *aliases_of(declared.values())}
    own, options = divided("train", settings, accepted, ("preset", "faithful"))
    if preset is not None:
        own["preset"] = preset
    if faithful:
        own["faithful"] = True
        own.setdefault("preset", training.default_preset)
    training.check_packages()  # torch may be missing; say so before a run folder is made
    run, results = work_on(training.job(own), options)
    return TrainingResult(run, results, training.spec(run))


@_front_door
def study(
    *names: str,
    scale: Literal["smoke", "quick", "full"] = "quick",
    seed: int = 0,
    time: bool = False,
    **options: Unpack[RunOptions],
) -> "StudyResult":
    """Run experiments of the five reports again: an author, and perhaps a table or figure.

    `scale` is smoke (seconds, a test), quick (minutes) or full (the reports' sizes). `time` limits
    Arya's searches by the thesis's seconds per move, not by simulations.

    >>> result = study("bhat", "table-5", scale="smoke")
    """
    from fourlab.studies.catalogue import SCALES, chosen
    from fourlab.studies.job import StudyJob
    from fourlab.studies.result import StudyResult

    _, checked = divided("study", options, set(), ("scale", "seed", "time"))
    if scale not in SCALES:
        raise UserError(f"a scale is {', '.join(SCALES)}, not {scale!r}")
    if not names:
        raise UserError("study() takes the name of a report, such as 'bhat', or 'all'")
    # Checked before any work: a bad name must not show after hours.
    experiments = tuple(experiment.name for experiment in chosen(list(names)))
    run, results = work_on(StudyJob(experiments, scale, seed, time), checked)
    # The run may have the experiments of earlier calls as well.
    ours = {name: results["experiments"][name] for name in experiments}
    return StudyResult(run, {**results, "experiments": ours})
