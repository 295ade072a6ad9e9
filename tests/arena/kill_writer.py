"""Kill a process that writes games at random moments; check that no acknowledged game is lost.

python -m tests.arena.kill_writer FOLDER CYCLES SEED
"""

import contextlib
import os
import random
import select
import signal
import sqlite3
import sys
import time
from pathlib import Path

from fourlab import Position
from fourlab.arena import store
from fourlab.arena.store import Store, StoredGame
from fourlab.game.outcome import Outcome
from fourlab.game.record import Cause, Record, Thought

CYCLES_A_FILE = 50
"""After this number a new file is started, so that checking stays fast."""
LONGEST_SECONDS = 0.015
ROWS_BETWEEN_CHECKPOINTS = 20
"""Few, so that many writers are killed during a checkpoint."""


def game(number: int) -> StoredGame:
    """Return a game that depends on its number alone, short or long."""
    columns = (3, 3, 3, 2, 4, 4, 5)[: 1 + number % 7]
    thoughts = tuple(Thought(0.5, (number,) * 7, 0.25) for _ in columns)
    detail = f"red: {'x' * (10 * (number % 100))}"
    return StoredGame.of(
        number,
        number // 2,
        "a",
        "b",
        Record(Position("44"), columns, Outcome.YELLOW_WINS, Cause.CRASH, detail, thoughts),
        7,
    )


def write(file: Path, first: int, acknowledgements: int) -> None:
    """Add games until killed."""
    store.ROWS_BETWEEN_CHECKPOINTS = ROWS_BETWEEN_CHECKPOINTS
    with Store(file) as games:
        for number in range(first, sys.maxsize):
            games.add([game(number)])
            os.write(acknowledgements, f"{number}\n".encode())


def acknowledged(file: Path, first: int, seconds: float, once_it_stores: bool) -> list[int]:
    """Kill a writer after some seconds, counted from its start or from its first game.

    Returns the numbers of the games that it acknowledged.
    """
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            os.close(reading)
            write(file, first, writing)
        finally:
            os._exit(1)  # a writer does not end by itself
    os.close(writing)
    if once_it_stores:
        select.select([reading], [], [])
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with open(reading) as lines:
        numbers = [int(line) for line in lines]
    assert os.WIFSIGNALED(status), "the writer failed"
    return numbers


def check(file: Path, before: int, numbers: list[int]) -> int:
    """Check that the stored games have no gap and include all acknowledged numbers.

    Returns the number of stored games.
    """
    with Store(file) as games, contextlib.closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        count, first, last = connection.execute(
            "SELECT count(*), min(number), max(number) FROM games"
        ).fetchone()
        assert (first, last) == ((0, count - 1) if count else (None, None)), "there is a gap"
        assert numbers == list(range(before, before + len(numbers)))
        assert before + len(numbers) <= count <= before + len(numbers) + 1, (
            "one game may be stored and not yet acknowledged"
        )
        assert list(games.games("number >= ?", before, thoughts=True)) == [
            game(number) for number in range(before, count)
        ]
    return int(count)


def main(folder: Path, cycles: int, seed: int) -> None:
    rng = random.Random(seed)
    count = 0
    total = 0
    for cycle in range(cycles):
        file = folder / f"{cycle // CYCLES_A_FILE}.sqlite"
        before = 0 if cycle % CYCLES_A_FILE == 0 else count
        seconds = rng.uniform(0, LONGEST_SECONDS)
        numbers = acknowledged(file, before, seconds, once_it_stores=cycle % 3 > 0)
        count = check(file, before, numbers)
        total += count - before
    print(f"{cycles} writers killed, {total} games stored")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
