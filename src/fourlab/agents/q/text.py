"""Bhat's file format for tables of values: gzipped lines of a board and its value,

    "((0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 1, 0, 0), (1, 0, 2, 2, 0))",0.95

with the top row first; 0 is empty, 1 the first player, 2 the second. Values belong to positions
after the learner's disc. A line does not say which side that is, so the learner's seat must be
given.
"""

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

import numpy as np

from fourlab.agents.q.table import QForm, QTable
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game import bitboard as bit_rules
from fourlab.game.notation import Setup, grid_of, read_flat
from fourlab.game.rules import Rules

Seat = Literal["first", "second", "both"]
LONGEST = 10_000
"""Maximum length of a line in characters; no supported board needs more."""
LARGEST = 1e30
"""Maximum absolute value; no reward is larger."""
Grid = tuple[tuple[int, ...], ...]


def read_text(file: Path, seat: Seat = "second", in_a_row: int = 4) -> QTable:
    """Read a file in Bhat's format, with Bhat's initial value 1 and rewards 2 and -2."""
    values: dict[int, float] = {}
    rules: Rules | None = None
    template = ""
    try:
        with gzip.open(file, "rt", encoding="ascii") as lines:
            for number, (board, value) in enumerate(_lines(lines), 1):
                try:
                    if rules is None:
                        # The first line decides about the size of the board, the others must have
                        # the same form.
                        columns = len(board.split("),")[0].split(","))
                        rows = len(re.findall(r"\([^(]", board))
                        rules = Rules(columns, rows, in_a_row)
                        template = str(((0,) * rules.columns,) * rules.rows)
                    key = _key(board, template, rules, seat)
                    if key in values:
                        raise ValueError("the position occurs twice")
                    values[key] = _value(value)
                except ValueError as error:
                    raise UserError(f"{file}, line {number}: {error}") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UserError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or error}"
        ) from None
    if rules is None:
        raise UserError(f"there are no positions in {file}")
    # The constants of Bhat's training; see the preset in `settings.py`.
    form = QForm(rules, initial=1.0, win=2.0, loss=-2.0)
    keys = np.array(sorted(values), np.int64)
    numbers = np.array([[values[int(key)]] for key in keys], np.float32)
    return QTable.of(form, keys, numbers, {"seat": seat, "read_from": file.name})


def write_text(table: QTable, file: Path) -> int:
    """Write a table in Bhat's format and return the number of lines.

    Mirror images that share a value are both written.
    """
    form = table.form
    seat = table.about.get("seat", "both")
    if form.form != "afterstate":
        raise UserError(
            "Bhat's format has values of positions after a disc; "
            "this table has values of (position, column)"
        )
    g = form.rules.geometry
    written = 0
    memory = io.BytesIO()
    # Without name and time in the header, so that equal tables give equal files.
    with gzip.GzipFile("", "wb", mtime=0, fileobj=memory) as lines:
        keys, numbers = table.entries()
        for key, (value, *_) in zip(keys.tolist(), numbers, strict=True):
            images = {key, bit_rules.mirror(key, g)} if form.mirror else {key}
            for image in sorted(images):
                grid = _grid(*bit_rules.from_key(image, g), form.rules, seat)
                lines.write(f'"{grid}",{value!s}\n'.encode())
                written += 1
    write_atomically(file, memory.getvalue())
    return written


def _lines(lines: IO[str]) -> Iterator[tuple[str, str]]:
    # A longer line arrives in pieces, which do not match and are refused.
    while line := lines.readline(LONGEST):
        match = re.fullmatch(r'"([^"]*)",(\S+)\s*', line)
        yield match.groups() if match else (line, "")  # type: ignore[misc]  # two groups


def _value(text: str) -> float:
    value = float(text)
    if not abs(value) < LARGEST:
        raise ValueError(f"{text} is not a value between -{LARGEST:g} and {LARGEST:g}")
    return value


def _key(board: str, template: str, rules: Rules, seat: Seat) -> int:
    """Return the key of a board, with the discs of the side that has just moved as `own`."""
    if re.sub("[12]", "0", board) != template:
        raise ValueError(
            f"{board[:80]!r} is not a board of {rules.rows} rows and {rules.columns} columns"
        )
    setup = read_flat([int(cell) for cell in re.findall("[012]", board)], rules)
    g, mask = rules.geometry, setup.red | setup.yellow
    # Adding 1 to the bottom of a column without gaps sets the first empty cell or the guard bit.
    if mask & (mask + g.bottom) or (mask + g.bottom) & ~(g.cells | g.cells << 1):
        raise ValueError("a disc floats above an empty cell")
    own = (setup.red, setup.yellow)[_mover(setup.red, setup.yellow, seat) - 1]
    return bit_rules.key(own, mask, g)


def _mover(first: int, second: int, seat: Seat) -> int:
    """Return who has just moved, 1 or 2; only the learner's opponent may have passed."""
    more = first.bit_count() - second.bit_count()
    if seat == "both" and more not in (0, 1):
        raise ValueError("the numbers of discs do not show who has moved")
    mover = 1 if more > 0 else 2
    if seat != "both" and seat != ("first", "second")[mover - 1]:
        raise ValueError(
            f"by the numbers of discs the {seat} player was not the last to move (--seat)"
        )
    return mover


def _grid(own: int, mask: int, rules: Rules, seat: Seat) -> Grid:
    more = own.bit_count() - (own ^ mask).bit_count()
    if seat == "both" and more not in (0, 1):
        raise UserError("the table holds boards whose numbers of discs do not show who has moved")
    mover = {"first": 1, "second": 2, "both": 1 if more else 2}[seat]
    red, yellow = (own, own ^ mask) if mover == 1 else (own ^ mask, own)
    return tuple(map(tuple, grid_of(Setup(rules, None, red, yellow))))
