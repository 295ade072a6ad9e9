"""Hashes of stored games, which reveal damage and careless edits.

Every row has a SHA-256 of its fields. The root of a file is the number of its games and the sum of
their hashes modulo 2**256: it does not depend on the order in which games end, and adding, changing
or deleting a game updates it without reading the others. Somebody who recomputes the hashes is not
noticed; they are no signature.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MODULUS = 1 << 256
HASH_BYTES = 32


@dataclass(frozen=True)
class Flaw:
    """A game that is not what was stored; `number` is None if it concerns the whole file."""

    number: int | None
    why: str

    def __str__(self) -> str:
        return self.why if self.number is None else f"game {self.number} {self.why}"


@dataclass
class Root:
    """The number of games and the sum of their hashes."""

    games: int = 0
    total: int = 0

    def add(self, digest: bytes) -> None:
        """Count a game."""
        self.games += 1
        self.total = (self.total + int.from_bytes(digest, "big")) % MODULUS

    def remove(self, digest: bytes) -> None:
        """Stop counting a game."""
        self.games -= 1
        self.total = (self.total - int.from_bytes(digest, "big")) % MODULUS

    @property
    def hash(self) -> bytes:
        """The sum as bytes."""
        return self.total.to_bytes(HASH_BYTES, "big")


def row_hash(row: Iterable[object]) -> bytes:
    """Return the hash of a row as SQLite returns it: numbers, texts, None or, if damaged, bytes."""
    # JSON writes floats so that they are read back exactly, and tells "1" from 1.
    text = json.dumps(list(row), default=lambda value: {"bytes": bytes(value).hex()})
    return hashlib.sha256(text.encode()).digest()


def flaws(
    games: Iterable[tuple[object, ...]], hashes: Mapping[object, object], root: tuple[object, ...]
) -> list[Flaw]:
    """Compare rows, whose first field is the number, with their hashes and the root."""
    left = dict(hashes)
    counted = Root()
    damage: list[Flaw] = []
    for row in games:
        number = row[0]
        digest = row_hash(row)
        counted.add(digest)
        expected = left.pop(number, None)
        if expected is None:
            damage.append(Flaw(_whole(number), "was not stored by Fourlab"))
        elif expected != digest:
            damage.append(Flaw(_whole(number), "was changed since it was stored"))
    damage += [Flaw(_whole(number), "is missing") for number in left]
    if not damage and root != (counted.games, counted.hash):
        damage.append(Flaw(None, "the games are not those that were stored: their root is wrong"))
    return damage


def _whole(number: object) -> int | None:
    return number if isinstance(number, int) else None
