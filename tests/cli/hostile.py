"""Damaged and malicious files, made from valid ones by a seeded generator."""

import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fourlab.jobs.seal import SEAL_FILE

DIGITS = "9" * 5000
VALUES = [
    *('""', '"x"', '"\\u001b[31m"', '"7x6x4"', '"0x0x0"', '"engine:cmd=x"', '"mcts:c=nan"'),
    *("-1", "0", "1", "3", "0.5", "-1e999", "1e308", "true", "[]", "{}", '[[["x"]]]'),
    *("9223372036854775807", "-9223372036854775808", "18446744073709551616", DIGITS),
    "[" * 50 + "]" * 50,
    "[" * 100_000,
    f'"{"x" * 10_000}"',
    f'"{DIGITS}"',
]
"""JSON values, most of which are also TOML values."""


def without_hashes(run: Path) -> None:
    """Make a run one of version 1, whose files and games have no hashes that show changes."""
    (run / SEAL_FILE).unlink()
    with sqlite3.connect(run / "games.sqlite") as connection:
        connection.execute("DROP TABLE hashes")
        connection.execute("DROP TABLE root")
        connection.execute("PRAGMA user_version=1")
    connection.close()


def variants(text: str, seed: int) -> Iterator[bytes]:
    """Yield changed versions of a TOML or JSON text, without end."""
    rng = random.Random(seed)
    while True:
        change = rng.choice([_cut, _flip, _swap_value, _swap_value, _swap_value, _drop_line])
        yield change(text, rng)


def _cut(text: str, rng: random.Random) -> bytes:
    return text.encode()[: rng.randrange(len(text))]


def _flip(text: str, rng: random.Random) -> bytes:
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def _drop_line(text: str, rng: random.Random) -> bytes:
    lines = text.splitlines()
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines).encode()


def _swap_value(text: str, rng: random.Random) -> bytes:
    """Replace a value: of JSON anywhere in the tree, of TOML in one line."""
    try:
        data = json.loads(text)
    except ValueError:
        lines = text.splitlines()
        place = rng.choice([number for number, line in enumerate(lines) if "=" in line])
        lines[place] = f"{lines[place].partition('=')[0]}= {rng.choice(VALUES)}"
        return "\n".join(lines).encode()
    owner, key = rng.choice(list(places(data)))
    owner[key] = mark = "replaced here"
    return json.dumps(data).replace(json.dumps(mark), rng.choice([*VALUES, "null"])).encode()


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container and key in a tree."""
    keys = list(data) if isinstance(data, dict) else range(len(data))
    for key in keys:
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])
