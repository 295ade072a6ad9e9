"""Build a book: solve all positions of the last ply, then back up scores to the empty board."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from fourlab.compiled.counting import children, is_unfinished
from fourlab.compiled.threats import winning_cells
from fourlab.errors import UserError
from fourlab.files import check_target, digest, write_atomically
from fourlab.game import bitboard
from fourlab.game.geometry import Geometry
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Executor
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run
from fourlab.solver.book import MAX_ENTRIES, Book
from fourlab.solver.many import OnProgress, earlier_journal, score, solve_all


@dataclass(frozen=True)
class BookJob:
    """Build a book.

    Solved positions are kept in the run's journal, so that a stopped run can be resumed. The
    product is book.npz in the run folder, and a copy of it in `file`.
    """

    # A change of these fields continues the same run instead of starting another.
    extent: ClassVar[frozenset[str]] = frozenset({"file"})
    kind: ClassVar[str] = "book"
    """The kind of job, and the name of the product in the run folder."""

    rules: Rules
    plies: int
    file: Path
    """Where to write the book."""

    @property
    def name(self) -> str:
        """The name of the run: the board and the number of plies."""
        return f"{self.kind}-{self.rules}-{self.plies}"

    @property
    def config(self) -> dict[str, Any]:
        """The run's configuration; with another `file` it is still the same run."""
        return {
            "kind": self.kind,
            "board": str(self.rules),
            "plies": self.plies,
            "file": str(self.file.resolve()),
        }

    @property
    def product(self) -> Path:
        """The file to write outside the run folder."""
        return self.file

    def with_product(self, file: Path) -> Self:
        """Return the same job with another file."""
        return replace(self, file=file)

    def check(self) -> None:
        """Raise UserError if the file cannot be written or no game lasts that many plies."""
        check_target(self.file)
        _levels(self.rules, self.plies)

    def extended(self, config: dict[str, Any]) -> Self:
        """Return the job itself: a book has nothing to extend."""
        return self

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Solve the remaining positions and write the book; None if the run was stopped."""
        product = run.folder / f"{self.kind}.npz"
        if not product.exists() and not self.make(product, session):
            return None
        results = {**self.describe(product), "file": str(self.file)}
        if not self.file.exists() or digest(self.file) != digest(product):
            write_atomically(self.file, product.read_bytes())
        run.write("results.json", results)
        return results

    def make(self, product: Path, session: Session) -> bool:
        """Solve the remaining positions and write the product; False if that was stopped."""
        journal = product.with_name("journal")
        book = build_book(
            self.rules,
            self.plies,
            journal,
            session.executor(),
            lambda done, of: session.emit(Progress(done, of, "positions", "solving")),
            earlier_journal(self.file),
        )
        if book is None:
            return False
        book.save(product)
        journal.unlink()
        return True

    def describe(self, product: Path) -> dict[str, Any]:
        """Return the results: the facts about a product."""
        book = Book.load(product)
        summary = f"{len(book):,} positions of up to {self.plies} plies on {self.rules}"
        return {
            "headline": f"{summary}, sha256 {book.checksum}",
            "positions": len(book),
            "sha256": book.checksum,
        }


BookJobKind = TypeVar("BookJobKind", bound=BookJob)


def read_job(config: Mapping[str, Any]) -> BookJob:
    """Return the job that a run's configuration describes."""
    return job_from(config, BookJob)


def job_from(config: Mapping[str, Any], job_class: type[BookJobKind]) -> BookJobKind:
    """Return the job of a class that a run's configuration describes."""
    plies = config["plies"]
    if type(plies) is not int or plies < 0:
        raise UserError(f"a book has a number of plies, not {plies!r:.40}")
    return job_class(Rules.parse(config["board"]), plies, Path(config["file"]))


def build_book(
    rules: Rules,
    plies: int,
    journal: Path,
    executor: Executor,
    on_progress: OnProgress = lambda done, total: None,
    earlier: Path | None = None,
) -> Book | None:
    """Return the book, or None if the executor was stopped before the end."""
    levels = _levels(rules, plies)
    about: dict[str, object] = {"board": str(rules), "plies": plies}
    last_scores = solve_all(
        levels[-1], rules, score, journal, about, executor, on_progress, earlier=earlier
    )
    if last_scores is None:
        return None
    scores_by_level = [last_scores]  # from the last ply back to the empty board
    for level, next_level in zip(levels[-2::-1], levels[:0:-1], strict=True):
        scores_by_level.append(_back_up(level, next_level, scores_by_level[-1], rules.geometry))
    # Both lists run from the last ply to the first.
    keys = np.concatenate(levels[::-1])
    scores = np.concatenate(scores_by_level)
    order = np.argsort(keys)
    return Book(rules, plies, keys[order], scores[order])


# `check` and `build_book` need the same levels, and a deep one takes seconds to enumerate.
@lru_cache(maxsize=1)
def _levels(rules: Rules, plies: int) -> list[np.ndarray]:
    """Return the canonical keys of the positions after 0, 1, …, `plies` discs.

    Raises UserError if no book could have that many, before they are all enumerated.
    """
    levels: list[np.ndarray] = []
    # A full board is never unfinished.
    for level in islice(unfinished_positions(rules), min(plies, rules.columns * rules.rows) + 1):
        levels.append(level)
        if (entries := sum(map(len, levels))) > MAX_ENTRIES:
            raise UserError(
                f"a book of {plies} plies on {rules} has at least {entries:,} positions, "
                f"more than the {MAX_ENTRIES:,} that can be loaded"
            )
    if len(levels) <= plies:
        raise UserError(f"no game on {rules} lasts {plies} plies without an end")
    return levels


def unfinished_positions(rules: Rules) -> Iterator[np.ndarray]:
    """Yield the canonical keys of all unfinished positions after 0, 1, 2, … discs, sorted."""
    g = rules.geometry
    keys = np.array([bitboard.key(0, 0, g)], np.int64)
    for _ in range(g.columns * g.rows):  # a full board is never unfinished
        if not len(keys):
            return
        yield keys
        keys = np.unique(canonical(children(keys, g), g))
        # Positions with a line are left out: their value needs no book.
        keys = keys[is_unfinished(keys, g)]


def canonical(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """Return for every key the smaller of the keys of the position and its mirror image."""
    # Shifts work on whole arrays too.
    return np.minimum(keys, bitboard.mirror(keys, g))  # type: ignore[arg-type]


def _back_up(
    keys: np.ndarray, next_keys: np.ndarray, next_scores: np.ndarray, g: Geometry
) -> np.ndarray:
    """Return the scores of one ply's positions, given those of the next ply."""
    scores = np.empty(len(keys), np.int8)
    for i, key in enumerate(keys):
        own, mask = bitboard.from_key(int(key), g)
        left = g.columns * g.rows - mask.bit_count()
        if winning_cells(own, mask, g) & bitboard.landings(mask, g):
            # The highest possible score: the book stores it without a search.
            scores[i] = (left + 1) // 2
            continue
        # Negamax over one ply; all children are in the next level, since none of them is won.
        child_keys = canonical(children(keys[i : i + 1], g), g)
        # Without a win at once, the last disc of a board makes a draw.
        scores[i] = -next_scores[np.searchsorted(next_keys, child_keys)].min() if left > 1 else 0
    return scores
