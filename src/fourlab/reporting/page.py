"""Self-contained HTML pages: style, tables, figures."""

import itertools
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from fourlab.jobs.run import Run, toml
from fourlab.reporting import figures

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: .6rem 0; } .wide { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; }
th, td { border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; padding: .5rem; border-radius: .4rem; overflow-x: auto; }
figure { background: white; color: black; }
figure svg { max-width: 100%; height: auto; }
details { margin: .6rem 0; } summary { cursor: pointer; }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; } .lead { font-size: 1.1rem; }
"""


NO_FIGURES = f'<p class="missing">{escape(figures.NEEDS_PLOTS, quote=False)}</p>'
"""Stands in place of figures."""


POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Reports have no scripts, so nothing in a run folder of somebody else may bring one."""


def page(title: str, parts: Iterable[str]) -> str:
    """Return a whole page around its parts."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<style>{STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def how_it_was_made(run: Run) -> Iterator[str]:
    """Yield the configuration and the environment of a run."""
    config = toml(run.config)
    # The configuration is shown above as TOML.
    environment = {name: value for name, value in run.manifest.items() if name != "config"}
    yield "<h2>How it was made</h2>"
    yield f"<pre>{escape(config)}</pre>"
    yield f"<pre>{escape(json.dumps(environment, indent=2))}</pre>"


def inline_figures(
    folder: Path,
    drawings: Iterable[tuple[str, Callable[[], figures.Figure]]],
) -> dict[str, str]:
    """Save figures as NAME.svg in `folder` and return them, by name, as elements for a page.

    Without matplotlib, the first of them is a line that says what to install, the others are left
    out, and figures from an earlier state of the run are deleted: they would contradict the tables.
    """
    if not figures.can_draw():
        shutil.rmtree(folder, ignore_errors=True)
        # One line for all missing figures.
        return {name: NO_FIGURES for name, _ in itertools.islice(drawings, 1)}
    elements = {}
    for name, draw in drawings:
        file = folder / f"{name}.svg"
        folder.mkdir(exist_ok=True)
        # The name as salt: ids on one page must differ.
        figures.save(draw(), file, salt=name)
        elements[name] = f"<figure>{within_page(file.read_text(encoding='utf-8'))}</figure>"
    return elements


def within_page(svg: str) -> str:
    """Return the `<svg>` element of an SVG file."""
    # HTML does not allow the XML declaration before it.
    return svg[svg.index("<svg") :]


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    write: Callable[[str], str] = escape,
) -> str:
    """Return an HTML table; `write` turns the text of a cell into HTML."""
    rows = list(rows)
    headings = ""
    for place, name in enumerate(head):
        # Above integers, which are aligned to the right, the heading is, too.
        is_number = rows and all(isinstance(row[place], int) for row in rows)
        kind = ' class="number"' if is_number else ""
        headings += f"<th{kind}>{escape(name)}</th>"
    body = "".join(f"<tr>{cells(row, write)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{headings}</tr>{body}</table></div>'


def cells(row: Iterable[object], write: Callable[[str], str] = escape) -> str:
    """Return the cells of one row, with integers aligned to the right."""
    return "".join(
        f'<td class="number">{cell}</td>'
        if isinstance(cell, int)
        else f"<td>{write(str(cell))}</td>"
        for cell in row
    )
