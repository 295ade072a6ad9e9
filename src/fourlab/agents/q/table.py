"""A table of learned values in memory and on disk.

A `.q` file, all numbers little-endian:

    8 bytes     FOURLABQ
    32 bytes    SHA-256 of everything that follows
    4 bytes     length of the description
    …           the description as JSON: board, form, number of entries, settings of the training
    …           differences of the sorted keys, then the numbers; both byte-transposed (all first
                bytes, all second bytes, …), which makes them a third smaller, and deflated; the
                description has the two lengths

All contents are validated on loading, and sizes before memory is allocated.
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
from fourlab.arrays import is_finite
from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.parsing import parse_description
from fourlab.solver.keys import check_canonical, check_keys, check_order, count_discs
from fourlab.solver.table import new_table

Form = Literal["afterstate", "state-action"]
FORMAT = 1
MAGIC = b"FOURLABQ"
FEWEST_SLOTS = 1 << 10
"""Slots of a new table, enough for several games on any board."""
MOST_DESCRIPTION = 1 << 16
"""Maximum length of the description in bytes."""
MAX_BYTES = 1 << 32
SPARE_BYTES = 80 << 20
"""A table may take this many bytes more than its file."""
MAX_DISTANCE = 100
"""Most slots, on average, between the one that a key hashes to and the one that it gets. In a table
that is 3/5 full the mean is below 1."""
DEFLATES = 1100
"""Maximum plausible compression ratio; deflate reaches at most 1032."""
SHIPPED = "q_5x4.q"
SHIPPED_NAMES = {"arya": "q_arya.q", "arya-faithful": "q_arya_faithful.q"}
"""Shipped tables for the classic board: Arya's, corrected and with its fault, cut to 10 discs.

They are made by `fourlab train q --preset arya`, with `--faithful` or without, and `fourlab qtable
cut --discs 10`.
"""


@dataclass(frozen=True)
class QForm:
    """What a table's values belong to, and their scale."""

    rules: Rules
    form: Form = "afterstate"
    """Values of positions after a disc, for the side that played it, or of (position, column)."""
    mirror: bool = False
    """Whether mirror images share their values."""
    counted: bool = False
    """Whether updates are counted."""
    initial: float = 0.0
    """The value of whatever is not in the table."""
    win: float = 1.0
    """The value of a won game; `win` and `loss` define the scale of values."""
    loss: float = -1.0

    @property
    def values(self) -> int:
        """Return the number of values in an entry."""
        return 1 if self.form == "afterstate" else self.rules.columns

    @property
    def numbers(self) -> int:
        """Return the number of values and, if counted, counts in an entry."""
        return self.values * (2 if self.counted else 1)

    def layout(self, slots: int) -> qtable.Layout:
        """Return the layout that kernels need for a table of `slots` slots."""
        return qtable.layout_of(slots, self.values, self.counted, self.mirror, self.initial)


@dataclass
class QTable:
    """A growing table of learned values by position."""

    form: QForm
    about: dict[str, Any] = field(default_factory=dict)
    """The settings of its training, and other notes."""
    slots: int = FEWEST_SLOTS

    def __post_init__(self) -> None:
        self._allocate(self.slots)

    def _allocate(self, slots: int) -> None:
        self.slots = slots
        self.layout = self.form.layout(slots)
        # Anonymous memory is zeroed by the system, and a key of 0 is an empty slot.
        self.words = new_table(slots * self.layout.width + 1)
        self.numbers = self.words.view(np.float32)

    def __len__(self) -> int:
        return int(self.words[-1])

    @property
    def megabytes(self) -> float:
        """Return the size of the slots in MB (2^20 bytes)."""
        return 8 * self.slots * self.layout.width / 2**20

    def _needs_room(self) -> bool:
        """Return whether another game might overfill the table."""
        return bool(qtable.is_full(self.words, self.layout, self.form.rules.geometry))

    def is_full(self, megabytes: float) -> bool:
        """Return whether the table must grow but would then exceed `megabytes`."""
        return self._needs_room() and 2 * self.megabytes > megabytes

    def make_room(self) -> None:
        """Double the table if another game might overfill it."""
        if not self._needs_room():
            return
        small = self.words
        self._allocate(2 * self.slots)
        qtable.copy_slots(small, self.words, self.layout)

    def look_up(self, position: Position) -> tuple[dict[int, float], int]:
        """Return the value of every open column, and how many of them are in the table."""
        q = np.empty(self.form.rules.columns)
        g = self.form.rules.geometry
        keys = q_learning.keys_of(position.own, position.mask, self.layout, g)
        stored = q_learning.look_up(
            keys, position.mask, g, self.words, self.numbers, self.layout, q
        )
        return {column: float(q[column]) for column in position.legal_columns()}, int(stored)

    def greedy(self, position: Position) -> int:
        """Return the first column of the greatest value."""
        values, _ = self.look_up(position)
        return max(values, key=lambda column: values[column])

    def scaled(self, value: float) -> float:
        """Return a value as an expected result, -1 to +1 for the side to move."""
        form = self.form
        # Linear from [loss, win] to [-1, 1]; discounted or initial values may lie outside of it.
        return max(-1.0, min(1.0, (2 * value - form.win - form.loss) / (form.win - form.loss)))

    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all keys, int64[n] sorted, and their numbers, float32[n, values and counts]."""
        # The last word is the number of keys; all others are slots.
        slots = self.words[:-1].reshape(self.slots, self.layout.width)
        filled = slots[slots[:, 0] != 0]
        filled = filled[np.argsort(filled[:, 0])]
        # The last number of a slot may be padding.
        numbers = filled[:, 1:].copy().view(np.float32)[:, : self.form.numbers]
        return filled[:, 0].copy(), numbers.copy()

    @classmethod
    def of(
        cls, form: QForm, keys: np.ndarray, numbers: np.ndarray, about: dict[str, Any] | None = None
    ) -> "QTable":
        """Return a table of these entries; keys must be distinct.

        Raises ValueError for keys that are chosen so that filling the slots would take very long.
        """
        _check_hashes(form, keys)
        table = cls(form, about or {}, _slots(len(keys)))
        qtable.fill(keys, numbers, table.words, table.numbers, table.layout)
        return table

    def cut(self, discs: int) -> "QTable":
        """Return a table of the positions with at most `discs` discs that have learned a value.

        The others count as never seen. After self-play most positions of a table are late ones,
        which games against anybody else do not reach.
        """
        keys, numbers = self.entries()
        _, present = count_discs(keys, self.form.rules.geometry)
        # For afterstates the side to move is the other one, but discs are discs.
        learned = (numbers[:, : self.form.values] != np.float32(self.form.initial)).any(axis=1)
        kept = (present <= discs) & learned
        return QTable.of(self.form, keys[kept], numbers[kept], {**self.about, "cut": discs})

    def save(self, file: Path) -> None:
        """Write the table atomically; equal tables give equal files."""
        keys, numbers = self.entries()
        # Sorted keys as differences, as in an opening book: small numbers compress well.
        parts = [_pack(np.diff(keys, prepend=0).astype("<i8")), _pack(numbers.astype("<f4"))]
        form = self.form
        description = {
            "format": FORMAT,
            "board": str(form.rules),
            "form": form.form,
            "mirror": form.mirror,
            "counted": form.counted,
            "initial": form.initial,
            "win": form.win,
            "loss": form.loss,
            "entries": len(keys),
            "lengths": [len(part) for part in parts],
            "about": self.about,
        }
        text = json.dumps(description).encode()
        body = len(text).to_bytes(4, "little") + text + b"".join(parts)
        write_atomically(file, MAGIC + hashlib.sha256(body).digest() + body)

    @classmethod
    def load(cls, file: Path, memory_mb: float | None = None) -> "QTable":
        """Read a table; raise UserError if the file is unreadable or damaged.

        Unless `memory_mb` says how much memory the table may take, it is refused if loading it
        takes more than twice the size of the file and 100 MB.
        """
        try:
            data = read_bounded(file, MAX_BYTES)
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror}") from None
        try:
            return cls._parse(data, memory_limit(len(data), memory_mb))
        except TooLarge as error:
            raise UserError(f"{file} is too large: {error}") from None
        except Exception as error:  # a forged file can fail anywhere in JSON, zlib and NumPy
            raise UserError(f"{file} is not a table of values or is damaged: {error}") from None

    @classmethod
    def _parse(cls, data: bytes, max_bytes: float) -> "QTable":
        if data[:8] != MAGIC:
            raise ValueError(f"it does not begin with {MAGIC.decode()}")
        # 8 bytes of magic and 32 of checksum; a view does not copy the rest.
        body = memoryview(data)[40:]
        if hashlib.sha256(body).digest() != data[8:40]:
            raise ValueError("its checksum is wrong")
        length = int.from_bytes(body[:4], "little")
        if length > min(MOST_DESCRIPTION, len(body) - 4):
            raise ValueError("its description is too long")
        description = parse_description(bytes(body[4 : 4 + length]))
        if description["format"] != FORMAT:
            raise ValueError(f"format {description['format']} instead of {FORMAT}")
        form = _form(description)
        entries = int(description["entries"])
        first, second = description["lengths"]
        packed = body[4 + length :]
        if entries < 0 or first < 0 or second < 0 or first + second != len(packed):
            raise ValueError("its lengths do not add up")
        if 8 * entries > DEFLATES * first:
            raise ValueError("it claims more entries than it can hold")
        check_memory(form, entries, max_bytes)
        keys = np.cumsum(_unpack(packed[:first], "<i8", entries), dtype=np.int64)
        numbers = _unpack(packed[first:], "<f4", entries * form.numbers)
        numbers = numbers.reshape(entries, form.numbers)
        _check(form, keys, numbers)
        return cls.of(form, keys, numbers, dict(description["about"]))


class TooLarge(ValueError):
    """A table needs more memory than it may take."""


def memory_limit(file_bytes: int, memory_mb: float | None) -> float:
    """Return how many bytes the entries of a table may take besides the file's own."""
    return file_bytes + SPARE_BYTES if memory_mb is None else memory_mb * 2**20


def check_memory(form: QForm, entries: int, max_bytes: float) -> None:
    """Raise TooLarge if a table of this size takes more than `max_bytes` while it is loaded."""
    # Keys and numbers are there once as arrays, and once in slots.
    width = form.layout(FEWEST_SLOTS).width
    need = entries * (8 + 4 * form.numbers) + 8 * _slots(entries) * width
    if need > max_bytes:
        raise TooLarge(
            f"it takes {need / 2**20:,.0f} MB of memory, more than {max_bytes / 2**20:,.0f} "
            "(memory_mb allows more)"
        )


def _slots(entries: int) -> int:
    """Return the number of slots of a table with this number of entries."""
    # At most 3/5 of the slots are filled; see `table_kernel.is_full`.
    slots = FEWEST_SLOTS
    while 3 * slots < 5 * entries:
        slots *= 2
    return slots


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
        raise ValueError("its rewards must be finite, and a win worth more than a loss")
    return form


def _pack(array: np.ndarray) -> bytes:
    size = array.dtype.itemsize
    return zlib.compress(array.reshape(-1).view(np.uint8).reshape(-1, size).T.tobytes(), 6)


def _unpack(data: memoryview, dtype: str, count: int) -> np.ndarray:
    size = np.dtype(dtype).itemsize
    if count * size > DEFLATES * len(data):
        raise ValueError("it claims more entries than it can hold")
    inflater = zlib.decompressobj()
    # One byte more than expected is enough to see that there is too much.
    raw = inflater.decompress(data, count * size + 1) if count else inflater.decompress(data)
    if len(raw) != count * size or not inflater.eof or inflater.unused_data:
        raise ValueError("the number of its entries is not the number it claims")
    # The inverse of _pack: uint8[size, count], all first bytes first.
    planes = np.frombuffer(raw, np.uint8).reshape(size, count)
    array = planes.T.copy().view(dtype).reshape(count)
    return array.astype(np.dtype(dtype).newbyteorder("="), copy=False)


def _check(form: QForm, keys: np.ndarray, numbers: np.ndarray) -> None:
    """Raise ValueError for keys that are invalid, repeated or not canonical, and for bad values."""
    g = form.rules.geometry
    check_order(keys)
    check_keys(keys, g)
    if form.mirror:
        check_canonical(keys, g)
    if not is_finite(numbers):
        raise ValueError("it holds values that are not finite")


def _check_hashes(form: QForm, keys: np.ndarray) -> None:
    """Raise ValueError if the keys are chosen so that filling the slots would take very long."""
    # Linear probing: sorted by home, a key gets the first slot from its home on that is behind the
    # slot of the key before. The distances add up to the same sum in any other order.
    slots = _slots(len(keys))
    shift = form.layout(slots).shift
    homes = keys * np.int64(qtable.HASH_MULTIPLIER)
    homes >>= shift
    homes &= slots - 1
    homes.sort()
    numbers = np.arange(len(keys))
    homes -= numbers
    furthest = np.maximum.accumulate(homes)
    distance = int(furthest.sum() - homes.sum())
    # Those behind the last slot go on at the first one.
    numbers += furthest
    around = int(np.count_nonzero(numbers >= slots))
    if distance + around * len(keys) > MAX_DISTANCE * (len(keys) + FEWEST_SLOTS):
        raise ValueError("its positions are chosen to slow it down")


@lru_cache(maxsize=4)
def _loaded(file: Path, changed_at: int, size: int, memory_mb: float | None) -> QTable:
    return QTable.load(file, memory_mb)


def load_table(file: Path, memory_mb: float | None = None) -> QTable:
    """Read a table, or return a cached one if the file is unchanged; callers must not modify it."""
    try:
        status = file.stat()
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    return _loaded(file.resolve(), status.st_mtime_ns, status.st_size, memory_mb)


def shipped_table(name: str = SHIPPED) -> QTable:
    """Return a table shipped with Fourlab."""
    with as_file(files("fourlab.agents.q") / name) as file:
        return load_table(file)


def named_table(name: str, memory_mb: float | None = None) -> QTable:
    """Return the table of a file, or a shipped one by its name in SHIPPED_NAMES."""
    if name in SHIPPED_NAMES:
        return shipped_table(SHIPPED_NAMES[name])
    return load_table(Path(name), memory_mb)
