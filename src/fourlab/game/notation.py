"""The eight notations of a position; all of them can be read and written.

| notation | example                                          | includes the board size |
|----------|--------------------------------------------------|-------------------------|
| moves    | `4453`, columns from 1; `10,4,3,` on wide boards | no                      |
| moves0   | `0:3342`, columns from 0 after the prefix `0:`   | no                      |
| letters  | `ddec`                                           | no                      |
| kaggle   | `[0, 0, 1, …]` row by row from the top           | no                      |
| uci      | `b,b,x,o,…` column by column, bottom up          | no                      |
| fen      | `7/7/7/3y3/3r3/2yr3 r 4` from the top            | yes                     |
| ascii    | rows of `. X O`, top row first                   | rows and columns        |
| key      | `key:1f`, the bit key in hexadecimal             | no                      |

Readers return a `Setup`. Whether a game can reach that position is checked by `Position`.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fourlab.errors import UserError
from fourlab.game import bitboard
from fourlab.game.geometry import MAX_BITS
from fourlab.game.named import BUILT_IN, named_positions
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW
from fourlab.game.rules import CLASSIC, Rules

if TYPE_CHECKING:
    from fourlab.game.position import Position


@dataclass(frozen=True)
class Setup:
    """A position as it was written, not yet checked: either a list of moves or a board."""

    rules: Rules
    moves: tuple[int, ...] | None = None
    """Columns from 0, played from the empty board; None if the text shows a board."""
    red: int = 0
    """Bitboard of the red discs; meaningful only if `moves` is None, as are the fields below."""
    yellow: int = 0
    to_move: int | None = None
    """RED or YELLOW; None if it follows from the numbers of discs."""
    named_from: int = 1
    """The number of the leftmost column in the text, with which error messages count."""


Grid = Sequence[Sequence[int]]
"""Rows of cells, top row first: 0 empty, 1 red, 2 yellow."""


def read(text: str, rules: Rules | None, notation: str | None = None) -> Setup:
    """Read a position from a name or from text in any notation.

    Without `rules`, the board is the one that the text includes, or else 7x6x4. Without `notation`,
    the notation is recognised from the text.
    """
    text = text.strip()
    if notation is not None:
        reader = _notation(notation)
        if notation == "moves0" and not text.startswith("0:"):
            text = "0:" + text
        if not reader.matches(text):
            raise UserError(f"{_short(text)} is not written in the notation {notation!r}")
        return reader.read(text, rules)
    # The built-in name "empty" would also match the notation "letters".
    recognised = None if text in BUILT_IN else _recognise(text)
    if recognised is not None:
        return recognised.read(text, rules)
    return _read_name(text, rules)


def _read_name(name: str, rules: Rules | None) -> Setup:
    """Read the named position; refuse it if it is on another board than `rules`."""
    positions = named_positions()
    if name not in positions:
        raise UserError(
            f"cannot read the position {_short(name)}: it is neither a notation nor {_a_name()}"
        )
    text = positions[name].text
    recognised = _recognise(text)
    if recognised is None:
        raise UserError(f"the position named {name} cannot be read: {_short(text)}")
    setup = recognised.read(text, None)
    if rules is not None and rules != setup.rules:
        raise UserError(f"position {name} is on a {setup.rules} board, not {rules}")
    return setup


def _recognise(text: str) -> "_Notation | None":
    """Return the notation whose pattern matches the text, or None."""
    return next((notation for notation in NOTATIONS.values() if notation.matches(text)), None)


def write(position: "Position", notation: str) -> str:
    """Write the position in the named notation."""
    return _notation(notation).write(position)


def read_grid(grid: Grid, rules: Rules | None) -> Setup:
    """Read rows of cells, top row first: 0 empty, 1 red, 2 yellow."""
    widths = {len(row) for row in grid}
    if len(widths) != 1 or widths == {0}:
        raise UserError("the rows of a board must all have the same number of cells")
    columns = widths.pop()
    rows = len(grid)
    rules = rules or Rules(columns, rows)
    if (columns, rows) != (rules.columns, rules.rows):
        raise UserError(f"the board given is {columns}x{rows}, but {rules} was asked for")
    # Bit column * height + row is a cell, with row 0 at the bottom; a grid begins at the top.
    height = rules.geometry.height
    discs = [0, 0, 0]  # one bitboard per cell code; the one of the empty cells is not used
    for below_top, row in enumerate(grid):
        for column, cell in enumerate(row):
            if not hasattr(cell, "__index__") or cell not in (0, 1, 2):
                raise UserError(
                    f"a cell is 0 (empty), 1 (red) or 2 (yellow), not {_short(repr(cell))}"
                )
            discs[int(cell)] |= 1 << column * height + rules.rows - 1 - below_top
    return Setup(rules, None, red=discs[1], yellow=discs[2])


def grid_of(position: "Position | Setup") -> list[list[int]]:
    """Return the rows of cells, top row first: 0 empty, 1 red, 2 yellow."""
    rules = position.rules
    height = rules.geometry.height
    grid = []
    for row in reversed(range(rules.rows)):
        bits = [column * height + row for column in range(rules.columns)]
        grid.append([(position.red >> bit & 1) + 2 * (position.yellow >> bit & 1) for bit in bits])
    return grid


# --- moves ----------------------------------------------------------------------------------------


def _read_moves(text: str, rules: Rules | None, first: int = 1) -> Setup:
    """Read the moves of a game; the leftmost column has the number `first`, 0 or 1."""
    rules = rules or CLASSIC
    columns = tuple(number - first for number in _numbers(text, rules))
    # A 0 is most likely a column of a list that counts from 0, or on a wide board the end of "10".
    if -1 in columns:
        if rules.columns > 9:
            advice = "separate the columns by commas"
        else:
            advice = "write 0: in front if they count from 0"
        raise UserError(f"columns count from 1 in {_short(text)}; {advice}")
    return Setup(rules, columns, named_from=first)


def _numbers(text: str, rules: Rules) -> list[int]:
    """Return the columns as written.

    Each digit is a column, unless the text has commas, or spaces on a board with ten or more
    columns; then every number is a column.
    """
    has_separators = "," in text or (rules.columns > 9 and re.search(r"\s", text.strip()))
    # Example: "4453" is four columns, "10,4,3," three, and "10 4" two on a board of ten columns.
    numbers = re.findall(r"\d+" if has_separators else r"\d", text)
    if any(len(number) > 3 for number in numbers):
        raise UserError(f"there is no such column as in {_short(text)}")
    return [int(number) for number in numbers]


def _write_moves(position: "Position", first: int = 1) -> str:
    """Write the columns side by side, or with a comma after each if some may have two digits."""
    comma = "," if position.rules.columns - 1 + first >= 10 else ""
    return "".join(f"{column + first}{comma}" for column in _history(position))


def _read_letters(text: str, rules: Rules | None) -> Setup:
    rules = rules or CLASSIC
    # Letters count from a, as the files of a chess board do.
    columns = tuple(ord(letter) - ord("a") for letter in "".join(text.lower().split()))
    if max(columns, default=0) >= rules.columns:
        raise UserError(
            f"{_short(text)} is neither columns a to {chr(96 + rules.columns)} nor {_a_name()}"
        )
    return Setup(rules, columns)


def _write_letters(position: "Position") -> str:
    if position.rules.columns > 26:
        raise UserError(f"there are no letters for {position.rules.columns} columns")
    return "".join(chr(ord("a") + column) for column in _history(position))


def _history(position: "Position") -> tuple[int, ...]:
    if position.moves is None:
        raise UserError(
            "this position was given as a board, so the moves that led to it are not known"
        )
    return position.moves


# --- boards ---------------------------------------------------------------------------------------


def _read_kaggle(text: str, rules: Rules | None) -> Setup:
    try:
        cells = json.loads(text)
    # Deeply nested brackets exhaust the stack of the JSON parser.
    except (ValueError, RecursionError):
        raise UserError(f"cannot read the list {_short(text)}") from None
    return read_flat(cells, rules)


def read_flat(cells: Sequence[int], rules: Rules | None) -> Setup:
    """Read Kaggle's flat list of cells, row by row from the top."""
    rules = rules or CLASSIC
    if len(cells) != rules.columns * rules.rows:
        raise UserError(
            f"a {rules} board has {rules.columns * rules.rows} cells, the list has {len(cells)}"
        )
    grid = [cells[start : start + rules.columns] for start in range(0, len(cells), rules.columns)]
    return read_grid(grid, rules)


def _write_kaggle(position: "Position") -> str:
    return json.dumps([cell for row in grid_of(position) for cell in row])


def _read_uci(text: str, rules: Rules | None) -> Setup:
    rules = rules or CLASSIC
    fields = [field.strip() for field in text.strip().split(",")]
    if fields[-1] in ("win", "loss", "draw"):  # the data set's result for x, the first player
        fields.pop()
    if len(fields) != rules.columns * rules.rows:
        raise UserError(
            f"a {rules} board has {rules.columns * rules.rows} cells, the line has {len(fields)}"
        )
    # The file connect-4.data of the UCI Machine Learning Repository: x is the first player, o the
    # second, b blank.
    codes = [{"b": 0, "x": 1, "o": 2}[field] for field in fields]
    # The fields run column by column, bottom up; cell (column, row) is at column * rows + row.
    grid = [codes[row :: rules.rows] for row in reversed(range(rules.rows))]
    return read_grid(grid, rules)


def _write_uci(position: "Position") -> str:
    grid = grid_of(position)
    return ",".join(
        "bxo"[row[column]] for column in range(position.rules.columns) for row in reversed(grid)
    )


def _read_fen(text: str, rules: Rules | None) -> Setup:
    fields = text.split()
    # Like the FEN of chess: rows from the top, runs of empty cells as numbers, then the side to
    # move. Our third field is the length of a line.
    in_a_row = int(fields[2]) if len(fields) > 2 else (rules or CLASSIC).in_a_row
    grid: list[list[int]] = []
    for line in fields[0].split("/"):
        tokens = re.findall(r"\d+|[ry]", line)
        # The length is checked first: int() refuses endless numbers with another error.
        if len(line) > MAX_BITS or sum(map(int, filter(str.isdigit, tokens))) > MAX_BITS:
            raise UserError(f"a row of {_short(text)} is too long")
        row: list[int] = []
        for token in tokens:
            row += [0] * int(token) if token.isdigit() else [1 + "ry".index(token)]
        grid.append(row)
    if rules is not None and rules.in_a_row != in_a_row:
        raise UserError(f"the board given wins with {in_a_row} in a row, but {rules} was asked for")
    setup = read_grid(grid, rules or Rules(len(grid[0]), len(grid), in_a_row))
    to_move = None if len(fields) < 2 else (RED, YELLOW)["ry".index(fields[1])]
    return Setup(setup.rules, None, setup.red, setup.yellow, to_move)


def _write_fen(position: "Position") -> str:
    lines = ["".join("-ry"[cell] for cell in row) for row in grid_of(position)]
    lines = [re.sub("-+", lambda run: str(len(run.group())), line) for line in lines]
    return f"{'/'.join(lines)} {'ry'[position.to_move]} {position.rules.in_a_row}"


_DRAWN_CELLS = {".": 0, "_": 0, "0": 0, "X": 1, "x": 1, "1": 1, "O": 2, "o": 2, "2": 2}


def _read_ascii(text: str, rules: Rules | None) -> Setup:
    lines = [line.strip() for line in text.splitlines()]
    to_move = None
    if last := re.fullmatch(r"(red|yellow)( \([XO]\))? (to move|wins).*", lines[-1]):
        lines.pop()
        if last.group(3) == "to move":
            to_move = SIDE_NAMES.index(last.group(1))
    # Remove the frame: vertical bars, brackets, and lines of dashes.
    lines = [re.sub(r"[\s|()]", "", line) for line in lines]
    lines = [line for line in lines if line and not re.fullmatch(r"[-+=]+", line)]
    # A last line of column numbers is not a row of discs. "1 2" below two columns could be either;
    # "1 2 3" is not, for 3 is no cell.
    numbered = (
        bool(lines)
        and lines[-1] == _footer(len(lines[-1]))
        and (len(lines[-1]) > 2 or last is not None)
    )
    if numbered and len(lines) != (rules.rows if rules else -1):
        lines.pop()
    strange = sorted({letter for line in lines for letter in line if letter not in _DRAWN_CELLS})
    if strange or not lines:
        unreadable = "".join(strange) or "nothing"
        raise UserError(f"a drawing has rows of . (empty) X (red) O (yellow), not {unreadable!r}")
    setup = read_grid([[_DRAWN_CELLS[letter] for letter in line] for line in lines], rules)
    return Setup(setup.rules, None, setup.red, setup.yellow, to_move)


def _write_ascii(position: "Position") -> str:
    rows = [" ".join(".XO"[cell] for cell in row) for row in grid_of(position)]
    footer = " ".join(_footer(position.rules.columns))
    return "\n".join([*rows, footer, f"{SIDE_NAMES[position.to_move]} to move"])


def _footer(columns: int) -> str:
    """Return the column numbers below a drawing, last digits only."""
    return "".join(str((column + 1) % 10) for column in range(columns))


def _read_key(text: str, rules: Rules | None) -> Setup:
    _, digits, *side = text.strip().split(":")
    to_move = SIDE_NAMES.index(side[0]) if side else None
    return read_key(int(digits, 16), rules or CLASSIC, to_move)


def read_key(key: int, rules: Rules, to_move: int | None = None) -> Setup:
    """Read a key. Without `to_move`, red is to move if the number of discs is even."""
    g = rules.geometry
    columns = [key >> column * g.height & (1 << g.height) - 1 for column in range(g.columns)]
    if key < 0 or 0 in columns or key >> g.columns * g.height:  # every column has its marker bit
        raise UserError(f"key:{key:x} is not the key of a position on {rules}")
    own, mask = bitboard.from_key(key, g)
    if to_move is None:
        to_move = mask.bit_count() % 2
    red, yellow = (own, own ^ mask) if to_move == RED else (own ^ mask, own)
    return Setup(rules, None, red, yellow, to_move)


def _write_key(position: "Position") -> str:
    # A key does not contain the side to move. It follows from the number of discs, unless a side
    # has passed.
    follows_from_count = position.to_move == position.mask.bit_count() % 2
    suffix = "" if follows_from_count else f":{SIDE_NAMES[position.to_move]}"
    return f"key:{position.key:x}{suffix}"


# --- all notations --------------------------------------------------------------------------------


class _Reader(Protocol):
    def __call__(self, text: str, rules: Rules | None, /) -> Setup: ...


@dataclass(frozen=True)
class _Notation:
    pattern: str
    """A regular expression. If several match a text, the first notation of NOTATIONS is meant."""
    read: _Reader
    write: "Callable[[Position], str]"

    def matches(self, text: str) -> bool:
        """Return whether a text may be in this notation."""
        return re.fullmatch(self.pattern, text, re.DOTALL) is not None


NOTATIONS = {
    # The order matters: a single `b` is a column, not a UCI board of one cell.
    "moves": _Notation(r"[\d, \t]*", _read_moves, _write_moves),
    "moves0": _Notation(
        r"0:[\d, \t]*",
        lambda text, rules: _read_moves(text.removeprefix("0:"), rules, first=0),
        lambda position: "0:" + _write_moves(position, first=0),
    ),
    "letters": _Notation(r"[A-Za-z ]*", _read_letters, _write_letters),
    "kaggle": _Notation(r"\[.*\]", _read_kaggle, _write_kaggle),
    "uci": _Notation(r"[bxo](\s*,\s*[bxo])*(,\s*(win|loss|draw))?", _read_uci, _write_uci),
    "fen": _Notation(
        r"[ry\d]+((/[ry\d]+)+|(/[ry\d]+)*\s+[ry](\s+\d{1,2})?)", _read_fen, _write_fen
    ),
    "ascii": _Notation(r"[^\[/:]*\n.*", _read_ascii, _write_ascii),
    "key": _Notation(r"key:[0-9a-fA-F]{1,16}(:(red|yellow))?", _read_key, _write_key),
}


def _notation(name: str) -> _Notation:
    if name not in NOTATIONS:
        raise UserError(f"unknown notation {name!r}; there are {', '.join(NOTATIONS)}")
    return NOTATIONS[name]


def _a_name() -> str:
    """Return "a name" with the list of names, for an error message."""
    try:
        positions = named_positions()
    except UserError:  # the user's file is broken, but the error at hand is about something else
        positions = BUILT_IN
    return f"a name ({', '.join(sorted(positions))})"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
