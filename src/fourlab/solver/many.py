"""Solve many positions in parallel, resumably.

The work is cut into chunks of neighbouring positions, whose searches share many table entries.
Every finished chunk becomes one line of a journal, from which stopped work is resumed.
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
from fourlab.files import open_to_append, read_bounded, write_atomically
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Executor, Lost
from fourlab.parsing import parse_json
from fourlab.solver.solution import CLOSED
from fourlab.solver.solver import Solver

CHUNK = 16
"""Positions per chunk."""
WORKER_MEGABYTES = 16
"""The size of a worker's transposition table."""
MAX_JOURNAL_BYTES = 1 << 30

Question = Callable[[Solver, np.ndarray, Rules], np.ndarray]
"""Computes the answers for positions with these keys: a row of numbers that fit into int8, or one
number, for each."""
OnProgress = Callable[[int, int], None]
"""Called with the number of solved positions and the total."""


def score(solver: Solver, keys: np.ndarray, rules: Rules) -> np.ndarray:
    """Return the exact scores of positions."""
    return solver.bounds(keys, rules).lower  # without a limit, both bounds are the score


def result(solver: Solver, keys: np.ndarray, rules: Rules) -> np.ndarray:
    """Return the results for the side to move: +1 win, 0 draw, -1 loss."""
    results: np.ndarray = np.sign(solver.bounds(keys, rules, weak=True).lower)
    return results


def column_scores(solver: Solver, keys: np.ndarray, rules: Rules) -> np.ndarray:
    """Return the exact score of every column of the board, CLOSED for full ones."""
    return solver.column_bounds(keys, rules).lower


def earlier_journal(file: Path) -> Path:
    """Return where earlier versions kept the journal: beside the file to be written."""
    return file.with_name(file.name + ".journal")


def _take_over(earlier: Path, journal: Path, heading: dict[str, object]) -> None:
    """Move the journal of an earlier version here, if it belongs to the same work."""
    if journal.exists() or not earlier.exists():
        return
    with suppress(OSError, ValueError):  # it is something else
        data = read_bounded(earlier, MAX_JOURNAL_BYTES)
        if parse_json(data.partition(b"\n")[0].decode(), earlier) == heading:
            write_atomically(journal, data)
            earlier.unlink()


def solve_all(
    keys: np.ndarray,
    rules: Rules,
    question: Question,
    journal: Path,
    about: dict[str, object],
    executor: Executor,
    on_progress: OnProgress = lambda done, total: None,
    book: str | None = None,
    earlier: Path | None = None,
) -> np.ndarray | None:
    """Return the answers for all positions as int8, one row each; None if the executor was stopped.

    Positions in the journal are not solved again. `about` is the heading of the journal. It must
    identify the positions and the question, so that other work is not resumed by mistake. `book` is
    "shipped" or None. The caller deletes the journal once it has saved the answers. `earlier` is
    where an earlier version may have left its journal.
    """
    heading = {**about, "chunk": CHUNK}
    if earlier is not None:
        _take_over(earlier, journal, heading)
    # A chunk is named by the index of its first position; the last one may be shorter.
    chunks = {start: keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK)}
    answers = {}
    for start, chunk_answers in _read(journal, heading):
        # An entry that does not fit its chunk is ignored, and the chunk is solved again.
        if _fits(chunk_answers, len(chunks.get(start, ())), question, rules):
            answers[start] = chunk_answers
    missing = [start for start in chunks if start not in answers]
    done = sum(len(chunk_answers) for chunk_answers in answers.values())
    on_progress(done, len(keys))
    if missing:
        with _open(journal) as lines:
            # The heading is the first line of a new journal.
            if journal.stat().st_size == 0:
                _append(lines, heading)
            for batch in executor.map(_Chunks(keys, str(rules), question, book), missing):
                for start, scores in batch:
                    if isinstance(scores, Lost):
                        raise UserError(f"solving failed: {scores.why}")
                    _append(lines, {"start": start, "scores": scores})
                    answers[start] = np.array(scores, np.int8)
                    done += len(scores)
                on_progress(done, len(keys))
    if len(answers) < len(chunks):
        return None
    # In the order of the positions, whatever the order in which workers finished.
    return np.concatenate([answers[start] for start in chunks])


def _fits(answers: np.ndarray, positions: int, question: Question, rules: Rules) -> bool:
    """Return whether these could be the answers for a number of positions."""
    # An answer is a number, or one for every column.
    by_column = question is column_scores
    shape = (positions, rules.columns) if by_column else (positions,)
    most = 1 if question is result else (rules.columns * rules.rows + 1) // 2
    possible = (answers >= -most) & (answers <= most)
    if by_column:
        possible |= answers == CLOSED
    return answers.shape == shape and bool(possible.all())


@dataclass(frozen=True)
class _Chunks:
    """The work of an executor; an item is the index of a chunk's first position."""

    keys: np.ndarray
    board: str
    question: Question
    book: str | None

    def prepare(self) -> None:
        """Compile the solver or load it from the cache."""
        _solver(self.book, threading.get_ident())

    def __call__(self, number: int, watch: Any) -> list[Any]:
        """Solve the chunk that starts at index `number`."""
        chunk = self.keys[number : number + CHUNK]
        return solve_chunk(chunk, self.board, self.question, self.book)


def solve_chunk(
    keys: np.ndarray, board: str, question: Question, book: str | None = None
) -> list[Any]:
    """Return the answers for some positions. A worker keeps its table from chunk to chunk."""
    solver = _solver(book, threading.get_ident())
    answers: list[Any] = question(solver, keys, Rules.parse(board)).tolist()
    return answers


@cache
def _solver(book: str | None, thread: int) -> Solver:
    """Return the solver of a thread. Threads cannot share one: it runs one search at a time."""
    return Solver(WORKER_MEGABYTES, book=book)


def _open(journal: Path) -> TextIO:
    try:
        return open_to_append(journal)
    except OSError as error:
        raise UserError(f"cannot write {journal}: {error.strerror}") from None


def _append(lines: TextIO, entry: dict[str, object]) -> None:
    lines.write(json.dumps(entry) + "\n")
    lines.flush()
    # A journal survives a power failure up to its last complete line.
    os.fsync(lines.fileno())


def _read(journal: Path, heading: dict[str, object]) -> list[tuple[int, np.ndarray]]:
    """Return the chunks in a journal, with the index of their first position.

    An incomplete last line, left by a crash, is removed from the file so that it can be appended
    to.
    """
    if not journal.exists():
        return []
    damaged = UserError(
        f"{journal} is not the journal of a book or data set; move it away to begin anew"
    )
    try:
        data = read_bounded(journal, MAX_JOURNAL_BYTES)
        # Everything up to the last line feed; rfind is -1, hence 0 bytes, if there is none.
        whole = data[: data.rfind(b"\n") + 1]
        entries = [parse_json(line.decode(), journal) for line in whole.split(b"\n")[:-1]]
    except OSError as error:
        raise UserError(f"cannot read {journal}: {error.strerror}") from None
    except ValueError:
        raise damaged from None
    if entries and entries[0] != heading:
        if not isinstance(entries[0], dict):
            raise damaged
        raise UserError(
            f"{journal} belongs to another book or data set ({entries[0]}); "
            "move it away to begin anew"
        )
    try:
        chunks = [_chunk(entry) for entry in entries[1:]]
    except (KeyError, TypeError, ValueError):
        raise damaged from None
    os.truncate(journal, len(whole))
    return chunks


def _chunk(entry: Any) -> tuple[int, np.ndarray]:
    """Return a chunk of a journal; raise KeyError, TypeError or ValueError if it is not one."""
    start = entry["start"]
    scores = np.array(entry["scores"])
    # NumPy would silently cut off fractions, and turn truth values and texts into numbers.
    if type(start) is not int or scores.dtype.kind != "i":
        raise TypeError("not whole numbers")
    if scores.size == 0 or scores.min() < CLOSED or scores.max() > -CLOSED - 1:
        raise ValueError("no scores")
    return start, scores.astype(np.int8)
