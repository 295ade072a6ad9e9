"""Small pieces of Markdown that GitHub and the site show alike."""

import re
import textwrap
from collections.abc import Iterable, Sequence

NOTE = "<!-- Written by `python -m tools.reference`; a test compares it with the program. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Return text from the program so that it is shown as it is, except for code in backticks."""
    pieces = text.split("`")
    for number in range(0, len(pieces), 2):
        escaped = pieces[number].replace("\\", "\\\\").replace("<", "&lt;")
        # A star between spaces is no emphasis.
        pieces[number] = re.sub(r"(?<!\S)(\*+)(?!\S)|\*", lambda stars: stars[1] or "\\*", escaped)
    return "`".join(pieces).replace("|", "\\|")


def paragraph(text: str) -> str:
    """Return a paragraph of text from the program, in lines of at most 100 columns."""
    lines = textwrap.wrap(plain(text), 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n\n"


def code(text: str) -> str:
    """Return text as code; a bar would end a cell, in backticks, too."""
    if not text:
        return ""
    if "|" not in text:
        return f"`{text}`"
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return f"<code>{escaped}</code>"
