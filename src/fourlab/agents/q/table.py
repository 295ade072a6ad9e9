"""A table of learned values in memory and on disk.

A `.q` file, all numbers little-endian:

    8 bytes     FOURLABQ
    32 bytes    SHA-256 of everything that follows
    4 bytes     how long the description is
    …           the description, JSON: board, form, how many entries, how it was learned
    …           the sorted keys as differences, then the numbers, each byte by byte (all first bytes, all second bytes, …) and
                deflated, which makes them a third smaller; the description tells the two lengths

Everything is checked before it is believed, and sizes before memory is taken.
"""

import hashlib
import json
import zlib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fourlab.agents.q import kernel as q_learning
from fourlab.agents.q import table_kernel as qtable
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.solver.build import canonical
from fourlab.solver.table import new_table

Form = Literal["afterstate", "state-action"]
FORMAT = 1
MAGIC = b"FOURLABQ"
FEWEST_SLOTS = 1 << 10
"""Enough for several games on any board."""
MOST_DESCRIPTION = 1 << 16
DEFLATES = 1100
"""Deflate makes nothing smaller than by a factor of 1032; what claims more is not believed."""
SHIPPED = "q_5x4.q"


@dataclass(frozen=True)
class QForm:
    """What a table's values belong to and how to read them."""

    rules: Rules
    form: Form = "afterstate"
    """Values of positions after a disc, as the side that played it sees them, or of positions and columns."""
    mirror: bool = False
    """Whether mirror images share their values."""
    counted: bool = False
    """Whether updates are counted."""
    initial: float = 0.0
    """The value of what has never been met."""
    win: float = 1.0
    """The value of a won game; with `loss` it says how values are to be read."""
    loss: float = -1.0

    @property
    def values(self) -> int:
        """How many values an entry has."""
        return 1 if self.form == "afterstate" else self.rules.columns

    @property
    def numbers(self) -> int:
        """How many numbers an entry has: its values and perhaps their counts."""
        return self.values * (2 if self.counted else 1)

    def layout(self, slots: int) -> qtable.Layout:
        """The same for compiled code, in a table of so many slots."""
        return qtable.layout_of(slots, self.values, self.counted, self.mirror, self.initial)


@dataclass
class QTable:
    """Learned values by position; it grows as it is filled."""

    form: QForm
    about: dict[str, Any] = field(default_factory=dict)
    """How it was learned."""
    slots: int = FEWEST_SLOTS

    def __post_init__(self) -> None:
        self._take_memory(self.slots)

    def _take_memory(self, slots: int) -> None:
        self.slots, self.layout = slots, self.form.layout(slots)
        self.words = new_table(slots * self.layout.width + 1)
        self.numbers = self.words.view(np.float32)

    def __len__(self) -> int:
        return int(self.words[-1])

    @property
    def megabytes(self) -> float:
        """The memory that its slots take."""
        return 8 * self.slots * self.layout.width / 2**20

    def _needs_room(self) -> bool:
        """Whether another game might overfill it."""
        return bool(qtable.is_full(self.words, self.layout, self.form.rules.geometry))

    def is_full(self, megabytes: float) -> bool:
        """Whether it would have to grow, but not beyond so much memory."""
        return self._needs_room() and 2 * self.megabytes > megabytes

    def make_room(self) -> None:
        """Double the table if another game might overfill it."""
        if not self._needs_room():
            return
        small = self.words
        self._take_memory(2 * self.slots)
        qtable.copy_slots(small, self.words, self.layout)

    def judge(self, position: Position) -> tuple[dict[int, float], int]:
        """The value of every open column, and how many of them are known."""
        worth, g = np.empty(self.form.rules.columns), self.form.rules.geometry
        keys = q_learning.keys_of(position.own, position.mask, self.layout, g)
        known = q_learning.judge(keys, position.mask, g, self.words, self.numbers, self.layout, worth)
        return {column: float(worth[column]) for column in position.legal_columns()}, int(known)

    def greedy(self, position: Position) -> int:
        """The first of the columns of the greatest value."""
        worth, _ = self.judge(position)
        return max(worth, key=lambda column: worth[column])

    def scaled(self, value: float) -> float:
        """A value as an expected result, -1 to +1."""
        form = self.form
        return max(-1.0, min(1.0, (2 * value - form.win - form.loss) / (form.win - form.loss)))

    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys, int64[n] sorted, and their numbers, float32[n, values and counts]."""
        slots = self.words[:-1].reshape(self.slots, self.layout.width)
        filled = slots[slots[:, 0] != 0]
        filled = filled[np.argsort(filled[:, 0])]
        return filled[:, 0].copy(), filled[:, 1:].copy().view(np.float32)[:, : self.form.numbers].copy()

    @classmethod
    def of(cls, form: QForm, keys: np.ndarray, numbers: np.ndarray, about: dict[str, Any] | None = None) -> "QTable":
        """A table with these entries, none of them twice."""
        slots = FEWEST_SLOTS
        while 3 * slots < 5 * len(keys):
            slots *= 2
        table = cls(form, about or {}, slots)
        qtable.fill(keys, numbers, table.words, table.numbers, table.layout)
        return table

    def save(self, file: Path) -> None:
        """Write the table, whole or not at all; equal tables make equal files."""
        keys, numbers = self.entries()
        parts = [_pack(np.diff(keys, prepend=0).astype("<i8")), _pack(numbers.astype("<f4"))]
        form = self.form
        description = {
            "format": FORMAT,
            "board": str(form.rules),
            **{name: getattr(form, name) for name in ("form", "mirror", "counted", "initial", "win", "loss")},
            "entries": len(keys),
            "lengths": [len(part) for part in parts],
            "about": self.about,
        }
        text = json.dumps(description).encode()
        body = len(text).to_bytes(4, "little") + text + b"".join(parts)
        write_atomically(file, MAGIC + hashlib.sha256(body).digest() + body)

    @classmethod
    def load(cls, file: Path) -> "QTable":
        """Read a table; one that is damaged is refused."""
        try:
            data = file.read_bytes()
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror}") from None
        try:
            return cls._parse(data)
        except Exception as error:  # a made-up file can fail in any part of JSON, zlib and NumPy
            raise UserError(f"{file} is not a table of values or is damaged: {error}") from None

    @classmethod
    def _parse(cls, data: bytes) -> "QTable":
        if data[:8] != MAGIC:
            raise ValueError(f"it does not begin with {MAGIC.decode()}")
        body = memoryview(data)[40:]
        if hashlib.sha256(body).digest() != data[8:40]:
            raise ValueError("its checksum is wrong")
        length = int.from_bytes(body[:4], "little")
        if length > min(MOST_DESCRIPTION, len(body) - 4):
            raise ValueError("its description is too long")
        description = json.loads(bytes(body[4 : 4 + length]))
        if description["format"] != FORMAT:
            raise ValueError(f"format {description['format']} instead of {FORMAT}")
        form = _form(description)
        entries, (first, second) = int(description["entries"]), description["lengths"]
        packed = body[4 + length :]
        if entries < 0 or first < 0 or second < 0 or first + second != len(packed):
            raise ValueError("its lengths do not add up")
        keys = np.cumsum(_unpack(packed[:first], "<i8", entries), dtype=np.int64)
        numbers = _unpack(packed[first:], "<f4", entries * form.numbers).reshape(entries, form.numbers)
        _check(form, keys, numbers)
        return cls.of(form, keys, numbers, dict(description["about"]))


def _form(description: dict[str, Any]) -> QForm:
    form = QForm(
        Rules.parse(description["board"]),
        description["form"],
        bool(description["mirror"]),
        bool(description["counted"]),
        *(float(description[name]) for name in ("initial", "win", "loss")),
    )
    if form.form not in ("afterstate", "state-action"):
        raise ValueError(f"there is no form {form.form!r}")
    if not np.isfinite([form.initial, form.win, form.loss]).all() or form.win <= form.loss:
        raise ValueError("its rewards make no sense")
    return form


def _pack(array: np.ndarray) -> bytes:
    size = array.dtype.itemsize
    return zlib.compress(array.reshape(-1).view(np.uint8).reshape(-1, size).T.tobytes(), 6)


def _unpack(data: memoryview, dtype: str, count: int) -> np.ndarray:
    size = np.dtype(dtype).itemsize
    if count * size > DEFLATES * len(data):
        raise ValueError("it claims more entries than it can hold")
    inflater = zlib.decompressobj()
    raw = inflater.decompress(data, count * size + 1) if count else inflater.decompress(data)
    if len(raw) != count * size or not inflater.eof or inflater.unused_data:
        raise ValueError("its entries are not as many as it says")
    planes = np.frombuffer(raw, np.uint8).reshape(size, count)
    return planes.T.copy().view(dtype).reshape(count).astype(np.dtype(dtype).newbyteorder("="))


def _check(form: QForm, keys: np.ndarray, numbers: np.ndarray) -> None:
    """Refuse what no training writes: keys that are no boards, repeated or not canonical, and values that are no numbers."""
    g = form.rules.geometry
    if (np.diff(keys) <= 0).any():
        raise ValueError("its positions are not in order")
    if len(keys) and (keys[0] <= 0 or keys[-1] >> g.columns * g.height):
        raise ValueError("it holds positions of another board")
    for column in range(g.columns):
        if not (keys >> column * g.height & (1 << g.height) - 1).all():
            raise ValueError("it holds positions that are none")
    if form.mirror and not np.array_equal(keys, canonical(keys, g)):
        raise ValueError("it shares values between mirror images and holds both")
    if not np.isfinite(numbers).all():
        raise ValueError("it holds values that are no numbers")


@lru_cache(maxsize=4)
def _loaded(file: Path, changed_at: int, size: int) -> QTable:
    return QTable.load(file)


def load_table(file: Path) -> QTable:
    """Read a table, or return the one read before if the file has not changed since; it must not be changed."""
    try:
        status = file.stat()
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    return _loaded(file.resolve(), status.st_mtime_ns, status.st_size)


def shipped_table() -> QTable:
    """The table that comes with Fourlab."""
    with as_file(files("fourlab.agents.q") / SHIPPED) as file:
        return load_table(file)
