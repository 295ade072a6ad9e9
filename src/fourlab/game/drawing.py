"""Drawings of positions as SVG and as text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fourlab.game.outcome import SIDE_NAMES

if TYPE_CHECKING:
    from fourlab.game.position import Position

# The size of a cell and the radius of a disc in pixels, as in the window of Arya's program.
_CELL = 60
_DISC = 25
# The grey of the labels can be read on white and on black.
_LABEL = 'text-anchor="middle" font-family="sans-serif" font-size="18" fill="#7a828c"'
_COLOURS = ("#eef2f7", "#d83933", "#f2b90d")
"""Fill colours of an empty cell, a red disc and a yellow disc."""


def cell_name(column: int, row: int) -> str:
    """Return a cell's name in chess style, counted from the bottom left cell a1."""
    letter = chr(ord("a") + column) if column < 26 else f"#{column + 1}"
    return f"{letter}{row + 1}"


def svg(position: "Position") -> str:
    """Return the board as SVG.

    Yellow discs carry a ring, winning cells a dark rim and the last disc a white dot, so the
    drawing can be read without colours. It looks the same on light and dark pages.
    """
    rules = position.rules
    width = rules.columns * _CELL
    height = rules.rows * _CELL
    winning_cells = set(position.winning_cells())
    last = last_cell(position)
    outcome = position.outcome()
    title = f"{SIDE_NAMES[position.to_move]} to move" if outcome is None else str(outcome)
    # The board, then 30 pixels below it for the column numbers.
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 30}" '
        f'viewBox="0 0 {width} {height + 30}" role="img">',
        f"<title>Connect Four, {title}</title>",
        f'<rect width="{width}" height="{height}" rx="12" fill="#2b5fad"/>',
    ]
    for below_top, cells in enumerate(position.grid()):
        for column, cell in enumerate(cells):
            # SVG's y axis points down, as the rows of a grid do.
            x = column * _CELL + _CELL // 2
            y = below_top * _CELL + _CELL // 2
            row = rules.rows - 1 - below_top
            is_winning = (column, row) in winning_cells
            rim = ' stroke="#111" stroke-width="5"' if is_winning else ""
            parts.append(f'<circle cx="{x}" cy="{y}" r="{_DISC}" fill="{_COLOURS[cell]}"{rim}/>')
            if cell == 2:
                parts.append(
                    f'<circle cx="{x}" cy="{y}" r="{_DISC - 9}" fill="none" '
                    'stroke="#8a6500" stroke-width="3"/>'
                )
            if (column, row) == last:
                parts.append(f'<circle cx="{x}" cy="{y}" r="6" fill="#fff" stroke="#333"/>')
    for column in range(rules.columns):
        x = column * _CELL + _CELL // 2
        parts.append(f'<text x="{x}" y="{height + 22}" {_LABEL}>{column + 1}</text>')
    return "\n".join([*parts, "</svg>\n"])


def last_cell(position: "Position") -> tuple[int, int] | None:
    """Return the last disc's column and row, counted from 0; None if it is not known."""
    if not position.moves:
        return None
    column = position.moves[-1]
    height = position.rules.geometry.height
    discs = position.mask >> column * height & (1 << height) - 1
    return column, discs.bit_count() - 1


def text(position: "Position") -> str:
    """Return the board as text with the status below, as commands print it.

    The cells of a winning line are in parentheses.
    """
    lines = ("".join(piece for piece, _ in line) for line in text_lines(position))
    return "\n".join([*lines, status(position)])


def text_lines(position: "Position") -> Iterator[list[tuple[str, int | None]]]:
    """Yield the rows from the top, then the column numbers.

    Each is a list of texts with the cell they show: 0 empty, 1 red, 2 yellow, None for no cell.
    """
    winning = set(position.winning_cells())
    for below_top, cells in enumerate(position.grid()):
        row = position.rules.rows - 1 - below_top  # the grid begins at the top, rows at the bottom
        line: list[tuple[str, int | None]] = [(" ", None)]
        for column, cell in enumerate(cells):
            disc = ".XO"[cell]
            line.append((f"({disc})" if (column, row) in winning else f" {disc} ", cell))
        yield line
    # Three characters per column leave room for parentheses and for numbers of two digits.
    numbers = "".join(f"{column + 1:^3}" for column in range(position.rules.columns))
    yield [(f" {numbers}", None)]


def status(position: "Position") -> str:
    """Return the side to move, or how the game ended, in words."""
    outcome = position.outcome()
    if outcome is None:
        side = f"{SIDE_NAMES[position.to_move]} ({'XO'[position.to_move]})"
        discs = "1 disc" if position.ply == 1 else f"{position.ply} discs"
        return f"{side} to move, {discs} on the board"
    if outcome.winner is None:
        return "draw: the board is full"
    cells = " ".join(cell_name(column, row) for column, row in position.winning_cells())
    return f"{outcome} with {cells}"
