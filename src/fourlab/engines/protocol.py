"""Parse and format the lines of the engine protocol C4I, for both sides.

docs/reference/engine-protocol.md documents them. Input comes from other programs: what is not
understood is ignored where that is safe, and raises UserError otherwise.
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
"""The sum of the three numbers after `score wdl`."""
MOST_WORDS = 200
"""Words of a line beyond this number are ignored."""


def words_of(line: str) -> list[str]:
    """Return the first words of a line, at most MOST_WORDS."""
    return line.split(maxsplit=MOST_WORDS)[:MOST_WORDS]


def is_number(word: str) -> bool:
    """Return whether a word is a non-negative integer of at most 15 digits."""
    # Not str.isdigit, which accepts digits of other scripts. 15 digits are exact as a float too.
    return re.fullmatch(r"[0-9]{1,15}", word) is not None


# --- options ------------------------------------------------------------------------------------


def write_option(name: str, default: str) -> str:
    """Return the line that offers an option."""
    return f"option name {name} type string default {default}"


def read_option(line: str) -> str | None:
    """Return the name of the option that a line offers, None if it offers none."""
    # The shortest name before ` type`: names may have spaces.
    match = re.fullmatch(r"option name (.+?)( type .*)?", " ".join(words_of(line)))
    return match[1] if match else None


def write_setoption(name: str, value: str) -> str:
    """Return the line that sets an option."""
    return f"setoption name {name} value {value}"


def read_setoption(words: Sequence[str]) -> tuple[str, str]:
    """Return the name and the value in the words after `setoption`."""
    # An empty value is allowed: `setoption name book value`.
    match = re.fullmatch(r"name (.+?) value( .*)?", " ".join(words))
    if match is None:
        raise UserError(f"cannot read {' '.join(words)[:60]!r}; it is setoption name X value Y")
    return match[1], (match[2] or "").strip()


# --- newgame and position -----------------------------------------------------------------------


def write_newgame(rules: Rules, seed: int) -> str:
    """Return the line that starts a game."""
    return f"newgame {rules} seed {seed}"


def read_newgame(words: Sequence[str]) -> tuple[Rules, int | None]:
    """Return the board, 7x6x4 by default, and the seed, if any, in the words after `newgame`."""
    board = list(words)
    seed = None
    if len(board) > 1 and board[-2] == "seed" and is_number(board[-1]):
        seed = int(board[-1])
        del board[-2:]
    if len(board) < 2:
        return Rules.parse(board[0]) if board else CLASSIC, seed
    raise UserError(f"cannot read {' '.join(words)[:60]!r}; it is newgame 7x6x4 seed 17")


def write_position(position: Position) -> str:
    """Return the line that sets up a position: by its moves, or by FEN if they are unknown."""
    if position.moves is None:
        return f"position fen {position.write('fen')}"
    words = ["position startpos"]
    if position.moves:
        words += ["moves", *_from_1(position.moves)]
    return " ".join(words)


def read_position(words: Sequence[str], rules: Rules) -> Position:
    """Return the position in the words after `position`.

    `startpos` is the empty board of `rules`; a FEN carries its own board size.
    """
    match words:
        case ["startpos", *rest]:
            position = Position(board=rules)
        case ["fen", cells, side, in_a_row, *rest]:
            position = Position(f"{cells} {side} {in_a_row}", notation="fen", check_counts=False)
        case _:
            raise UserError(
                f"cannot read {' '.join(words)[:60]!r}; "
                "it is position startpos or fen, then perhaps moves"
            )
    if rest and rest[0] != "moves":
        raise UserError(f"cannot read {rest[0][:20]!r} in a position, where only moves can follow")
    for word in rest[1:]:
        if not is_number(word):
            raise UserError(f"{word[:20]!r} is not a column")
        position = position.play(int(word) - 1, named_from=1)
    return position


# --- go -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Go:
    """The command to think and answer with a column."""

    limit: Limit = field(default_factory=Limit)
    infinite: bool = False
    """Think until `stop`, and do not answer before."""
    multipv: int = 1
    """Number of columns to report."""

    def write(self) -> str:
        """Return the command as a line."""
        words = ["go"]
        limit = self.limit
        if limit.seconds is not None:
            # Milliseconds, as in UCI; 0 would mean no time at all.
            words.append(f"movetime {max(1, round(limit.seconds * 1000))}")
        words += _numbers(limit, "simulations", "nodes", "depth")
        if self.infinite:
            words.append("infinite")
        if self.multipv > 1:
            words.append(f"multipv {self.multipv}")
        return " ".join(words)

    @classmethod
    def read(cls, words: Sequence[str]) -> "Go":
        """Parse the words after `go`; ignore unknown ones, and count a bound of 0 as 1."""
        names = ("movetime", "simulations", "nodes", "depth", "multipv")
        bounds: dict[str, int] = {}
        for name, number in itertools.pairwise(words):
            if name in names and is_number(number):
                bounds[name] = max(1, int(number))
        seconds = bounds["movetime"] / 1000 if "movetime" in bounds else None
        limit = Limit(seconds, bounds.get("simulations"), bounds.get("nodes"), bounds.get("depth"))
        return cls(limit, "infinite" in words, bounds.get("multipv", 1))


# --- info ---------------------------------------------------------------------------------------


def fault_of_info(words: list[str], columns: int) -> str:
    """Return what is wrong with the words after `info`; empty if nothing is."""
    match words:
        case [] | ["string", *_]:  # what follows `string` is free text
            return ""
        case ["multipv" | "depth" | "nodes" | "simulations", number, *rest] | [
            "score",
            "win" | "loss",
            number,
            *rest,
        ] if is_number(number):
            return fault_of_info(rest, columns)
        # Also a win or loss without its number of plies, which is optional.
        case ["score", "win" | "loss" | "draw", *rest]:
            return fault_of_info(rest, columns)
        case ["score", "wdl", *shares] if (
            all(map(is_number, shares[:3])) and sum(map(int, shares[:3])) == PER_MILLE
        ):
            return fault_of_info(shares[3:], columns)
        case ["pv", *line]:
            for word in line:
                if not is_number(word) or not 1 <= int(word) <= columns:
                    return f"{word!r} is not a column"
            return ""
    return f"{' '.join(words[:2])!r} is not part of the protocol"


@dataclass(frozen=True)
class Info:
    """An engine's evaluation of a position, or of one of its columns, in one line."""

    multipv: int | None = None
    """1 for the best column, 2 for the next best; None if only the best is reported."""
    depth: int | None = None
    nodes: int | None = None
    simulations: int | None = None
    value: float | None = None
    """From the side to move's point of view, -1 to +1."""
    proven: Exact | None = None
    """The result the engine claims to have proved."""
    line: tuple[int, ...] = ()
    """The principal variation, columns counted from 0."""

    def write(self) -> str:
        """Return the line.

        A value is written as shares of wins and losses without draws, since a value alone does not
        determine the share of draws.
        """
        words = ["info", *_numbers(self, "multipv", "depth")]
        if self.proven is not None:
            result = self.proven.result.word
            # The length of a draw is the number of empty cells, so it is not written.
            plies = None if self.proven.result == 0 else self.proven.plies
            words.append(f"score {result}" if plies is None else f"score {result} {plies}")
        elif self.value is not None:
            # From -1 … +1 to 0 … 1000.
            wins = round(PER_MILLE * (1 + self.value) / 2)
            words.append(f"score wdl {wins} 0 {PER_MILLE - wins}")
        words += _numbers(self, "nodes", "simulations")
        if self.line:
            # Last, since everything after `pv` is a column.
            words += ["pv", *_from_1(self.line)]
        return " ".join(words)

    @classmethod
    def read(cls, words: Sequence[str]) -> "Info":
        """Parse the words after `info`; ignore what cannot be read."""
        numbers: dict[str, int] = {}
        value: float | None = None
        proven: Exact | None = None
        line: tuple[int, ...] = ()
        # Try every word as the beginning of an entry; arguments match none and are passed over.
        for start in range(len(words)):
            match words[start:]:
                case ["string", *_]:
                    break
                case ["pv", *columns]:
                    if all(map(is_number, columns)):
                        line = tuple(int(column) - 1 for column in columns)
                    break
                case ["score", ("win" | "draw" | "loss") as result, *rest]:
                    plies = int(rest[0]) if rest and is_number(rest[0]) else None
                    exact = Result.of_word(result)
                    proven = Exact(exact, plies)
                    value = float(exact)
                case ["score", "wdl", *shares] if len(shares) >= 3 and all(
                    map(is_number, shares[:3])
                ):
                    win, draw, loss = map(int, shares[:3])
                    if total := win + draw + loss:
                        proven = None
                        value = (win - loss) / total
                case [("multipv" | "depth" | "nodes" | "simulations") as name, number, *_] if (
                    is_number(number)
                ):
                    numbers[name] = int(number)
        return cls(**numbers, value=value, proven=proven, line=line)


def _numbers(owner: Limit | Info, *names: str) -> list[str]:
    """Return those of the named attributes that are set, as "name number"."""
    return [f"{name} {number}" for name in names if (number := getattr(owner, name)) is not None]


def _from_1(columns: Sequence[int]) -> list[str]:
    """Return columns, given from 0, as words that count from 1."""
    return [str(column + 1) for column in columns]
