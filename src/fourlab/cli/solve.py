"""`fourlab solve`: print the exact scores of positions."""

import json as json_module
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.agent import Limit, Stop
from fourlab.cli.options import (
    AnyCountsOption,
    BoardOption,
    MemoryOption,
    NoBookOption,
    NodesOption,
    SecondsOption,
    ThreadsOption,
    positions_of,
)
from fourlab.cli.stoppable import Stoppable
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.position_file import Line

if TYPE_CHECKING:
    from fourlab.solver import Solver


PositionsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="Moves, names, any notation (default: read --file)."),
]
FileOption = Annotated[
    Path,
    typer.Option(
        "--file", metavar="FILE", help="File of positions, one per line; - is standard input."
    ),
]
JsonLinesOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line instead of text.")
]


def solve(
    positions: PositionsArgument = None,
    file: FileOption = Path("-"),
    weak: Annotated[
        bool, typer.Option("--weak", help="Find only the result, 1, 0 or -1; much faster.")
    ] = False,
    all_columns: Annotated[
        bool, typer.Option("--all-columns", help="Print the score of every column; . if full.")
    ] = False,
    board: BoardOption = None,
    any_counts: AnyCountsOption = False,
    seconds: SecondsOption = None,
    nodes: NodesOption = None,
    threads: ThreadsOption = 1,
    memory_mb: MemoryOption = 64,
    no_book: NoBookOption = False,
    json: JsonLinesOption = False,
) -> None:
    """Print the exact scores of positions.

    Every line of output has a position, its score, the nodes searched and the microseconds spent.
    A score is from the side to move's point of view: 0 is a draw, 5 a win with the fifth last of
    its own discs, -5 a loss to the opponent's fifth last disc. A score that could not be proven
    within the limit is printed as its bounds, low..high. Every position is solved with an empty
    transposition table. A long search shows its bounds on a terminal; Ctrl-C prints those proven so
    far, and the exit code is 130.

    Input lines of the form "moves score" are tests: wrong scores are reported, and the exit code
    is 1.

    Examples:

      fourlab solve 44444 --all-columns

      fourlab solve --file test-set.txt
    """
    from fourlab.solver import Solver

    limit = Limit(seconds=seconds, nodes=nodes)
    solver = Solver(memory_mb, threads, None if no_book else "shipped")
    stoppable = Stoppable()
    count = wrong = unproven = 0
    search = _Search(solver, limit, weak, all_columns)
    for line in _lines(positions, file, board, any_counts):
        solver.forget()  # so that nodes and times do not depend on the order of the lines
        result = stoppable.run(partial(search.solve, line), partial(search.describe, line))
        test = _compare(result, line.score, weak)
        count += 1
        wrong += test.get("wrong", False)
        # Without an expected score, bounds are an answer; with one, they prove nothing.
        unproven += bool(test) and result["score"] is None
        if json:
            print(json_module.dumps({"position": line.text, **result, **test}), flush=True)
        else:
            print(_row(line, result, test, all_columns), flush=True)
        if stoppable.is_interrupted:
            _print_error("interrupted; the bounds above are proven")
            raise typer.Exit(130)
    _report_tests(count, wrong, unproven)


def _report_tests(count: int, wrong: int, unproven: int) -> None:
    """Print how many scores were not as expected; exit with 1 if there are any."""
    if unproven:
        _print_error(f"{unproven} of {count} scores could not be proven within the limit")
    if wrong:
        _print_error(f"{wrong} of {count} scores are not as expected")
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Search:
    """How every position is solved."""

    solver: "Solver"
    limit: Limit
    weak: bool
    all_columns: bool

    def solve(self, line: Line, stop: Stop) -> dict[str, Any]:
        """Solve a position until `stop` is set."""
        limit = replace(self.limit, stop=stop)
        return _solve(line.position, self.solver, limit, self.weak, self.all_columns)

    def describe(self, line: Line, seconds: float) -> str:
        """Return a line about the search in progress: its bounds, nodes and time."""
        name = line.text or "the empty board"
        if self.solver.progress is None:
            return f"{name}: {seconds:.0f} s"
        lower, upper, nodes = self.solver.progress
        return f"{name}: {lower}..{upper}, {nodes:,} nodes, {seconds:.0f} s"


def _compare(result: dict[str, Any], expected: int | None, weak: bool) -> dict[str, Any]:
    """Compare a result with the expected score of its line; return {} if the line has none."""
    if expected is None:
        return {}
    if weak:
        expected = Result.of_score(expected)
    return {"expected": expected, "wrong": not result["lower"] <= expected <= result["upper"]}


def _print_error(text: str) -> None:
    print(f"fourlab: {text}", file=sys.stderr)


def _lines(
    positions: list[str] | None, file: Path, board: str | None, any_counts: bool
) -> Iterator[Line]:
    """Return the positions on the command line, or those of the file."""
    # "-" is the default, so a file was given only if it is something else.
    if positions is not None and str(file) != "-":
        raise UserError("give positions or a file of them, not both")
    if positions is None:
        if str(file) == "-" and sys.stdin.isatty():
            _print_error("type positions, one per line; Ctrl-D ends (fourlab help solve)")
        return positions_of(file, board, any_counts)
    return (
        Line(text, Position(text, board, check_counts=not any_counts), None) for text in positions
    )


def _solve(
    position: Position, solver: "Solver", limit: Limit, weak: bool, all_columns: bool
) -> dict[str, Any]:
    """Return bounds, nodes and time as plain data; with `all_columns` also by column."""
    if not all_columns:
        solution = solver.solve(position, limit, weak)
        result = _bounds(solution.lower, solution.upper, weak)
        microseconds = round(1e6 * solution.seconds)
        return {**result, "nodes": solution.nodes, "microseconds": microseconds}
    # The position is worth as much as its best column, so its bounds are maxima.
    columns = solver.columns(position, limit, weak)
    solutions = columns.values()
    lower = max(solution.lower for solution in solutions)
    upper = max(solution.upper for solution in solutions)
    return {
        **_bounds(lower, upper, weak),
        "nodes": sum(solution.nodes for solution in solutions),
        "microseconds": round(1e6 * sum(solution.seconds for solution in solutions)),
        "columns": {
            str(column + 1): _bounds(solution.lower, solution.upper, weak)
            for column, solution in columns.items()
        },
    }


def _bounds(lower: int, upper: int, weak: bool) -> dict[str, Any]:
    """Return the bounds of a score, and the score itself if they meet."""
    # A weak solve proves only the sign of a score.
    if weak:
        lower = Result.of_score(lower)
        upper = Result.of_score(upper)
    return {"score": lower if lower == upper else None, "lower": lower, "upper": upper}


def _row(line: Line, result: dict[str, Any], test: dict[str, Any], all_columns: bool) -> str:
    """Return the line of output for a position."""
    # An empty text, the empty board, would leave nothing before the score.
    words = [line.text or '""']
    if all_columns:
        for column in range(line.position.rules.columns):
            bounds = result["columns"].get(str(column + 1))
            words.append("." if bounds is None else _score(bounds))
    else:
        words += [_score(result), str(result["nodes"]), str(result["microseconds"])]
    if test.get("wrong"):
        words.append(f"wrong: {test['expected']} was expected")
    return " ".join(words)


def _score(bounds: dict[str, Any]) -> str:
    if bounds["score"] is None:
        return f"{bounds['lower']}..{bounds['upper']}"
    return str(bounds["score"])
