"""The data files of studies: stable names, plain headers and columns of bare numbers.

Pages show numbers as people read them, such as `97.5 % [87.1, 99.6] of 40`. In a CSV file every
number has a column of its own: `wins (%)`, `wins low (%)`, `wins high (%)`, `wins of`.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from fourlab.arena.tables import Table

BLANK = {"", "X", "never", "–"}
"""Cells of a column of numbers that have none: a full column, an event that did not happen."""

_WHOLE = r"\d{1,3}(?:,\d{3})+|\d+"
_NUMBER = rf"[+-]?(?:{_WHOLE})(?:\.\d+)?(?:e[+-]?\d+)?"
_END = rf"{_NUMBER}|no bound"
_ESTIMATE = re.compile(
    rf"(?P<value>{_NUMBER})(?P<percent> %)?(?P<elo> Elo)?"
    rf"(?: \[(?P<low>{_END}), (?P<high>{_END})\])?"
    rf"(?: ± (?P<half>{_NUMBER}))?(?: of (?P<of>{_WHOLE}))?(?:, sd (?P<sd>{_NUMBER}))?"
    r"(?: \((?P<note>[^()]*)\))?"
)
"""A number with what may follow it: its interval, what it is a share of, its spread."""
_ELO = re.compile(rf"{_NUMBER} Elo\b")
_FRACTION = re.compile(rf"(?P<fraction>-?\d+/\d+) = (?P<value>{_NUMBER})")
_INTERVAL = re.compile(rf"\[(?P<low>{_END}), (?P<high>{_END})\]")
_RANGE = re.compile(rf"(?P<low>{_NUMBER}) to (?P<high>{_NUMBER})")
_OUTCOME = re.compile(r"(?P<result>wins|loses) in (?P<discs>\d+)|(?P<draw>draw)")
_SCORE = re.compile(r"(\d+)-(\d+)-(\d+)")
_GAMES = re.compile(rf"(?P<value>{_NUMBER}) \((?P<games>{_WHOLE}) games\)")
_SUFFIXES = (
    *("", " (%)", " (Elo)", " low", " low (%)", " low (Elo)", " high", " high (%)", " high (Elo)"),
    *(" of", " standard deviation"),
    *(" as a fraction", " discs", " games", " note"),
)
"""What the columns of one column of the page are called, after its own name, in this order."""


def file_name(experiment: str, title: str, kind: str = "") -> str:
    """Return the name of a data file without its suffix, from the words of a title.

    `experiment` is the name of the experiment within its report. Words after a comma or semicolon
    often depend on the scale of the study, so they are left out.
    """
    words = re.split(r"[,;]", title)[0].lower().replace("'", "")
    slug = re.sub(r"[^a-z0-9]+", "-", words).strip("-")
    if slug != experiment and not slug.startswith(f"{experiment}-"):
        slug = f"{experiment}-{slug}".strip("-")
    return f"{slug}-{kind}" if kind else slug


def numeric(data: Table) -> Table:
    """Return the same table with bare numbers: one column for each number of a cell."""
    head: list[str] = []
    columns: list[Sequence[object]] = []
    for place, name in enumerate(data.head):
        cells = ["" if row[place] is None else str(row[place]) for row in data.rows]
        for title, values in _columns(name or "rank", cells):
            head.append(title)
            columns.append(values)
    return Table(data.title, tuple(head), tuple(zip(*columns, strict=True)))


def _columns(name: str, cells: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return a column of the page as columns of the file, with their names."""
    name = re.sub(r"\bsd\b", "standard deviation", name)
    parsed = [{} if cell in BLANK else _cell(name, cell) for cell in cells]
    base = re.sub(r" [(\[]95 %[)\]]$", "", name)
    # An interval is promised, or given elsewhere; words such as "won every game" replace it.
    if base != name or any(_ELO.match(cell) for cell in cells):
        words = {} if base == name else {"": "", " low": "", " high": ""}
        parsed = [
            {**words, " note": cell} if numbers is None else numbers
            for cell, numbers in zip(cells, parsed, strict=True)
        ]
    if any(numbers is None for numbers in parsed):
        return [(name, list(cells))]
    if not any(parsed):
        return [(name, [""] * len(cells))]
    numbers = [cell or {} for cell in parsed]
    titles = {title for cell in numbers for title in cell}
    # Names that a header gives itself keep their order; the others have that of _SUFFIXES.
    ordered = [title for cell in numbers for title in cell if title not in _SUFFIXES]
    suffixes = [*dict.fromkeys(ordered), *(title for title in _SUFFIXES if title in titles)]
    return [
        (
            title.removeprefix("=") if title.startswith("=") else f"{base}{title}",
            [cell.get(title, "") for cell in numbers],
        )
        for title in suffixes
    ]


def _cell(name: str, cell: str) -> Mapping[str, str] | None:
    """Return the numbers of a cell by suffix of the column's name, or None if it is text.

    A key that begins with `=` is a whole name.
    """
    if match := _FRACTION.fullmatch(cell):
        return {"": _bare(match["value"]), " as a fraction": match["fraction"]}
    if match := _INTERVAL.fullmatch(cell) or _RANGE.fullmatch(cell):
        return {" low": _bare(match["low"]), " high": _bare(match["high"])}
    if match := _GAMES.fullmatch(cell):
        return {"": _bare(match["value"]), " games": _bare(match["games"])}
    if match := _OUTCOME.fullmatch(cell):
        result = {"wins": "win", "loses": "loss", None: "draw"}[match["result"]]
        return {"": result, **({" discs": match["discs"]} if match["discs"] else {})}
    names = re.split(r" / |-(?=lost|drawn)", name.partition(": ")[2] or name)
    values = re.split(r" / ", cell)
    if score := _SCORE.fullmatch(cell):
        values = list(score.groups())
    if len(names) > 1 and len(names) == len(values):
        owner = name.partition(": ")[0] + ": " if ": " in name else ""
        return {f"={owner}{part}": _bare(value) for part, value in zip(names, values, strict=True)}
    match = _ESTIMATE.fullmatch(cell)
    return None if match is None else _estimate(name, match)


def _estimate(name: str, match: re.Match[str]) -> dict[str, str]:
    """Return the numbers of a value with an interval, by suffix of the column's name."""
    unit = " (%)" if match["percent"] else ""
    if match["elo"] and "Elo" not in name:
        unit = " (Elo)"
    numbers = {unit: _bare(match["value"])}
    if match["low"] or match["half"]:
        numbers[f" low{unit}"], numbers[f" high{unit}"] = _ends(match)
    if match["of"]:
        numbers[" of"] = _bare(match["of"])
    if match["sd"]:
        numbers[" standard deviation"] = _bare(match["sd"])
    if match["note"]:
        numbers[" note"] = match["note"]
    return numbers


def _ends(match: re.Match[str]) -> tuple[str, str]:
    """Return the ends of an interval; empty where there is none or it has no bound."""
    if match["half"]:
        value, half = Decimal(_bare(match["value"])), Decimal(_bare(match["half"]))
        return f"{value - half}", f"{value + half}"
    return _bare(match["low"]), _bare(match["high"])


def _bare(number: str | None) -> str:
    """Return a number without separators and without a plus sign; empty if there is no bound."""
    return (
        ""
        if number in (None, "no bound", *BLANK)
        else str(number).replace(",", "").removeprefix("+")
    )
