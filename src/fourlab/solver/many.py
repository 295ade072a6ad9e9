"""Solving many positions, in parallel and resumable.

The work is cut into chunks of neighbouring positions, which share much of a table. Every finished chunk is one line in a
journal, so that work that was stopped goes on where it was.
"""

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Executor, Lost
from fourlab.solver.solver import Solver

CHUNK = 16
WORKER_MEGABYTES = 16
CLOSED = -128
"""What stands for the score of a full column."""

Question = Callable[[Solver, Position], Any]
"""What is asked of every position; the answer is a small integer or a list of them."""
Told = Callable[[int, int], None]
"""Hears how many positions are solved, and of how many."""


def score(solver: Solver, position: Position) -> int:
    """The exact score."""
    found = solver.solve(position).score
    assert found is not None
    return found


def result(solver: Solver, position: Position) -> int:
    """Who wins: +1 the side to move, 0 nobody, -1 the other."""
    found = solver.solve(position, weak=True).result
    assert found is not None
    return found


def column_scores(solver: Solver, position: Position) -> list[int]:
    """The exact score of every column, CLOSED for full ones."""
    found = solver.columns(position)
    return [found[column].lower if column in found else CLOSED for column in range(position.rules.columns)]


def earlier_journal(file: Path) -> Path:
    """Where a version before kept the journal: beside the file that it was to write."""
    return file.with_name(file.name + ".journal")


def _take_over(earlier: Path, journal: Path, heading: dict[str, object]) -> None:
    """Go on with an earlier journal if it is of the same work; one of other work is left alone."""
    if journal.exists() or not earlier.exists():
        return
    first = earlier.read_text(encoding="utf-8").partition("\n")[0]
    with suppress(ValueError):
        if json.loads(first) == heading:
            write_atomically(journal, earlier.read_bytes())
            earlier.unlink()


def check_target(file: Path) -> None:
    """Refuse a file that could not be written in the end."""
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"cannot write {file}: {'it is a folder' if file.is_dir() else 'there is no such folder'}")


def solve_all(
    keys: np.ndarray,
    rules: Rules,
    question: Question,
    journal: Path,
    about: dict[str, object],
    executor: Executor,
    told: Told = lambda done, total: None,
    book: str | None = None,
    earlier: Path | None = None,
) -> np.ndarray | None:
    """The answers for all positions as int8, one row each; None if the executor was stopped before.

    What is in the journal is not solved again. `about` heads the journal: it must name the positions
    and the question, so that no other work goes on with it. Solvers look into the book "shipped", or
    into none. Whoever has saved the answers removes the journal. A journal of a version before may
    be somewhere else, `earlier`.
    """
    heading = {**about, "chunk": CHUNK}
    if earlier is not None:
        _take_over(earlier, journal, heading)
    chunks = {start: keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK)}
    answers = {start: found for start, found in _read(journal, heading) if len(found) == len(chunks.get(start, ()))}
    missing = [start for start in chunks if start not in answers]
    done = sum(len(found) for found in answers.values())
    told(done, len(keys))
    if missing:
        with _open(journal) as lines:
            if journal.stat().st_size == 0:
                _append(lines, heading)
            for batch in executor.map(_Chunks(keys, str(rules), question, book), missing):
                for start, found in batch:
                    if isinstance(found, Lost):
                        raise UserError(f"solving failed: {found.why}")
                    _append(lines, {"start": start, "scores": found})
                    answers[start] = np.array(found, np.int8)
                    done += len(found)
                told(done, len(keys))
    if len(answers) < len(chunks):
        return None
    return np.concatenate([answers[start] for start in chunks])


@dataclass(frozen=True)
class _Chunks:
    """Work of an executor: the positions from a place on."""

    keys: np.ndarray
    board: str
    question: Question
    book: str | None

    def prepare(self) -> None:
        """Compile or load the solver."""
        _solver(self.book, threading.get_ident())

    def __call__(self, number: int, watch: Any) -> list[Any]:
        """Solve the chunk that begins there."""
        chunk = self.keys[number : number + CHUNK]
        return solve_chunk(chunk, self.board, self.question, self.book)


def solve_chunk(keys: np.ndarray, board: str, question: Question, book: str | None = None) -> list[Any]:
    """Solve some positions; a worker keeps its table from chunk to chunk."""
    rules, solver = Rules.parse(board), _solver(book, threading.get_ident())
    return [question(solver, Position.from_key(key, rules)) for key in keys]


@cache
def _solver(book: str | None, thread: int) -> Solver:
    """Each thread has a solver of its own, for a table belongs to one search at a time."""
    return Solver(WORKER_MEGABYTES, book=book)


def _open(journal: Path) -> TextIO:
    try:
        return journal.open("a")
    except OSError as error:
        raise UserError(f"cannot write {journal}: {error.strerror}") from None


def _append(lines: TextIO, entry: dict[str, object]) -> None:
    lines.write(json.dumps(entry) + "\n")
    lines.flush()
    os.fsync(lines.fileno())


def _read(journal: Path, heading: dict[str, object]) -> list[tuple[int, np.ndarray]]:
    """What was solved before; a last line cut short by a crash is cut off, so that more can be written."""
    if not journal.exists():
        return []
    data = journal.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    try:
        entries = [json.loads(line) for line in whole.splitlines()]
        matches = not entries or entries[0] == heading
        found = [(int(entry["start"]), np.array(entry["scores"], np.int8)) for entry in entries[1:] if matches]
    except (ValueError, TypeError, KeyError, OverflowError):
        raise UserError(f"{journal} is not the journal of a book or data set; move it away to begin anew") from None
    if not matches:
        raise UserError(f"{journal} belongs to another book or data set ({entries[0]}); move it away to begin anew")
    os.truncate(journal, len(whole))
    return found
