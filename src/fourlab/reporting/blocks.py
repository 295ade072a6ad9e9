"""A page as a list of blocks, which are written as Markdown and as HTML.

Text in blocks may have `code`, **bold** and [links](address).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from fourlab.reporting import figures
from fourlab.reporting.page import NO_FIGURES, table, within_page

_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Heading:
    """A heading; `anchor` is what links to it name."""

    text: str
    level: int = 2
    anchor: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list of lines, each alone or with a list of its own below it."""

    lines: Sequence[str | tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Grid:
    """A table; its cells are text with markup, or integers."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Drawing:
    """A figure in a file of its own, with what belongs below it."""

    file: Path
    """The SVG file; without it, the page says what is missing."""
    address: str
    """How a page refers to the file."""
    caption: str
    data: str = ""
    """The address of the numbers that it shows."""
    command: str = ""
    """What draws it."""
    anchor: str = ""

    @property
    def below(self) -> str:
        """The caption, with data and command in parentheses."""
        data = [f"[data]({self.data})"] if self.data else []
        sources = [*data, *([f"`{self.command}`"] if self.command else [])]
        return f"{self.caption} ({', '.join(sources)})" if sources else self.caption

    @property
    def name(self) -> str:
        """What stands in place of the picture for those who cannot see it."""
        return self.file.stem.replace("-", " ")


@dataclass(frozen=True)
class Listing:
    """Preformatted text."""

    text: str


@dataclass(frozen=True)
class Folded:
    """Blocks that the reader opens."""

    title: str
    blocks: "Sequence[Block]"


Block = Heading | Paragraph | Bullets | Grid | Drawing | Listing | Folded


def to_markdown(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the lines of a Markdown page."""
    for block in blocks:
        match block:
            case Heading(text, level, anchor):
                # Not every reader of Markdown makes the same anchors from headings.
                if anchor:
                    yield from (f'<a id="{anchor}"></a>', "")
                yield f"{'#' * level} {text}"
            case Paragraph(text):
                yield text
            case Bullets(lines):
                for line in lines:
                    text, below = (line, ()) if isinstance(line, str) else line
                    yield f"- {text}"
                    yield from (f"  - {one}" for one in below)
            case Grid(head, rows):
                yield from markdown_table(head, rows)
            case Drawing(file, address, anchor=anchor):
                if anchor:
                    yield from (f'<a id="{anchor}"></a>', "")
                drawn = f"![{block.name}]({address})"
                yield drawn if file.exists() else f"({figures.NEEDS_PLOTS})"
                yield from ("", block.below)
            case Listing(text):
                yield from ("```text", text, "```")
            case Folded(title, inner):
                yield from (f"<details><summary>{escape(title, quote=False)}</summary>", "")
                yield from to_markdown(inner)
                yield "</details>"
        yield ""


def to_html(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the elements of an HTML page, for `page`."""
    for block in blocks:
        match block:
            case Heading(text, level, anchor):
                anchored = f' id="{escape(anchor)}"' if anchor else ""
                yield f"<h{level}{anchored}>{inline(text)}</h{level}>"
            case Paragraph(text):
                yield f"<p>{inline(text)}</p>"
            case Bullets(lines):
                yield f"<ul>{''.join(map(_item, lines))}</ul>"
            case Grid(head, rows):
                yield table(head, rows, inline)
            case Drawing(file, anchor=anchor):
                drawing = NO_FIGURES
                if file.exists():
                    drawing = within_page(file.read_text(encoding="utf-8"))
                anchored = f' id="{escape(anchor)}"' if anchor else ""
                text = inline(block.below)
                yield f"<figure{anchored}>{drawing}<figcaption>{text}</figcaption></figure>"
            case Listing(text):
                yield f"<pre>{escape(text)}</pre>"
            case Folded(title, inner):
                contents = "\n".join(to_html(inner))
                yield f"<details><summary>{escape(title)}</summary>\n{contents}</details>"


def _item(line: str | tuple[str, Sequence[str]]) -> str:
    """Return an item of a list as HTML, with the list below it."""
    if isinstance(line, str):
        return f"<li>{inline(line)}</li>"
    text, below = line
    return f"<li>{inline(text)}<ul>{''.join(map(_item, below))}</ul></li>"


def inline(text: str) -> str:
    """Return text as HTML, with its code, bold words and links."""
    escaped = escape(text, quote=False)
    linked = _LINK.sub(_anchor, escaped)
    return _BOLD.sub(r"<strong>\1</strong>", _CODE.sub(r"<code>\1</code>", linked))


def _anchor(link: re.Match[str]) -> str:
    """Return a link as HTML; an address with another scheme than the web's stays text."""
    text, address = link.groups()
    if ":" in address and not address.startswith(("https:", "http:")):
        return link[0]
    return f'<a href="{address.replace(chr(34), "%22")}">{text}</a>'


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        # A bar would end the cell.
        cells = (str(cell).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cells)} |"
