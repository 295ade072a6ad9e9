"""`fourlab analyze`: what an agent thinks of a position."""

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
)
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position

if TYPE_CHECKING:
    from fourlab.agents.mcts.xray import Snapshot
    from fourlab.solver import Solution


def analyze(
    position: PositionArgument = "",
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="Who thinks (fourlab agents).")
    ] = "mcts:simulations=100000",
    board: BoardOption = None,
    any_counts: AnyCountsOption = False,
    seconds: SecondsOption = None,
    simulations: SimulationsOption = None,
    seed: SeedOption = 0,
    proof: Annotated[float, typer.Option(metavar="SECONDS", min=0, help="Let the solver work so long; 0: not at all.")] = 10,
    trace: Annotated[bool, typer.Option("--trace", help="Also show how the search converged.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the convergence as .svg, .png or .pdf.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say what every column is worth: the exact truth from the solver, and beside it what an agent thinks.

    "wins in 7" means: seven more discs, the winner hurrying and the loser holding out. The agent's means are for the side to
    move, -1 to +1. What is proven is exact; everything else is an estimate.
    """
    import numpy as np

    if plot is not None:
        from fourlab.reporting.figures import INSTALL, can_draw

        if not can_draw():
            raise UserError(f"--plot needs matplotlib: {INSTALL}")
    shown = Position(position, board, check_counts=not any_counts)
    if shown.outcome() is not None:
        raise UserError(f"the game is over ({shown.outcome()}): {shown!r}")
    thinker, limit, rng = make(agent), Limit(seconds=seconds, simulations=simulations), np.random.default_rng(seed)
    curve: tuple[Snapshot, ...] | None = None
    if isinstance(thinker, Searcher):
        found = thinker.search(shown, limit, rng)
        decision, curve = found.decision, tuple(found.trace)
    else:
        decision = thinker.decide(shown, limit, rng)
    if (trace or plot) and curve is None:
        raise UserError(f"agent {agent!r} keeps no trace; mcts and alphazero do")
    if plot is not None and curve is not None:
        from fourlab.reporting.figures import convergence, save

        save(convergence(curve, f"{agent} on {position or 'the empty board'}"), plot)
    truth = _solve(shown, proof) if proof > 0 else None
    if json:
        print_json(_as_data(shown, agent, decision, truth, curve if trace else None))
        return
    print_board(shown)
    print()
    if truth is not None:
        _print_truth(truth)
    print(f"{agent}:")
    _print_decision(decision)
    if trace and curve is not None:
        _print_trace(curve)


@dataclass(frozen=True)
class Truth:
    """What the solver knows."""

    columns: "dict[int, Solution]"
    line: tuple[int, ...]
    line_ends: bool
    """Whether the line goes to the end of the game; if not, there was no time for more."""


def _solve(position: Position, seconds: float) -> Truth:
    """Solve every column, and find the best line in what time is left."""
    from fourlab.solver import Solver

    solver, started = Solver(), time.perf_counter()
    columns = solver.columns(position, Limit(seconds=seconds))
    left = seconds - (time.perf_counter() - started)
    line = solver.line(position, Limit(seconds=left)) if left > 0 else ()
    end = position
    for column in line:
        end = end.play(column)
    return Truth(columns, line, end.outcome() is not None)


def _print_truth(truth: Truth) -> None:
    best = max(each.upper for each in truth.columns.values())
    for column, each in truth.columns.items():
        mark = "*" if each.lower == best else " "  # nothing can be better
        print(f"column {column + 1:2} {mark} {each}")
    print(f"best play: {_joined(truth.line)}{'' if truth.line_ends else ' …'}\n" if truth.line else "")


def _joined(line: tuple[int, ...]) -> str:
    return " ".join(str(column + 1) for column in line)


def _print_decision(decision: Decision) -> None:
    analysis = decision.analysis
    columns = analysis.columns if analysis.visits is not None else ()
    by_network = any(each.prior is not None for each in columns)
    if columns:
        print(f"column    visits   share     mean  {'  prior' if by_network else '  bound'}  proven")
    visits = sum(each.visits for each in columns) or 1
    for each in columns:
        mean, bound = (f"{value:+.4f}" if value is not None else "-" for value in (each.value, each.bound))
        if each.prior is not None:
            bound = f"{each.prior:.1%}"
        proven = "" if each.proven is None else Result(each.proven).word
        print(f"{each.column + 1:6}{each.visits:10,}{each.visits / visits:8.1%}{mean:>9}{bound:>9}  {proven}".rstrip())
    for column, points in analysis.scores.items():
        print(f"column {column + 1}: {points} points")
    for column, value in analysis.expected.items():
        print(f"column {column + 1}: {value} = {float(value):+.5f} exactly")
    for column, estimate in analysis.estimates.items():
        print(f"column {column + 1}: {estimate:+.4f} estimated")
    if analysis.columns:
        print()
    print(f"plays {decision.column + 1}", end="")
    if decision.proven is not None:
        print(f", a proven {Result(decision.proven.result).word}", end="")
    elif decision.value is not None:
        print(f", expecting {decision.value:+.4f}", end="")
    print(f"; line {_joined(decision.line)}" if decision.line else "")
    if (simulations := analysis.simulations) is not None:
        seconds = analysis.seconds
        speed = "" if seconds is None else f" in {seconds:.3f} s ({simulations / max(seconds, 1e-9):,.0f}/s)"
        print(f"{simulations:,} simulations{speed}, {analysis.nodes or 0:,} nodes", file=sys.stderr)


def _print_trace(curve: "tuple[Snapshot, ...]") -> None:
    print("\nsimulations  means (visits)")
    for each in curve:
        cells = [
            f"{mean:+.2f} ({visits})" if mean is not None else "-" for mean, visits in zip(each.means, each.visits, strict=True)
        ]
        print(f"{each.simulations:11,}  {'  '.join(cells)}")


def _totals(analysis: Analysis) -> dict[str, Any]:
    """What the agent counted, by the names of the JSON format."""
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
        "known": analysis.known,
        "book": analysis.from_book,
        "scores": {str(column + 1): points for column, points in analysis.scores.items()} or None,
    }
    return {name: value for name, value in totals.items() if value is not None}


def _as_data(
    position: Position, agent: str, decision: Decision, truth: Truth | None, curve: "tuple[Snapshot, ...] | None"
) -> dict[str, Any]:
    """The analysis as plain data; columns count from 1."""
    analysis = decision.analysis
    columns = analysis.columns if analysis.visits is not None else ()
    values = analysis.expected
    data: dict[str, Any] = {
        "position": position.write(),
        "agent": agent,
        "column": decision.column + 1,
        "value": decision.value,
        "proven": None if decision.proven is None else {"result": decision.proven.result, "plies": decision.proven.plies},
        "policy": decision.policy,
        "line": [column + 1 for column in decision.line],
        "columns": [
            {
                "column": each.column + 1,
                "visits": each.visits,
                "mean": each.value,
                "bound": each.bound,
                "prior": each.prior,
                "proven": each.proven,
            }
            for each in columns
        ],
        "stats": _totals(analysis),
    }
    if truth is not None:
        data["truth"] = {
            "line": [column + 1 for column in truth.line],
            "line_ends": truth.line_ends,
            "columns": [
                {"column": column + 1, "says": str(each), "score": each.score, "lower": each.lower, "upper": each.upper}
                for column, each in truth.columns.items()
            ],
        }
    if values:
        data["exact_values"] = {str(column + 1): str(value) for column, value in values.items()}
    if estimates := analysis.estimates:
        data["estimates"] = {str(column + 1): estimate for column, estimate in estimates.items()}
    if curve is not None:
        data["trace"] = [{"simulations": each.simulations, "visits": each.visits, "means": each.means} for each in curve]
    return data
