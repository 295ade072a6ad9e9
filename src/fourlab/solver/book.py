"""A book: the exact scores of all positions up to some ply, one of each mirror pair.

A book is one `.npz` file: the sorted canonical keys as differences (small numbers, which compress), a score for each, and a
description with a checksum of both.
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
    """Scores for the side to move, by canonical key."""

    rules: Rules
    plies: int
    """Every position with at most so many discs is in the book, unless the game is over."""
    keys: np.ndarray
    """int64, sorted."""
    scores: np.ndarray
    """int8, Pons's scale."""

    def __len__(self) -> int:
        return len(self.keys)

    def score(self, position: Position) -> int | None:
        """The score of a position, if the book holds it."""
        if position.rules != self.rules or position.ply > self.plies:
            return None
        key = position.canonical_key
        place = int(np.searchsorted(self.keys, key))
        return int(self.scores[place]) if place < len(self.keys) and self.keys[place] == key else None

    @property
    def checksum(self) -> str:
        """Names the contents."""
        return hashlib.sha256(self.keys.astype("<i8").tobytes() + self.scores.tobytes()).hexdigest()

    def save(self, file: Path) -> None:
        """Write the book, whole or not at all."""
        about = {"format": FORMAT, "board": str(self.rules), "plies": self.plies, "entries": len(self), "sha256": self.checksum}
        memory = io.BytesIO()
        np.savez_compressed(
            memory,
            differences=np.diff(self.keys, prepend=0),
            scores=self.scores,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
        )
        write_atomically(file, memory.getvalue())

    @classmethod
    def load(cls, file: Path) -> "Book":
        """Read a book; one that is damaged is refused."""
        try:
            return cls._parse(file.read_bytes())
        except FileNotFoundError:
            raise UserError(f"there is no book {file}") from None
        except Exception as error:  # a damaged file can fail in any part of zip, zlib, NumPy and JSON
            raise UserError(f"{file} is not a book or is damaged: {error}") from None

    @classmethod
    def _parse(cls, data: bytes) -> "Book":
        with np.load(io.BytesIO(data), allow_pickle=False) as parts:
            about: dict[str, Any] = json.loads(parts["about"].tobytes())
            if about["format"] != FORMAT:
                raise ValueError(f"format {about['format']} instead of {FORMAT}")
            book = cls(Rules.parse(about["board"]), int(about["plies"]), np.cumsum(parts["differences"]), parts["scores"])
        if book.checksum != about["sha256"]:
            raise ValueError("its checksum is wrong")
        return book


@cache
def shipped_book() -> Book | None:
    """The book that comes with the package; None if this copy has none."""
    data = shipped.read("fourlab.solver", "book.npz")
    return None if data is None else Book._parse(data)
