"""The solver: it owns the transposition table, keeps to limits and runs the search threads."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import islice

import numpy as np

from fourlab.agent import UNLIMITED, Limit
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, as_position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.solver import batch
from fourlab.solver.batch import (
    FULL_COLUMN,
    KIND,
    LOWER,
    MASK,
    NODES,
    OWN,
    UPPER,
    WIDTH,
    is_open,
)
from fourlab.solver.book import Book, shipped_book
from fourlab.solver.kernel import NOT_SHARED
from fourlab.solver.rows import (
    centre_first,
    check_unfinished,
    checked,
    columns_from_centre,
    is_always_drawn,
    keys_of,
    load_kernels,
    rows_of,
    solutions_of,
)
from fourlab.solver.search import NO_BOUND, Search
from fourlab.solver.solution import CLOSED, Bounds, Solution
from fourlab.solver.table import BUCKET, copy_entries, fewest_words, new_table

# Words are 8 bytes. A table of 2**15 words fits into the L2 cache of a core.
FIRST_WORDS = 1 << 15
GROWTH = 8
"""A table starts small (256 KiB), so that the searches of easy positions stay in the processor's
cache. It grows by this factor once as many nodes have been searched as it has words."""
ALONE = 1 << 15
"""Nodes that a solver with several threads spends on a position before it starts the others."""
BUSY_WORDS = 1 << 12
"""Places for the positions that threads are searching, at most one per thread and empty cell."""
MAX_ROWS = 1 << 12
"""Positions per call of compiled code, so that it ends soon even if they need no nodes."""
COPIED_WORDS = 1 << 18
"""Words between two looks at the clock while the table grows, a few milliseconds."""
MAX_MEGABYTES = 1 << 20
# No score is beyond 31: boards have at most 62 cells, and a score is at most half of them.
EXACT_SCORE, WINNER_ONLY = (-40, 40), (-1, 1)
"""Score windows: scores inside are determined exactly, of others only on which side they lie."""
OnSolved = Callable[[int], None]
"""Called with the number of positions done."""


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
        # A batch of one position, used again. Its numbers are read and written faster in a view.
        self._single = np.zeros((1, WIDTH), np.int64)
        self._numbers = self._single.reshape(WIDTH).data
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
        self, position: PositionLike, limit: Limit | None = UNLIMITED, weak: bool = False
    ) -> dict[int, Solution]:
        """Return the solution of every legal column, from the point of view of the side to move.

        The columns share the limit equally. Columns for which nothing of it is left have the widest
        bounds; with None, nothing is left for any.
        """
        load_kernels()
        position = as_position(position)
        rules = position.rules
        rest = self.rest_of(limit) if limit is not None else lambda parts: None
        order = columns_from_centre(rules)
        rows = np.empty((rules.columns, WIDTH), np.int64)
        batch.list_moves(rows_of(keys_of([position]), rules), order, rules.geometry, rows)
        self._look_up(rows, rules)
        is_legal = rows[:, KIND] != FULL_COLUMN
        columns = order[is_legal].tolist()
        rows = rows[is_legal]
        solutions: dict[int, Solution] = {}
        for number, column in enumerate(columns):
            started = time.perf_counter()
            row = rows[number : number + 1]
            # What an easy column leaves over is shared by those after it.
            share = rest(len(columns) - number)
            if share is not None:
                with self._lock:
                    self._search(row, rules, share, WINNER_ONLY if weak else EXACT_SCORE)
            (after,) = solutions_of(row, rules, time.perf_counter() - started)
            solutions[column] = after.for_the_other()
        return dict(sorted(solutions.items()))

    def solve_many(
        self,
        positions: Sequence[PositionLike],
        limit: Limit = UNLIMITED,
        weak: bool = False,
        on_solved: OnSolved = lambda count: None,
    ) -> list[Solution]:
        """Solve positions of one board, which takes less time together than one by one.

        `limit.nodes` applies to each position, `limit.seconds` to all together. Every solution has
        the mean time of all.
        """
        some = [as_position(position) for position in positions]
        if not some:
            return []
        rules = some[0].rules
        for position in some:
            if position.rules is not rules and position.rules != rules:
                raise UserError(
                    f"positions solved together have one board, not {rules} and {position.rules}"
                )
            check_unfinished(position)
        started = time.perf_counter()
        rows = rows_of(keys_of(some), rules)
        self._search_many(rows, rules, limit, weak, on_solved)
        return solutions_of(rows, rules, (time.perf_counter() - started) / len(rows))

    def bounds(
        self,
        keys: np.ndarray,
        rules: Rules = CLASSIC,
        limit: Limit = UNLIMITED,
        weak: bool = False,
        on_solved: OnSolved = lambda count: None,
    ) -> Bounds:
        """Solve the positions with these keys (`Position.key`), as `solve_many` does."""
        rows = rows_of(checked(keys, rules), rules)
        self._search_many(rows, rules, limit, weak, on_solved)
        return Bounds(rows[:, LOWER], rows[:, UPPER], rows[:, NODES])

    def column_bounds(
        self,
        keys: np.ndarray,
        rules: Rules = CLASSIC,
        limit: Limit = UNLIMITED,
        weak: bool = False,
        on_solved: OnSolved = lambda count: None,
    ) -> Bounds:
        """Solve every column of the positions with these keys.

        The arrays have a row per position and a column per column of the board, CLOSED for full
        ones; bounds are from the point of view of the side to move. `limit.nodes` applies to each
        column, and `on_solved` is called with a number of columns.
        """
        order = columns_from_centre(rules)
        rows = np.empty((len(keys) * rules.columns, WIDTH), np.int64)
        batch.list_moves(rows_of(checked(keys, rules), rules), order, rules.geometry, rows)
        self._search_many(rows, rules, limit, weak, on_solved)
        # From the order of the search to that of the board.
        rows = rows.reshape(len(keys), rules.columns, WIDTH)[:, np.argsort(order)]
        is_full = rows[:, :, KIND] == FULL_COLUMN
        # The bounds of a move are the opponent's.
        lower, upper = (np.where(is_full, CLOSED, -rows[:, :, bound]) for bound in (UPPER, LOWER))
        return Bounds(lower, upper, rows[:, :, NODES])

    def best_columns(
        self,
        position: PositionLike,
        first: bool = False,
        limit: Limit = UNLIMITED,
        weak: bool = False,
    ) -> tuple[Solution, list[int]]:
        """Return the solution and the columns that achieve its score, in ascending order.

        With `first`, return only the one nearest the centre. If `weak`, prove only the winner, and
        return the columns that keep the result, without those that miss a win at once or lose at
        once for no reason. If the limit is reached, columns may be missing.
        """
        position = as_position(position)
        rest = self.rest_of(limit)
        solution = self.solve(position, limit, weak)
        score = solution.least if weak else solution.score
        if score is None:
            return solution, []
        best = list(islice(self._achieving(position, score, rest), 1 if first else None))
        if weak and not best and solution.upper < 0:
            # All columns lose at once.
            best = centre_first(position)[: 1 if first else None]
        return solution, sorted(best)

    def line(self, position: PositionLike, limit: Limit = UNLIMITED) -> tuple[int, ...]:
        """Return best play by both sides until the end of the game.

        The winner wins as soon as possible and the loser loses as late as possible; among equal
        columns, the one nearest the centre is played. If the limit is reached, the line ends early.
        """
        position = as_position(position)
        rest = self.rest_of(limit)
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
        """Yield the columns that are proven to score at least this, central ones first."""
        left = position.rules.columns * position.rules.rows - position.ply
        for column in centre_first(position):
            share = rest(1)
            if share is not None and self._achieves(position.play(column), score, left, share):
                yield column

    def _achieves(self, after: Position, score: int, left: int, limit: Limit) -> bool:
        """Return whether the move that led to `after` is proven to achieve `score`.

        The position before the move had `left` empty cells and scores `score` at least.
        """
        if (outcome := after.outcome()) is not None:
            return score <= (0 if outcome.winner is None else (left + 1) // 2)
        if score == (left + 1) // 2:
            return False  # only a win at once achieves this score
        # The move achieves the score if the opponent's score is at most -score, a null-window
        # question.
        return self.narrow(after, limit, (-score, -score + 1)).upper <= -score

    def rest_of(self, limit: Limit) -> Callable[[int], Limit | None]:
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
        check_unfinished(position)
        rules = position.rules
        mask = position.mask
        left = rules.columns * rules.rows - mask.bit_count()
        if self.book is not None and (score := self.book.score(position)) is not None:
            return Solution(score, score, left, 0, time.perf_counter() - started, book=True)
        if is_always_drawn(rules):
            return Solution(0, 0, left, 0, time.perf_counter() - started)
        with self._lock:
            numbers = self._numbers
            numbers[OWN] = position.own
            numbers[MASK] = mask
            numbers[LOWER] = -(left // 2)
            numbers[UPPER] = (left + 1) // 2
            numbers[NODES] = 0
            self._search(self._single, rules, limit, window)
            lower = numbers[LOWER]
            upper = numbers[UPPER]
            nodes = numbers[NODES]
        return Solution(lower, upper, left, nodes, time.perf_counter() - started)

    def _search_many(
        self, rows: np.ndarray, rules: Rules, limit: Limit, weak: bool, on_solved: OnSolved
    ) -> None:
        """Look the rows up in the book and search the others."""
        self._look_up(rows, rules)
        with self._lock:
            self._search(rows, rules, limit, WINNER_ONLY if weak else EXACT_SCORE, on_solved)

    def _look_up(self, rows: np.ndarray, rules: Rules) -> None:
        """Complete the rows that need no search."""
        book = self.book
        if book is not None and book.rules == rules:
            batch.look_up(rows, book.plies, book.keys, book.scores, rules.geometry)
        if is_always_drawn(rules):
            rows[:, LOWER : UPPER + 1] = 0

    def _search(
        self,
        rows: np.ndarray,
        rules: Rules,
        limit: Limit,
        window: tuple[int, int],
        on_solved: OnSolved | None = None,
    ) -> None:
        """Narrow the bounds of row after row until they meet inside the window."""
        if rules is not self._rules and rules != self._rules:
            self._prepare(rules)
        self.progress = None
        search = Search.begin(rules, limit, window)
        # One thread searches easy positions, and all of them those that turn out to be hard.
        size = search.size if self.threads == 1 else min(search.size, ALONE)
        row = 0
        while row < len(rows):
            room = self._make_room(search)
            some = rows if len(rows) <= MAX_ROWS else rows[: row + MAX_ROWS]
            # The search returns when its nodes are spent, with bounds that are proven; what it has
            # not finished remains in the table.
            row, nodes = self._run(some, search, size, row, room)
            self._filled += nodes
            self._spent += nodes
            if row < len(rows) and not search.is_over():
                self._search_row(rows[row : row + 1], search)
                row += 1
            if on_solved is not None:
                on_solved(row)
            if row < len(rows) and search.is_over():
                break

    def _search_row(self, row: np.ndarray, search: Search) -> None:
        """Narrow the bounds of a single hard position, slice by slice."""
        started = time.perf_counter()
        size = search.size
        lower, upper, nodes = row[0, LOWER : NODES + 1].tolist()
        first_nodes = nodes
        self.progress = (lower, upper, nodes)
        while is_open(lower, upper, search.window) and nodes < search.max_nodes:
            slice_nodes = min(size, self._make_room(search), search.max_nodes - nodes)
            before = (lower, upper)
            if self.threads == 1:
                self._run(row, search, slice_nodes)
            else:
                self._run_together(row, search, slice_nodes)
            spent = int(row[0, NODES]) - nodes
            lower, upper, nodes = row[0, LOWER : NODES + 1].tolist()
            self._filled += spent
            self._spent += spent
            self.progress = (lower, upper, nodes)
            if before == (lower, upper) and slice_nodes == size:
                size *= 2
            if search.is_over():
                break
            if search.end < math.inf:
                # At the speed so far, the next slice must not exceed the time left.
                now = time.perf_counter()
                nodes_left = int((search.end - now) * (nodes - first_nodes) / (now - started))
                size = min(size, max(search.size, nodes_left))

    def _prepare(self, rules: Rules) -> None:
        """Make a new table for a board: keys are unique on one board only."""
        # A large board needs a large table even for a small limit, because tags have 46 bits.
        fewest = fewest_words(rules.columns * rules.geometry.height)
        self._rules = rules
        self._last_words = max(self._max_words, fewest)
        self._first_words = min(max(FIRST_WORDS, fewest), self._last_words)
        self._table = new_table(self._first_words)
        self._filled = 0

    def _make_room(self, search: Search) -> int:
        """Grow the table if it is full; return the number of nodes until it is full again.

        If the search is over before that, the table stays as it is, which costs only speed.
        """
        if len(self._table) == self._last_words:
            # At its full size the table never grows again.
            return NO_BOUND
        if self._filled >= len(self._table):
            # Entries are kept, so growing costs one pass over the old table.
            larger = new_table(min(GROWTH * len(self._table), self._last_words))
            for begin in range(0, len(self._table), COPIED_WORDS):
                if search.is_over():
                    return 1
                end = min(begin + COPIED_WORDS, len(self._table))
                copy_entries(self._table, larger, begin, end)
            self._table = larger
            return self._make_room(search)
        return len(self._table) - self._filled

    def _run(
        self,
        rows: np.ndarray,
        search: Search,
        slice_nodes: int,
        first: int = 0,
        room: int = NO_BOUND,
        busy: np.ndarray = NOT_SHARED,
    ) -> tuple[int, int]:
        """Search rows with one thread, as `solve_rows` does."""
        most, stop = search.max_nodes, search.stop
        return batch.solve_rows(
            rows, first, search.window, search.g, self._table, busy, slice_nodes, most, room, stop
        )

    def _run_together(self, row: np.ndarray, search: Search, max_nodes: int) -> None:
        """Search one slice with all threads."""
        # Threads share the table and turn last to positions that another one is searching, so that
        # each finds the answers of the others: a simple form of ABDADA (Weill, 1996), after
        # Kerrigan. Bounds of any thread are proven for all.
        busy = np.zeros(BUSY_WORDS, np.int64)
        shared = search._replace(stop=search.stop.copy())
        rows = row.repeat(self.threads, axis=0)
        rows[:, NODES] = 0
        share, rest = divmod(max_nodes, self.threads)

        def run(thread: int) -> None:
            allowed = share + (rest if thread == 0 else 0)
            solved, _ = self._run(rows[thread : thread + 1], shared, allowed, busy=busy)
            # The first thread to finish ends the others.
            shared.stop[0] |= solved

        with ThreadPoolExecutor(self.threads) as pool:
            pending = {pool.submit(run, thread) for thread in range(self.threads)}
            try:
                while pending:
                    # The caller's stop flag is copied every 10 ms.
                    done, pending = wait(pending, timeout=0.01)
                    shared.stop[0] |= search.stop[0]
                    for future in done:
                        future.result()
            except BaseException:
                shared.stop[0] = 1  # on Ctrl-C, do not wait for the end of the slice
                raise
        row[0, LOWER] = rows[:, LOWER].max()
        row[0, UPPER] = rows[:, UPPER].min()
        row[0, NODES] += rows[:, NODES].sum()
