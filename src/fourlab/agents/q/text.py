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
from pathlib import Path
from typing import Literal

import numpy as np

from fourlab.agents.q.table import QForm, QTable, TooLarge, check_memory, memory_limit
from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.game import bitboard as bit_rules
from fourlab.game.notation import Setup, grid_of, read_flat
from fourlab.game.rules import Rules

Seat = Literal["first", "second", "both"]
LONGEST = 10_000
"""Maximum length of a line in characters; no supported board needs more."""
MAX_BYTES = 1 << 28
BLOCK = 4096
"""Lines that are read together."""
LARGEST = 1e30
"""Maximum absolute value; no reward is larger."""
Grid = tuple[tuple[int, ...], ...]


def read_text(
    file: Path, seat: Seat = "second", in_a_row: int = 4, memory_mb: float | None = None
) -> QTable:
    """Read a file in Bhat's format, with Bhat's initial value 1 and rewards 2 and -2.

    For `memory_mb` see `QTable.load`.
    """
    try:
        data = read_bounded(file, MAX_BYTES)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}") from None
    lines = gzip.GzipFile(fileobj=io.BytesIO(data))
    reader: _Reader | None = None
    max_bytes = memory_limit(len(data), memory_mb)
    keys: list[np.ndarray] = []
    values: list[np.ndarray] = []
    count = 0
    try:
        # A longer line arrives in pieces, which do not match and are refused.
        while block := [line for _ in range(BLOCK) if (line := lines.readline(LONGEST))]:
            if reader is None:
                reader = _Reader(block[0], in_a_row, seat)
            new_keys, new_values = reader.read(block, count)
            keys.append(new_keys)
            values.append(new_values)
            count += len(block)
            check_memory(reader.form, count, max_bytes)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or error}"
        ) from None
    except TooLarge as error:
        raise UserError(f"{file} is too large: {error}") from None
    except _BadLine as error:
        raise UserError(f"{file}, line {error.number}: {error}") from None
    if reader is None:
        raise UserError(f"there are no positions in {file}")
    all_keys = np.concatenate(keys)
    order = np.argsort(all_keys, kind="stable")
    all_keys = all_keys[order]
    repeated = order[1:][all_keys[1:] == all_keys[:-1]]
    if len(repeated):
        raise UserError(f"{file}, line {repeated.min() + 1}: the position occurs twice")
    numbers = np.concatenate(values)[order, None]
    about = {"seat": seat, "read_from": file.name}
    try:
        return QTable.of(reader.form, all_keys, numbers, about)
    except ValueError as error:
        raise UserError(f"{file} is not a table of values: {error}") from None


class _BadLine(ValueError):
    def __init__(self, number: int, message: object) -> None:
        super().__init__(str(message))
        self.number = number


class _Reader:
    """Reads lines, of which the first decides about the size of the board."""

    def __init__(self, line: bytes, in_a_row: int, seat: Seat) -> None:
        try:
            board, _ = _split(line)
            columns = len(board.split("),")[0].split(","))
            rows = len(re.findall(r"\([^(]", board))
            self.rules = Rules(columns, rows, in_a_row)
        except ValueError as error:
            raise _BadLine(1, error) from None
        # The constants of Bhat's training; see the preset in `settings.py`.
        self.form = QForm(self.rules, initial=1.0, win=2.0, loss=-2.0)
        self.seat = seat
        self.template = str(((0,) * columns,) * rows)
        pattern = np.frombuffer(self.template.encode(), np.uint8)
        self._digits = np.flatnonzero(pattern == ord("0"))
        self._others = np.flatnonzero(pattern != ord("0"))
        self._pattern = pattern

    def read(self, lines: list[bytes], before: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys, int64[N], and values, float32[N]; line `before` + 1 is the first."""
        length = len(self.template)
        boards = b"".join(line[1 : 1 + length] for line in lines)
        keys = np.zeros(len(lines), np.int64)
        is_valid = np.zeros(len(lines), bool)
        if len(boards) == len(lines) * length:
            keys, is_valid = self._keys(np.frombuffer(boards, np.uint8).reshape(-1, length))
        values = np.empty(len(lines), np.float32)
        for index, line in enumerate(lines):
            try:
                board, value = _split(line)
                if not is_valid[index] or len(board) != length:
                    keys[index] = _key(board, self.template, self.rules, self.seat)
                values[index] = _value(value)
            except ValueError as error:
                raise _BadLine(before + index + 1, error) from None
        return keys, values

    def _keys(self, texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys of boards, uint8[N, length], and which of them are certainly valid."""
        g = self.rules.geometry
        cells = texts[:, self._digits]
        is_board = (texts[:, self._others] == self._pattern[self._others]).all(axis=1)
        is_board &= ((cells >= ord("0")) & (cells <= ord("2"))).all(axis=1)
        # The text has the top row first, a bitboard the bottom of the first column.
        rows = np.arange(len(self._digits)) // g.columns
        columns = np.arange(len(self._digits)) % g.columns
        bits = np.int64(1) << columns * g.height + (g.rows - 1 - rows)
        first = ((cells == ord("1")) * bits).sum(axis=1)
        second = ((cells == ord("2")) * bits).sum(axis=1)
        mask = first | second
        more = (cells == ord("1")).sum(axis=1) - (cells == ord("2")).sum(axis=1)
        mover = np.where(more > 0, 1, 2)
        if self.seat == "both":
            fits = (more == 0) | (more == 1)
        else:
            fits = mover == ("first", "second").index(self.seat) + 1
        # No disc above an empty cell: adding 1 at the bottom reaches the first empty cell.
        stands = (mask & mask + g.bottom) == 0
        own = np.where(mover == 1, first, second)
        return own + mask + g.bottom, is_board & fits & stands


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


def _split(line: bytes) -> tuple[str, str]:
    """Return the board and the value of a line."""
    text = line.decode("ascii")
    match = re.fullmatch(r'"([^"]*)",(\S+)\s*', text)
    return (match[1], match[2]) if match else (text, "")


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
