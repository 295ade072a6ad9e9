"""docs/reference/board-values.md, made from the tables of `fourlab dataset boards` beside it."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tools.markdown import NOTE, paragraph, table

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
SIGNS = {"win": "+", "draw": "=", "loss": "−", "": "?"}
TROMP = {
    4: "==-=----",
    5: "====+++",
    6: "==-+--",
    7: "==+=+",
    8: "==-+-",
    9: "==+",
    10: "==",
    11: "=",
}
"""Results that Tromp published for four in a row, by height, from width 4: first player's sign."""
STEININGER = {
    4: (16, 20, 24, 28, 32, 36, 40, 44, 48),
    5: (20, 25, 30, 35, 39, 41, 47, 51),
    6: (24, 30, 36, 41, 48, 52, 59),
    7: (28, 35, 41, 49, 53, 55),
    8: (32, 40, 48, 55, 62),
    9: (36, 45, 53, 63),
    10: (40, 50, 60, 69),
    11: (44, 55, 63),
    12: (48, 60, 72),
    13: (52, 65),
}
"""The last disc with best play, as Steininger published it, by height, from width 4."""
NARROWEST = 4
"""The first width of both publications."""
HARD_NODES = 100_000
"""Boards that take fewer nodes are not listed one by one."""


class Row(NamedTuple):
    """A line of a table of values."""

    columns: int
    rows: int
    result: str
    plies: int
    """0 if the board is not solved."""
    nodes: int
    seconds: float

    @property
    def shown(self) -> str:
        """The result and the last disc."""
        return f"{SIGNS[self.result]} {self.plies}" if self.result else "?"


def read(file: Path) -> list[Row]:
    """Return the boards of a table."""
    with file.open(encoding="utf-8") as lines:
        return [
            Row(
                int(line["columns"]),
                int(line["rows"]),
                line["result"],
                int(line["plies"] or 0),
                int(line["nodes"]),
                float(line["seconds"]),
            )
            for line in csv.DictReader(lines)
        ]


def published(row: Row) -> list[tuple[str, bool]]:
    """Return who published a solved board of four in a row, and whether our value is the same."""
    place = row.columns - NARROWEST
    answers = []
    if 0 <= place < len(TROMP.get(row.rows, "")):
        sign = TROMP[row.rows][place].replace("-", "−")
        answers.append(("Tromp", sign == SIGNS[row.result]))
    if 0 <= place < len(STEININGER.get(row.rows, ())):
        answers.append(("Steininger", STEININGER[row.rows][place] == row.plies))
    return answers


def page() -> str:
    """Return the page."""
    text = f"# Values of empty boards\n\n{NOTE}\n\n"
    text += paragraph(
        "Who wins on an empty board of any size with best play by both sides, and with which disc "
        "the game ends: the winner wins as soon as possible, the loser loses as late as possible. "
        "+ means that the player who moves first wins, − the one who moves second, and = a draw, "
        "which ends when the board is full. Widths run across, heights down. ? is a board that "
        "takes too many nodes; an empty cell is a board that was not tried, because a smaller one "
        "takes too many or because it has more than 63 bits."
    )
    for file in sorted(REFERENCE.glob("board-values-*.csv"), key=_order):
        text += section(file)
    return text


def _order(file: Path) -> tuple[bool, str]:
    """Order the tables: four in a row, the usual game, is first."""
    return file.stem[-1] != "4", file.stem


def section(file: Path) -> str:
    """Return what one table says."""
    in_a_row = file.stem.rpartition("-")[2]
    rows = read(file)
    solved = [row for row in rows if row.result]
    limit = max((row.nodes for row in rows if not row.result), default=0)
    text = f"## {in_a_row} in a row\n\n{_grid(rows)}\n"
    text += paragraph(
        f"{len(solved)} boards are solved, {len(rows) - len(solved)} take more than {limit:,} "
        f"nodes. The table [{file.name}]({file.name}) has every board with its score, nodes and "
        "seconds; this makes it, with one thread and an empty table of 64 MB for each board:"
    )
    options = f"--in-a-row {in_a_row} --nodes {limit}"
    text += f"```sh\nfourlab dataset boards {options} -o {file.name}\n```\n\n"
    text += paragraph(f"Boards that take more than {HARD_NODES:,} nodes:")
    hard = [row for row in solved if row.nodes >= HARD_NODES]
    hard.sort(key=lambda row: (row.columns * row.rows, row.columns))
    text += table(
        ("width x height", "value", "nodes", "seconds"),
        [
            (f"{row.columns}x{row.rows}", row.shown, f"{row.nodes:,}", f"{row.seconds:,.1f}")
            for row in hard
        ],
    )
    return f"{text}\n{_comparison(solved)}" if in_a_row == "4" else f"{text}\n"


def _grid(rows: Sequence[Row]) -> str:
    """Return the values by width and height, the lowest boards first."""
    shown = {(row.columns, row.rows): row.shown for row in rows}
    widths = sorted({columns for columns, _ in shown})
    heights = sorted({height for _, height in shown})
    return table(
        ("", *map(str, widths)),
        [
            (f"**{height}**", *(shown.get((width, height), "") for width in widths))
            for height in heights
        ],
    )


def _comparison(solved: Sequence[Row]) -> str:
    """Return how our values compare with those that others published."""
    text = ""
    for name, what in (("Tromp", "results"), ("Steininger", "last discs")):
        same = {
            f"{row.columns}x{row.rows}": is_same
            for row in solved
            for source, is_same in published(row)
            if source == name
        }
        other = [board for board, is_same in same.items() if not is_same]
        verdict = "all are ours, too" if not other else f"ours differ on {', '.join(other)}"
        text += f"{name} published {what} of {len(same)} of these boards; {verdict}. "
    return paragraph(
        f"{text}Theirs go further: Tromp to 8x8, Steininger to 12x4, 10x6 and 8x8 among others. "
        "([Bibliography](../bibliography.md).)"
    )
