"""An immutable position: the discs on the board and the side to move."""

import operator
from collections.abc import Sequence
from typing import Any

from fourlab.errors import UserError
from fourlab.game import bitboard, drawing
from fourlab.game import notation as notations
from fourlab.game.notation import Setup
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW, Outcome
from fourlab.game.rules import CLASSIC, Rules

_WINS = (Outcome.RED_WINS, Outcome.YELLOW_WINS)
"""The outcome by the side that has a line."""


class IllegalColumn(UserError):
    """A disc cannot be dropped into a column; the message says why and shows the position."""


class ImpossiblePosition(UserError):
    """No game can reach this board; the message says why."""


class Position:
    """A board with a side to move. Positions never change; `play` returns a new one.

    >>> Position()  # the empty 7x6 board
    Position('')
    >>> Position("ddec")  # any notation of `fourlab.game.notation`, or a name
    Position('4453')
    >>> Position("112", board="5x4x3")  # columns x rows x in a row
    Position('112', board='5x4x3')
    >>> Position([0] * 35 + [0, 0, 0, 1, 0, 0, 0])  # Kaggle's flat list, or rows from the top
    Position('7/7/7/7/7/3r3 y 4')

    Columns count from 0 in this class, and from 1 in everything that people read and write. `red`
    and `yellow` are bitboards; `fourlab/game/bitboard.py` draws their layout.
    """

    # No instance dictionary: searches and reviews in Python hold many positions. `_outcome` is
    # computed when a position is made, so that `outcome` is free.
    __slots__ = ("_outcome", "moves", "red", "rules", "to_move", "yellow")

    rules: Rules
    red: int
    yellow: int
    to_move: int
    """RED (0) or YELLOW (1)."""
    moves: tuple[int, ...] | None
    """The columns played from the empty board; None if the position was set up as a board."""
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

        `notation` names the notation of a text that would otherwise be recognised as another one.
        `to_move` overrides the side to move that follows from the numbers of discs.
        `check_counts=False` allows boards with any number of discs of either colour.
        """
        if to_move not in (None, RED, YELLOW):
            raise UserError(f"the side to move is 0 (red) or 1 (yellow), not {to_move!r}")
        rules = Rules.parse(board) if isinstance(board, str) else board
        setup = _read(start, rules, notation)
        if setup.moves is None:
            # A position is copied as it is: it was checked, or deliberately not, when it was made.
            check_counts = check_counts and not isinstance(start, Position)
            position = _place(setup, to_move, check_counts)
        elif to_move in (None, len(setup.moves) % 2):
            position = _make(setup.rules, 0, 0, RED, (), None)
            for column in setup.moves:
                position = position.play(column, named_from=setup.named_from)
        else:
            raise ImpossiblePosition(
                f"after {len(setup.moves)} moves it is not {SIDE_NAMES[to_move or 0]}'s turn"
            )
        for slot in self.__slots__:
            object.__setattr__(self, slot, getattr(position, slot))

    @classmethod
    def from_key(cls, key: int, rules: Rules = CLASSIC) -> "Position":
        """Return the position with this key (see `key`).

        Red is to move if the number of discs is even.

        >>> Position.from_key(Position("4453").key).write("fen")
        '7/7/7/7/3y3/2yrr2 r 4'
        """
        return _place(notations.read_key(operator.index(key), rules), None, True)

    def play(self, column: int, *, named_from: int = 0) -> "Position":
        """Return the position after the side to move drops a disc into a column, counted from 0.

        Errors name the column as it was given: `named_from=1` is for columns that people have
        written, which count from 1.
        """
        column = operator.index(column)  # accepts NumPy integers, but keeps a Python int
        if self._outcome is not None:
            raise IllegalColumn(f"the game is over ({self._outcome}): {self!r}")
        if not 0 <= column < self.rules.columns:
            last = self.rules.columns - 1 + named_from
            raise IllegalColumn(
                f"there is no {_named(column, named_from)}: "
                f"{self!r} has columns {named_from} to {last}"
            )
        g = self.rules.geometry
        mask = self.red | self.yellow
        cell = bitboard.landing(mask, column, g)
        if not cell:
            raise IllegalColumn(f"{_named(column, named_from)} is full: {self!r}")
        moves = None if self.moves is None else (*self.moves, column)
        side = self.to_move
        discs = [self.red, self.yellow]
        discs[side] |= cell
        outcome: Outcome | None = None
        # Only the side that has just moved can have a new line.
        if bitboard.has_line(discs[side], g.height, g.in_a_row):
            outcome = _WINS[side]
        elif mask | cell == g.cells:
            outcome = Outcome.DRAW
        return _make(self.rules, discs[RED], discs[YELLOW], 1 - side, moves, outcome)

    def legal_columns(self) -> tuple[int, ...]:
        """Return the columns, counted from 0, that can be played; none if the game is over."""
        if self._outcome is not None:
            return ()
        g = self.rules.geometry
        # One addition for all columns is faster than `landing` for each.
        landings = bitboard.landings(self.mask, g)
        column_cells = (1 << g.rows) - 1
        return tuple(
            column for column in range(g.columns) if landings >> column * g.height & column_cells
        )

    def makes_line(self, column: int, side: int) -> bool:
        """Return whether a disc of `side` in this column, which must not be full, makes a line."""
        g = self.rules.geometry
        discs = (self.red, self.yellow)[side] | bitboard.landing(self.mask, column, g)
        return bitboard.has_line(discs, g.height, g.in_a_row)

    def outcome(self) -> Outcome | None:
        """Return how the game ended, or None if it is not over."""
        return self._outcome

    def winning_cells(self) -> tuple[tuple[int, int], ...]:
        """Return the cells of all winning lines as (column, row); (0, 0) is at the bottom left."""
        g = self.rules.geometry
        cells = bitboard.line_cells(self.red, g.height, g.in_a_row)
        cells |= bitboard.line_cells(self.yellow, g.height, g.in_a_row)
        return tuple(
            divmod(bit, g.height) for bit in range(g.columns * g.height) if cells >> bit & 1
        )

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
        """The number of discs on the board."""
        return self.mask.bit_count()

    @property
    def key(self) -> int:
        """The unique key of the position (`bitboard.key`)."""
        return bitboard.key(self.own, self.mask, self.rules.geometry)

    @property
    def canonical_key(self) -> int:
        """The smaller of the keys of the position and its mirror image."""
        # Columns of a key are mirrored like columns of discs.
        key = self.key
        return min(key, bitboard.mirror(key, self.rules.geometry))

    def mirror(self) -> "Position":
        """Return the position with left and right exchanged."""
        g = self.rules.geometry
        moves = None
        if self.moves is not None:
            moves = tuple(g.columns - 1 - column for column in self.moves)
        red = bitboard.mirror(self.red, g)
        yellow = bitboard.mirror(self.yellow, g)
        return _make(self.rules, red, yellow, self.to_move, moves, self._outcome)

    def grid(self) -> list[list[int]]:
        """Return the rows of cells, top row first: 0 empty, 1 red, 2 yellow."""
        return notations.grid_of(self)

    def write(self, notation: str = "fen") -> str:
        """Write the position in one of the notations of `fourlab.game.notation`."""
        return notations.write(self, notation)

    def __str__(self) -> str:
        return self.write("ascii")

    def _repr_svg_(self) -> str:
        """Draw the board in a notebook."""
        return drawing.svg(self)

    def __repr__(self) -> str:
        if self.moves is None:
            counts_fit = _counts_fit(self.red, self.yellow, self.to_move)
            argument = "" if counts_fit else ", check_counts=False"
            return f"Position({self.write('fen')!r}{argument})"
        board = "" if self.rules == CLASSIC else f", board='{self.rules}'"
        return f"Position({self.write('moves')!r}{board})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Rules, int, int, int]:
        """Return what makes two positions equal; the moves that led to them do not count."""
        return self.rules, self.red, self.yellow, self.to_move

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a position never changes; play() makes a new one (tried to set {name})"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a position never changes (tried to delete {name})")

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickling and copying must not call `__setattr__`, which refuses.
        return _make, (self.rules, self.red, self.yellow, self.to_move, self.moves, self._outcome)


PositionLike = Position | str | Sequence[int] | Sequence[Sequence[int]]
"""What stands for a position: itself, a text in any notation, a name, or the cells of a board."""


def as_position(position: PositionLike, board: str | Rules | None = None) -> Position:
    """Return the position that something stands for; raise UserError if it stands for none."""
    if isinstance(position, Position) and board is None:
        return position
    if not isinstance(position, Position | str | Sequence) and not hasattr(position, "tolist"):
        raise UserError(
            f"a position is a Position, moves such as '4453', a name or a board, not {position!r}"
        )
    return Position(position, board)


def unfinished(position: PositionLike, board: str | Rules | None = None) -> Position:
    """Return the position as `as_position` does; raise UserError if its game is over.

    Every agent's `decide` begins with it.
    """
    position = as_position(position, board)
    if (outcome := position.outcome()) is not None:
        raise UserError(f"the game is over ({outcome}): {position!r}")
    return position


def _named(column: int, named_from: int) -> str:
    """Return a column's name in an error message."""
    return f"column {column + named_from}" + ("" if named_from else " (counted from 0)")


def _read(start: Any, rules: Rules | None, notation: str | None) -> Setup:
    if isinstance(start, str):
        return notations.read(start, rules, notation)
    if isinstance(start, Position):
        if rules not in (None, start.rules):
            raise UserError(f"the position given is on a {start.rules} board, not {rules}")
        return Setup(start.rules, start.moves, start.red, start.yellow, start.to_move)
    # A NumPy array becomes lists, and NumPy itself need not be imported.
    cells = start.tolist() if hasattr(start, "tolist") else start
    if len(cells) and isinstance(cells[0], Sequence):
        return notations.read_grid(cells, rules)
    return notations.read_flat(cells, rules)


def _place(setup: Setup, to_move: int | None, check_counts: bool) -> Position:
    """Return the position with this board; raise ImpossiblePosition if no game can reach it."""
    g = setup.rules.geometry
    red = setup.red
    yellow = setup.yellow
    for column in range(g.columns):
        discs = (red | yellow) >> column * g.height & (1 << g.height) - 1
        if discs & discs + 1:  # a column without gaps is 2**n - 1
            raise ImpossiblePosition(f"a disc floats above an empty cell in column {column + 1}")
    if to_move is None:
        to_move = setup.to_move
    if to_move is None:
        to_move = YELLOW if red.bit_count() > yellow.bit_count() else RED
    if check_counts and not _counts_fit(red, yellow, to_move):
        raise ImpossiblePosition(
            f"{red.bit_count()} red and {yellow.bit_count()} yellow discs with "
            f"{SIDE_NAMES[to_move]} to move cannot be: red moves first and the sides alternate"
        )
    lines = [bitboard.has_line(discs, g.height, g.in_a_row) for discs in (red, yellow)]
    if all(lines):
        raise ImpossiblePosition(f"both sides have {g.in_a_row} in a row")
    # Without check_counts a side may have passed, so it can be to move after its own win.
    if check_counts and lines[to_move]:
        raise ImpossiblePosition(
            f"{SIDE_NAMES[to_move]} has won already, so it cannot be {SIDE_NAMES[to_move]}'s turn"
        )
    outcome: Outcome | None = None
    if any(lines):
        outcome = _WINS[lines.index(True)]
    elif red | yellow == g.cells:
        outcome = Outcome.DRAW
    # The empty board is the only one whose moves are known: there are none.
    moves = () if not red | yellow and to_move == RED else None
    return _make(setup.rules, red, yellow, to_move, moves, outcome)


def _counts_fit(red: int, yellow: int, to_move: int) -> bool:
    """Return whether the sides have moved alternately, red first."""
    return red.bit_count() - yellow.bit_count() == to_move


def _make(
    rules: Rules,
    red: int,
    yellow: int,
    to_move: int,
    moves: tuple[int, ...] | None,
    outcome: Outcome | None,
) -> Position:
    """Return a position without checking it."""
    position = Position.__new__(Position)
    write = object.__setattr__  # Position.__setattr__ refuses every write
    # One call per slot: a loop would make `play`, and with it every game in Python, slower.
    write(position, "rules", rules)
    write(position, "red", red)
    write(position, "yellow", yellow)
    write(position, "to_move", to_move)
    write(position, "moves", moves)
    write(position, "_outcome", outcome)
    return position
