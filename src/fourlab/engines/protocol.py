"""The words of the engine protocol C4I, read and written in one place for both sides.

docs/engine-protocol.md tells what they mean. What is read here was written by others: whatever can be passed over is, and
the rest is a UserError.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fourlab.agent import Exact, Limit
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules

PER_MILLE = 1000
MOST_WORDS = 200
"""More words of a line nobody needs."""


def words_of(line: str) -> list[str]:
    """The words of a line, as far as they matter."""
    return line.split(maxsplit=MOST_WORDS)[:MOST_WORDS]


def is_number(word: str) -> bool:
    """Whether a word is a whole number that anybody could mean."""
    return re.fullmatch(r"[0-9]{1,15}", word) is not None


# --- options -----------------------------------------------------------------------------------------------------------


def write_option(name: str, default: str) -> str:
    """The line by which an engine offers an option."""
    return f"option name {name} type string default {default}"


def read_option(line: str) -> str | None:
    """The name of the option that a line offers; None if it offers none."""
    match = re.fullmatch(r"option name (.+?)( type .*)?", " ".join(words_of(line)))
    return match[1] if match else None


def write_setoption(name: str, value: str) -> str:
    """The line that sets an option."""
    return f"setoption name {name} value {value}"


def read_setoption(words: Sequence[str]) -> tuple[str, str]:
    """The name and the value told by the words behind `setoption`."""
    match = re.fullmatch(r"name (.+?) value( .*)?", " ".join(words))
    if match is None:
        raise UserError(f"cannot read {' '.join(words)[:60]!r}; it is setoption name X value Y")
    return match[1], (match[2] or "").strip()


# --- newgame and position ----------------------------------------------------------------------------------------------


def write_newgame(rules: Rules, seed: int) -> str:
    """The line that begins a game."""
    return f"newgame {rules} seed {seed}"


def read_newgame(words: Sequence[str]) -> tuple[Rules, int | None]:
    """The board, by default the usual one, and the seed if one is given; from the words behind `newgame`."""
    board, seed = list(words), None
    if len(board) > 1 and board[-2] == "seed" and is_number(board[-1]):
        seed = int(board[-1])
        del board[-2:]
    if len(board) < 2:
        return Rules.parse(board[0]) if board else CLASSIC, seed
    raise UserError(f"cannot read {' '.join(words)[:60]!r}; it is newgame 7x6x4 seed 17")


def write_position(position: Position) -> str:
    """The line that sets up a position: by its moves if they are known."""
    if position.moves is None:
        return f"position fen {position.write('fen')}"
    return " ".join(["position startpos", *(["moves"] if position.moves else []), *_from_1(position.moves)])


def read_position(words: Sequence[str], rules: Rules) -> Position:
    """The position told by the words behind `position`; `startpos` is on the board given, a fen tells its own."""
    match words:
        case ["startpos", *rest]:
            position = Position(board=rules)
        case ["fen", cells, side, in_a_row, *rest]:
            position = Position(f"{cells} {side} {in_a_row}", notation="fen", check_counts=False)
        case _:
            raise UserError(f"cannot read {' '.join(words)[:60]!r}; it is position startpos or fen, then perhaps moves")
    if rest and rest[0] != "moves":
        raise UserError(f"cannot read {rest[0][:20]!r} in a position, where only moves can follow")
    for word in rest[1:]:
        if not is_number(word):
            raise UserError(f"{word[:20]!r} is not a column")
        position = position.play(int(word) - 1)
    return position


# --- go ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Go:
    """The question: which column?"""

    limit: Limit = field(default_factory=Limit)
    infinite: bool = False
    """Think until told to stop, and do not answer before."""
    multipv: int = 1
    """How many columns to tell of."""

    def write(self) -> str:
        """The question as a line."""
        words, limit = ["go"], self.limit
        if limit.seconds is not None:
            words.append(f"movetime {max(1, round(limit.seconds * 1000))}")
        for name in ("simulations", "nodes", "depth"):
            if (bound := getattr(limit, name)) is not None:
                words.append(f"{name} {bound}")
        if self.infinite:
            words.append("infinite")
        if self.multipv > 1:
            words.append(f"multipv {self.multipv}")
        return " ".join(words)

    @classmethod
    def read(cls, words: Sequence[str]) -> "Go":
        """The question told by the words behind `go`; what is not known is passed over, and a bound is at least 1."""
        bounds: dict[str, int] = {}
        for name, number in itertools.pairwise(words):
            if name in ("movetime", "simulations", "nodes", "depth", "multipv") and is_number(number):
                bounds[name] = max(1, int(number))
        seconds = bounds["movetime"] / 1000 if "movetime" in bounds else None
        limit = Limit(seconds, bounds.get("simulations"), bounds.get("nodes"), bounds.get("depth"))
        return cls(limit, "infinite" in words, bounds.get("multipv", 1))


# --- info --------------------------------------------------------------------------------------------------------------


def fault_of_info(words: list[str], columns: int) -> str:
    """What is wrong with the words behind `info`; nothing is an empty text."""
    match words:
        case []:
            return ""
        case ["string", *_]:
            return ""
        case ["multipv" | "depth" | "nodes" | "simulations", number, *rest] if is_number(number):
            return fault_of_info(rest, columns)
        case ["score", "win" | "loss", plies, *rest] if is_number(plies):
            return fault_of_info(rest, columns)
        case ["score", "win" | "loss" | "draw", *rest]:
            return fault_of_info(rest, columns)
        case ["score", "wdl", *shares] if all(map(is_number, shares[:3])) and sum(map(int, shares[:3])) == PER_MILLE:
            return fault_of_info(shares[3:], columns)
        case ["pv", *line]:
            wrong = next((word for word in line if not is_number(word) or not 1 <= int(word) <= columns), None)
            return "" if wrong is None else f"{wrong!r} is no column"
    return f"{' '.join(words[:2])!r} is not what the protocol says"


@dataclass(frozen=True)
class Info:
    """What an engine thinks of a position, or of its second best column and so on, in one line."""

    multipv: int | None = None
    """1 for the column it would play, 2 for the next best; None if it tells of one only."""
    depth: int | None = None
    nodes: int | None = None
    simulations: int | None = None
    value: float | None = None
    """-1 to +1 for the side to move."""
    proven: Exact | None = None
    """What it says it has proved."""
    line: tuple[int, ...] = ()
    """The play it expects, columns from 0."""

    def write(self) -> str:
        """One line; a value becomes shares of wins and losses, since an agent does not tell draws apart."""
        words = ["info"]
        for name in ("multipv", "depth"):
            if (number := getattr(self, name)) is not None:
                words.append(f"{name} {number}")
        if self.proven is not None:
            result = Result(self.proven.result).word
            plies = None if self.proven.result == 0 else self.proven.plies
            words.append(f"score {result}" if plies is None else f"score {result} {plies}")
        elif self.value is not None:
            wins = round(PER_MILLE * (1 + self.value) / 2)
            words.append(f"score wdl {wins} 0 {PER_MILLE - wins}")
        for name in ("nodes", "simulations"):
            if (number := getattr(self, name)) is not None:
                words.append(f"{name} {number}")
        if self.line:
            words += ["pv", *_from_1(self.line)]
        return " ".join(words)

    @classmethod
    def read(cls, words: Sequence[str]) -> "Info":
        """What the words behind `info` tell; what cannot be read is passed over."""
        numbers: dict[str, int] = {}
        value, proven, line = None, None, tuple[int, ...]()
        for at in range(len(words)):
            match words[at:]:
                case ["string", *_]:
                    break
                case ["pv", *columns]:
                    if all(map(is_number, columns)):
                        line = tuple(int(column) - 1 for column in columns)
                    break
                case ["score", ("win" | "draw" | "loss") as result, *rest]:
                    plies = int(rest[0]) if rest and is_number(rest[0]) else None
                    exact = Result.of_word(result)
                    proven, value = Exact(exact, plies), float(exact)
                case ["score", "wdl", *shares] if len(shares) >= 3 and all(map(is_number, shares[:3])):
                    win, draw, loss = map(int, shares[:3])
                    if total := win + draw + loss:
                        proven, value = None, (win - loss) / total
                case [("multipv" | "depth" | "nodes" | "simulations") as name, number, *_] if is_number(number):
                    numbers[name] = int(number)
        return cls(**numbers, value=value, proven=proven, line=line)


def _from_1(columns: Sequence[int]) -> list[str]:
    return [str(column + 1) for column in columns]
