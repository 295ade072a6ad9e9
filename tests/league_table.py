"""The league in docs/index.md, made from its published data.

    python -m tests.league_table       # write the table into the page again

`studies/test_published.py` compares the page with what this makes.
"""

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from fourlab.files import write_atomically
from fourlab.studies.league import KEPT

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "index.md"
LEAGUE = ROOT / "docs" / "experiments" / "league"
HEAD = f"| agent | Elo (95 %) | {KEPT} | CPU s per move |\n|---|---|---|---|\n"


def rows() -> list[dict[str, str]]:
    """Return the rows of the published table, by name of the column."""
    with (LEAGUE / "data" / "league-table.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def table(league: list[dict[str, str]]) -> str:
    """Return the league as a table of the page."""
    lines = []
    for row in league:
        kept = (
            f"{row[f'{KEPT} (%)']} % [{row[f'{KEPT} low (%)']}, {row[f'{KEPT} high (%)']}] "
            f"of {row[f'{KEPT} of']}"
        )
        cells = (row["agent"], _elo(row), kept, row["CPU seconds per move"])
        lines.append(f"| {' | '.join(cells)} |\n")
    return HEAD + "".join(lines)


def _elo(row: Mapping[str, str]) -> str:
    if not row["Elo"]:
        return row.get("Elo note", "")
    value, low, high = (
        f"{float(row[name]):+.1f}" if row[name] else "no bound"
        for name in ("Elo", "Elo low", "Elo high")
    )
    return f"{value} [{low}, {high}]"


def updated(text: str) -> str:
    """Return the page with the published league."""
    league = rows()
    text = re.sub(r"The league of \d+ agents", f"The league of {len(league)} agents", text)
    before, _, after = text.partition(HEAD)
    shown = re.match(r"(?:\|.*\n)+", after)
    return before + table(league) + (after[shown.end() :] if shown else after)


if __name__ == "__main__":
    write_atomically(PAGE, updated(PAGE.read_text(encoding="utf-8")).encode())
