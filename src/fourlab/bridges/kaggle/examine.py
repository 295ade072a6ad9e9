"""Test a submission in a process of its own: `python -m fourlab.bridges.kaggle.examine FILE MODE`.

MODE is with-numba or without-numba. The file is loaded in an empty namespace in which Fourlab
cannot be imported. It plays whole games on several boards from both seats, is asked for winning
moves, for blocks and for columns that keep a known result, and is timed with Kaggle's own time
limit. The results are printed as one line of JSON.
"""

import json
import random
import sys
import threading
import time
from typing import Any

from fourlab.bridges.kaggle.submission import (
    BANK,
    USUAL,
    Submission,
    ask,
    ask_about,
    cells_of,
    load,
)
from fourlab.game.position import Position

BOARDS = ("7x6x4", "5x4x3", "4x5x4", "9x6x5")
BIG = (9, 8, 4)
"""A board that does not fit into 63 bits: columns, rows, in a row."""
QUICK_SECONDS = 0.1
"""Time limit per move in whole games; only the positions in TIMED get Kaggle's full limit."""
TIMED = ("", "4", "444333", "43672651")
"""Positions searched with the full time limit; the first is the first move, loading included."""
COMPILE_SECONDS = 600
"""The longest wait for threads that a file starts, such as one that compiles; busy machines are
slow."""
LITTLE_OVERTIME = 13
"""Seconds of overtime that one more position is searched with."""
TACTICAL_POSITIONS = 8

REPLIES = {
    "146434446": "1237",
    "232244645": "7",
    "4361444141": "1",
    "65555676757": "7",
    "452444124332": "2",
    "4444656645545": "5",
}
"""Positions of the reply book, and the columns that keep the result of best play."""
SEARCHED = {
    "1643732717": "13",
    "164264413": "3",
    "316125456": "24",
    "426536565": "6",
    "612263665": "7",
    "71157761364": "34",
    "73615735221": "4",
}
"""The same for positions that are in no book."""


def examine(source: str, mode: str) -> dict[str, Any]:
    """Load a submission and let it play; raise ValueError for what would lose on Kaggle."""
    started = time.perf_counter()
    agent = load(source)
    loaded = time.perf_counter()
    _timed(agent, TIMED[0], BANK)
    moved = time.perf_counter()
    # Later moves are timed when nothing compiles in the background any more.
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(COMPILE_SECONDS)
    ready = time.perf_counter()
    slowest = max(_timed(agent, moves) for moves in TIMED[1:])
    seconds = _timed(agent, TIMED[-1], LITTLE_OVERTIME)
    if seconds > USUAL["actTimeout"] + LITTLE_OVERTIME:
        raise ValueError(f"thought for {seconds:.1f} s with {LITTLE_OVERTIME} s of overtime")
    rng = random.Random(1)
    moves = sum(_play(agent, board, seat, rng) for board in BOARDS for seat in (0, 1))
    moves += sum(_play_on_big_board(agent, mark) for mark in (1, 2))
    tactics = [_tactics(agent, position) for position in _positions_with_a_win()]
    is_compiled = _uses_numba(agent, mode)
    solved = REPLIES | SEARCHED if is_compiled else REPLIES
    answers = {moves: 1 + ask_about(agent, Position(moves)) for moves in solved}
    return {
        "first_move": moved - started,
        "loading": loaded - started,
        "ready": ready - started,
        "slowest": slowest,
        "moves": moves,
        "wins": sum(wins for wins, _ in tactics),
        "blocks": sum(blocks for _, blocks in tactics),
        "tactics": len(tactics),
        "solved": len(solved),
        "mistakes": [
            f"{moves}: {column} instead of {solved[moves]}"
            for moves, column in answers.items()
            if str(column) not in solved[moves]
        ],
        "numba": is_compiled,
    }


def _uses_numba(agent: Submission, mode: str) -> bool:
    """Return whether the file searches with compiled code; refuse one of ours that had trouble.

    Our files list errors in TROUBLE and their players in PLAYERS, the compiled one last.
    """
    names: dict[str, Any] = getattr(agent, "__globals__", {})
    if names.get("TROUBLE"):
        raise ValueError(f"something went wrong in it: {names['TROUBLE'][0]}")
    if "PLAYERS" not in names:
        return sys.modules.get("numba") is not None
    is_compiled = len(names["PLAYERS"]) > 1
    if names["PLAIN"] and mode == "with-numba" and not is_compiled:
        raise ValueError("nothing was compiled in it")
    return is_compiled


def _timed(agent: Submission, moves: str, overtime: float = 0) -> float:
    """Return how long the agent takes for a position with the full time limit."""
    position = Position(moves)
    started = time.perf_counter()
    answer = ask_about(agent, position, overtime)
    seconds = time.perf_counter() - started
    _check_legal(answer, cells_of(position), position.rules.columns)
    return seconds


def _quickly(agent: Submission, position: Position) -> Any:
    """Ask with little time and no overtime."""
    return ask_about(agent, position, bank=0, actTimeout=QUICK_SECONDS)


def _play(agent: Submission, board: str, seat: int, rng: random.Random) -> int:
    """Play a game against a random player; return how many moves the agent made."""
    position = Position(board=board)
    moves = 0
    while position.outcome() is None:
        if position.to_move == seat:
            answer = _quickly(agent, position)
            column = _check_legal(answer, cells_of(position), position.rules.columns)
            moves += 1
        else:
            column = rng.choice(position.legal_columns())
        position = position.play(column)
    return moves


def _play_on_big_board(agent: Submission, mark: int) -> int:
    """Ask for the first move of a side on a board beyond 63 bits; return 1, for one move."""
    columns, rows, in_a_row = BIG
    cells = [0] * (columns * rows)
    if mark == 2:
        cells[-columns] = 1  # the other side's disc, at the bottom left
    configuration = {
        "columns": columns,
        "rows": rows,
        "inarow": in_a_row,
        "actTimeout": QUICK_SECONDS,
    }
    _check_legal(ask(agent, cells, mark, mark - 1, bank=0, **configuration), cells, columns)
    return 1


def _positions_with_a_win() -> list[Position]:
    """Return positions of random games in which one column wins for the side to move."""
    rng = random.Random(2)
    positions: list[Position] = []
    while len(positions) < TACTICAL_POSITIONS:
        # Most on the classic board, a few where a line is shorter; both sides in turn.
        position = Position(board="7x6x4" if len(positions) < 6 else "5x4x3")
        side = len(positions) % 2
        while position.outcome() is None:
            wins = _wins(position)
            if len(wins) == 1 and position.to_move == side and _other_side(position) is not None:
                positions.append(position)
                break
            position = position.play(rng.choice(position.legal_columns()))
    return positions


def _wins(position: Position) -> list[int]:
    """Return the columns that win at once for the side to move."""
    side = position.to_move
    return [column for column in position.legal_columns() if position.makes_line(column, side)]


def _other_side(position: Position) -> Position | None:
    """Return the position with the other side to move, which must block; None if it wins itself."""
    grid, side = position.grid(), 1 - position.to_move
    other = Position(grid, position.rules, to_move=side, check_counts=False)
    return None if _wins(other) else other


def _tactics(agent: Submission, position: Position) -> tuple[bool, bool]:
    """Return whether the agent takes the win, and whether it blocks it as the other side."""
    (win,) = _wins(position)
    other = _other_side(position)
    assert other is not None
    takes_win = _quickly(agent, position) == win
    blocks_win = _quickly(agent, other) == win
    return takes_win, blocks_win


def _check_legal(answer: Any, cells: list[int], columns: int) -> int:
    # The top row comes first, so the cell of a column there tells whether the column is full.
    if type(answer) is not int or not 0 <= answer < columns or cells[answer] != 0:
        raise ValueError(f"answered {answer!r} on {cells} with {columns} columns")
    return answer


def _forbid(package: str) -> None:
    """Make every import of a package fail from now on, as if it were not installed."""
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[module]
    # An entry of None makes Python raise ModuleNotFoundError.
    sys.modules[package] = None  # type: ignore[assignment]


def main(file: str, mode: str) -> None:
    """Test a file and print the results; an exception is printed as an error."""
    with open(file, encoding="utf-8") as stream:
        source = stream.read()
    _forbid("fourlab")
    if mode == "without-numba":
        _forbid("numba")
    try:
        results = examine(source, mode)
    except Exception as error:
        results = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
