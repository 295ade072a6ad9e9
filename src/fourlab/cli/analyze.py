"""`fourlab analyze`: the exact value of every column, and an agent's analysis of the position."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from fourlab.agent import Analysis, Limit
from fourlab.agents.registry import make
from fourlab.analysis.position import PROOF_SECONDS, analyse_position
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
from fourlab.game import drawing
from fourlab.reporting.figures import convergence, require, save


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
    ] = PROOF_SECONDS,
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
        require("--plot")
    position = unfinished_position(moves, board, any_counts)
    limit = Limit(seconds=seconds, simulations=simulations)
    analysis = analyse_position(position, make(agent), agent, limit, seed, proof)
    if (trace or plot) and analysis.trace is None:
        raise UserError(f"agent {agent!r} keeps no trace; mcts and alphazero do")
    if plot is not None and analysis.trace is not None:
        save(convergence(analysis.trace, f"{agent} on {moves or 'the empty board'}"), plot)
    if json:
        data = analysis.to_dict()
        print_json({**data, "trace": analysis.trace_data()} if trace else data)
        return
    print_board(position)
    # The rest as text; on a terminal the board has colours.
    print(str(analysis).removeprefix(drawing.text(position)).removeprefix("\n"))
    _print_cost(analysis.decision.analysis)
    if trace:
        print("\n".join(["", *analysis.trace_lines()]))


def _print_cost(analysis: Analysis) -> None:
    """Print the cost of a tree search to standard error."""
    simulations = analysis.simulations
    if simulations is None:
        return
    speed = ""
    if (seconds := analysis.seconds) is not None:
        speed = f" in {seconds:.3f} s ({simulations / max(seconds, 1e-9):,.0f}/s)"
    # Times differ between runs; without them, standard output is the same for the same seed.
    print(f"{simulations:,} simulations{speed}, {analysis.nodes or 0:,} nodes", file=sys.stderr)
