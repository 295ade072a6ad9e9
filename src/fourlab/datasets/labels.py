"""Positions with their exact results: what evaluators learn from and are examined on.

Two kinds of files hold them. The text of the UCI data set has one position a line, 42 cells and a label; a `.npz` file has the
exact score of every column, and a description with a checksum.
"""

import gzip
import hashlib
import io
import json
import lzma
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.compiled.counting import goes_on
from fourlab.datasets.sample import quiet
from fourlab.errors import UserError
from fourlab.files import digest, write_atomically
from fourlab.game import bitboard as bit_rules
from fourlab.game.outcome import Result
from fourlab.game.rules import CLASSIC, Rules
from fourlab.solver import shipped_book
from fourlab.solver.build import canonical, unfinished_positions
from fourlab.solver.many import CLOSED

SHIPPED = ("uci8", "book")
"""The sources that are no files."""
UCI_PLIES = 8
FORMAT = 1
LABELS = {result: result.word for result in (Result.WIN, Result.DRAW, Result.LOSS)}
MOST_TEXT = 100_000_000
"""Texts of more bytes, a million positions or so, are not read: a small compressed file could fill the memory."""
MOST_PER_BYTE = 8
"""No .npz file of ours holds so many positions in a byte; one that says so is a trap for the memory."""

_LINE = re.compile(rb"((?:[bxo],){42})(win|draw|loss)\s*")


@dataclass(frozen=True)
class Labelled:
    """Positions on one board, in none of which the game is over, with their exact results."""

    rules: Rules
    keys: np.ndarray
    """int64[N], as `Position.key` numbers them."""
    results: np.ndarray
    """int8[N] for the side to move: +1 it wins, 0 draw, -1 it loses."""
    columns: np.ndarray | None = None
    """int8[N, columns]: what each column is worth on Pons's scale, -128 if it is full; None if that is not known."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def cells(self) -> np.ndarray:
        """int8[N, columns, rows] from the bottom left: 0 empty, 1 a disc of the side to move, 2 one of the other."""
        g = self.rules.geometry
        columns = self.keys[:, None] >> np.arange(g.columns) * g.height & (1 << g.height) - 1
        bits = columns[:, :, None] >> np.arange(g.rows)  # a column's highest 1 lies above its discs
        return np.where(bits > 1, 2 - (bits & 1), 0).astype(np.int8)

    @property
    def counts(self) -> dict[str, int]:
        """How many positions are won, drawn and lost for the side to move."""
        return {label: int(np.count_nonzero(self.results == result)) for result, label in LABELS.items()}

    @property
    def discs(self) -> tuple[np.ndarray, np.ndarray]:
        """int64[N] each: `own`, the discs of the side to move, and `mask`, all discs."""
        g = self.rules.geometry
        own = mask = np.zeros(len(self), np.int64)
        for column in range(g.columns):
            bits = self.keys >> column * g.height & (1 << g.height) - 1
            top = np.int64(1) << np.frexp(bits)[1] - 1  # a column's highest 1 lies above its discs
            own, mask = own | (bits - top) << column * g.height, mask | (top - 1) << column * g.height
        return own, mask

    def after_each_column(self) -> "Labelled":
        """The positions after every column whose worth is known, unless they are the end of the game."""
        if self.columns is None:
            return self.take(np.zeros(0, np.int64))
        g = self.rules.geometry
        own, mask = self.discs
        left = np.count_nonzero(self.cells == 0, axis=(1, 2))
        keys, results = [], []
        for column in range(g.columns):
            worth = self.columns[:, column].astype(np.int64)
            goes_on = (worth != CLOSED) & (worth != (left + 1) // 2) & (left > 1)  # nothing is worth more than a win at once
            after = mask | bit_rules.landing(mask, column, g)  # type: ignore[arg-type]  # works on whole arrays too
            keys.append(((own ^ mask) + after + g.bottom)[goes_on])
            results.append(-np.sign(worth[goes_on]).astype(np.int8))
        return Labelled(self.rules, np.concatenate(keys), np.concatenate(results))

    def take(self, places: np.ndarray) -> "Labelled":
        """Some of the positions, in the order of the places."""
        columns = None if self.columns is None else self.columns[places]
        return Labelled(self.rules, self.keys[places], self.results[places], columns)


def split(labelled: Labelled, share: float = 0.8, seed: int = 0) -> tuple[Labelled, Labelled]:
    """Deal the positions by lot into two sets, the first of which gets the share, rounded down."""
    order = np.random.default_rng(seed).permutation(len(labelled))
    first = int(share * len(labelled))
    return labelled.take(order[:first]), labelled.take(order[first:])


def gather(sources: Sequence[str], after: bool = False) -> Labelled:
    """Positions of several sources, uci8, book or files, as one set, each once up to mirror image; columns are left out.

    With `after`, the positions after every column, where they are known, are in it too.
    """
    shipped = {"uci8": uci8, "book": whole_book}
    sets = [shipped[source]() if source in SHIPPED else load(Path(source)) for source in sources]
    sets += [each.after_each_column() for each in sets] if after else []
    boards = sorted({str(each.rules) for each in sets})
    if len(boards) != 1:
        raise UserError(f"the positions must be of one board, not {' and '.join(boards) or 'of none'}")
    keys = canonical(np.concatenate([each.keys for each in sets]), sets[0].rules.geometry)
    keys, first = np.unique(keys, return_index=True)
    return Labelled(sets[0].rules, keys, np.concatenate([each.results for each in sets])[first])


def checksums(sources: Sequence[str]) -> list[str]:
    """Each file among the sources behind the SHA-256 of its contents, as sha256sum prints them."""
    try:
        return [f"{digest(Path(source))}  {source}" for source in sources if source not in SHIPPED]
    except OSError as error:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from None


def without(labelled: Labelled, others: Labelled) -> Labelled:
    """The positions that are not, up to mirror image, among the others."""
    g = labelled.rules.geometry
    return labelled.take(np.flatnonzero(~np.isin(canonical(labelled.keys, g), canonical(others.keys, g))))


def whole_book() -> Labelled:
    """All positions of the book that comes with Fourlab."""
    book = shipped_book()
    if book is None:
        raise UserError("this copy of Fourlab has no book")
    return Labelled(book.rules, book.keys, np.sign(book.scores))


def uci8() -> Labelled:
    """The positions of the UCI data set, labelled from the book that comes with Fourlab."""
    book = shipped_book()
    if book is None or book.rules != CLASSIC or book.plies < UCI_PLIES:
        raise UserError(f"this copy of Fourlab has no book of {UCI_PLIES} plies; fourlab dataset uci8 --from-scratch needs none")
    keys = quiet_positions(CLASSIC, UCI_PLIES)
    return Labelled(CLASSIC, keys, np.sign(book.scores[np.searchsorted(book.keys, keys)]))


def quiet_positions(rules: Rules, plies: int) -> np.ndarray:
    """The sorted canonical keys of the positions of one ply in which the game goes on and neither side could win at once."""
    keys = next(islice(unfinished_positions(rules), plies, None), np.zeros(0, np.int64))
    marked: np.ndarray = keys[quiet(keys, rules.geometry)]
    return marked


def load(file: Path) -> Labelled:
    """Read a file of labelled positions: .npz, or the text of the UCI data set, perhaps compressed (.gz, .xz)."""
    try:
        if file.suffix == ".npz":
            return _unpack(file.read_bytes())
        opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(file.suffix, open)
        with opener(file, "rb") as stream:
            return parse_text(stream.read(MOST_TEXT + 1))
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}") from None
    except Exception as error:  # a damaged file can fail in any part of zip, zlib, NumPy and JSON
        raise UserError(f"{file} is not a data set or is damaged: {error}") from None


# --- text -----------------------------------------------------------------------------------------------------------


def as_text(labelled: Labelled) -> bytes:
    """One position a line: columns from the left, each from below, b empty, x the first player, o the second; then x's result."""
    cells = labelled.cells.reshape(len(labelled), -1)
    second = np.count_nonzero(cells, axis=1) % 2  # whether the second player is to move
    lines = np.full((len(cells), 2 * cells.shape[1]), ord(","), np.uint8)
    lines[:, ::2] = np.array([list(b"bxo"), list(b"box")], np.uint8)[second[:, None], cells]
    results = np.where(second, -labelled.results, labelled.results)
    return b"".join(line.tobytes() + LABELS[Result(x)].encode() + b"\n" for line, x in zip(lines, results, strict=True))


def parse_text(data: bytes) -> Labelled:
    """Read such lines of the classic board."""
    if len(data) > MOST_TEXT:
        raise UserError(f"it has more than {MOST_TEXT:,} bytes")
    matches = [_LINE.fullmatch(line) for line in data.rstrip().split(b"\n")]
    if None in matches:
        raise UserError(f"line {matches.index(None) + 1} is not 42 cells b, x or o and then win, draw or loss")
    g = CLASSIC.geometry
    letters = np.frombuffer(b"".join(match[1] for match in matches if match), np.uint8)[::2].reshape(-1, g.columns, g.rows)
    x, o, discs = letters == ord("x"), letters == ord("o"), letters != ord("b")
    ahead = x.sum(axis=(1, 2)) - o.sum(axis=(1, 2))
    second = ahead == 1  # the second player is to move
    keys, other_keys = _keys(np.where(second[:, None, None], o, x), discs), _keys(np.where(second[:, None, None], x, o), discs)
    floating = (discs[:, :, 1:] & ~discs[:, :, :-1]).any(axis=(1, 2))
    possible = (second | (ahead == 0)) & ~floating & goes_on(keys, g) & goes_on(other_keys, g) & ~discs.all(axis=(1, 2))
    if not possible.all():
        raise UserError(f"line {possible.argmin() + 1} is not a position in which the game goes on")
    numbers = {label.encode(): number for number, label in LABELS.items()}
    results = np.array([numbers[match[2]] for match in matches if match], np.int8)
    return Labelled(CLASSIC, keys, np.where(second, -results, results))


def _keys(own: np.ndarray, discs: np.ndarray) -> np.ndarray:
    """What `game.bitboard.key` makes of each position: own + mask + bottom."""
    g = CLASSIC.geometry
    bits = 1 << np.arange(g.columns)[:, None] * g.height + np.arange(g.rows)
    keys: np.ndarray = ((own.astype(np.int64) + discs) * bits).sum(axis=(1, 2)) + g.bottom
    return keys


def compress(text: bytes, suffix: str) -> bytes:
    """The bytes of a file whose name ends so; the same text always gives the same bytes."""
    if suffix == ".gz":
        return gzip.compress(text, mtime=0)
    return lzma.compress(text) if suffix == ".xz" else text


# --- npz ------------------------------------------------------------------------------------------------------------


def save(labelled: Labelled, file: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Write positions with the scores of their columns, whole or not at all; returns the description that the file carries."""
    assert labelled.columns is not None
    about = {
        "format": FORMAT,
        "board": str(labelled.rules),
        "positions": len(labelled),
        **about,
        **labelled.counts,
        "sha256": checksum_of(labelled),
    }
    memory = io.BytesIO()
    np.savez_compressed(
        memory,
        keys=labelled.keys.astype("<i8"),
        scores=labelled.columns.max(axis=1),
        columns=labelled.columns,
        about=np.frombuffer(json.dumps(about).encode(), np.uint8),
    )
    write_atomically(file, memory.getvalue())
    return about


def _unpack(data: bytes) -> Labelled:
    most = MOST_PER_BYTE * len(data)
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        about = json.loads(_array(parts, "about", "|u1", most).tobytes())
        if about["format"] != FORMAT:
            raise ValueError(f"format {about['format']} instead of {FORMAT}")
        rules = Rules.parse(about["board"])
        keys = _array(parts, "keys", "<i8", most).astype(np.int64)
        scores = _array(parts, "scores", "|i1", most)
        columns = _array(parts, "columns", "|i1", most, rules.columns)
    if not len(keys) == len(scores) == len(columns) == about["positions"]:
        raise ValueError("its arrays differ in length")
    if _checksum(keys, columns) != about["sha256"] or not np.array_equal(scores, columns.max(axis=1)):
        raise ValueError("its checksum is wrong")
    return Labelled(rules, keys, np.sign(scores), columns)


def _array(parts: zipfile.ZipFile, name: str, kind: str, most: int, *width: int) -> np.ndarray:
    """Read one array of a .npz file, after a look at the size that stands in front of it."""
    with parts.open(f"{name}.npy") as stream:
        np.lib.format.read_magic(stream)
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
        if dtype != np.dtype(kind) or shape[1:] != width or shape[0] > most or by_columns:
            raise ValueError(f"{name} is {dtype}{list(shape)}")
        data = stream.read(prod(shape) * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape).copy()  # a copy can be written to, as torch wants it


def checksum_of(labelled: Labelled) -> str:
    """Names the positions and the scores of their columns."""
    assert labelled.columns is not None
    return _checksum(labelled.keys, labelled.columns)


def _checksum(keys: np.ndarray, columns: np.ndarray) -> str:
    return hashlib.sha256(keys.astype("<i8").tobytes() + columns.tobytes()).hexdigest()
