"""What somebody thinks of a position, column by column: the solver, who proves, or any agent, who estimates."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourlab.agent import Agent, ColumnAnalysis, Decision, Exact, Limit, Search, Searcher
from fourlab.agents.mcts.xray import Node, excerpt
from fourlab.agents.perfect import promise
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.solver import Solution, Solver, centre_first

FIRST_SECONDS, GROWTH = 0.02, 4.0
"""The solver gives each column so long at first, then so many times as long, so that easy ones are told at once."""


@dataclass(frozen=True)
class ColumnOpinion:
    """What a column is worth to the side to move."""

    column: int
    """Counted from 0."""
    open: bool
    proven: Exact | None = None
    value: float | None = None
    """-1 to +1."""
    visits: int | None = None
    prior: float | None = None
    policy: float | None = None
    says: str = "–"
    """In words: "wins in 7" is proven, "63 %" is estimated."""


@dataclass(frozen=True)
class Opinion:
    """What a position is worth to the side to move, and why."""

    columns: tuple[ColumnOpinion, ...]
    """All columns of the board."""
    best: int | None = None
    value: float | None = None
    proven: Exact | None = None
    line: tuple[int, ...] = ()
    seconds: float = 0.0
    simulations: int | None = None
    nodes: int | None = None
    finished: bool = False
    """More time would change nothing."""
    tree: tuple[Node, ...] | None = None
    depth: int | None = None
    """How many discs a search that goes by depth looked ahead."""
    promising: int | None = None
    """What the solver would play if it had to before it knows the best column."""


Told = Callable[[Opinion], None]


def solve(position: Position, limit: Limit, told: Told = lambda opinion: None, megabytes: float = 64) -> Opinion:
    """Prove what every column is worth, easy ones first; `told` hears of every column that is proven."""
    solver, started = Solver(megabytes), time.perf_counter()
    total = limit.seconds if limit.seconds is not None else float("inf")
    known = solver.columns(position, Limit(nodes=1))  # what the book or a glance tells
    share, order = FIRST_SECONDS, centre_first(position)
    while missing := [column for column in order if known[column].score is None]:
        for column in missing:
            left = total - (time.perf_counter() - started)
            if left <= 0 or (limit.stop is not None and limit.stop.is_set()):
                return _of_solver(position, known, (), started, finished=False)
            seconds = min(share, left)
            known[column] = solver.solve(position.play(column), Limit(seconds=seconds, stop=limit.stop)).for_the_other()
            told(_of_solver(position, known, (), started, finished=False))
        share *= GROWTH
    left = max(total - (time.perf_counter() - started), 0.05)
    line = solver.line(position, Limit(seconds=min(left, 5.0), stop=limit.stop))
    return _of_solver(position, known, line, started, finished=True)


def _of_solver(position: Position, known: dict[int, Solution], line: tuple[int, ...], started: float, finished: bool) -> Opinion:
    lower, upper = max(each.lower for each in known.values()), max(each.upper for each in known.values())
    worth = replace(next(iter(known.values())), lower=lower, upper=upper)
    best = max(centre_first(position), key=lambda column: (known[column].lower, known[column].upper))
    columns = tuple(
        _proven_column(column, known[column]) if column in known else ColumnOpinion(column, False, says="full")
        for column in range(position.rules.columns)
    )
    sure = known[best].lower == worth.upper
    return Opinion(
        columns,
        best if sure else None,
        None if worth.result is None else float(worth.result),
        worth.exact,
        line,
        time.perf_counter() - started,
        None,
        sum(each.nodes for each in known.values()),
        finished,
        promising=max(centre_first(position), key=lambda column: promise(known[column])),
    )


def _proven_column(column: int, worth: Solution) -> ColumnOpinion:
    value = None if worth.result is None else float(worth.result)
    return ColumnOpinion(column, True, worth.exact, value, says=str(worth))


def ask(
    agent: Agent,
    position: Position,
    limit: Limit,
    rng: np.random.Generator,
    told: Told = lambda opinion: None,
    nodes: int = 0,
) -> Opinion:
    """Let an agent think; `told` hears of a search as it goes, and so many nodes of its tree are kept."""
    started = time.perf_counter()
    found: Search | None = None
    if isinstance(agent, Searcher):

        def watch(snapshot: Any) -> None:
            spent = time.perf_counter() - started
            columns = _estimates(position, snapshot.columns, None)
            told(Opinion(columns, seconds=spent, simulations=snapshot.simulations))

        found = agent.search(position, limit, rng, watch)
        decision = found.decision
    else:
        decision = agent.decide(position, limit, rng)
    spent = time.perf_counter() - started
    in_time = limit.seconds is None or spent < 0.9 * limit.seconds
    stopped = limit.stop is not None and limit.stop.is_set()
    return Opinion(
        _of_decision(position, decision),
        decision.column,
        decision.value,
        decision.proven,
        decision.line,
        spent,
        decision.analysis.simulations,
        decision.analysis.nodes,
        decision.proven is not None or (in_time and not stopped),
        tuple(excerpt(found.look, nodes)) if found is not None and nodes else None,
        decision.analysis.depth,
    )


def _of_decision(position: Position, decision: Decision) -> tuple[ColumnOpinion, ...]:
    """Return what an agent thinks of each column; only searches by simulation count visits."""
    known = {each.column: each for each in decision.analysis.columns}
    columns = tuple(known.get(column, ColumnAnalysis(column)) for column in position.legal_columns())
    opinions = _estimates(position, columns, decision.policy)
    if decision.analysis.visits is None:
        return tuple(replace(each, visits=None) for each in opinions)
    return opinions


def _estimates(
    position: Position, stats: tuple[ColumnAnalysis, ...], policy: tuple[float, ...] | None
) -> tuple[ColumnOpinion, ...]:
    known = {each.column: each for each in stats}
    visits = sum(each.visits for each in stats)
    columns = []
    for column in range(position.rules.columns):
        each = known.get(column)
        if each is None:
            columns.append(ColumnOpinion(column, False, says="full"))
            continue
        proven = None if each.proven is None else Exact(each.proven)
        share = policy[column] if policy is not None else each.visits / visits if visits else None
        columns.append(ColumnOpinion(column, True, proven, each.value, each.visits, each.prior, share, _says(each)))
    return tuple(columns)


def _says(each: ColumnAnalysis) -> str:
    if each.proven is not None:
        return Result(each.proven).verdict
    return "–" if each.value is None else f"{round(50 * (each.value + 1))} %"
