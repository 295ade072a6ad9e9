"""Positions with exact results, for training and testing evaluators.

Two file formats hold them. The text of the UCI data set has one position per line, 42 cells and a
label. A `.npz` file has the exact score of every column, and a description with a checksum.
"""

import gzip
import hashlib
import io
import json
import lzma
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.arrays import CHUNK, Kind, read_npz
from fourlab.compiled.counting import is_unfinished
from fourlab.datasets.sample import quiet
from fourlab.errors import UserError
from fourlab.files import digest, read_bounded, write_atomically
from fourlab.game import bitboard
from fourlab.game.outcome import Result
from fourlab.game.rules import CLASSIC, Rules
from fourlab.parsing import parse_description
from fourlab.solver import shipped_book
from fourlab.solver.build import canonical, unfinished_positions
from fourlab.solver.keys import check_keys, count_discs, steps
from fourlab.solver.solution import CLOSED

SHIPPED = ("uci8", "book")
"""Sources that are not files."""
UCI_PLIES = 8
FORMAT = 1
LABELS = {result: result.word for result in (Result.WIN, Result.DRAW, Result.LOSS)}
MAX_TEXT_BYTES = 100_000_000
"""About a million positions. Longer texts are refused: a small compressed file could otherwise fill
the memory."""
MAX_FILE_BYTES = 1 << 28
MAX_MEMBERS = 10_000
"""Most parts of a compressed file, each of which is decompressed anew."""
INPUT_BYTES = 16 << 10
"""Bytes that are decompressed at once."""
MAX_XZ_MEMORY = 40 << 20
"""Most bytes for decompressing xz: enough for all its presets but 9."""
ARRAYS = {
    "keys": Kind("<i8"),
    "scores": Kind("|i1"),
    "columns": Kind("|i1", axes=2),
    "about": Kind("|u1"),
}
MAX_POSITIONS_PER_BYTE = 8
"""Compressed .npz files never hold more positions per byte; one that claims to is a decompression
bomb."""

_LINE = re.compile(rb"((?:[bxo],){42})(win|draw|loss)\s*")


@dataclass(frozen=True)
class Labelled:
    """Unfinished positions on one board with their exact results."""

    rules: Rules
    keys: np.ndarray
    """int64[N], as `Position.key` defines them."""
    results: np.ndarray
    """int8[N] for the side to move: +1 win, 0 draw, -1 loss."""
    columns: np.ndarray | None = None
    """int8[N, columns]: the score of every column on Pons's scale, -128 for full ones; None if the
    scores are unknown."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def cells(self) -> np.ndarray:
        """int8[N, columns, rows] from the bottom left: 0 empty, 1 side to move, 2 other side."""
        g = self.rules.geometry
        columns = self.keys[:, None] >> np.arange(g.columns) * g.height & (1 << g.height) - 1
        # In a key, the highest 1 of a column marks its lowest empty cell, so a cell holds a disc
        # if there is a 1 above it.
        bits = columns[:, :, None] >> np.arange(g.rows)
        return np.where(bits > 1, 2 - (bits & 1), 0).astype(np.int8)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of positions that are won, drawn and lost for the side to move."""
        return {
            label: int(np.count_nonzero(self.results == result)) for result, label in LABELS.items()
        }

    @property
    def discs(self) -> tuple[np.ndarray, np.ndarray]:
        """`own`, the discs of the side to move, and `mask`, all discs: int64[N] bitboards."""
        g = self.rules.geometry
        own = np.zeros(len(self), np.int64)
        mask = np.zeros(len(self), np.int64)
        for column in range(g.columns):
            shift = column * g.height
            bits = self.keys >> shift & (1 << g.height) - 1
            # frexp's exponent is the bit length, so `top` is the highest 1.
            top = np.int64(1) << np.frexp(bits)[1] - 1
            own |= (bits - top) << shift
            mask |= (top - 1) << shift
        return own, mask

    def after_each_column(self) -> "Labelled":
        """Return the unfinished positions after every column whose score is known."""
        if self.columns is None:
            return self.take(np.zeros(0, np.int64))
        g = self.rules.geometry
        own, mask = self.discs
        empty = np.count_nonzero(self.cells == 0, axis=(1, 2))
        keys = []
        results = []
        for column in range(g.columns):
            scores = self.columns[:, column].astype(np.int64)
            # The highest possible score is that of an immediate win, which ends the game; so does
            # filling the last cell.
            unfinished = (scores != CLOSED) & (scores != (empty + 1) // 2) & (empty > 1)
            cell = bitboard.landing(mask, column, g)  # type: ignore[arg-type]  # takes arrays too
            # The key of the child: the other side's discs are now those of the side to move.
            keys.append(((own ^ mask) + (mask | cell) + g.bottom)[unfinished])
            # Column scores are from the mover's point of view, results from the next side's.
            results.append(-np.sign(scores[unfinished]).astype(np.int8))
        return Labelled(self.rules, np.concatenate(keys), np.concatenate(results))

    def take(self, places: np.ndarray) -> "Labelled":
        """Return the positions at the indices `places`, int64[M], in that order."""
        columns = None if self.columns is None else self.columns[places]
        return Labelled(self.rules, self.keys[places], self.results[places], columns)


def split(labelled: Labelled, share: float = 0.8, seed: int = 0) -> tuple[Labelled, Labelled]:
    """Split the positions at random; the first set gets `share` of them, rounded down."""
    order = np.random.default_rng(seed).permutation(len(labelled))
    first = int(share * len(labelled))
    return labelled.take(order[:first]), labelled.take(order[first:])


def gather(sources: Sequence[str], after: bool = False) -> Labelled:
    """Merge several sources, each `uci8`, `book` or a file; column scores are dropped.

    With `after`, the positions after every column with a known score are included. Of mirror images
    and duplicates one remains.
    """
    shipped = {"uci8": uci8, "book": whole_book}
    sets = [shipped[source]() if source in SHIPPED else load(Path(source)) for source in sources]
    if after:
        sets += [labelled.after_each_column() for labelled in sets]
    boards = sorted({str(labelled.rules) for labelled in sets})
    if len(boards) != 1:
        raise UserError(
            f"the positions must be of one board, not {' and '.join(boards) or 'of none'}"
        )
    rules = sets[0].rules
    keys = canonical(np.concatenate([labelled.keys for labelled in sets]), rules.geometry)
    results = np.concatenate([labelled.results for labelled in sets])
    # The first of several equal keys remains; all have the same exact result.
    keys, first = np.unique(keys, return_index=True)
    return Labelled(rules, keys, results[first])


def checksums(sources: Sequence[str]) -> list[str]:
    """Return a line "SHA256  FILE" for every file among the sources, as sha256sum prints it."""
    try:
        return [f"{digest(Path(source))}  {source}" for source in sources if source not in SHIPPED]
    except OSError as error:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from None


def without(labelled: Labelled, others: Labelled) -> Labelled:
    """Return the positions that are not among the others; mirror images count as equal."""
    g = labelled.rules.geometry
    shared = np.isin(canonical(labelled.keys, g), canonical(others.keys, g))
    return labelled.take(np.flatnonzero(~shared))


def whole_book() -> Labelled:
    """Return all positions of the book that comes with Fourlab."""
    book = shipped_book()
    if book is None:
        raise UserError("this copy of Fourlab has no book")
    return Labelled(book.rules, book.keys, np.sign(book.scores))


def uci8() -> Labelled:
    """Return the positions of the UCI data set, labelled by the book that comes with Fourlab."""
    book = shipped_book()
    if book is None or book.rules != CLASSIC or book.plies < UCI_PLIES:
        raise UserError(
            f"this copy of Fourlab has no book of {UCI_PLIES} plies; "
            "fourlab dataset uci8 --from-scratch needs none"
        )
    keys = quiet_positions(CLASSIC, UCI_PLIES)
    # The book's keys are sorted and hold every unfinished position of its plies.
    return Labelled(CLASSIC, keys, np.sign(book.scores[np.searchsorted(book.keys, keys)]))


def quiet_positions(rules: Rules, plies: int) -> np.ndarray:
    """Return the sorted canonical keys of the quiet positions after `plies` moves.

    In a quiet position the game is not over and neither side could win with its next disc.
    """
    keys = next(islice(unfinished_positions(rules), plies, None), np.zeros(0, np.int64))
    quiet_keys: np.ndarray = keys[quiet(keys, rules.geometry)]
    return quiet_keys


def load(file: Path) -> Labelled:
    """Load a .npz file, or the text of the UCI data set, which may be compressed (.gz, .xz)."""
    try:
        data = read_bounded(file, MAX_FILE_BYTES)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}") from None
    try:
        return _unpack(data) if file.suffix == ".npz" else parse_text(data, file.suffix)
    except Exception as error:  # a damaged file can fail in any part of zlib, NumPy and JSON
        raise UserError(f"{file} is not a data set or is damaged: {error}") from None


# --- text -------------------------------------------------------------------------------------


def as_text(labelled: Labelled) -> bytes:
    """Return the positions in the format of the UCI data set, one per line.

    The cells are listed column by column from the left, each from the bottom: b for empty, x for
    the first player, o for the second. The label is x's result.
    """
    cells = labelled.cells.reshape(len(labelled), -1)
    second = np.count_nonzero(cells, axis=1) % 2  # 1 if the second player is to move
    # Cells are relative to the side to move, letters are not: x is the first player.
    lines = np.full((len(cells), 2 * cells.shape[1]), ord(","), np.uint8)
    lines[:, ::2] = np.array([list(b"bxo"), list(b"box")], np.uint8)[second[:, None], cells]
    results = np.where(second, -labelled.results, labelled.results)
    return b"".join(
        line.tobytes() + LABELS[Result(result)].encode() + b"\n"
        for line, result in zip(lines, results, strict=True)
    )


def parse_text(data: bytes, suffix: str = "") -> Labelled:
    """Parse the text of the UCI data set, which is for the board 7x6x4.

    The text is compressed if `suffix` is .gz or .xz. It is parsed in pieces, because a line takes
    ten times the memory of its position.
    """
    parts: list[Labelled] = []
    lines_before = 0
    text_bytes = 0
    rest = b""
    for piece in _decompressed(data, suffix):
        text_bytes += len(piece)
        if text_bytes > MAX_TEXT_BYTES:
            raise UserError(f"it has more than {MAX_TEXT_BYTES:,} bytes")
        # White space at the end is no line, but may be followed by one.
        lines = (rest + piece).split(b"\n")
        complete = max((i for i, line in enumerate(lines[:-1], 1) if line.strip()), default=0)
        rest = b"\n".join(lines[complete:])
        if complete:
            parts.append(_parse_lines(lines[:complete], lines_before))
            lines_before += complete
        elif len(rest) > 2 * CHUNK:
            raise UserError(f"line {lines_before + 1} is too long")
    if rest.strip() or not parts:
        parts.append(_parse_lines(rest.rstrip().split(b"\n"), lines_before))
    keys = np.concatenate([part.keys for part in parts])
    return Labelled(CLASSIC, keys, np.concatenate([part.results for part in parts]))


def _decompressed(data: bytes, suffix: str) -> Iterator[bytes]:
    """Yield a text in pieces of at most CHUNK bytes."""
    if suffix not in (".gz", ".xz"):
        yield from (data[start : start + CHUNK] for start in range(0, len(data), CHUNK))
        return
    start = 0
    for _ in range(MAX_MEMBERS):
        if start == len(data):
            return
        # A file chooses how much memory its decompression takes, up to gigabytes of xz.
        member: Any = (
            lzma.LZMADecompressor(memlimit=MAX_XZ_MEMORY)
            if suffix == ".xz"
            else zlib.decompressobj(zlib.MAX_WBITS | 16)  # with the header of gzip
        )
        while not member.eof:
            # zlib returns what it has not used yet, lzma keeps it.
            rest = b"" if suffix == ".xz" else member.unconsumed_tail
            if not rest and getattr(member, "needs_input", True):
                # In pieces: what follows a member is copied, and there may be thousands of them.
                rest = data[start : start + INPUT_BYTES]
                start += len(rest)
            piece = member.decompress(rest, CHUNK)
            if not rest and not piece and not member.eof:
                raise ValueError("it ends too early")
            yield piece
        start -= len(member.unused_data)
    raise ValueError(f"it has more than {MAX_MEMBERS:,} compressed parts")


def _parse_lines(lines: Sequence[bytes], before: int) -> Labelled:
    """Parse lines, of which the first is number `before` + 1."""
    matches = [_LINE.fullmatch(line) for line in lines]
    if None in matches:
        number = before + matches.index(None) + 1
        raise UserError(f"line {number} is not 42 cells b, x or o and then win, draw or loss")
    g = CLASSIC.geometry
    cells = b"".join(match[1] for match in matches if match)
    letters = np.frombuffer(cells, np.uint8)[::2].reshape(-1, g.columns, g.rows)
    x = letters == ord("x")
    o = letters == ord("o")
    discs = x | o
    ahead = x.sum(axis=(1, 2)) - o.sum(axis=(1, 2))
    second = ahead == 1  # the second player is to move
    keys = _keys(np.where(second[:, None, None], o, x), discs)
    # `is_unfinished` looks only for a line of the side that has just moved, so both are checked.
    other_keys = _keys(np.where(second[:, None, None], x, o), discs)
    # Axis 2 counts rows from the bottom: a disc above an empty cell is impossible.
    floating = (discs[:, :, 1:] & ~discs[:, :, :-1]).any(axis=(1, 2))
    possible = (
        (second | (ahead == 0))
        & ~floating
        & is_unfinished(keys, g)
        & is_unfinished(other_keys, g)
        & ~discs.all(axis=(1, 2))
    )
    if not possible.all():
        number = before + int(possible.argmin()) + 1
        raise UserError(f"line {number} is not a position in which the game goes on")
    numbers = {label.encode(): number for number, label in LABELS.items()}
    results = np.array([numbers[match[2]] for match in matches if match], np.int8)
    return Labelled(CLASSIC, keys, np.where(second, -results, results))


def _keys(own: np.ndarray, discs: np.ndarray) -> np.ndarray:
    """Return the keys, own + mask + bottom, of bool[N, columns, rows] arrays."""
    g = CLASSIC.geometry
    bits = 1 << np.arange(g.columns)[:, None] * g.height + np.arange(g.rows)
    keys: np.ndarray = ((own.astype(np.int64) + discs) * bits).sum(axis=(1, 2)) + g.bottom
    return keys


def compress(text: bytes, suffix: str) -> bytes:
    """Compress a text for a file name that ends in `suffix`; equal texts give equal bytes."""
    if suffix == ".gz":
        return gzip.compress(text, mtime=0)
    return lzma.compress(text) if suffix == ".xz" else text


# --- npz --------------------------------------------------------------------------------------


def save(labelled: Labelled, file: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Write positions with the scores of their columns atomically.

    Returns `about` with what is added to it in the file: format, size, counts and checksum.
    """
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
    arrays = read_npz(data, ARRAYS)
    about = parse_description(arrays["about"].tobytes())
    if about["format"] != FORMAT:
        raise ValueError(f"format {about['format']} instead of {FORMAT}")
    rules = Rules.parse(about["board"])
    keys, scores, columns = (arrays[name] for name in ("keys", "scores", "columns"))
    if len(keys) > MAX_POSITIONS_PER_BYTE * len(data):
        raise ValueError(f"keys is {keys.dtype}{list(keys.shape)}")
    if columns.shape[1] != rules.columns:
        raise ValueError(f"columns is {columns.dtype}{list(columns.shape)}")
    if not len(keys) == len(scores) == len(columns) == about["positions"]:
        raise ValueError("its arrays differ in length")
    best = columns.max(axis=1)
    labelled = Labelled(rules, keys, np.sign(scores), columns)
    # Full columns are -128, below every score, so the maximum is the best open column.
    if checksum_of(labelled) != about["sha256"] or not np.array_equal(scores, best):
        raise ValueError("its checksum is wrong")
    _check(labelled)
    return labelled


def _check(labelled: Labelled) -> None:
    """Raise ValueError for positions and scores that the board does not have."""
    assert labelled.columns is not None
    g = labelled.rules.geometry
    check_keys(labelled.keys, g)
    for part in steps(len(labelled)):
        keys = labelled.keys[part]
        scores = labelled.columns[part].astype(np.int64)
        _, discs = count_discs(keys, g)
        empty = (g.columns * g.rows - discs)[:, None]
        # A key has the highest bit of a column exactly if the column is full.
        full = (keys[:, None] >> np.arange(g.columns) * g.height + g.rows & 1).astype(bool)
        possible = (scores <= (empty + 1) // 2) & (-scores <= empty // 2)
        if not np.where(full, scores == CLOSED, possible).all():
            raise ValueError("it holds scores that no position has")


def checksum_of(labelled: Labelled) -> str:
    """Return the SHA-256 of the keys and column scores."""
    assert labelled.columns is not None
    # Little-endian on every machine, so that the checksum is the same everywhere.
    checksum = hashlib.sha256(np.ascontiguousarray(labelled.keys, "<i8").data)
    checksum.update(np.ascontiguousarray(labelled.columns).data)
    return checksum.hexdigest()
