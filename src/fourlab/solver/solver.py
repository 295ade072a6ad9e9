"""The solver: it owns the transposition table, keeps to limits and runs the search threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cache

import numpy as np

from fourlab.agent import UNLIMITED, Limit
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.solver.book import Book, shipped_book
from fourlab.solver.kernel import solve, warm_up
from fourlab.solver.solution import Solution
from fourlab.solver.table import BUCKET, copy_entries, fewest_words, new_table

FIRST_WORDS = 1 << 15
GROWTH = 8
"""A table starts small (256 KiB), so that the searches of easy positions stay in the processor's
cache. It grows by this factor once as many nodes have been searched as it has words."""
SLICE, TIMED_SLICE = 1 << 21, 1 << 15
"""The search runs in slices of this many nodes, without and with a time limit. Between two slices
the solver checks the clock and Python handles Ctrl-C. A slice that does not move the bounds is
followed by one twice as long: otherwise a table that is too small might lose the work of every
slice."""
MAX_MEGABYTES = 1 << 20
NEVER_STOP = np.zeros(1, np.uint8)
EXACT_SCORE, WINNER_ONLY = (-40, 40), (-1, 1)
"""Score windows: scores inside are determined exactly, of others only on which side they lie."""


class Solver:
    """Solves positions and keeps what it has proven in a transposition table."""

    def __init__(
        self, megabytes: float = 64, threads: int = 1, book: Book | str | None = "shipped"
    ) -> None:
        """Create a solver.

        The table grows up to `megabytes`, rounded down to a power of two. `book` is a book,
        "shipped" for the one that comes with the package, or None.
        """
        if not 0 < megabytes <= MAX_MEGABYTES:
            raise UserError(
                "the solver's table needs more than 0 and at most "
                f"{MAX_MEGABYTES} megabytes, not {megabytes}"
            )
        if threads < 1:
            raise UserError(f"the solver needs at least 1 thread, not {threads}")
        self.threads = threads
        self._book = shipped_book() if isinstance(book, str) else book
        self._max_words = BUCKET << max(0, int(megabytes * 2**20 / 8 / BUCKET).bit_length() - 1)
        self._lock = threading.Lock()
        self._rules: Rules | None = None
        self._table = np.zeros(0, np.int64)
        self._first_words = 0
        self._last_words = 0
        self._filled = 0  # nodes since the table was empty: an upper bound on its entries
        self._spent = 0  # nodes searched by this solver

    def forget(self) -> None:
        """Empty and shrink the table: the next search is the same as that of a new solver."""
        if len(self._table) == self._first_words:
            self._table.fill(0)
        else:
            self._table = new_table(self._first_words)
        self._filled = 0

    @property
    def megabytes(self) -> float:
        """The current size of the table, in MiB."""
        return self._table.nbytes / 2**20

    def solve(self, position: Position, limit: Limit = UNLIMITED, weak: bool = False) -> Solution:
        """Solve a position that is not over, as far as the limit allows.

        If `weak`, prove only the winner, which takes less work than the score.
        """
        return self._narrow(position, limit, WINNER_ONLY if weak else EXACT_SCORE)

    def columns(
        self, position: Position, limit: Limit = UNLIMITED, weak: bool = False
    ) -> dict[int, Solution]:
        """Return the solution of every legal column, from the point of view of the side to move.

        The columns share the limit equally. Columns for which nothing of it is left have the widest
        bounds.
        """
        _load_kernels()
        started = time.perf_counter()
        nodes = 0
        solutions: dict[int, Solution] = {}
        columns = centre_first(position)
        left = _cells(position) - position.ply
        for column in columns:
            after = position.play(column)
            if (outcome := after.outcome()) is not None:
                score = 0 if outcome.winner is None else (left + 1) // 2
                solutions[column] = Solution(score, score, left)
                continue
            share = _share(limit, nodes, started, len(columns) - len(solutions))
            if share is None:
                solutions[column] = Solution(-(left // 2), (left + 1) // 2, left)
            else:
                solutions[column] = self.solve(after, share, weak).for_the_other()
            nodes += solutions[column].nodes
        return dict(sorted(solutions.items()))

    def best_columns(
        self, position: Position, first: bool = False, limit: Limit = UNLIMITED
    ) -> tuple[Solution, list[int]]:
        """Return the solution and the columns that achieve its score, in ascending order.

        With `first`, return only the one nearest the centre. If the limit is reached, columns may
        be missing.
        """
        started = time.perf_counter()
        before = self._spent
        solution = self.solve(position, limit)
        if (score := solution.score) is None:
            return solution, []
        best = []
        for column in centre_first(position):
            rest = _share(limit, self._spent - before, started, 1)
            if rest is not None and self._achieves(
                position.play(column), score, solution.left, rest
            ):
                best.append(column)
                if first:
                    break
        return solution, sorted(best)

    def line(self, position: Position, limit: Limit = UNLIMITED) -> tuple[int, ...]:
        """Return best play by both sides until the end of the game.

        The winner wins as soon as possible and the loser loses as late as possible; among equal
        columns, the one nearest the centre is played. If the limit is reached, the line ends early.
        """
        started = time.perf_counter()
        before = self._spent
        columns: list[int] = []
        score = self.solve(position, limit).score
        while score is not None and position.outcome() is None:
            left = _cells(position) - position.ply
            for column in centre_first(position):
                rest = _share(limit, self._spent - before, started, 1)
                if rest is not None and self._achieves(position.play(column), score, left, rest):
                    columns.append(column)
                    position = position.play(column)
                    score = -score
                    break
            else:  # the limit is reached
                break
        return tuple(columns)

    def _achieves(self, after: Position, score: int, left: int, limit: Limit = UNLIMITED) -> bool:
        """Return whether the move that led to `after` is proven to achieve `score`.

        `score` is the score of the position before the move, which had `left` empty cells.
        """
        if (outcome := after.outcome()) is not None:
            return score == (0 if outcome.winner is None else (left + 1) // 2)
        if score == (left + 1) // 2:
            return False  # only a win at once achieves this score
        return self._narrow(after, limit, (-score, -score + 1)).upper <= -score

    def _narrow(self, position: Position, limit: Limit, window: tuple[int, int]) -> Solution:
        """Look the position up in the book, or search until the bounds meet inside the window."""
        _load_kernels()
        started = time.perf_counter()
        if (outcome := position.outcome()) is not None:
            raise UserError(
                f"the game is over ({outcome}), there is nothing to solve: {position!r}"
            )
        left = _cells(position) - position.ply
        if self._book is not None and (score := self._book.score(position)) is not None:
            return Solution(score, score, left, 0, time.perf_counter() - started, book=True)
        with self._lock:
            lower, upper, nodes = self._search(position, left, limit, window)
        return Solution(lower, upper, left, nodes, time.perf_counter() - started)

    def _search(
        self, position: Position, left: int, limit: Limit, window: tuple[int, int]
    ) -> tuple[int, int, int]:
        """Search slice by slice; return the proven bounds and the nodes spent."""
        self._prepare(position)
        started = time.perf_counter()
        size = SLICE if limit.seconds is None else TIMED_SLICE
        max_nodes = 1 << 60 if limit.nodes is None else limit.nodes
        spent = 0
        lower = -(left // 2)
        upper = (left + 1) // 2
        while max(lower, window[0]) < min(upper, window[1]):
            slice_nodes = min(size, self._make_room(), max_nodes - spent)
            before = (lower, upper)
            lower, upper, nodes = self._run(position, lower, upper, window, limit, slice_nodes)
            spent += nodes
            self._filled += nodes
            if before == (lower, upper) and slice_nodes == size:
                size *= 2
            if spent >= max_nodes or (limit.stop is not None and limit.stop.is_set()):
                break
            if limit.seconds is not None:
                elapsed = time.perf_counter() - started
                if elapsed >= limit.seconds:
                    break
                # At the speed so far, the next slice must not exceed the time left.
                nodes_left = int((limit.seconds - elapsed) * spent / elapsed)
                size = min(size, max(TIMED_SLICE, nodes_left))
        self._spent += spent
        return lower, upper, spent

    def _prepare(self, position: Position) -> None:
        """Make a new table if the board has changed: keys are unique on one board only."""
        if position.rules is not self._rules and position.rules != self._rules:
            g = position.rules.geometry
            fewest = fewest_words(g.columns * g.height)
            self._rules = position.rules
            self._last_words = max(self._max_words, fewest)
            self._first_words = min(max(FIRST_WORDS, fewest), self._last_words)
            self._table = new_table(self._first_words)
            self._filled = 0

    def _make_room(self) -> int:
        """Grow the table if it is full; return the number of nodes until it is full again."""
        if len(self._table) == self._last_words:
            return 1 << 60
        if self._filled >= len(self._table):
            larger = new_table(min(GROWTH * len(self._table), self._last_words))
            copy_entries(self._table, larger)
            self._table = larger
            return self._make_room()
        return len(self._table) - self._filled

    def _run(
        self,
        position: Position,
        lower: int,
        upper: int,
        window: tuple[int, int],
        limit: Limit,
        max_nodes: int,
    ) -> tuple[int, int, int]:
        """Search one slice with all threads; return the proven bounds and the nodes spent."""
        stop = NEVER_STOP if limit.stop is None else np.frombuffer(limit.stop.flag, np.uint8)
        own = position.own
        mask = position.mask
        g = position.rules.geometry
        table = self._table
        if self.threads == 1:
            nodes = np.zeros(1, np.int64)
            lower, upper = solve(
                own, mask, lower, upper, window, g, table, 0, max_nodes, stop, nodes
            )
            return lower, upper, int(nodes[0])
        stop_all = np.zeros(1, np.uint8)
        counts = np.zeros((self.threads, 1), np.int64)
        share, rest = divmod(max_nodes, self.threads)

        def search(thread: int) -> tuple[int, int]:
            allowed = share + (rest if thread == 0 else 0)
            bounds = solve(
                own, mask, lower, upper, window, g, table, thread, allowed, stop_all, counts[thread]
            )
            # The first thread to finish ends the others.
            stop_all[0] |= max(bounds[0], window[0]) >= min(bounds[1], window[1])
            return bounds

        with ThreadPoolExecutor(self.threads) as pool:
            futures = [pool.submit(search, thread) for thread in range(self.threads)]
            pending = set(futures)
            try:
                while pending:
                    _, pending = wait(pending, timeout=0.01)
                    stop_all[0] |= stop[0]
            except BaseException:
                stop_all[0] = 1  # on Ctrl-C, do not wait for the end of the slice
                raise
        bounds = [future.result() for future in futures]
        proven_lower = max(low for low, _ in bounds)
        proven_upper = min(high for _, high in bounds)
        return proven_lower, proven_upper, int(counts.sum())


def centre_first(position: Position) -> list[int]:
    """Return the legal columns from the centre outwards, left before right."""
    middle = (position.rules.columns - 1) / 2
    return sorted(position.legal_columns(), key=lambda column: (abs(column - middle), column))


def _cells(position: Position) -> int:
    return position.rules.columns * position.rules.rows


def _share(limit: Limit, nodes: int, started: float, parts: int) -> Limit | None:
    """Return one of `parts` equal shares of the rest of a limit; None if nothing is left."""
    share = limit
    if limit.nodes is not None:
        if limit.nodes - nodes < parts:
            return None
        share = replace(share, nodes=(limit.nodes - nodes) // parts)
    if limit.seconds is not None:
        seconds_left = limit.seconds - (time.perf_counter() - started)
        if seconds_left <= 0:
            return None
        share = replace(share, seconds=seconds_left / parts)
    return share


_load_kernels = cache(warm_up)
"""Compile or load the kernels, once, so that this does not count against a time limit."""
