"""`fourlab analyze`: the exact value of every column, and an agent's analysis of the position."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.agent import Analysis, Decision, Limit, Searcher
from fourlab.agents.registry import make
from fourlab.cli.board import print_board
from fourlab.cli.options import (
    AnyCountsOption,
    BoardOption,
    JsonOption,
    PositionArgument,
    SecondsOption,
    SeedOption,
    SimulationsOption,
    print_json,
    unfinished_position,
)
from fourlab.errors import UserError
from fourlab.files import check_target
from fourlab.game.position import Position

if TYPE_CHECKING:
    from fourlab.agents.mcts.xray import Snapshot
    from fourlab.solver import Solution


def analyze(
    moves: PositionArgument = "",
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="Agent to search with (fourlab agents).")
    ] = "mcts:simulations=100000",
    board: BoardOption = None,
    any_counts: AnyCountsOption = False,
    seconds: SecondsOption = None,
    simulations: SimulationsOption = None,
    seed: SeedOption = 0,
    proof: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="Time limit of the solver; 0 turns it off."),
    ] = 10,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also show how the search converged.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot the convergence as .svg, .png or .pdf."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Evaluate every column with the solver and an agent.

    "wins in 7" means that the game ends seven discs later if the winner hurries and the loser
    resists. The agent's values are from the side to move's point of view, -1 to +1. What is
    marked as proven is exact; everything else is an estimate.

    Example: fourlab analyze 4453 --agent alphazero --seconds 1
    """
    # Before the search, which may take minutes.
    if plot is not None:
        check_target(plot)
        _check_plotting()
    position = unfinished_position(moves, board, any_counts)
    limit = Limit(seconds=seconds, simulations=simulations)
    decision, snapshots = _search(position, agent, limit, seed)
    if (trace or plot) and snapshots is None:
        raise UserError(f"agent {agent!r} keeps no trace; mcts and alphazero do")
    if plot is not None and snapshots is not None:
        from fourlab.reporting.figures import convergence, save

        save(convergence(snapshots, f"{agent} on {moves or 'the empty board'}"), plot)
    exact = _solve(position, proof) if proof > 0 else None
    if not trace:
        snapshots = None
    if json:
        print_json(_as_data(position, agent, decision, exact, snapshots))
        return
    print_board(position)
    print()
    if exact is not None:
        _print_exact(exact)
    print(f"{agent}:")
    _print_columns(decision.analysis)
    _print_decision(decision)
    if snapshots is not None:
        _print_trace(snapshots)


def _check_plotting() -> None:
    from fourlab.reporting.figures import INSTALL, can_draw

    if not can_draw():
        raise UserError(f"--plot needs matplotlib: {INSTALL}")


def _search(
    position: Position, spec: str, limit: Limit, seed: int
) -> "tuple[Decision, tuple[Snapshot, ...] | None]":
    """Return the agent's decision and, if the agent is a tree search, its trace."""
    import numpy as np

    agent = make(spec)
    rng = np.random.default_rng(seed)
    if isinstance(agent, Searcher):
        search = agent.search(position, limit, rng)
        return search.decision, tuple(search.trace)
    return agent.decide(position, limit, rng), None


@dataclass(frozen=True)
class ExactAnalysis:
    """The solver's results for a position."""

    columns: "dict[int, Solution]"
    line: tuple[int, ...]
    """Best play for both sides, as columns counted from 0."""
    line_ends: bool
    """Whether the line reaches the end of the game; otherwise the time ran out."""


def _solve(position: Position, seconds: float) -> ExactAnalysis:
    """Solve every column, and spend the remaining time on the line of best play."""
    from fourlab.solver import Solver

    solver = Solver()
    deadline = time.perf_counter() + seconds
    columns = solver.columns(position, Limit(seconds=seconds))
    # The line reuses the solver's table and usually takes no time.
    remaining = deadline - time.perf_counter()
    line = solver.line(position, Limit(seconds=remaining)) if remaining > 0 else ()
    end = position
    for column in line:
        end = end.play(column)
    return ExactAnalysis(columns, line, end.outcome() is not None)


def _print_exact(exact: ExactAnalysis) -> None:
    best = max(solution.upper for solution in exact.columns.values())
    for column, solution in exact.columns.items():
        # A column whose lower bound is the greatest upper bound is certainly best.
        mark = "*" if solution.lower == best else " "
        print(f"column {column + 1:2} {mark} {solution}")
    if exact.line:
        print(f"best play: {_joined(exact.line)}{'' if exact.line_ends else ' …'}")
    print()


def _joined(line: tuple[int, ...]) -> str:
    return " ".join(str(column + 1) for column in line)


def _print_columns(analysis: Analysis) -> None:
    """Print one row per column: search statistics, points, exact values or estimates."""
    # Agents fill in different fields of an analysis; at most one of these blocks prints anything.
    columns = analysis.columns if analysis.visits is not None else ()
    if columns:
        # A network gives priors; a search without one selects by a bound.
        has_priors = any(column.prior is not None for column in columns)
        print(f"column    visits   share     mean    {'prior' if has_priors else 'bound'}  proven")
    all_visits = sum(column.visits for column in columns) or 1  # the divisor of shares
    for column in columns:
        mean = "-" if column.value is None else f"{column.value:+.4f}"
        bound = "-" if column.bound is None else f"{column.bound:+.4f}"
        if column.prior is not None:
            bound = f"{column.prior:.1%}"
        proven = "" if column.proven is None else column.proven.word
        row = (
            f"{column.column + 1:6}{column.visits:10,}{column.visits / all_visits:8.1%}"
            f"{mean:>9}{bound:>9}  {proven}"
        )
        print(row.rstrip())
    for number, points in analysis.scores.items():
        print(f"column {number + 1}: {points} points")
    for number, value in analysis.expected.items():
        print(f"column {number + 1}: {value} = {float(value):+.5f} exactly")
    for number, estimate in analysis.estimates.items():
        print(f"column {number + 1}: {estimate:+.4f} estimated")
    if analysis.columns:
        print()


def _print_decision(decision: Decision) -> None:
    """Print the chosen column and, on standard error, the cost of the search."""
    print(f"plays {decision.column + 1}", end="")
    if decision.proven is not None:
        print(f", a proven {decision.proven.result.word}", end="")
    elif decision.value is not None:
        print(f", expecting {decision.value:+.4f}", end="")
    print(f"; line {_joined(decision.line)}" if decision.line else "")
    analysis = decision.analysis
    simulations = analysis.simulations
    if simulations is None:
        return
    speed = ""
    if (seconds := analysis.seconds) is not None:
        speed = f" in {seconds:.3f} s ({simulations / max(seconds, 1e-9):,.0f}/s)"
    # Times differ between runs; without them, standard output is the same for the same seed.
    print(f"{simulations:,} simulations{speed}, {analysis.nodes or 0:,} nodes", file=sys.stderr)


def _print_trace(snapshots: "tuple[Snapshot, ...]") -> None:
    print("\nsimulations  means (visits)")
    for snapshot in snapshots:
        cells = [
            f"{mean:+.2f} ({visits})" if mean is not None else "-"
            for mean, visits in zip(snapshot.means, snapshot.visits, strict=True)
        ]
        print(f"{snapshot.simulations:11,}  {'  '.join(cells)}")


def _as_data(
    position: Position,
    agent: str,
    decision: Decision,
    exact: ExactAnalysis | None,
    snapshots: "tuple[Snapshot, ...] | None",
) -> dict[str, Any]:
    """Return the analysis as plain data; columns count from 1."""
    analysis = decision.analysis
    proven = decision.proven
    data: dict[str, Any] = {
        "position": position.write(),
        "agent": agent,
        "column": decision.column + 1,
        "value": decision.value,
        "proven": proven and {"result": proven.result, "plies": proven.plies},
        "policy": decision.policy,
        "line": [column + 1 for column in decision.line],
        "columns": [
            {
                "column": column.column + 1,
                "visits": column.visits,
                "mean": column.value,
                "bound": column.bound,
                "prior": column.prior,
                "proven": column.proven,
            }
            for column in (analysis.columns if analysis.visits is not None else ())
        ],
        "stats": _totals(analysis),
    }
    if exact is not None:
        data["truth"] = _exact_data(exact)
    if analysis.expected:
        # As text, such as "-13/27", because JSON has no fractions.
        data["exact_values"] = _by_number(analysis.expected)
    if analysis.estimates:
        data["estimates"] = _by_number(analysis.estimates)
    if snapshots is not None:
        data["trace"] = [
            {
                "simulations": snapshot.simulations,
                "visits": snapshot.visits,
                "means": snapshot.means,
            }
            for snapshot in snapshots
        ]
    return data


def _exact_data(exact: ExactAnalysis) -> dict[str, Any]:
    columns = [
        {
            "column": column + 1,
            "says": str(solution),
            "score": solution.score,
            "lower": solution.lower,
            "upper": solution.upper,
        }
        for column, solution in exact.columns.items()
    ]
    line = [column + 1 for column in exact.line]
    return {"line": line, "line_ends": exact.line_ends, "columns": columns}


def _totals(analysis: Analysis) -> dict[str, Any]:
    """Return the agent's counters that are set, by their names in the JSON format."""
    totals: dict[str, Any] = {
        "simulations": analysis.simulations,
        "seconds": analysis.seconds,
        "evaluations": analysis.evaluations,
        "nodes": analysis.nodes,
        "depth": analysis.depth,
        "bytes": analysis.memory_bytes,
        "visits": analysis.visits,
        "network": analysis.network,
        "score": analysis.score,
        "known": analysis.table_hits,
        "book": analysis.from_book,
        "scores": _by_number(analysis.scores) or None,
    }
    return {name: value for name, value in totals.items() if value is not None}


def _by_number(values: dict[int, Any]) -> dict[str, Any]:
    """Return values by the numbers of their columns, counted from 1."""
    return {str(column + 1): value for column, value in values.items()}
