"""Building a book: solve every position of the last ply, then reason back to the empty board."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fourlab.compiled.counting import children, goes_on
from fourlab.compiled.threats import winning_cells
from fourlab.errors import UserError
from fourlab.files import digest, write_atomically
from fourlab.game import bitboard as bit_rules
from fourlab.game.geometry import Geometry
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Executor
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run
from fourlab.solver.book import Book
from fourlab.solver.many import Told, check_target, earlier_journal, score, solve_all


@dataclass(frozen=True)
class BookJob:
    """Build a book. What is solved is kept in the run's journal; the product is book.npz, copied to the file."""

    extent: ClassVar[frozenset[str]] = frozenset({"file"})

    rules: Rules
    plies: int
    file: Path
    """Where the book is wanted."""

    @property
    def name(self) -> str:
        """The board and the plies."""
        return f"book-{self.rules}-{self.plies}"

    @property
    def config(self) -> dict[str, Any]:
        """The file is not part of a run's identity: a finished book is copied again."""
        return {
            "kind": "book",
            "board": str(self.rules),
            "plies": self.plies,
            "file": str(self.file.resolve()),
        }

    def check(self) -> None:
        """Refuse a file that cannot be written, and more plies than there are."""
        check_target(self.file)
        _levels(self.rules, self.plies)

    def extended(self, config: dict[str, Any]) -> "BookJob":
        """The same."""
        return self

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Solve what is missing, and write the book."""
        product = run.folder / "book.npz"
        if not product.exists():
            journal = run.folder / "journal"
            book = build_book(
                self.rules,
                self.plies,
                journal,
                session.executor(),
                lambda done, of: session.tell(Progress(done, of, "positions", "solving")),
                earlier_journal(self.file),
            )
            if book is None:
                return None
            book.save(product)
            journal.unlink()
        book = Book.load(product)
        if not self.file.exists() or digest(self.file) != digest(product):
            write_atomically(self.file, product.read_bytes())
        words = f"{len(book):,} positions of up to {self.plies} plies on {self.rules}"
        results = {
            "headline": f"{words}, sha256 {book.checksum}",
            "file": str(self.file),
            "positions": len(book),
            "sha256": book.checksum,
        }
        run.write("results.json", results)
        return results


def read_job(config: Mapping[str, Any]) -> BookJob:
    """The job of a run's configuration."""
    return BookJob(Rules.parse(config["board"]), config["plies"], Path(config["file"]))


def build_book(
    rules: Rules,
    plies: int,
    journal: Path,
    executor: Executor,
    told: Told = lambda done, total: None,
    earlier: Path | None = None,
) -> Book | None:
    """Build a book; None if the executor was stopped before the end."""
    levels = _levels(rules, plies)
    last = levels[-1]
    about: dict[str, object] = {"board": str(rules), "plies": plies}
    scores = solve_all(last, rules, score, journal, about, executor, told, earlier=earlier)
    if scores is None:
        return None
    books = [scores]
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        books.append(_back_up(level, below, books[-1], rules.geometry))
    keys, values = np.concatenate(levels[::-1]), np.concatenate(books)
    order = np.argsort(keys)
    return Book(rules, plies, keys[order], values[order])


@lru_cache(maxsize=1)
def _levels(rules: Rules, plies: int) -> list[np.ndarray]:
    """The positions after 0, 1, …, `plies` discs."""
    levels = list(islice(unfinished_positions(rules), plies + 1))
    if len(levels) <= plies:
        raise UserError(f"no game on {rules} lasts {plies} plies without an end")
    return levels


def unfinished_positions(rules: Rules) -> Iterator[np.ndarray]:
    """Yield the sorted canonical keys of the positions after 0, 1, 2, … discs in which the game goes on."""
    g = rules.geometry
    keys = np.array([bit_rules.key(0, 0, g)], np.int64)
    for _ in range(g.columns * g.rows):  # a full board is the end
        if not len(keys):
            return
        yield keys
        keys = np.unique(canonical(children(keys, g), g))
        keys = keys[goes_on(keys, g)]


def canonical(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """The smaller key of each position and its mirror image."""
    return np.minimum(keys, bit_rules.mirror(keys, g))  # type: ignore[arg-type]  # shifts work on whole arrays too


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
