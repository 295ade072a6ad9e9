"""An examination of a submission, in a process of its own: `python -m fourlab.bridges.kaggle.examine FILE MODE`.

The mode is with-numba or without-numba. The file is loaded in an empty namespace where Fourlab cannot be imported, plays whole
games on several boards from both seats, is shown wins to take and to block, and is timed with Kaggle's own clock. The findings
are printed as one line of JSON.
"""

import json
import random
import sys
import threading
import time
from typing import Any

from fourlab.bridges.kaggle.submission import Submission, ask, load
from fourlab.game.position import Position

BOARDS = ("7x6x4", "5x4x3", "4x5x4", "8x6x5")
BIG = (9, 8, 4)
"""A board that does not fit into 62 bits: columns, rows, in a row."""
QUICK = 0.1
"""Seconds a move for whole games; only a few moves are timed with the full clock."""
TIMED = ("", "4", "444333", "43672651")
"""Positions that are asked about with the full clock; the first is the first move, loading included."""


def examine(source: str) -> dict[str, Any]:
    """Load the file and let it play."""
    before = time.perf_counter()
    agent = load(source)
    first = _timed(agent, TIMED[0])
    findings: dict[str, Any] = {"first_move": time.perf_counter() - before, "loading": time.perf_counter() - before - first}
    for thread in threading.enumerate():  # what it does meanwhile, such as compiling
        if thread is not threading.current_thread():
            thread.join(60)
    findings["ready"] = time.perf_counter() - before
    findings["slowest"] = max(_timed(agent, moves) for moves in TIMED[1:])
    rng, moves = random.Random(1), 0
    for board in BOARDS:
        moves += sum(_play(agent, board, seat, rng) for seat in (0, 1))
    columns, rows, in_a_row = BIG
    for mark in (1, 2):
        cells = [0] * (columns * (rows - 1)) + ([0] * columns if mark == 1 else [1] + [0] * (columns - 1))
        _legal(ask(agent, cells, mark, mark - 1, columns=columns, rows=rows, inarow=in_a_row, actTimeout=QUICK), cells, columns)
    tactics = [_tactics(agent, position) for position in _with_a_win()]
    _check_trouble(agent)
    findings |= {"moves": moves + 2, "wins": sum(wins for wins, _ in tactics), "blocks": sum(blocks for _, blocks in tactics)}
    return {**findings, "tactics": len(tactics)}


def _check_trouble(agent: Submission) -> None:
    """Refuse a file that had to leave moves to its simple player though it knows the board."""
    trouble = getattr(agent, "__globals__", {}).get("TROUBLE")
    if trouble:
        raise ValueError(f"something went wrong in it: {trouble[0]}")


def _timed(agent: Submission, moves: str) -> float:
    position = Position(moves)
    before = time.perf_counter()
    answer = _ask(agent, position)
    seconds = time.perf_counter() - before
    _legal(answer, _cells(position), position.rules.columns)
    return seconds


def _play(agent: Submission, board: str, seat: int, rng: random.Random) -> int:
    """Play a game against a player who plays at random; returns how many moves the agent made."""
    position, moves = Position(board=board), 0
    while position.outcome() is None:
        if position.to_move == seat:
            answer = _ask(agent, position, actTimeout=QUICK)
            position, moves = position.play(_legal(answer, _cells(position), position.rules.columns)), moves + 1
        else:
            position = position.play(rng.choice(position.legal_columns()))
    return moves


def _with_a_win() -> list[Position]:
    """Positions of random games in which the side to move has one column that wins, for both sides."""
    rng, found = random.Random(2), list[Position]()
    while len(found) < 8:
        position = Position(board="7x6x4" if len(found) < 6 else "5x4x3")
        while position.outcome() is None:
            wins = [column for column in position.legal_columns() if position.makes_line(column, position.to_move)]
            if len(wins) == 1 and position.to_move == len(found) % 2 and _must_block(position, wins[0]) is not None:
                found.append(position)
                break
            position = position.play(rng.choice(position.legal_columns()))
    return found


def _must_block(position: Position, column: int) -> Position | None:
    """The same position with the other side to move, which must block this column; None if it could win itself."""
    other = Position(position.grid(), position.rules, to_move=1 - position.to_move, check_counts=False)
    wins = any(other.makes_line(each, other.to_move) for each in other.legal_columns())
    return None if wins else other


def _tactics(agent: Submission, position: Position) -> tuple[bool, bool]:
    """Whether a win is taken, and blocked by the other side."""
    (win,) = [column for column in position.legal_columns() if position.makes_line(column, position.to_move)]
    other = _must_block(position, win)
    assert other is not None
    return _ask(agent, position, actTimeout=QUICK) == win, _ask(agent, other, actTimeout=QUICK) == win


def _ask(agent: Submission, position: Position, **configuration: Any) -> Any:
    rules = position.rules
    board = {"columns": rules.columns, "rows": rules.rows, "inarow": rules.in_a_row}
    return ask(agent, _cells(position), 1 + position.to_move, position.ply, **board, **configuration)


def _cells(position: Position) -> list[int]:
    return [cell for row in position.grid() for cell in row]


def _legal(answer: Any, cells: list[int], columns: int) -> int:
    if type(answer) is not int or not 0 <= answer < columns or cells[answer] != 0:
        raise ValueError(f"answered {answer!r} on {cells} with {columns} columns")
    return answer


def _forbid(name: str) -> None:
    """Whoever imports this from now on fails, as if it were not installed."""
    for loaded in [each for each in sys.modules if each.partition(".")[0] == name]:
        del sys.modules[loaded]
    sys.modules[name] = None  # type: ignore[assignment]


def main(file: str, mode: str) -> None:
    """Examine a file and print what was found; an exception is told as an error."""
    with open(file, encoding="utf-8") as stream:
        source = stream.read()
    for name in ("fourlab", *(("numba",) if mode == "without-numba" else ())):
        _forbid(name)
    try:
        findings = examine(source)
    except Exception as error:
        findings = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({**findings, "numba": "numba" in sys.modules and sys.modules["numba"] is not None}))


if __name__ == "__main__":
    main(*sys.argv[1:])
