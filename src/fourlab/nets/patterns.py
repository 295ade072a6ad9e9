"""Pattern networks: values from tables of weights over groups of cells (n-tuple networks).

A *tuple* is a group of cells, usually eight neighbours. Every cell has one of four states: red,
yellow, empty and playable now, empty and not playable yet. The states of a tuple's cells together
are one of a few thousand possible states, each with a weight; the value of a position for red is
tanh of the sum of the weights of all tuples. The mirror image of a tuple uses the same weights, so
a position and its mirror image have the same value. Red to move and yellow to move have tables of
their own.

They were introduced to Connect Four by Thill et al. (2012). `docs/agents/patterns.md` explains
them, `compiled/patterns.py` evaluates them.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod, tanh
from pathlib import Path

import numpy as np

from fourlab import shipped
from fourlab.arrays import Kind, read_npz
from fourlab.compiled import patterns as compiled
from fourlab.compiled.patterns import Patterns, fill_indices, red_key, total
from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.game.geometry import Geometry
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.pattern_files import PACKAGE, shipped_boards, shipped_file

RED, YELLOW, PLAYABLE, HIGHER = range(4)
"""The states of a cell; HIGHER is empty with an empty cell below."""
MAX_ROWS = 9
"""Codes of columns have up to 2**(rows + 1) values, and tables a row for each."""
MAX_TUPLES = 1000
MAX_CELLS = 16
"""Cells of a tuple."""
MAX_ENTRIES = 1 << 24
"""Weights of one side to move."""
MAX_BYTES = 64 << 20
UNIT = compiled.UNIT
"""Weights in files are int16; this much is 1 before tanh."""


@dataclass(frozen=True)
class Shape:
    """The tuples of a network, and where the weight of each of their states is."""

    rules: Rules
    tuples: tuple[int, ...]
    """Bitboards of cells."""

    def __post_init__(self) -> None:
        g = self.rules.geometry
        if g.rows > MAX_ROWS:
            raise UserError(f"patterns work on boards of up to {MAX_ROWS} rows, not {self.rules}")
        if not 1 <= len(self.tuples) <= MAX_TUPLES:
            raise UserError(f"a network has 1 to {MAX_TUPLES} tuples, not {len(self.tuples)}")
        for cells in self.tuples:
            if cells <= 0 or cells & ~g.cells:
                raise UserError(f"a tuple has cells that the board {self.rules} does not have")
            if cells.bit_count() > MAX_CELLS:
                raise UserError(f"a tuple has up to {MAX_CELLS} cells, not {cells.bit_count()}")
        if self.entries > MAX_ENTRIES:
            raise UserError(
                f"the tuples have {self.entries:,} states, more than {MAX_ENTRIES:,}; use fewer or "
                "smaller ones"
            )

    @cached_property
    def entries(self) -> int:
        """The number of weights for each side to move: the states of all tuples."""
        return sum(
            prod(len(states) for _, states in columns_of(cells, self.rules.geometry))
            for cells in self.tuples
        )

    @property
    def lookups(self) -> int:
        """Weights that an evaluation adds: a tuple and its mirror image."""
        return 2 * len(self.tuples)

    @cached_property
    def indexing(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`start`, `steps` and `places` of `Patterns`."""
        g = self.rules.geometry
        codes = 1 << g.height
        # places[column, code, look-up]: what a column adds to the index. A tuple's states are
        # numbered like the digits of a number, with one digit for every column of the tuple.
        places = np.zeros((g.columns, codes, self.lookups), np.int64)
        begin = 0
        for number, cells in enumerate(self.tuples):
            stride = 1
            for column, states in columns_of(cells, g):
                numbers = {state: stride * i for i, state in enumerate(states)}
                rows = rows_of(cells, column, g)
                digits = [numbers[column_state(code, rows)] for code in range(1, codes)]
                places[column, 1:, 2 * number] = digits
                places[g.columns - 1 - column, 1:, 2 * number + 1] = digits
                stride *= len(states)
            # The weights of a tuple follow those of the tuple before; any one column can say so.
            places[0, :, 2 * number : 2 * number + 2] += begin
            begin += stride
        # Code 1 is an empty column.
        start = places[:, 1].sum(axis=0)
        steps = np.zeros_like(places)
        for code in range(2, codes):
            steps[:, code] = places[:, code] - places[:, code_before(code)]
        return start.astype(np.int32), steps.astype(np.int32), places.astype(np.int32)

    def patterns(self, weights: np.ndarray) -> Patterns:
        """Return the network with these weights, [2, entries], for compiled code."""
        start, steps, places = self.indexing
        if weights.shape != (2, self.entries):
            raise UserError(f"the tuples have 2 x {self.entries:,} weights, not {weights.shape}")
        return Patterns(start, steps, weights, places)


def column_state(code: int, rows: Sequence[int]) -> tuple[int, ...]:
    """Return the states of some cells of a column with this code."""
    top = code.bit_length() - 1
    return tuple(
        HIGHER if row > top else PLAYABLE if row == top else RED if code >> row & 1 else YELLOW
        for row in rows
    )


def code_before(code: int) -> int:
    """Return the code of a column before its topmost disc."""
    marker = 1 << code.bit_length() - 2
    return marker | code & (marker - 1)


def rows_of(cells: int, column: int, g: Geometry) -> list[int]:
    """Return the rows of a tuple's cells in a column, from the bottom."""
    return [row for row in range(g.rows) if cells >> column * g.height + row & 1]


@lru_cache(maxsize=4096)
def columns_of(cells: int, g: Geometry) -> list[tuple[int, list[tuple[int, ...]]]]:
    """Return the columns of a tuple, each with all states that its cells there can have."""
    columns = []
    for column in range(g.columns):
        if rows := rows_of(cells, column, g):
            # A full column has code 1 << rows and above: the marker is the guard bit.
            states = {column_state(code, rows) for code in range(1, 1 << g.height)}
            columns.append((column, sorted(states)))
    return columns


def random_walks(rules: Rules, count: int, cells: int, seed: int) -> tuple[int, ...]:
    """Return tuples found by random walks to neighbouring cells, none a mirror image of another."""
    g = rules.geometry
    if not 1 <= cells <= min(MAX_CELLS, rules.columns * rules.rows):
        raise UserError(f"a tuple on {rules} cannot have {cells} cells")
    rng = np.random.default_rng(seed)
    walks: dict[int, None] = {}
    attempts = 0
    while len(walks) < count:
        attempts += 1
        if attempts > 1000 * count:
            raise UserError(f"there are not {count} different tuples of {cells} cells on {rules}")
        walk = _walk(rules, cells, rng)
        mirrored = sum(1 << g.height * (g.columns - 1 - c) + r for c, r in walk)
        bits = sum(1 << g.height * c + r for c, r in walk)
        walks.setdefault(min(bits, mirrored))
    return tuple(sorted(walks))


def _walk(rules: Rules, cells: int, rng: np.random.Generator) -> set[tuple[int, int]]:
    """Return the first different cells of a walk that goes to a random neighbour at every step."""
    column = int(rng.integers(rules.columns))
    row = int(rng.integers(rules.rows))
    seen = {(column, row)}
    neighbours = [step for step in product((-1, 0, 1), repeat=2) if any(step)]
    while len(seen) < cells:
        right, up = neighbours[int(rng.integers(len(neighbours)))]
        if 0 <= column + right < rules.columns and 0 <= row + up < rules.rows:
            column += right
            row += up
            seen.add((column, row))
    return seen


class PatternNetwork:
    """A trained pattern network."""

    def __init__(self, shape: Shape, weights: np.ndarray) -> None:
        """Take the weights, int16[2, entries], in units of 1 / UNIT."""
        self.shape = shape
        self.rules = shape.rules
        self.patterns = shape.patterns(weights)

    def value(self, position: Position) -> float:
        """Return the value of a position that is not over, for the side to move, -1 to +1."""
        self.check_board(position.rules)
        g = self.rules.geometry
        indices = np.empty((1, self.shape.lookups), np.int32)
        fill_indices(red_key(position.own, position.mask, g), self.patterns, g, indices, 0)
        for_red = tanh(total(self.patterns, position.ply & 1, indices, 0) / UNIT)
        return for_red if position.ply & 1 == 0 else -for_red

    def check_board(self, rules: Rules) -> None:
        """Raise UserError for a board that the network was not trained on."""
        if rules != self.rules:
            raise UserError(f"the patterns are for the board {self.rules}, not {rules}")

    def to_bytes(self) -> bytes:
        """Return the contents of a file of patterns."""
        rules = self.rules
        stream = io.BytesIO()
        np.savez_compressed(
            stream,
            board=np.array([rules.columns, rules.rows, rules.in_a_row], np.int64),
            tuples=np.array(self.shape.tuples, np.int64),
            weights=self.patterns.weights.astype("<i2"),
        )
        return stream.getvalue()

    def save(self, file: Path) -> None:
        """Write a file of patterns."""
        write_atomically(file, self.to_bytes())


KINDS = {"board": Kind("<i8"), "tuples": Kind("<i8"), "weights": Kind("<i2", 2)}


def read(data: bytes, name: str) -> PatternNetwork:
    """Return the network in a file of patterns; raise UserError if it is damaged."""
    try:
        arrays = read_npz(data, KINDS)
        if len(arrays["board"]) != 3:
            raise ValueError("a board has three numbers")
        rules = Rules(*arrays["board"].tolist())
        shape = Shape(rules, tuple(arrays["tuples"].tolist()))
        return PatternNetwork(shape, np.ascontiguousarray(arrays["weights"], np.int16))
    except (ValueError, UserError) as error:
        raise UserError(f"{name} is not a file of patterns or is damaged: {error}") from None


def load(name: str) -> PatternNetwork:
    """Load a network from a file, or the shipped network of a board such as 7x6x4.

    The last few networks are cached until their files change.
    """
    if name in shipped_boards():
        return _load_shipped(name)
    file = Path(name)
    try:
        status = file.stat()
        return _load(str(file.resolve()), status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise UserError(
            f"cannot read the patterns {name}: {error.strerror}; Fourlab comes with patterns for "
            f"{', '.join(shipped_boards())}"
        ) from None


def load_for(rules: Rules, name: str | None) -> PatternNetwork:
    """Load the network for a board: from a file, or with None the shipped one.

    Raises UserError if there is none for this board.
    """
    if name is None and str(rules) not in shipped_boards():
        raise UserError(
            f"there are no patterns for the board {rules}, only for {', '.join(shipped_boards())}; "
            f"train some: fourlab train patterns --board {rules}"
        )
    network = load(str(rules) if name is None else name)
    network.check_board(rules)
    return network


@lru_cache(maxsize=8)
def _load_shipped(board: str) -> PatternNetwork:
    data = shipped.read(PACKAGE, shipped_file(board))
    assert data is not None
    return read(data, f"patterns for {board}")


@lru_cache(maxsize=8)
def _load(name: str, changed_at: int, size: int) -> PatternNetwork:
    """Load a file; a changed modification time or size makes a new cache entry."""
    return read(read_bounded(Path(name), MAX_BYTES), name)
