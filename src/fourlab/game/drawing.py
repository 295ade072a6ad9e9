"""SVG drawings of positions."""

from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position

# The size of a cell and the radius of a disc in pixels, as in the window of Arya's program.
_CELL = 60
_DISC = 25
_LABEL = 'text-anchor="middle" font-family="sans-serif" font-size="18" fill="#667"'
_COLOURS = ("#eef2f7", "#d83933", "#f2b90d")
"""Fill colours of an empty cell, a red disc and a yellow disc."""


def cell_name(column: int, row: int) -> str:
    """Return a cell's name in chess style, counted from the bottom left cell a1."""
    letter = chr(ord("a") + column) if column < 26 else f"#{column + 1}"
    return f"{letter}{row + 1}"


def svg(position: Position) -> str:
    """Return the board as SVG.

    Yellow discs carry a ring and winning cells a dark rim, so the drawing can be read without
    colours.
    """
    rules = position.rules
    width = rules.columns * _CELL
    height = rules.rows * _CELL
    winning_cells = set(position.winning_cells())
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
            is_winning = (column, rules.rows - 1 - below_top) in winning_cells
            rim = ' stroke="#111" stroke-width="5"' if is_winning else ""
            parts.append(f'<circle cx="{x}" cy="{y}" r="{_DISC}" fill="{_COLOURS[cell]}"{rim}/>')
            if cell == 2:
                parts.append(
                    f'<circle cx="{x}" cy="{y}" r="{_DISC - 9}" fill="none" '
                    'stroke="#8a6500" stroke-width="3"/>'
                )
    for column in range(rules.columns):
        x = column * _CELL + _CELL // 2
        parts.append(f'<text x="{x}" y="{height + 22}" {_LABEL}>{column + 1}</text>')
    return "\n".join([*parts, "</svg>\n"])
