"""Build a reply book: a reply to every position that its own replies lead to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fourlab.bridges.kaggle.replies import ReplyBook, first_level, next_level
from fourlab.errors import UserError
from fourlab.files import check_target
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Executor
from fourlab.jobs.job import Progress, Session
from fourlab.solver.build import BookJob, job_from
from fourlab.solver.many import solve_all
from fourlab.solver.solver import Solver

SIDES = ("red", "yellow")


class RepliesJob(BookJob):
    """Build a reply book.

    Every level has a journal of its own, because only its replies lead to the next one.
    """

    kind: ClassVar[str] = "replies"

    def check(self) -> None:
        """Raise UserError if the file cannot be written or a game has fewer plies."""
        check_target(self.file)
        cells = self.rules.columns * self.rules.rows
        if not 1 <= self.plies < cells:
            raise UserError(
                f"a reply book on {self.rules} has from 1 to {cells - 1} plies, not {self.plies}"
            )

    def make(self, product: Path, session: Session) -> bool:
        """Find the remaining replies and write the product; False if that was stopped."""
        # The same processes find the replies of all levels.
        executor = session.executor(keep_alive=True)
        columns = []
        for side in (0, 1):
            levels = self._levels(side, product.parent, executor, session)
            if levels is None:
                return False
            columns.append(levels)
        ReplyBook(self.rules, *columns).save(product)
        for journal in product.parent.glob("journal-*"):
            journal.unlink()
        return True

    def _levels(
        self, side: int, folder: Path, executor: Executor, session: Session
    ) -> np.ndarray | None:
        """Return the replies of a side, level after level; None if the session was stopped."""
        keys = first_level(self.rules, side)
        levels = []
        for ply in range(side, self.plies + 1, 2):
            if not len(keys):
                break
            stage = f"{SIDES[side]} after {ply} plies"
            columns = solve_all(
                keys,
                self.rules,
                replies,
                folder / f"journal-{ply}",
                {"board": str(self.rules), "replies": ply},
                executor,
                lambda done, of, stage=stage: session.emit(  # type: ignore[misc]
                    Progress(done, of, "positions", stage)
                ),
                book="shipped",
            )
            if columns is None:
                return None
            levels.append(columns.astype(np.uint8))
            keys = next_level(keys, columns, self.rules.geometry)
        return np.concatenate(levels)

    def describe(self, product: Path) -> dict[str, Any]:
        """Return the results: the facts about a product."""
        book = ReplyBook.load(product)
        summary = f"{len(book):,} replies up to {book.plies} plies on {self.rules}"
        return {
            "headline": f"{summary}, sha256 {book.checksum}",
            "positions": len(book),
            "sha256": book.checksum,
        }


def read_job(config: Mapping[str, Any]) -> RepliesJob:
    """Return the job that a run's configuration describes."""
    return job_from(config, RepliesJob)


def replies(solver: Solver, keys: np.ndarray, rules: Rules) -> np.ndarray:
    """Return the replies in positions."""
    return np.array([reply(solver, Position.from_key(int(key), rules)) for key in keys], np.int8)


def reply(solver: Solver, position: Position) -> int:
    """Return the reply: the most central of the columns that keep the result.

    Where the opening book has the scores, and where all columns lose, only the best scores count:
    that costs little, and a loss should come late. To prove the fastest win costs ten times as much
    as to prove a win.
    """
    book = solver.book
    is_in_book = book is not None and position.ply < book.plies and position.rules == book.rules
    if not is_in_book:
        solution, columns = solver.best_columns(position, first=True, weak=True)
        if solution.result != -1:
            return columns[0]
    return solver.best_columns(position, first=True)[1][0]
