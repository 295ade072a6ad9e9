"""The solver that owns its table: it grows the table, watches the limit, and shares it among threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cache

import numpy as np

from fourlab.agent import Limit
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.solver.book import Book, shipped_book
from fourlab.solver.kernel import solve, warm_up
from fourlab.solver.solution import Solution
from fourlab.solver.table import BUCKET, copy_entries, fewest_words, new_table

FIRST_WORDS = 1 << 15
GROWTH = 8
"""A table starts small, so that easy positions stay in the processor's cache, and grows when it has seen as many nodes as it
has words."""
SLICE, TIMED_SLICE = 1 << 21, 1 << 15
"""So many nodes are searched between two looks at the clock and at Ctrl-C; more and more if the bounds do not move, lest a table
that is too small forget every slice's work."""
WITHOUT_LIMIT = Limit()
MOST_MEGABYTES = 1 << 20
NEVER = np.zeros(1, np.uint8)
EVERYTHING, WHO_WINS = (-40, 40), (-1, 1)
"""How precisely a score can be asked for: exactly between the two, beyond them not at all."""


class Solver:
    """Proves the value of positions, and remembers what it has found out until told to forget."""

    def __init__(self, megabytes: float = 64, threads: int = 1, book: Book | str | None = "shipped") -> None:
        if not 0 < megabytes <= MOST_MEGABYTES:
            raise UserError(f"the solver's table needs some megabytes, at most {MOST_MEGABYTES}, not {megabytes}")
        if threads < 1:
            raise UserError(f"the solver needs at least 1 thread, not {threads}")
        self.threads = threads
        self._book = shipped_book() if isinstance(book, str) else book
        self._most_words = BUCKET << max(0, int(megabytes * 2**20 / 8 / BUCKET).bit_length() - 1)
        self._lock = threading.Lock()
        self._rules: Rules | None = None
        self._table = np.zeros(0, np.int64)
        self._first_words = self._last_words = self._filled = 0
        self._spent = 0

    def forget(self) -> None:
        """Empty the table and release its memory: the next search is what it would have been at first."""
        if len(self._table) == self._first_words:
            self._table.fill(0)
        else:
            self._table = new_table(self._first_words)
        self._filled = 0

    @property
    def megabytes(self) -> float:
        """The memory that the table takes now."""
        return self._table.nbytes / 2**20

    def solve(self, position: Position, limit: Limit = WITHOUT_LIMIT, weak: bool = False) -> Solution:
        """Prove the score of a position that is not over, or if `weak` only who wins; or as much as the limit allows."""
        return self._narrow(position, limit, WHO_WINS if weak else EVERYTHING)

    def columns(self, position: Position, limit: Limit = WITHOUT_LIMIT, weak: bool = False) -> dict[int, Solution]:
        """What each legal column is worth to the side to move; columns not reached within the limit are not proven."""
        _load_kernels()
        started, nodes, found = time.perf_counter(), 0, {}
        columns = centre_first(position)
        for column in columns:
            after = position.play(column)
            left = _cells(position) - position.ply
            if (outcome := after.outcome()) is not None:
                score = 0 if outcome.winner is None else (left + 1) // 2
                found[column] = Solution(score, score, left)
                continue
            rest = _share(limit, nodes, started, len(columns) - len(found))
            if rest is None:
                found[column] = Solution(-(left // 2), (left + 1) // 2, left)
            else:
                found[column] = self.solve(after, rest, weak).for_the_other()
            nodes += found[column].nodes
        return dict(sorted(found.items()))

    def best_columns(self, position: Position, first: bool = False, limit: Limit = WITHOUT_LIMIT) -> tuple[Solution, list[int]]:
        """The solution, and the columns that achieve the score; only the `first` from the centre outwards if so wished.

        If the limit allows no more, some of them are missing.
        """
        started, before = time.perf_counter(), self._spent
        solution = self.solve(position, limit)
        if (score := solution.score) is None:
            return solution, []
        best = []
        for column in centre_first(position):
            rest = _share(limit, self._spent - before, started, 1)
            if rest is not None and self._achieves(position.play(column), score, solution.left, rest):
                best.append(column)
                if first:
                    break
        return solution, sorted(best)

    def line(self, position: Position, limit: Limit = WITHOUT_LIMIT) -> tuple[int, ...]:
        """Best play to the end: the winner hurries, the loser holds out; among equals the column nearest the centre.

        If the limit allows no more, the line ends early.
        """
        started, columns, before = time.perf_counter(), [], self._spent
        score = self.solve(position, limit).score
        while score is not None and position.outcome() is None:
            left = _cells(position) - position.ply
            for column in centre_first(position):
                rest = _share(limit, self._spent - before, started, 1)
                if rest is not None and self._achieves(position.play(column), score, left, rest):
                    columns.append(column)
                    position, score = position.play(column), -score
                    break
            else:
                break
        return tuple(columns)

    def _achieves(self, after: Position, score: int, left: int, limit: Limit = WITHOUT_LIMIT) -> bool:
        """Whether a move that led here is proven to be worth the best score."""
        if (outcome := after.outcome()) is not None:
            return score == (0 if outcome.winner is None else (left + 1) // 2)
        if score == (left + 1) // 2:
            return False  # a win at once, which this move was not
        return self._narrow(after, limit, (-score, -score + 1)).upper <= -score

    def _narrow(self, position: Position, limit: Limit, asked: tuple[int, int]) -> Solution:
        """Prove as much as is asked."""
        _load_kernels()
        started = time.perf_counter()
        if (outcome := position.outcome()) is not None:
            raise UserError(f"the game is over ({outcome}), there is nothing to solve: {position!r}")
        left = _cells(position) - position.ply
        if self._book is not None and (score := self._book.score(position)) is not None:
            return Solution(score, score, left, 0, time.perf_counter() - started, book=True)
        with self._lock:
            lower, upper, nodes = self._search(position, left, limit, asked)
        return Solution(lower, upper, left, nodes, time.perf_counter() - started)

    def _search(self, position: Position, left: int, limit: Limit, asked: tuple[int, int]) -> tuple[int, int, int]:
        """Search slice by slice; returns the bounds proven and the nodes spent."""
        self._prepare(position)
        started, size = time.perf_counter(), SLICE if limit.seconds is None else TIMED_SLICE
        most, spent = 1 << 60 if limit.nodes is None else limit.nodes, 0
        lower, upper = -(left // 2), (left + 1) // 2
        while max(lower, asked[0]) < min(upper, asked[1]):
            allowed, before = min(size, self._make_room(), most - spent), (lower, upper)
            lower, upper, nodes = self._run(position, lower, upper, asked, limit, allowed)
            spent, self._filled = spent + nodes, self._filled + nodes
            if before == (lower, upper) and allowed == size:
                size *= 2
            if spent >= most or (limit.stop is not None and limit.stop.is_set()):
                break
            if limit.seconds is not None:
                elapsed = time.perf_counter() - started
                if elapsed >= limit.seconds:
                    break
                size = min(size, max(TIMED_SLICE, int((limit.seconds - elapsed) * spent / elapsed)))
        self._spent += spent
        return lower, upper, spent

    def _prepare(self, position: Position) -> None:
        """Have a table for this board: keys of another board would be mistaken for its own."""
        if position.rules is not self._rules and position.rules != self._rules:
            g = position.rules.geometry
            fewest = fewest_words(g.columns * g.height)
            self._rules, self._last_words = position.rules, max(self._most_words, fewest)
            self._first_words = min(max(FIRST_WORDS, fewest), self._last_words)
            self._table = new_table(self._first_words)
            self._filled = 0

    def _make_room(self) -> int:
        """Grow the table if it is full; returns how many nodes it has room for."""
        if len(self._table) == self._last_words:
            return 1 << 60
        if self._filled >= len(self._table):
            larger = new_table(min(GROWTH * len(self._table), self._last_words))
            copy_entries(self._table, larger)
            self._table = larger
            return self._make_room()
        return len(self._table) - self._filled

    def _run(
        self, position: Position, lower: int, upper: int, asked: tuple[int, int], limit: Limit, most_nodes: int
    ) -> tuple[int, int, int]:
        """Search one slice, with all threads; returns the bounds then proven and the nodes spent."""
        stop = NEVER if limit.stop is None else np.frombuffer(limit.stop.flag, np.uint8)
        own, mask, g, table = position.own, position.mask, position.rules.geometry, self._table
        if self.threads == 1:
            nodes = np.zeros(1, np.int64)
            lower, upper = solve(own, mask, lower, upper, asked, g, table, 0, most_nodes, stop, nodes)
            return lower, upper, int(nodes[0])
        enough, counts = np.zeros(1, np.uint8), np.zeros((self.threads, 1), np.int64)
        share, rest = divmod(most_nodes, self.threads)

        def search(thread: int) -> tuple[int, int]:
            allowed = share + (rest if thread == 0 else 0)
            bounds = solve(own, mask, lower, upper, asked, g, table, thread, allowed, enough, counts[thread])
            enough[0] |= max(bounds[0], asked[0]) >= min(bounds[1], asked[1])
            return bounds

        with ThreadPoolExecutor(self.threads) as pool:
            waiting = {pool.submit(search, thread) for thread in range(self.threads)}
            found = list(waiting)
            try:
                while waiting:
                    _, waiting = wait(waiting, timeout=0.01)
                    enough[0] |= stop[0]
            except BaseException:
                enough[0] = 1  # Ctrl-C must not wait for the slice
                raise
        bounds = [each.result() for each in found]
        return max(low for low, _ in bounds), min(high for _, high in bounds), int(counts.sum())


def centre_first(position: Position) -> list[int]:
    """The legal columns from the centre outwards, the left one first."""
    middle = (position.rules.columns - 1) / 2
    return sorted(position.legal_columns(), key=lambda column: (abs(column - middle), column))


def _cells(position: Position) -> int:
    return position.rules.columns * position.rules.rows


def _share(limit: Limit, nodes: int, started: float, parts: int) -> Limit | None:
    """One part of what is left of a limit, None if nothing is left."""
    share = limit
    if limit.nodes is not None:
        if limit.nodes - nodes < parts:
            return None
        share = replace(share, nodes=(limit.nodes - nodes) // parts)
    if limit.seconds is not None:
        left = limit.seconds - (time.perf_counter() - started)
        if left <= 0:
            return None
        share = replace(share, seconds=left / parts)
    return share


_load_kernels = cache(warm_up)
"""Compile or load the search before anybody's clock runs."""
