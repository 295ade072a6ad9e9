"""Solving many positions, in parallel and resumable.

The work is cut into chunks of neighbouring positions, which share much of a table. Every finished chunk is one line in a
journal, so that work that was stopped goes on where it was.
"""

import json
import os
import signal
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.interrupts import hear_interrupts, interrupts_held
from fourlab.jobs.processes import worker_context
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


def journal_of(file: Path) -> Path:
    """The journal beside a file that is to be written, if it can be written at all."""
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"cannot write {file}: {'it is a folder' if file.is_dir() else 'there is no such folder'}")
    return file.with_name(file.name + ".journal")


def solve_all(
    keys: np.ndarray,
    rules: Rules,
    question: Question,
    journal: Path,
    about: dict[str, object],
    workers: int = 1,
    told: Told = lambda done, total: None,
    book: str | None = None,
) -> np.ndarray:
    """The answers for all positions as int8, one row each, those in the journal first.

    `about` heads the journal: it must name the positions and the question, so that no other work goes on with it. Solvers look
    into the book "shipped", or into none. Whoever has saved the answers removes the journal.
    """
    heading = {**about, "chunk": CHUNK}
    chunks = {start: keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK)}
    answers = {start: found for start, found in _read(journal, heading) if len(found) == len(chunks.get(start, ()))}
    todo = iter([(start, chunk) for start, chunk in chunks.items() if start not in answers])
    done = sum(len(found) for found in answers.values())
    told(done, len(keys))
    if done < len(keys):
        with _open(journal) as lines, ProcessPoolExecutor(workers, worker_context(), _quit_quietly) as pool:
            if journal.stat().st_size == 0:
                _append(lines, heading)
            running: dict[Future[list[Any]], int] = {}
            while len(answers) < len(chunks):
                with interrupts_held():  # whoever is started here hears of them only when it is ready
                    for start, chunk in islice(todo, 2 * workers - len(running)):
                        running[pool.submit(solve_chunk, chunk, str(rules), question, book)] = start
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for each in finished:
                    start, found = running.pop(each), each.result()
                    _append(lines, {"start": start, "scores": found})
                    answers[start] = np.array(found, np.int8)
                    done += len(found)
                    told(done, len(keys))
    return np.concatenate([answers[start] for start in chunks])


def solve_chunk(keys: np.ndarray, board: str, question: Question, book: str | None = None) -> list[Any]:
    """Solve some positions; a worker keeps its table from chunk to chunk."""
    rules, solver = Rules.parse(board), _solver(book)
    return [question(solver, Position.from_key(key, rules)) for key in keys]


@cache
def _solver(book: str | None) -> Solver:
    return Solver(WORKER_MEGABYTES, book=book)


def _quit_quietly() -> None:
    """Let Ctrl-C, which a terminal sends to every process, end a worker without a word; the master tells what is left."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    hear_interrupts()


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
