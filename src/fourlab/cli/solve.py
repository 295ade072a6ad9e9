"""`fourlab solve`: the exact value of positions."""

import json as json_text
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.agent import Limit
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
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.position_file import Line

if TYPE_CHECKING:
    from fourlab.solver import Solver


def solve(
    positions: Annotated[
        list[str] | None, typer.Argument(metavar="[POSITION]...", help="Moves, names, any notation; none: read them, one a line.")
    ] = None,
    file: Annotated[Path, typer.Option("--file", metavar="FILE", help="Where to read them; - is standard input.")] = Path("-"),
    weak: Annotated[bool, typer.Option("--weak", help="Only who wins: 1, 0 or -1; much faster.")] = False,
    all_columns: Annotated[bool, typer.Option("--all-columns", help="The score of every column instead; . where none.")] = False,
    board: BoardOption = None,
    any_counts: AnyCountsOption = False,
    seconds: SecondsOption = None,
    nodes: NodesOption = None,
    threads: ThreadsOption = 1,
    memory: MemoryOption = 64,
    no_book: NoBookOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line instead of text.")] = False,
) -> None:
    """Print every position's moves, exact score, nodes searched and microseconds.

    A score is for the side to move: 0 is a draw, 5 a win with the fifth last of its own discs, -5 a loss to the other side's
    fifth last. Lines of the form "moves score" are tests: a wrong score is reported, and the exit code is 1. A score that
    could not be proven within the limit is printed as its bounds, low..high. Every position is solved with an empty table.

    Examples:

      fourlab solve 44444 --all-columns

      fourlab solve --file test-set.txt
    """
    from fourlab.solver import Solver

    limit = Limit(seconds=seconds, nodes=nodes)
    solver = Solver(memory, threads, None if no_book else "shipped")
    solved = wrong = unproven = 0
    for line in _lines(positions, file, board, any_counts):
        solver.forget()
        found = _solve(line.position, solver, limit, weak, all_columns)
        expected = line.score if line.score is None or not weak else (line.score > 0) - (line.score < 0)
        is_wrong = expected is not None and not found["lower"] <= expected <= found["upper"]
        solved, wrong = solved + 1, wrong + is_wrong
        unproven += expected is not None and found["score"] is None
        if json:
            test = {} if expected is None else {"expected": expected, "wrong": is_wrong}
            print(json_text.dumps({"position": line.text, **found, **test}), flush=True)
        else:
            print(_row(line, found, all_columns) + (f" wrong: {expected} was expected" if is_wrong else ""), flush=True)
    if unproven:
        print(f"fourlab: {unproven} of {solved} scores could not be proven within the limit", file=sys.stderr)
    if wrong:
        print(f"fourlab: {wrong} of {solved} scores are not as expected", file=sys.stderr)
        raise typer.Exit(1)


def _lines(positions: list[str] | None, file: Path, board: str | None, any_counts: bool) -> Iterator[Line]:
    if positions is not None and str(file) != "-":
        raise UserError("give positions or a file of them, not both")
    if positions is None:
        return positions_of(file, board, any_counts)
    return (Line(text, Position(text, board, check_counts=not any_counts), None) for text in positions)


def _solve(position: Position, solver: "Solver", limit: Limit, weak: bool, all_columns: bool) -> dict[str, Any]:
    """What was found, as plain data."""
    if all_columns:
        columns = solver.columns(position, limit, weak)
        lower, upper = max(each.lower for each in columns.values()), max(each.upper for each in columns.values())
        nodes, seconds = sum(each.nodes for each in columns.values()), sum(each.seconds for each in columns.values())
    else:
        solution = solver.solve(position, limit, weak)
        lower, upper, nodes, seconds = solution.lower, solution.upper, solution.nodes, solution.seconds
    found: dict[str, Any] = _bounds(lower, upper, weak)
    found |= {"nodes": nodes, "microseconds": round(1e6 * seconds)}
    if all_columns:
        found["columns"] = {str(column + 1): _bounds(each.lower, each.upper, weak) for column, each in columns.items()}
    return found


def _bounds(lower: int, upper: int, weak: bool) -> dict[str, Any]:
    if weak:
        lower, upper = (lower > 0) - (lower < 0), (upper > 0) - (upper < 0)
    return {"score": lower if lower == upper else None, "lower": lower, "upper": upper}


def _row(line: Line, found: dict[str, Any], all_columns: bool) -> str:
    text = line.text or '""'
    if not all_columns:
        return f"{text} {_number(found)} {found['nodes']} {found['microseconds']}"
    numbers = [found["columns"].get(str(column + 1)) for column in range(line.position.rules.columns)]
    return " ".join([text, *("." if each is None else _number(each) for each in numbers)])


def _number(found: dict[str, Any]) -> str:
    return str(found["score"]) if found["score"] is not None else f"{found['lower']}..{found['upper']}"
