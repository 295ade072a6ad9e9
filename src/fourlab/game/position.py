"""A position: where the discs are and who moves next. It never changes; playing a column makes a new one."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from fourlab.errors import UserError
from fourlab.game import bitboard as bit_rules
from fourlab.game import notation as notations
from fourlab.game.notation import Setup
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW, Outcome
from fourlab.game.rules import CLASSIC, Rules


class IllegalColumn(UserError):
    """A disc cannot be dropped there; the message says why and shows the position."""


class ImpossiblePosition(UserError):
    """No game can lead to such a board; the message says why."""


class Position:
    """A board with a side to move.

    >>> Position()  # the empty 7x6 board
    Position('')
    >>> Position("ddec")  # any notation of `fourlab.game.notation`, or a name
    Position('4453')
    >>> Position("112", board="5x4x3")  # columns x rows x in a row
    Position('112', board='5x4x3')
    >>> Position([0] * 35 + [0, 0, 0, 1, 0, 0, 0])  # Kaggle's flat list, or rows from the top
    Position('7/7/7/7/7/3r3 y 4')

    Columns count from 0 in this class and from 1 in everything people read. `red` and `yellow` are bit sets; the layout
    is drawn in `fourlab/game/bitboard.py`.
    """

    __slots__ = ("_outcome", "moves", "red", "rules", "to_move", "yellow")

    rules: Rules
    red: int
    yellow: int
    to_move: int
    """RED (0) or YELLOW (1)."""
    moves: tuple[int, ...] | None
    """The columns played from the empty board; None when the position was given as a board."""
    _outcome: Outcome | None

    def __init__(
        self,
        start: "str | Sequence[int] | Sequence[Sequence[int]] | Position" = "",
        board: str | Rules | None = None,
        *,
        notation: str | None = None,
        to_move: int | None = None,
        check_counts: bool = True,
    ) -> None:
        """Set up a position.

        `notation` says how a text is written where its looks do not tell. `to_move` overrides what the discs' numbers
        say. `check_counts=False` allows any numbers of discs, for hand-made boards.
        """
        if to_move not in (None, RED, YELLOW):
            raise UserError(f"the side to move is 0 (red) or 1 (yellow), not {to_move!r}")
        rules = Rules.parse(board) if isinstance(board, str) else board
        check_counts = check_counts and not isinstance(start, Position)
        setup = _read(start, rules, notation)
        if setup.moves is not None and to_move in (None, len(setup.moves) % 2):
            self._play_out(setup.rules, setup.moves)
        elif setup.moves is not None:
            raise ImpossiblePosition(f"after {len(setup.moves)} moves it is not {SIDE_NAMES[to_move or 0]}'s turn")
        else:
            self._place(setup, to_move, check_counts)

    @classmethod
    def from_key(cls, key: int, rules: Rules = CLASSIC) -> "Position":
        """Return the position with this key (see `key`); red and yellow alternate from the empty board.

        >>> Position.from_key(Position("4453").key).write("fen")
        '7/7/7/7/3y3/2yrr2 r 4'
        """
        position = cls.__new__(cls)
        position._place(notations.read_key(operator.index(key), rules), None, True)
        return position

    def _play_out(self, rules: Rules, moves: Iterable[int]) -> None:
        position = _make(rules, 0, 0, RED, (), None)
        for column in moves:
            position = position.play(column)
        for slot in self.__slots__:
            object.__setattr__(self, slot, getattr(position, slot))

    def _place(self, setup: Setup, to_move: int | None, check_counts: bool) -> None:
        if to_move is None:
            to_move = setup.to_move
        outcome, to_move = _examine(setup, to_move, check_counts)
        empty = not setup.red | setup.yellow and to_move == RED
        _fill(self, setup.rules, setup.red, setup.yellow, to_move, () if empty else None, outcome)

    def play(self, column: int) -> "Position":
        """Drop a disc of the side to move into a column counted from 0."""
        column = operator.index(column)  # NumPy's numbers too, but as Python's
        if self._outcome is not None:
            raise IllegalColumn(f"the game is over ({self._outcome}): {self!r}")
        if not 0 <= column < self.rules.columns:
            raise IllegalColumn(f"there is no column {column + 1}: {self!r} has columns 1 to {self.rules.columns}")
        g = self.rules.geometry
        mask = self.red | self.yellow
        cell = bit_rules.landing(mask, column, g)
        if not cell:
            raise IllegalColumn(f"column {column + 1} is full: {self!r}")
        moves = None if self.moves is None else (*self.moves, column)
        if self.to_move == RED:
            red, yellow, won, outcome = self.red | cell, self.yellow, self.red | cell, Outcome.RED_WINS
        else:
            red, yellow, won, outcome = self.red, self.yellow | cell, self.yellow | cell, Outcome.YELLOW_WINS
        over: Outcome | None = None
        if bit_rules.has_line(won, g.height, g.in_a_row):
            over = outcome
        elif mask | cell == g.cells:
            over = Outcome.DRAW
        return _make(self.rules, red, yellow, 1 - self.to_move, moves, over)

    def legal_columns(self) -> tuple[int, ...]:
        """The columns, from 0, that can be played; none when the game is over."""
        if self._outcome is not None:
            return ()
        g, landings = self.rules.geometry, bit_rules.landings(self.mask, self.rules.geometry)
        column_cells = (1 << g.rows) - 1
        return tuple(column for column in range(g.columns) if landings >> column * g.height & column_cells)

    def makes_line(self, column: int, side: int) -> bool:
        """Tell whether a disc of the given side, dropped into an open column, would complete a line."""
        g = self.rules.geometry
        stones = (self.red, self.yellow)[side] | bit_rules.landing(self.mask, column, g)
        return bit_rules.has_line(stones, g.height, g.in_a_row)

    def outcome(self) -> Outcome | None:
        """How the game ended, None while it goes on."""
        return self._outcome

    def winning_cells(self) -> tuple[tuple[int, int], ...]:
        """The cells of every line made, as (column, row) from the bottom left (0, 0); empty without a winner."""
        g = self.rules.geometry
        cells = bit_rules.line_cells(self.red, g.height, g.in_a_row)
        cells |= bit_rules.line_cells(self.yellow, g.height, g.in_a_row)
        return tuple(divmod(bit, g.height) for bit in range(g.columns * g.height) if cells >> bit & 1)

    @property
    def own(self) -> int:
        """The discs of the side to move."""
        return self.red if self.to_move == RED else self.yellow

    @property
    def mask(self) -> int:
        """All discs."""
        return self.red | self.yellow

    @property
    def ply(self) -> int:
        """How many discs are on the board."""
        return self.mask.bit_count()

    @property
    def key(self) -> int:
        """The position as one number, as the side to move sees it."""
        return bit_rules.key(self.own, self.mask, self.rules.geometry)

    @property
    def canonical_key(self) -> int:
        """The smaller key of the position and its mirror image."""
        return min(self.key, self.mirror().key)

    def mirror(self) -> "Position":
        """Exchange left and right."""
        g = self.rules.geometry
        moves = None if self.moves is None else tuple(g.columns - 1 - column for column in self.moves)
        red, yellow = bit_rules.mirror(self.red, g), bit_rules.mirror(self.yellow, g)
        return _make(self.rules, red, yellow, self.to_move, moves, self._outcome)

    def grid(self) -> list[list[int]]:
        """The cells, top row first: 0 empty, 1 red, 2 yellow."""
        return notations.grid_of(self)

    def write(self, notation: str = "fen") -> str:
        """Write the position in one of the notations of `fourlab.game.notation`."""
        return notations.write(self, notation)

    def __str__(self) -> str:
        return self.write("ascii")

    def __repr__(self) -> str:
        if self.moves is None:
            counts = "" if _counts_fit(self.red, self.yellow, self.to_move) else ", check_counts=False"
            return f"Position({self.write('fen')!r}{counts})"
        board = "" if self.rules == CLASSIC else f", board='{self.rules}'"
        return f"Position({self.write('moves')!r}{board})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Rules, int, int, int]:
        """What makes two positions equal; how they came about does not count."""
        return self.rules, self.red, self.yellow, self.to_move

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a position never changes; play() makes a new one (tried to set {name})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a position never changes (tried to delete {name})")

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self.rules, self.red, self.yellow, self.to_move, self.moves, self._outcome)


def _read(start: Any, rules: Rules | None, notation: str | None) -> Setup:
    if isinstance(start, str):
        return notations.read(start, rules, notation)
    if isinstance(start, Position):
        if rules not in (None, start.rules):
            raise UserError(f"the position given is on a {start.rules} board, not {rules}")
        return Setup(start.rules, start.moves, start.red, start.yellow, start.to_move)
    cells = start.tolist() if hasattr(start, "tolist") else start
    if len(cells) and isinstance(cells[0], Sequence):
        return notations.read_grid(cells, rules)
    return notations.read_flat(cells, rules)


def _examine(setup: Setup, to_move: int | None, check_counts: bool) -> tuple[Outcome | None, int]:
    """Say how the game stands and who moves, or why no game leads to this board."""
    red, yellow, rules, g = setup.red, setup.yellow, setup.rules, setup.rules.geometry
    for column in range(g.columns):
        discs = (red | yellow) >> column * g.height & (1 << g.height) - 1
        if discs & discs + 1:
            raise ImpossiblePosition(f"a disc floats above an empty cell in column {column + 1}")
    if to_move is None:
        to_move = YELLOW if red.bit_count() > yellow.bit_count() else RED
    if check_counts and not _counts_fit(red, yellow, to_move):
        counts = f"{red.bit_count()} red and {yellow.bit_count()} yellow discs with {SIDE_NAMES[to_move]} to move"
        raise ImpossiblePosition(f"{counts} cannot be: red moves first and the sides alternate")
    lines = [bit_rules.has_line(stones, g.height, g.in_a_row) for stones in (red, yellow)]
    if all(lines):
        raise ImpossiblePosition(f"both sides have {rules.in_a_row} in a row")
    if check_counts and lines[to_move]:
        raise ImpossiblePosition(f"{SIDE_NAMES[to_move]} has won already, so it cannot be {SIDE_NAMES[to_move]}'s turn")
    if any(lines):
        return (Outcome.RED_WINS if lines[RED] else Outcome.YELLOW_WINS), to_move
    return (Outcome.DRAW if red | yellow == g.cells else None), to_move


def _counts_fit(red: int, yellow: int, to_move: int) -> bool:
    return red.bit_count() - yellow.bit_count() == to_move


def _make(rules: Rules, red: int, yellow: int, to_move: int, moves: tuple[int, ...] | None, outcome: Outcome | None) -> Position:
    """Build a position that is already known to be right."""
    return _fill(Position.__new__(Position), rules, red, yellow, to_move, moves, outcome)


def _fill(
    position: Position,
    rules: Rules,
    red: int,
    yellow: int,
    to_move: int,
    moves: tuple[int, ...] | None,
    outcome: Outcome | None,
) -> Position:
    write = object.__setattr__  # Position itself refuses
    write(position, "rules", rules)
    write(position, "red", red)
    write(position, "yellow", yellow)
    write(position, "to_move", to_move)
    write(position, "moves", moves)
    write(position, "_outcome", outcome)
    return position
