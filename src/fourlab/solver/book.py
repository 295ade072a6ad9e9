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
from typing import Any

import numpy as np

from fourlab import shipped
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.position import Position
from fourlab.game.rules import Rules

FORMAT = 1


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
        return hashlib.sha256(self.keys.astype("<i8").tobytes() + self.scores.tobytes()).hexdigest()

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
            return cls._parse(file.read_bytes())
        except FileNotFoundError:
            raise UserError(f"there is no book {file}") from None
        except Exception as error:  # zip, zlib, NumPy and JSON raise many kinds for damaged files
            raise UserError(f"{file} is not a book or is damaged: {error}") from None

    @classmethod
    def _parse(cls, data: bytes) -> "Book":
        with np.load(io.BytesIO(data), allow_pickle=False) as parts:
            about: dict[str, Any] = json.loads(parts["about"].tobytes())
            if about["format"] != FORMAT:
                raise ValueError(f"format {about['format']} instead of {FORMAT}")
            book = cls(
                Rules.parse(about["board"]),
                int(about["plies"]),
                np.cumsum(parts["differences"]),
                parts["scores"],
            )
        if book.checksum != about["sha256"]:
            raise ValueError("its checksum is wrong")
        return book


@cache
def shipped_book() -> Book | None:
    """Return the book that comes with the package; None if this copy has none."""
    data = shipped.read("fourlab.solver", "book.npz")
    return None if data is None else Book._parse(data)
