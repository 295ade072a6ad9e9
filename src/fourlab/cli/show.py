"""`fourlab show`: draw a position and write it in every notation."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.cli.board import print_board
from fourlab.cli.options import AnyCountsOption, BoardOption, JsonOption, PositionArgument, print_json
from fourlab.errors import UserError
from fourlab.game.drawing import cell_name, svg
from fourlab.game.notation import NOTATIONS
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position


def show(
    position: PositionArgument = "",
    board: BoardOption = None,
    any_counts: AnyCountsOption = False,
    svg_file: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Also draw the board into an SVG file.")] = None,
    json: JsonOption = False,
) -> None:
    """Draw a position, say who moves or who won, and write it in every notation."""
    shown = Position(position, board, check_counts=not any_counts)
    if svg_file is not None:
        try:
            svg_file.write_text(svg(shown), encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write {svg_file}: {error.strerror}") from None
    if json:
        print_json(describe(shown))
        return
    print_board(shown)
    print()
    for name, text in _notations(shown).items():
        print(f"{name:8} {text}")


def describe(position: Position) -> dict[str, Any]:
    """Everything there is to say about a position, as plain data; columns count from 1."""
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
    """The position in each notation that can hold it; the drawing has been shown already."""
    texts = {}
    for name in NOTATIONS:
        if name == "ascii" or (position.moves is None and name in ("moves", "moves0", "letters")):
            continue
        try:
            texts[name] = position.write(name)
        except UserError:  # no letters for so many columns
            continue
    return texts
