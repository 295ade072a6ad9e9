"""Pictures of positions."""

from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position

_CELL, _DISC = 60, 25  # document 004's window: cells of 60, discs of radius 25
_LABEL = 'text-anchor="middle" font-family="sans-serif" font-size="18" fill="#667"'
_COLOURS = ("#eef2f7", "#d83933", "#f2b90d")


def cell_name(column: int, row: int) -> str:
    """Name a cell as chess does: a1 is bottom left."""
    return f"{chr(ord('a') + column) if column < 26 else '#' + str(column + 1)}{row + 1}"


def svg(position: Position) -> str:
    """Draw the board as SVG; yellow discs carry a ring and winning cells a dark rim, so colour is never needed."""
    rules = position.rules
    width, height = rules.columns * _CELL, rules.rows * _CELL
    won = set(position.winning_cells())
    outcome = position.outcome()
    title = f"{SIDE_NAMES[position.to_move]} to move" if outcome is None else str(outcome)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 30}" '
        f'viewBox="0 0 {width} {height + 30}" role="img">',
        f"<title>Connect Four, {title}</title>",
        f'<rect width="{width}" height="{height}" rx="12" fill="#2b5fad"/>',
    ]
    for below_top, cells in enumerate(position.grid()):
        for column, cell in enumerate(cells):
            x, y = column * _CELL + _CELL // 2, below_top * _CELL + _CELL // 2
            rim = ' stroke="#111" stroke-width="5"' if (column, rules.rows - 1 - below_top) in won else ""
            parts.append(f'<circle cx="{x}" cy="{y}" r="{_DISC}" fill="{_COLOURS[cell]}"{rim}/>')
            if cell == 2:
                parts.append(f'<circle cx="{x}" cy="{y}" r="{_DISC - 9}" fill="none" stroke="#8a6500" stroke-width="3"/>')
    for column in range(rules.columns):
        x = column * _CELL + _CELL // 2
        parts.append(f'<text x="{x}" y="{height + 22}" {_LABEL}>{column + 1}</text>')
    return "\n".join([*parts, "</svg>\n"])
