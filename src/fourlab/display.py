"""Results in notebooks: HTML that can be read on light and dark pages, and tables for pandas.

Notebooks keep no style sheets of ours, so every element has its own style. All texts are escaped.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any, TypeAlias

from fourlab.errors import UserError

DataFrame: TypeAlias = Any
"""A data frame of pandas, which need not be installed."""

_CELL = "padding: .15em .7em .15em 0; border-bottom: 1px solid #8884; vertical-align: top"
_LEFT, _RIGHT = "text-align: left", "text-align: right; font-variant-numeric: tabular-nums"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return an HTML table; numbers are aligned to the right."""
    rows = list(rows)
    sides = [
        _RIGHT if rows and all(_is_number(row[place]) for row in rows) else _LEFT
        for place in range(len(head))
    ]
    lines = [_row("th", head, sides), *(_row("td", row, sides) for row in rows)]
    style = "border-collapse: collapse; margin: .4em 0; color: inherit"
    return f'<table style="{style}">{"".join(lines)}</table>'


def paragraph(text: object) -> str:
    """Return a paragraph of plain text."""
    return f'<p style="margin: .4em 0">{escape(str(text))}</p>'


def preformatted(text: object) -> str:
    """Return text that keeps its spaces and lines."""
    return f'<pre style="margin: .4em 0">{escape(str(text))}</pre>'


def beside(*parts: str) -> str:
    """Return elements of HTML next to each other, or below where there is no room."""
    cells = "".join(f"<div>{part}</div>" for part in parts)
    return f'<div style="display: flex; flex-wrap: wrap; gap: 0 2em">{cells}</div>'


def picture(svg: str, width: int = 280) -> str:
    """Return an SVG drawing in a box of this width, in pixels."""
    small = svg.replace("<svg ", '<svg style="width: 100%; height: auto" ', 1)
    return f'<div style="width: {width}px; max-width: 100%">{small}</div>'


def data_frame(rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Return rows as a pandas data frame; raise UserError if pandas is not installed."""
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError:
        raise UserError("to_pandas() needs pandas: pip install 'fourlab[notebook]'") from None
    return pandas.DataFrame([dict(row) for row in rows])


def _row(element: str, cells: Iterable[object], sides: Sequence[str]) -> str:
    written = (
        f'<{element} style="{_CELL}; {side}">{escape(str(cell))}</{element}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(written)}</tr>"


def _is_number(cell: object) -> bool:
    # Numbers are often written as text already: "+0.1733", "12.5%", "1,000".
    digits = str(cell).replace(",", "").strip("+-%… ")
    return digits == "" or digits.replace(".", "", 1).isdecimal()
