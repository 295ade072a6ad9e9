"""The reply book: what a submission plays in every position that its own replies lead to.

Against every way to play of the opponent, a player who always replies in the same way reaches few
positions. They need not be stored: from the first one, the replies so far lead to all others. So a
book is a list of columns only, in an order that anyone can compute:

    level by level    a level has the positions after one number of discs, even for red
    within a level    by the canonical key, which a position and its mirror image share

The next level has every unfinished position after a reply and any move of the opponent.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fourlab import shipped
from fourlab.agent import UNLIMITED, Analysis, Decision, Limit
from fourlab.arrays import Kind, read_npz
from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.game import bitboard
from fourlab.game.geometry import Geometry
from fourlab.game.position import PositionLike, unfinished
from fourlab.game.rules import Rules
from fourlab.parsing import parse_description

if TYPE_CHECKING:
    from fourlab.game.position import Position

PACKAGE, FILE = "fourlab.bridges.kaggle", "replies.npz"
"""The book that comes with Fourlab."""
FORMAT = 1
MAX_BYTES = 1 << 24
"""Most bytes of a file."""
ARRAYS = {"red": Kind("|u1"), "yellow": Kind("|u1"), "about": Kind("|u1")}


@dataclass(frozen=True)
class Level:
    """The positions after one number of discs."""

    keys: np.ndarray
    """int64[positions]: canonical keys in ascending order."""
    columns: np.ndarray
    """uint8[positions]: the replies."""


class ReplyBook:
    """Replies for both sides."""

    def __init__(self, rules: Rules, red: np.ndarray, yellow: np.ndarray) -> None:
        """Find the positions that belong to the columns; raise ValueError if there are none."""
        self.rules = rules
        self.columns = (red, yellow)
        self.levels: dict[int, Level] = {}
        """The levels by their number of discs."""
        for side, columns in enumerate(self.columns):
            for number, level in enumerate(_levels(rules, side, columns)):
                self.levels[side + 2 * number] = level

    def __len__(self) -> int:
        return sum(map(len, self.columns))

    @property
    def plies(self) -> int:
        """The discs of the last level."""
        return max(self.levels)

    def column(self, position: "Position") -> int | None:
        """Return the reply in a position; None if its own replies do not lead there."""
        level = self.levels.get(position.ply)
        if level is None or position.rules != self.rules:
            return None
        index = int(np.searchsorted(level.keys, position.canonical_key))
        if index == len(level.keys) or level.keys[index] != position.canonical_key:
            return None
        column = int(level.columns[index])
        is_mirrored = position.key != position.canonical_key
        return self.rules.columns - 1 - column if is_mirrored else column

    @property
    def checksum(self) -> str:
        """The SHA-256 of the columns."""
        return hashlib.sha256(b"".join(columns.tobytes() for columns in self.columns)).hexdigest()

    def save(self, file: Path) -> None:
        """Write the book to a file, atomically."""
        about = {"format": FORMAT, "board": str(self.rules), "sha256": self.checksum}
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            red=self.columns[0],
            yellow=self.columns[1],
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
        )
        write_atomically(file, buffer.getvalue())

    @classmethod
    def load(cls, file: Path) -> "ReplyBook":
        """Read a book; raise UserError if it is missing or damaged."""
        try:
            return cls.parse(read_bounded(file, MAX_BYTES))
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror or error}") from None
        except Exception as error:  # zlib, NumPy and JSON raise many kinds for damaged files
            raise UserError(f"{file} is not a reply book or is damaged: {error}") from None

    @classmethod
    def parse(cls, data: bytes) -> "ReplyBook":
        """Read a book from the contents of its file."""
        arrays = read_npz(data, ARRAYS)
        about = parse_description(arrays["about"].tobytes())
        if about["format"] != FORMAT:
            raise ValueError(f"format {about['format']} instead of {FORMAT}")
        book = cls(Rules.parse(about["board"]), arrays["red"], arrays["yellow"])
        if book.checksum != about["sha256"]:
            raise ValueError("its checksum is wrong")
        return book


@cache
def shipped_replies() -> ReplyBook | None:
    """Return the book that comes with the package; None if this copy has none."""
    data = shipped.read(PACKAGE, FILE)
    return None if data is None else ReplyBook.parse(data)


def _levels(rules: Rules, side: int, columns: np.ndarray) -> Iterator[Level]:
    """Yield the levels of a side, whose replies are listed one level after another."""
    g = rules.geometry
    keys = first_level(rules, side)
    start = 0
    while start < len(columns):
        replies = columns[start : start + len(keys)]
        # Columns are compared before they are used in shifts, so that no damaged file causes any.
        if len(replies) < max(len(keys), 1) or (replies >= g.columns).any():
            raise ValueError("its replies do not fit its positions")
        yield Level(keys, replies)
        start += len(keys)
        keys = next_level(keys, replies, g)


def first_level(rules: Rules, side: int) -> np.ndarray:
    """Return the canonical keys of the positions in which a side may have its first move."""
    g = rules.geometry
    empty = np.zeros(1, np.int64)
    if side:
        return _after_every_move(empty, empty, g)
    return bitboard.key(empty, empty, g)  # type: ignore[arg-type,return-value]


def next_level(keys: np.ndarray, columns: Sequence[int] | np.ndarray, g: Geometry) -> np.ndarray:
    """Return the canonical keys after these moves and any move of the opponent, sorted."""
    own, mask = _discs(keys, g)
    cells = bitboard.landing(mask, np.asarray(columns, np.int64), g)  # type: ignore[arg-type]
    if not np.all(cells):
        raise ValueError("it replies in a full column")
    goes_on = ~_is_won(own | cells, g)
    return _after_every_move((own ^ mask)[goes_on], (mask | cells)[goes_on], g)


def _after_every_move(own: np.ndarray, mask: np.ndarray, g: Geometry) -> np.ndarray:
    """Return the sorted canonical keys of the unfinished positions one move later."""
    keys = []
    for column in range(g.columns):
        cells = bitboard.landing(mask, column, g)  # type: ignore[arg-type]
        goes_on = (cells != 0) & (mask | cells != g.cells) & ~_is_won(own | cells, g)
        after = bitboard.key(own ^ mask, mask | cells, g)  # type: ignore[arg-type]
        keys.append(np.minimum(after, bitboard.mirror(after, g))[goes_on])
    return np.unique(np.concatenate(keys))


# The functions of `bitboard` work on whole arrays, too, unless they decide or repeat anything.


def _is_won(discs: np.ndarray, g: Geometry) -> np.ndarray:
    """Return which positions have a line of these discs, bool[positions]."""
    cells = bitboard.line_cells(discs, g.height, g.in_a_row)  # type: ignore[arg-type]
    return cells != 0  # type: ignore[return-value]


def _discs(keys: np.ndarray, g: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Return `own` and `mask` of positions, as `bitboard.from_key` does."""
    own, mask = np.zeros_like(keys), np.zeros_like(keys)
    for column in range(g.columns):
        bits = keys >> column * g.height & (1 << g.height) - 1
        # Copy the highest 1, which marks the first empty cell, to all lower bits.
        up_to_marker = bits
        for shift in (1, 2, 4, 8, 16, 32):
            up_to_marker = up_to_marker | up_to_marker >> shift
        discs = up_to_marker >> 1
        own |= (bits & discs) << column * g.height
        mask |= discs << column * g.height
    return own, mask


@dataclass(frozen=True)
class Replies:
    """An agent that plays by the reply book and refuses all other positions."""

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Look the position up; raise UserError if it is not in the book."""
        position = unfinished(position)
        book = shipped_replies()
        column = None if book is None else book.column(position)
        if column is None:
            raise UserError("the reply book does not have this position")
        return Decision(column, analysis=Analysis(from_book=True))
