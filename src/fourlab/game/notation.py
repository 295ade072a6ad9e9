"""Eight ways to write a position, each read and written.

| notation | example                                | says its own board size |
|----------|----------------------------------------|-------------------------|
| moves    | `4453`; `10,4,3,` on wide boards       | no                      |
| moves0   | `0:3342` (the prefix tells it apart)   | no                      |
| letters  | `ddec`                                 | no                      |
| kaggle   | `[0, 0, 1, …]` row by row from the top | no                      |
| uci      | `b,b,x,o,…` column by column from below| no                      |
| fen      | `7/7/7/3y3/3r3/2yr3 r 4` from the top  | yes                     |
| ascii    | rows of `. X O`, top row first         | rows and columns        |
| key      | `key:1f` the bit key in hexadecimal    | no                      |

Reading gives a `Setup`, which `Position` checks; nothing here decides whether a position is possible.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fourlab.errors import UserError
from fourlab.game import bitboard as bit_rules
from fourlab.game.named import BUILT_IN, named_positions
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW
from fourlab.game.rules import CLASSIC, Rules

if TYPE_CHECKING:
    from fourlab.game.position import Position


@dataclass(frozen=True)
class Setup:
    """What a text says: either the columns played from the empty board, or where the discs are."""

    rules: Rules
    moves: tuple[int, ...] | None = None
    red: int = 0
    yellow: int = 0
    to_move: int | None = None
    """None: whoever the numbers of discs say."""


Grid = Sequence[Sequence[int]]
"""Rows of cells, top row first: 0 empty, 1 red, 2 yellow."""


def read(text: str, rules: Rules | None, notation: str | None = None) -> Setup:
    """Read a name or any notation; without `rules`, the board the text tells of, else 7x6x4."""
    if notation is not None:
        named, text = _notation(notation), text.strip()
        if notation == "moves0" and not text.startswith("0:"):
            text = "0:" + text
        if not re.fullmatch(named.looks, text, re.DOTALL):
            raise UserError(f"{_short(text)} is not written in the notation {notation!r}")
        return named.read(text, rules)
    text = text.strip()
    chosen = None if text in BUILT_IN else _recognise(text)
    if chosen is not None:
        return chosen.read(text, rules)
    known = named_positions()
    if text not in known:
        raise UserError(f"cannot read the position {_short(text)}: it is neither a notation nor {_a_name()}")
    meant = _recognise(known[text].text)
    if meant is None:
        raise UserError(f"the position named {text} cannot be read: {_short(known[text].text)}")
    setup = meant.read(known[text].text, None)
    if rules is not None and rules != setup.rules:
        raise UserError(f"position {text} is on a {setup.rules} board, not {rules}")
    return setup


def _recognise(text: str) -> "_Notation | None":
    """The notation a text is written in, by its looks."""
    return next((each for each in NOTATIONS.values() if re.fullmatch(each.looks, text, re.DOTALL)), None)


def write(position: "Position", notation: str) -> str:
    """Write the position in the named notation."""
    return _notation(notation).write(position)


def read_grid(grid: Grid, rules: Rules | None) -> Setup:
    """Read rows of cell codes, top row first."""
    widths = {len(row) for row in grid}
    if len(widths) != 1 or widths == {0}:
        raise UserError("the rows of a board must all have the same number of cells")
    found = (widths.pop(), len(grid))
    rules = rules or Rules(*found)
    if found != (rules.columns, rules.rows):
        raise UserError(f"the board given is {found[0]}x{found[1]}, but {rules} was asked for")
    height = rules.geometry.height
    stones = [0, 0, 0]
    for below_top, row in enumerate(grid):
        for column, cell in enumerate(row):
            if not hasattr(cell, "__index__") or cell not in (0, 1, 2):
                raise UserError(f"a cell is 0 (empty), 1 (red) or 2 (yellow), not {_short(repr(cell))}")
            stones[int(cell)] |= 1 << column * height + rules.rows - 1 - below_top
    return Setup(rules, None, red=stones[1], yellow=stones[2])


def grid_of(position: "Position") -> list[list[int]]:
    """The cells as codes, top row first: 0 empty, 1 red, 2 yellow."""
    rules, height = position.rules, position.rules.geometry.height
    return [
        [
            (position.red >> column * height + row & 1) + 2 * (position.yellow >> column * height + row & 1)
            for column in range(rules.columns)
        ]
        for row in reversed(range(rules.rows))
    ]


# --- sequences of moves ---------------------------------------------------------------------------------------------


def _read_moves(text: str, rules: Rules | None) -> Setup:
    rules = rules or CLASSIC
    columns = tuple(number - 1 for number in _numbers(text, rules))
    if -1 in columns:
        advice = "part the columns by commas" if rules.columns > 9 else "write 0: in front if they count from 0"
        raise UserError(f"columns count from 1 in {_short(text)}; {advice}")
    return Setup(rules, columns)


def _numbers(text: str, rules: Rules) -> list[int]:
    """Single digits; whole numbers where commas part them, or spaces on a board where a column can have two digits."""
    parted = "," in text or (rules.columns > 9 and re.search(r"\s", text.strip()))
    numbers = re.findall(r"\d+" if parted else r"\d", text)
    if any(len(number) > 3 for number in numbers):
        raise UserError(f"there is no such column as in {_short(text)}")
    return [int(number) for number in numbers]


def _write_moves(position: "Position") -> str:
    return _joined([column + 1 for column in _history(position)], position.rules.columns >= 10)


def _joined(numbers: list[int], with_commas: bool) -> str:
    """Write the numbers side by side, or each with a comma behind it where one may have two digits."""
    return "".join(f"{number}," if with_commas else str(number) for number in numbers)


def _read_moves0(text: str, rules: Rules | None) -> Setup:
    rules = rules or CLASSIC
    return Setup(rules, tuple(_numbers(text.removeprefix("0:"), rules)))


def _write_moves0(position: "Position") -> str:
    return "0:" + _joined(list(_history(position)), position.rules.columns > 10)


def _read_letters(text: str, rules: Rules | None) -> Setup:
    rules = rules or CLASSIC
    columns = tuple(ord(letter) - ord("a") for letter in "".join(text.lower().split()))
    if max(columns, default=0) >= rules.columns:
        raise UserError(f"{_short(text)} is neither columns a to {chr(96 + rules.columns)} nor {_a_name()}")
    return Setup(rules, columns)


def _write_letters(position: "Position") -> str:
    if position.rules.columns > 26:
        raise UserError(f"there are no letters for {position.rules.columns} columns")
    return "".join(chr(ord("a") + column) for column in _history(position))


def _history(position: "Position") -> tuple[int, ...]:
    if position.moves is None:
        raise UserError("this position was given as a board, so the moves that led to it are not known")
    return position.moves


# --- boards ---------------------------------------------------------------------------------------------------------


def _read_kaggle(text: str, rules: Rules | None) -> Setup:
    try:
        cells = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError(f"cannot read the list {_short(text)}") from None
    return read_flat(cells, rules)


def read_flat(cells: Sequence[int], rules: Rules | None) -> Setup:
    """Read Kaggle's flat list: row by row from the top."""
    rules = rules or CLASSIC
    if len(cells) != rules.columns * rules.rows:
        raise UserError(f"a {rules} board has {rules.columns * rules.rows} cells, the list has {len(cells)}")
    return read_grid([cells[i : i + rules.columns] for i in range(0, len(cells), rules.columns)], rules)


def _write_kaggle(position: "Position") -> str:
    return json.dumps([cell for row in grid_of(position) for cell in row])


def _read_uci(text: str, rules: Rules | None) -> Setup:
    rules = rules or CLASSIC
    fields = [field.strip() for field in text.strip().split(",")]
    if fields[-1] in ("win", "loss", "draw"):  # the data set's label for x, the first player
        fields.pop()
    if len(fields) != rules.columns * rules.rows:
        raise UserError(f"a {rules} board has {rules.columns * rules.rows} cells, the line has {len(fields)}")
    codes = [{"b": 0, "x": 1, "o": 2}[field] for field in fields]
    columns = [codes[i : i + rules.rows] for i in range(0, len(codes), rules.rows)]
    return read_grid([[column[row] for column in columns] for row in reversed(range(rules.rows))], rules)


def _write_uci(position: "Position") -> str:
    grid = grid_of(position)
    return ",".join("bxo"[row[column]] for column in range(position.rules.columns) for row in reversed(grid))


def _read_fen(text: str, rules: Rules | None) -> Setup:
    fields = text.split()
    in_a_row = int(fields[2]) if len(fields) > 2 else (rules or CLASSIC).in_a_row
    grid: list[list[int]] = []
    for line in fields[0].split("/"):
        tokens = re.findall(r"\d+|[ry]", line)
        if len(line) > 62 or sum(int(token) for token in tokens if token.isdigit()) > 62:
            raise UserError(f"a row of {_short(text)} is too long")
        grid.append([cell for token in tokens for cell in ([0] * int(token) if token.isdigit() else [1 + "ry".index(token)])])
    if rules is not None and rules.in_a_row != in_a_row:
        raise UserError(f"the board given wins with {in_a_row} in a row, but {rules} was asked for")
    setup = read_grid(grid, rules or Rules(len(grid[0]), len(grid), in_a_row))
    to_move = None if len(fields) < 2 else (RED, YELLOW)["ry".index(fields[1])]
    return Setup(setup.rules, None, setup.red, setup.yellow, to_move)


def _write_fen(position: "Position") -> str:
    lines = ["".join("-ry"[cell] for cell in row) for row in grid_of(position)]
    lines = [re.sub("-+", lambda empties: str(len(empties.group())), line) for line in lines]
    return f"{'/'.join(lines)} {'ry'[position.to_move]} {position.rules.in_a_row}"


_DRAWN_CELLS = {".": 0, "_": 0, "0": 0, "X": 1, "x": 1, "1": 1, "O": 2, "o": 2, "2": 2}


def _read_ascii(text: str, rules: Rules | None) -> Setup:
    lines = [line.strip() for line in text.splitlines()]
    to_move = None
    if last := re.fullmatch(r"(red|yellow)( \([XO]\))? (to move|wins).*", lines[-1]):
        lines.pop()
        if last.group(3) == "to move":
            to_move = SIDE_NAMES.index(last.group(1))
    lines = [re.sub(r"[\s|()]", "", line) for line in lines]
    lines = [line for line in lines if line and not re.fullmatch(r"[-+=]+", line)]
    # "1 2" below two columns could be discs; with three or more the column numbers cannot be mistaken.
    numbered = bool(lines) and lines[-1] == _footer(len(lines[-1])) and (len(lines[-1]) > 2 or last is not None)
    if numbered and len(lines) != (rules.rows if rules else -1):
        lines.pop()
    strange = sorted({letter for line in lines for letter in line if letter not in _DRAWN_CELLS})
    if strange or not lines:
        raise UserError(f"a drawing has rows of . (empty) X (red) O (yellow), not {''.join(strange) or 'nothing'!r}")
    setup = read_grid([[_DRAWN_CELLS[letter] for letter in line] for line in lines], rules)
    return Setup(setup.rules, None, setup.red, setup.yellow, to_move)


def _write_ascii(position: "Position") -> str:
    rows = [" ".join(".XO"[cell] for cell in row) for row in grid_of(position)]
    footer = " ".join(_footer(position.rules.columns))
    return "\n".join([*rows, footer, f"{SIDE_NAMES[position.to_move]} to move"])


def _footer(columns: int) -> str:
    """The column numbers below a drawing, last digits only."""
    return "".join(str((column + 1) % 10) for column in range(columns))


def _read_key(text: str, rules: Rules | None) -> Setup:
    _, digits, *side = text.strip().split(":")
    return read_key(int(digits, 16), rules or CLASSIC, SIDE_NAMES.index(side[0]) if side else None)


def read_key(key: int, rules: Rules, to_move: int | None = None) -> Setup:
    """Read a key; the side to move is the one that the number of discs says, unless it is given."""
    g = rules.geometry
    columns = [key >> column * g.height & (1 << g.height) - 1 for column in range(g.columns)]
    if key < 0 or 0 in columns or key >> g.columns * g.height:  # every column has its marker bit
        raise UserError(f"key:{key:x} is not the key of a position on {rules}")
    own, mask = bit_rules.from_key(key, g)
    if to_move is None:
        to_move = mask.bit_count() % 2
    red, yellow = (own, own ^ mask) if to_move == RED else (own ^ mask, own)
    return Setup(rules, None, red, yellow, to_move)


def _write_key(position: "Position") -> str:
    usual = position.to_move == position.mask.bit_count() % 2
    return f"key:{position.key:x}" + ("" if usual else f":{SIDE_NAMES[position.to_move]}")


# --- the table ------------------------------------------------------------------------------------------------------


class _Reader(Protocol):
    def __call__(self, text: str, rules: Rules | None, /) -> Setup: ...


@dataclass(frozen=True)
class _Notation:
    looks: str
    """A pattern that only this notation matches."""
    read: _Reader
    write: "Callable[[Position], str]"


NOTATIONS = {
    "moves": _Notation(r"[\d, \t]*", _read_moves, _write_moves),
    "moves0": _Notation(r"0:[\d, \t]*", _read_moves0, _write_moves0),
    "letters": _Notation(r"[A-Za-z ]*", _read_letters, _write_letters),
    "kaggle": _Notation(r"\[.*\]", _read_kaggle, _write_kaggle),
    "uci": _Notation(r"[bxo](\s*,\s*[bxo])*(,\s*(win|loss|draw))?", _read_uci, _write_uci),
    "fen": _Notation(r"[ry\d]+((/[ry\d]+)+|(/[ry\d]+)*\s+[ry](\s+\d{1,2})?)", _read_fen, _write_fen),
    "ascii": _Notation(r"[^\[/:]*\n.*", _read_ascii, _write_ascii),
    "key": _Notation(r"key:[0-9a-fA-F]{1,16}(:(red|yellow))?", _read_key, _write_key),
}


def _notation(name: str) -> _Notation:
    if name not in NOTATIONS:
        raise UserError(f"unknown notation {name!r}; there are {', '.join(NOTATIONS)}")
    return NOTATIONS[name]


def _a_name() -> str:
    try:
        known = named_positions()
    except UserError:  # the user's file is broken, which is not what this error is about
        known = BUILT_IN
    return f"a name ({', '.join(sorted(known))})"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
