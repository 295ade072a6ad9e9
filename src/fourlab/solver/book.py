"""Opening books: the exact scores of all positions up to a given ply.

A book is one `.npz` file with the sorted canonical keys as differences (small numbers compress
well), their scores, and a description that includes a checksum of both. A position and its mirror
image share an entry.
"""

import hashlib
import io
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from fourlab import shipped
from fourlab.arrays import SPARE_BYTES, Kind, read_npz
from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.parsing import parse_description
from fourlab.solver.keys import check_canonical, check_keys, check_order, count_discs, steps

FORMAT = 1
MAX_BYTES = 1 << 28
"""Most bytes of a file."""
MAX_ENTRIES = SPARE_BYTES // 10
"""Most entries that are read whatever the size of the file: 6.7 million, of 9 bytes."""
ARRAYS = {"differences": Kind("<i8"), "scores": Kind("|i1"), "about": Kind("|u1")}


@dataclass(frozen=True)
class Book:
    """Exact scores by canonical key, from the point of view of the side to move."""

    rules: Rules
    plies: int
    """The book has every position with up to this many discs in which the game is not over."""
    keys: np.ndarray
    """int64[entries]: canonical keys in ascending order."""
    scores: np.ndarray
    """int8[entries]: scores on Pons's scale."""

    def __len__(self) -> int:
        return len(self.keys)

    def score(self, position: Position) -> int | None:
        """Return the score of a position, or None if it is not in the book."""
        if position.rules != self.rules or position.ply > self.plies:
            return None
        key = position.canonical_key
        # Binary search: about 20 steps among a million entries.
        index = int(np.searchsorted(self.keys, key))
        if index == len(self.keys) or self.keys[index] != key:
            return None
        return int(self.scores[index])

    @property
    def checksum(self) -> str:
        """The SHA-256 of the keys and scores."""
        # Little-endian whatever the machine, so that equal books have equal checksums.
        checksum = hashlib.sha256(np.ascontiguousarray(self.keys, "<i8").data)
        checksum.update(np.ascontiguousarray(self.scores).data)
        return checksum.hexdigest()

    def save(self, file: Path) -> None:
        """Write the book to a file, atomically."""
        about = {
            "format": FORMAT,
            "board": str(self.rules),
            "plies": self.plies,
            "entries": len(self),
            "sha256": self.checksum,
        }
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            # Sorted keys differ by small numbers, whose upper bytes are zero and compress to
            # nothing.
            differences=np.diff(self.keys, prepend=0),
            scores=self.scores,
            # JSON as bytes; an array of text would take four bytes per character.
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
        )
        write_atomically(file, buffer.getvalue())

    @classmethod
    def load(cls, file: Path) -> "Book":
        """Read a book; raise UserError if it is missing or damaged."""
        try:
            data = read_bounded(file, MAX_BYTES)
        except FileNotFoundError:
            raise UserError(f"there is no book {file}") from None
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror or error}") from None
        try:
            return cls._parse(data)
        except Exception as error:  # zlib, NumPy and JSON raise many kinds for damaged files
            raise UserError(f"{file} is not a book or is damaged: {error}") from None

    @classmethod
    def _parse(cls, data: bytes) -> "Book":
        parts = read_npz(data, ARRAYS)
        about = parse_description(parts["about"].tobytes())
        if about["format"] != FORMAT:
            raise ValueError(f"format {about['format']} instead of {FORMAT}")
        # In place: a book of 12 plies has 34 MB of keys.
        keys = np.cumsum(parts["differences"], out=parts["differences"])
        book = cls(Rules.parse(about["board"]), int(about["plies"]), keys, parts["scores"])
        if not len(book.keys) == len(book.scores) == about["entries"]:
            raise ValueError("its arrays differ in length")
        if book.checksum != about["sha256"]:
            raise ValueError("its checksum is wrong")
        book._check()
        return book

    def _check(self) -> None:
        """Raise ValueError for entries that no book can have."""
        g = self.rules.geometry
        check_keys(self.keys, g)
        check_order(self.keys)
        check_canonical(self.keys, g)
        cells = g.columns * g.rows
        for part in steps(len(self)):
            own, discs = count_discs(self.keys[part], g)
            if (own != discs // 2).any() or (discs > min(self.plies, cells - 1)).any():
                raise ValueError(f"it holds positions that no game has after {self.plies} plies")
            scores = self.scores[part].astype(np.int64)
            # A win with the next disc, and a loss with the one after it.
            if (scores > (cells - discs + 1) // 2).any() or (-scores > (cells - discs) // 2).any():
                raise ValueError("it holds scores that no position has")


@cache
def shipped_book() -> Book | None:
    """Return the book that comes with the package; None if this copy has none."""
    data = shipped.read("fourlab.solver", "book.npz")
    return None if data is None else Book._parse(data)
