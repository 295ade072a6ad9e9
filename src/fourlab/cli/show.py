"""`fourlab show`: draw a position and print it in every notation."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.cli.board import print_board
from fourlab.cli.options import (
    AnyCountsOption,
    BoardOption,
    JsonOption,
    PositionArgument,
    print_json,
)
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.drawing import cell_name, svg
from fourlab.game.notation import NOTATIONS
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position


def show(
    text: PositionArgument = "",
    board: BoardOption = None,
    any_counts: AnyCountsOption = False,
    svg_file: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Also draw the board to an SVG file."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw a position and print it in every notation.

    Also prints the side to move, or who won and where.

    Example: fourlab show 4453 --svg board.svg
    """
    position = Position(text, board, check_counts=not any_counts)
    if svg_file is not None:
        write_atomically(svg_file, svg(position).encode())
    if json:
        print_json(describe(position))
        return
    print_board(position)
    print()
    for name, written in _notations(position).items():
        print(f"{name:8} {written}")


def describe(position: Position) -> dict[str, Any]:
    """Return the position and its status as plain data; columns count from 1."""
    outcome = position.outcome()
    return {
        "board": str(position.rules),
        "ply": position.ply,
        "to_move": SIDE_NAMES[position.to_move],
        "outcome": None if outcome is None else str(outcome),
        "legal_columns": [column + 1 for column in position.legal_columns()],
        "winning_cells": [cell_name(column, row) for column, row in position.winning_cells()],
        "grid": position.grid(),
        "canonical_key": position.canonical_key,
        "notations": _notations(position),
    }


def _notations(position: Position) -> dict[str, str]:
    """Return the position in every notation that can express it, except the drawing."""
    texts = {}
    for name in NOTATIONS:
        # Notations of moves need the history, which a position read from a board does not have.
        if name == "ascii" or (position.moves is None and name in ("moves", "moves0", "letters")):
            continue
        try:
            texts[name] = position.write(name)
        except UserError:  # the alphabet has no letters for more than 26 columns
            continue
    return texts
