"""Building a book: solve every position of the last ply, then reason back to the empty board.

The work is cut into chunks of neighbouring positions, which share much of a table. Every finished chunk is one line in a
journal beside the book, so that a build that was stopped goes on where it was.
"""

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TextIO

import numpy as np

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.kernels import rules as bit_rules
from fourlab.kernels.count import children, goes_on
from fourlab.kernels.geometry import Geometry
from fourlab.kernels.threats import winning_cells
from fourlab.solver.book import Book
from fourlab.solver.solver import Solver

CHUNK = 16
WORKER_MEGABYTES = 16


def build_book(
    file: Path, rules: Rules, plies: int, workers: int = 1, told: Callable[[int, int], None] = lambda done, total: None
) -> Book:
    """Build and save a book; `told` hears how many positions are solved, and of how many."""
    levels = list(islice(unfinished_positions(rules), plies + 1))
    if len(levels) <= plies:
        raise UserError(f"no game on {rules} lasts {plies} plies without an end")
    last = levels[-1]
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"cannot write {file}: {'it is a folder' if file.is_dir() else 'there is no such folder'}")
    journal = file.with_name(file.name + ".journal")
    scores = _solve_all(last, rules, plies, journal, workers, told)
    books = [scores]
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        books.append(_back_up(level, below, books[-1], rules.geometry))
    keys, values = np.concatenate(levels[::-1]), np.concatenate(books)
    order = np.argsort(keys)
    book = Book(rules, plies, keys[order], values[order])
    book.save(file)
    journal.unlink(missing_ok=True)
    return book


def unfinished_positions(rules: Rules) -> Iterator[np.ndarray]:
    """Yield the sorted canonical keys of the positions after 0, 1, 2, … discs in which the game goes on."""
    g = rules.geometry
    keys = np.array([bit_rules.key(0, 0, g)], np.int64)
    while len(keys):
        yield keys
        keys = np.unique(canonical(children(keys, g), g))
        keys = keys[goes_on(keys, g)]
        keys = keys[[bit_rules.from_key(int(key), g)[1] != g.cells for key in keys]] if len(keys) else keys


def canonical(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """The smaller key of each position and its mirror image."""
    return np.minimum(keys, bit_rules.mirror(keys, g))  # type: ignore[arg-type]  # shifts work on whole arrays too


def _solve_all(
    keys: np.ndarray, rules: Rules, plies: int, journal: Path, workers: int, told: Callable[[int, int], None]
) -> np.ndarray:
    """The scores of all positions of one ply, those in the journal first."""
    scores = np.zeros(len(keys), np.int8)
    chunks = {start: keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK)}
    heading = {"board": str(rules), "plies": plies, "chunk": CHUNK}
    for start, known in _read_journal(journal, heading):
        if len(chunks.get(start, ())) == len(known):
            scores[start : start + len(known)] = known
            del chunks[start]
    done = len(keys) - sum(len(chunk) for chunk in chunks.values())
    told(done, len(keys))
    if not chunks:
        return scores
    with _open(journal) as lines, ProcessPoolExecutor(workers, get_context("spawn"), _quit_quietly) as pool:
        if journal.stat().st_size == 0:
            _append(lines, heading)
        todo = iter(chunks.items())
        running: dict[Future[list[int]], int] = {}
        while True:
            for start, chunk in islice(todo, 2 * workers - len(running)):
                running[pool.submit(solve_chunk, chunk, str(rules))] = start
            if not running:
                return scores
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for each in finished:
                start, found = running.pop(each), each.result()
                _append(lines, {"start": start, "scores": found})
                scores[start : start + len(found)] = found
                done += len(found)
                told(done, len(keys))


def _quit_quietly() -> None:
    """Let Ctrl-C, which a terminal sends to every process, end a worker without a word; the master tells what is left."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))


def _open(journal: Path) -> TextIO:
    try:
        return journal.open("a")
    except OSError as error:
        raise UserError(f"cannot write {journal}: {error.strerror}") from None


def _append(lines: TextIO, entry: dict[str, object]) -> None:
    lines.write(json.dumps(entry) + "\n")
    lines.flush()
    os.fsync(lines.fileno())


def _read_journal(journal: Path, heading: dict[str, object]) -> Iterator[tuple[int, list[int]]]:
    """Yield what was solved before; a last line cut short by a crash is cut off, so that more can be written."""
    if not journal.exists():
        return
    data = journal.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    try:
        entries = [json.loads(line) for line in whole.splitlines()]
        matches = not entries or entries[0] == heading
        found = [(int(entry["start"]), [int(score) for score in entry["scores"]]) for entry in entries[1:] if matches]
    except (ValueError, TypeError, KeyError):
        raise UserError(f"{journal} is not the journal of a book; move it away to build anew") from None
    if not matches:
        raise UserError(f"{journal} belongs to another book ({entries[0]}); move it away to build anew")
    os.truncate(journal, len(whole))
    yield from found


_solvers: dict[str, Solver] = {}


def solve_chunk(keys: np.ndarray, board: str) -> list[int]:
    """Solve some positions; a worker keeps its table from chunk to chunk."""
    rules = Rules.parse(board)
    solver = _solvers.setdefault(board, Solver(WORKER_MEGABYTES, book=None))
    scores = []
    for key in keys:
        score = solver.solve(Position(f"key:{key:x}", rules)).score
        assert score is not None
        scores.append(score)
    return scores


def _back_up(keys: np.ndarray, below: np.ndarray, scores: np.ndarray, g: Geometry) -> np.ndarray:
    """The scores of one ply's positions from those of the next."""
    found = np.empty(len(keys), np.int8)
    for i, key in enumerate(keys):
        own, mask = bit_rules.from_key(int(key), g)
        left = g.columns * g.rows - mask.bit_count()
        if winning_cells(own, mask, g) & bit_rules.landings(mask, g):
            found[i] = (left + 1) // 2
            continue
        after = canonical(children(keys[i : i + 1], g), g)
        found[i] = -scores[np.searchsorted(below, after)].min() if left > 1 else 0
    return found
