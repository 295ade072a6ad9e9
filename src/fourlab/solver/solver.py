"""The solver: it owns the transposition table, keeps to limits and runs the search threads."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np

from fourlab.agent import UNLIMITED, Limit
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, as_position
from fourlab.game.rules import Rules
from fourlab.solver.book import Book, shipped_book
from fourlab.solver.kernel import solve, warm_up
from fourlab.solver.solution import Solution
from fourlab.solver.table import BUCKET, copy_entries, fewest_words, new_table

# Words are 8 bytes. A table of 2**15 words fits into the L2 cache of a core.
FIRST_WORDS = 1 << 15
GROWTH = 8
"""A table starts small (256 KiB), so that the searches of easy positions stay in the processor's
cache. It grows by this factor once as many nodes have been searched as it has words."""
SLICE, TIMED_SLICE = 1 << 21, 1 << 15
"""The search runs in slices of this many nodes, without and with a time limit. Between two slices
the solver checks the clock and Python handles Ctrl-C. A slice that does not move the bounds is
followed by one twice as long: otherwise a table that is too small might lose the work of every
slice."""
COPIED_WORDS = 1 << 18
"""Words between two looks at the clock while the table grows, a few milliseconds."""
MAX_MEGABYTES = 1 << 20
NEVER_STOP = np.zeros(1, np.uint8)
# No score is beyond 31: boards have at most 62 cells, and a score is at most half of them.
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
        self.book = shipped_book() if isinstance(book, str) else book
        """The opening book, or None."""
        # bit_length - 1 is the binary logarithm, rounded down.
        self._max_words = BUCKET << max(0, int(megabytes * 2**20 / 8 / BUCKET).bit_length() - 1)
        self._lock = threading.Lock()
        self._rules: Rules | None = None
        self._table = np.zeros(0, np.int64)
        self._first_words = 0
        self._last_words = 0
        self._filled = 0  # nodes since the table was empty: an upper bound on its entries
        self._spent = 0  # nodes searched by this solver
        self.progress: tuple[int, int, int] | None = None
        """Bounds and nodes of the current or last search, for other threads to read."""

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

    def solve(
        self, position: PositionLike, limit: Limit = UNLIMITED, weak: bool = False
    ) -> Solution:
        """Solve a position that is not over, as far as the limit allows.

        If `weak`, prove only the winner, which takes less work than the score.
        """
        return self.narrow(as_position(position), limit, WINNER_ONLY if weak else EXACT_SCORE)

    def columns(
        self, position: PositionLike, limit: Limit = UNLIMITED, weak: bool = False
    ) -> dict[int, Solution]:
        """Return the solution of every legal column, from the point of view of the side to move.

        The columns share the limit equally. Columns for which nothing of it is left have the widest
        bounds.
        """
        load_kernels()
        position = as_position(position)
        rest = self._rest_of(limit)
        solutions: dict[int, Solution] = {}
        columns = centre_first(position)
        left = _cells(position) - position.ply
        for column in columns:
            after = position.play(column)
            if (outcome := after.outcome()) is not None:
                score = 0 if outcome.winner is None else (left + 1) // 2
                solutions[column] = Solution(score, score, left)
                continue
            # What an easy column leaves over is shared by those after it.
            share = rest(len(columns) - len(solutions))
            if share is None:
                solutions[column] = Solution(-(left // 2), (left + 1) // 2, left)
            else:
                solutions[column] = self.solve(after, share, weak).for_the_other()
        return dict(sorted(solutions.items()))

    def best_columns(
        self, position: PositionLike, first: bool = False, limit: Limit = UNLIMITED
    ) -> tuple[Solution, list[int]]:
        """Return the solution and the columns that achieve its score, in ascending order.

        With `first`, return only the one nearest the centre. If the limit is reached, columns may
        be missing.
        """
        position = as_position(position)
        rest = self._rest_of(limit)
        solution = self.solve(position, limit)
        if solution.score is None:
            return solution, []
        best = self._achieving(position, solution.score, rest)
        return solution, sorted(islice(best, 1 if first else None))

    def line(self, position: PositionLike, limit: Limit = UNLIMITED) -> tuple[int, ...]:
        """Return best play by both sides until the end of the game.

        The winner wins as soon as possible and the loser loses as late as possible; among equal
        columns, the one nearest the centre is played. If the limit is reached, the line ends early.
        """
        position = as_position(position)
        rest = self._rest_of(limit)
        columns: list[int] = []
        score = self.solve(position, limit).score
        while score is not None and position.outcome() is None:
            column = next(self._achieving(position, score, rest), None)
            if column is None:  # the limit is reached
                break
            columns.append(column)
            position = position.play(column)
            score = -score
        return tuple(columns)

    def _achieving(
        self, position: Position, score: int, rest: Callable[[int], Limit | None]
    ) -> Iterator[int]:
        """Yield the columns that are proven to achieve the position's score, central ones first."""
        left = _cells(position) - position.ply
        for column in centre_first(position):
            share = rest(1)
            if share is not None and self._achieves(position.play(column), score, left, share):
                yield column

    def _achieves(self, after: Position, score: int, left: int, limit: Limit) -> bool:
        """Return whether the move that led to `after` is proven to achieve `score`.

        `score` is the score of the position before the move, which had `left` empty cells.
        """
        if (outcome := after.outcome()) is not None:
            return score == (0 if outcome.winner is None else (left + 1) // 2)
        if score == (left + 1) // 2:
            return False  # only a win at once achieves this score
        # The move achieves the score if the opponent's score is at most -score, a null-window
        # question.
        return self.narrow(after, limit, (-score, -score + 1)).upper <= -score

    def _rest_of(self, limit: Limit) -> Callable[[int], Limit | None]:
        """Return a function that divides what is left of a limit, beginning now.

        It returns one of `parts` equal shares, or None if nothing is left or the stop flag is set.
        """
        started = time.perf_counter()
        before = self._spent

        def share_of(parts: int) -> Limit | None:
            share = limit
            if limit.stop is not None and limit.stop.is_set():
                return None
            if limit.nodes is not None:
                nodes_left = limit.nodes - (self._spent - before)
                if nodes_left < parts:
                    return None
                share = replace(share, nodes=nodes_left // parts)
            if limit.seconds is not None:
                seconds_left = limit.seconds - (time.perf_counter() - started)
                if seconds_left <= 0:
                    return None
                share = replace(share, seconds=seconds_left / parts)
            return share

        return share_of

    def narrow(self, position: Position, limit: Limit, window: tuple[int, int]) -> Solution:
        """Look the position up in the book, or search until the bounds meet inside the window.

        The window (0, 1) asks only whether the score is greater than 0.
        """
        load_kernels()
        started = time.perf_counter()
        if (outcome := position.outcome()) is not None:
            raise UserError(
                f"the game is over ({outcome}), there is nothing to solve: {position!r}"
            )
        left = _cells(position) - position.ply
        if self.book is not None and (score := self.book.score(position)) is not None:
            return Solution(score, score, left, 0, time.perf_counter() - started, book=True)
        if position.rules.in_a_row > max(position.rules.columns, position.rules.rows):
            # No line fits on the board, so every game is a draw.
            return Solution(0, 0, left, 0, time.perf_counter() - started)
        with self._lock:
            lower, upper, nodes = self._search(position, left, limit, window)
        return Solution(lower, upper, left, nodes, time.perf_counter() - started)

    def _search(
        self, position: Position, left: int, limit: Limit, window: tuple[int, int]
    ) -> tuple[int, int, int]:
        """Search slice by slice; return the proven bounds and the nodes spent."""
        if position.rules != self._rules:
            self._prepare(position.rules)
        started = time.perf_counter()
        is_over = limit.alarm()
        # The cost of a node grows with the length of a line, roughly as its cube.
        timed_slice = max(TIMED_SLICE * 4**3 // position.rules.in_a_row**3, 16)
        size = SLICE if limit.seconds is None else timed_slice
        max_nodes = 1 << 60 if limit.nodes is None else limit.nodes
        spent = 0
        lower = -(left // 2)
        upper = (left + 1) // 2
        self.progress = (lower, upper, 0)
        while max(lower, window[0]) < min(upper, window[1]):
            slice_nodes = min(size, self._make_room(is_over), max_nodes - spent)
            # The kernel returns when its nodes are spent, with bounds that are proven; what it has
            # not finished remains in the table.
            before = (lower, upper)
            lower, upper, nodes = self._run(position, lower, upper, window, limit, slice_nodes)
            spent += nodes
            self._filled += nodes
            self.progress = (lower, upper, spent)
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
                size = min(size, max(timed_slice, nodes_left))
        self._spent += spent
        return lower, upper, spent

    def _prepare(self, rules: Rules) -> None:
        """Make a new table for a board: keys are unique on one board only."""
        # A large board needs a large table even for a small limit, because tags have 46 bits.
        fewest = fewest_words(rules.columns * rules.geometry.height)
        self._rules = rules
        self._last_words = max(self._max_words, fewest)
        self._first_words = min(max(FIRST_WORDS, fewest), self._last_words)
        self._table = new_table(self._first_words)
        self._filled = 0

    def _make_room(self, is_over: Callable[[], bool]) -> int:
        """Grow the table if it is full; return the number of nodes until it is full again.

        If `is_over` interrupts this, the table stays as it is, which costs only speed.
        """
        if len(self._table) == self._last_words:
            # At its full size the table never grows again.
            return 1 << 60
        if self._filled >= len(self._table):
            # Entries are kept, so growing costs one pass over the old table.
            larger = new_table(min(GROWTH * len(self._table), self._last_words))
            for begin in range(0, len(self._table), COPIED_WORDS):
                if is_over():
                    return 1
                end = min(begin + COPIED_WORDS, len(self._table))
                copy_entries(self._table, larger, begin, end)
            self._table = larger
            return self._make_room(is_over)
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
        # Threads share the table and differ in their move order (jitter), so that each finds
        # entries of the others: lazy SMP, as in chess engines. Bounds of any thread are proven for
        # all.
        stop_all = stop.copy()
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
                    # The caller's stop flag is copied every 10 ms.
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
    # Sorting is stable, so of two columns at the same distance the left one stays first.
    return sorted(position.legal_columns(), key=position.rules.from_centre)


def _cells(position: Position) -> int:
    return position.rules.columns * position.rules.rows


load_kernels = cache(warm_up)
"""Compile or load the kernels, once, so that this does not count against a time limit."""
