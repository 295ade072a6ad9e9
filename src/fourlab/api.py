"""The functions that `import fourlab as fl` offers: one call each, with a default for everything.

They do what the commands of the same names do, with the same runs, and return results that are data
(`to_dict`, `to_pandas`), words (`str`), pictures (`plot`) and displays in notebooks. Positions are
accepted in every form: `Position`, moves, a name, any notation.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from fourlab.agent import Agent, Limit
from fourlab.compiled.announcing import announce_compilation
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, as_position

if TYPE_CHECKING:
    from fourlab.agents.listing import AgentList
    from fourlab.analysis.position import PositionAnalysis
    from fourlab.analysis.review import Review
    from fourlab.solver import Solution

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
def make(agent: str, /, **options: Any) -> Agent:
    """Build the agent of a spec; keywords are options, which override those of the spec.

    >>> make("mcts", simulations=1000).decide(Position("4453")).column in range(7)
    True
    """
    from fourlab.agents import registry

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
    agent: str | Agent = "mcts:simulations=100000",
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
    from fourlab.analysis.position import analyse_position

    limit = Limit(seconds, simulations, nodes, depth)
    start = as_position(position, board)
    built, name = _agent(agent)
    return analyse_position(start, built, name, limit, seed, proof)


analyze = analyse
"""The American spelling, which the command has."""


def _agent(agent: Any) -> tuple[Agent, str]:
    """Return an agent and its name."""
    from fourlab.agents import registry

    if isinstance(agent, str):
        return registry.make(agent), agent
    return agent, type(agent).__name__


@_front_door
def review(
    moves: str | Position,
    *,
    start: str | Position = "",
    board: str | None = None,
    seconds: float = 20,
) -> "Review":
    """Return the review of a game, move by move: what each did to the exact value.

    `seconds` is the time limit of the solver for the whole game.

    >>> [move.number for move in review("4455661").mistakes]
    [3, 4]
    """
    from fourlab.analysis.review import game_of
    from fourlab.analysis.review import review as review_game

    first, columns = game_of(moves, start, board)
    return review_game(first, columns, Limit(seconds=seconds), named_from=1)
