"""Opinions on a position, column by column: proofs by the solver, or estimates by an agent."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fourlab.agent import Agent, ColumnAnalysis, Decision, Exact, Limit, Search, Searcher, Snapshot
from fourlab.agents.mcts.xray import Node, excerpt
from fourlab.agents.perfect import promise
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.solver import Solution, Solver, centre_first

FIRST_SECONDS = 0.02
"""Time the solver gives each column in the first pass, so that easy ones are reported early."""
GROWTH = 4.0
"""Factor by which the time per column grows from pass to pass."""
LINE_SECONDS = (0.05, 5.0)
"""Shortest and longest time for the principal variation once all columns are proven."""
IN_TIME = 0.9
"""A search that used less than this share of its time limit ended for another reason."""


@dataclass(frozen=True)
class ColumnOpinion:
    """The value of a column, from the side to move's point of view."""

    column: int
    """Counted from 0."""
    open: bool
    """Whether a disc fits into the column."""
    proven: Exact | None = None
    value: float | None = None
    """-1 to +1."""
    visits: int | None = None
    prior: float | None = None
    policy: float | None = None
    """The agent's final policy, or the share of visits; 0 to 1."""
    says: str = "–"
    """The value as text: "wins in 7" if proven, "63 %" if estimated."""


@dataclass(frozen=True)
class Opinion:
    """The value of a position, from the side to move's point of view."""

    columns: tuple[ColumnOpinion, ...]
    """All columns of the board."""
    best: int | None = None
    value: float | None = None
    proven: Exact | None = None
    line: tuple[int, ...] = ()
    """The expected play (principal variation), columns counted from 0."""
    seconds: float = 0.0
    simulations: int | None = None
    nodes: int | None = None
    finished: bool = False
    """Whether more time would change nothing."""
    tree: tuple[Node, ...] | None = None
    depth: int | None = None
    """Plies that a depth-limited search looked ahead."""
    promising: int | None = None
    """The column the solver would play now, while the best one is not proven."""


OnOpinion = Callable[[Opinion], None]


def solve(
    position: Position,
    limit: Limit,
    on_opinion: OnOpinion = lambda opinion: None,
    megabytes: float = 64,
) -> Opinion:
    """Prove the value of every column, easy columns first.

    Iterative deepening in time: every pass gives each unproven column GROWTH times as long as the
    pass before. `on_opinion` is called after every column. `megabytes` is the size of the solver's
    transposition table.
    """
    solver = Solver(megabytes)
    started = time.perf_counter()
    # The passes share one transposition table, so a later pass repeats little of an earlier one.
    total = limit.seconds if limit.seconds is not None else float("inf")
    solutions = solver.columns(position, Limit(nodes=1))  # immediate wins and the opening book
    share = FIRST_SECONDS  # per column and pass
    order = centre_first(position)
    while missing := [column for column in order if solutions[column].score is None]:
        for column in missing:
            left = total - (time.perf_counter() - started)
            if left <= 0 or (limit.stop is not None and limit.stop.is_set()):
                return _solver_opinion(position, solutions, (), started, finished=False)
            slice_limit = Limit(seconds=min(share, left), stop=limit.stop)
            # The solver sees the position after the column with the other side to move.
            solutions[column] = solver.solve(position.play(column), slice_limit).for_the_other()
            on_opinion(_solver_opinion(position, solutions, (), started, finished=False))
        share *= GROWTH
    shortest, longest = LINE_SECONDS
    left = max(total - (time.perf_counter() - started), shortest)
    line = solver.line(position, Limit(seconds=min(left, longest), stop=limit.stop))
    return _solver_opinion(position, solutions, line, started, finished=True)


def _solver_opinion(
    position: Position,
    solutions: dict[int, Solution],
    line: tuple[int, ...],
    started: float,
    finished: bool,
) -> Opinion:
    """Return the opinion that follows from the bounds of all legal columns."""
    # The position's score is that of its best column, so both bounds are maxima.
    lower = max(solution.lower for solution in solutions.values())
    upper = max(solution.upper for solution in solutions.values())
    whole = replace(next(iter(solutions.values())), lower=lower, upper=upper)
    # Among equals, max takes the first, which is nearest to the centre.
    order = centre_first(position)
    best = max(order, key=lambda column: (solutions[column].lower, solutions[column].upper))
    # No other column can be better than the greatest upper bound.
    is_proven_best = solutions[best].lower == upper
    columns = tuple(
        _proven_column(column, solutions[column]) if column in solutions else _full_column(column)
        for column in range(position.rules.columns)
    )
    return Opinion(
        columns,
        best if is_proven_best else None,
        None if whole.result is None else float(whole.result),
        whole.exact,
        line,
        time.perf_counter() - started,
        None,
        sum(solution.nodes for solution in solutions.values()),
        finished,
        promising=max(order, key=lambda column: promise(solutions[column])),
    )


def _proven_column(column: int, solution: Solution) -> ColumnOpinion:
    value = None if solution.result is None else float(solution.result)
    return ColumnOpinion(column, True, solution.exact, value, says=str(solution))


def _full_column(column: int) -> ColumnOpinion:
    return ColumnOpinion(column, False, says="full")


def ask(
    agent: Agent,
    position: Position,
    limit: Limit,
    rng: np.random.Generator,
    on_opinion: OnOpinion = lambda opinion: None,
    nodes: int = 0,
) -> Opinion:
    """Return an agent's opinion on a position.

    `on_opinion` is called with interim opinions of agents whose search can be watched. The opinion
    holds the `nodes` most visited nodes of the search tree, none by default.
    """
    started = time.perf_counter()
    search: Search | None = None
    if isinstance(agent, Searcher):

        def watch(snapshot: Snapshot) -> None:
            seconds = time.perf_counter() - started
            columns = _estimates(position, snapshot.columns, None)
            on_opinion(Opinion(columns, seconds=seconds, simulations=snapshot.simulations))

        search = agent.search(position, limit, rng, watch)
        decision = search.decision
    else:
        decision = agent.decide(position, limit, rng)
    seconds = time.perf_counter() - started
    # A search that stopped well before its limit reached a bound of its own or a proof: more time
    # would change nothing.
    in_time = limit.seconds is None or seconds < IN_TIME * limit.seconds
    stopped = limit.stop is not None and limit.stop.is_set()
    return Opinion(
        _decision_columns(position, decision),
        decision.column,
        decision.value,
        decision.proven,
        decision.line,
        seconds,
        decision.analysis.simulations,
        decision.analysis.nodes,
        decision.proven is not None or (in_time and not stopped),
        tuple(excerpt(search.look, nodes)) if search is not None and nodes else None,
        decision.analysis.depth,
    )


def _decision_columns(position: Position, decision: Decision) -> tuple[ColumnOpinion, ...]:
    """Return an agent's opinion on each column; visits are None if it does not count them."""
    analyses = {analysis.column: analysis for analysis in decision.analysis.columns}
    columns = tuple(
        analyses.get(column, ColumnAnalysis(column)) for column in position.legal_columns()
    )
    opinions = _estimates(position, columns, decision.policy)
    # ColumnAnalysis has 0 visits both for "none" and for "not counted".
    if decision.analysis.visits is None:
        return tuple(replace(opinion, visits=None) for opinion in opinions)
    return opinions


def _estimates(
    position: Position, analyses: tuple[ColumnAnalysis, ...], policy: tuple[float, ...] | None
) -> tuple[ColumnOpinion, ...]:
    """Return the opinions on all columns from an agent's analyses of the legal ones."""
    by_column = {analysis.column: analysis for analysis in analyses}
    total_visits = sum(analysis.visits for analysis in analyses)

    def opinion(column: int) -> ColumnOpinion:
        analysis = by_column.get(column)
        if analysis is None:
            return _full_column(column)
        share = analysis.visits / total_visits if total_visits else None
        return ColumnOpinion(
            column,
            True,
            # A search proves results without counting the plies to the end.
            None if analysis.proven is None else Exact(analysis.proven),
            analysis.value,
            analysis.visits,
            analysis.prior,
            share if policy is None else policy[column],
            _text(analysis),
        )

    return tuple(map(opinion, range(position.rules.columns)))


def _text(analysis: ColumnAnalysis) -> str:
    """Return a proven result in words, or the expected score in percent."""
    if analysis.proven is not None:
        return Result(analysis.proven).verdict
    # From a value, -1 to +1, to an expected score, 0 to 100 %.
    return "–" if analysis.value is None else f"{round(50 * (analysis.value + 1))} %"
