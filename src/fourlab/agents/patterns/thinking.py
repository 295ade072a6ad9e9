"""Thinking about one position, with the pattern search, the solver and the book.

The surest source answers first: what can be seen on the board, then the book, then proofs, then
estimates. Search and solver take turns until the limit is reached. The search finds the best column
by its estimates; the solver tries to prove what that column is worth, and columns that are proven
to lose are not searched any more.
"""

import math
import time
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np

from fourlab.agent import Analysis, ColumnAnalysis, Decision, Exact, Limit
from fourlab.agents.generators import generator
from fourlab.agents.patterns.deepening import PatternSearch
from fourlab.agents.patterns.search import at_once, warm_up
from fourlab.compiled._jit import IS_COMPILED
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.patterns import load, load_for
from fourlab.solver import Solver
from fourlab.solver.rows import load_kernels as load_solver
from fourlab.solver.solution import plies_to_end

SOLVER_NODES, PLAIN_SOLVER_NODES = 4, 1
"""Nodes of the solver that take as long as one node of the search: compiled and in plain Python."""
SPEED = 2e6 if IS_COMPILED else 2e4
"""Nodes of the search per second: a first guess, to read the clock often enough."""
FEWEST_NODES, FIRST_NODES, MAX_NODES = 100, 500, 50_000
"""Nodes between two looks at the clock: the fewest, at the beginning, and the most."""
SEARCH_FIRST = 1500
"""Nodes of the search before the solver begins; more time improves the estimates only slowly."""
SOLVER_SHARE = 0.85
"""The solver's share of the work from then on."""
DRAWS_NODES = 10_000
"""Nodes of the search that choose among columns that draw."""
LIKELY_WIN = 0.3
"""From this value on, the solver first asks whether a column wins."""
SEARCH_MEGABYTES = 8
Number = TypeVar("Number", int, float)


class Thinking:
    """The thinking about one position: bounds of every column, narrowed by all three sources."""

    def __init__(
        self,
        position: Position,
        limit: Limit,
        search: PatternSearch,
        solver: Solver | None = None,
        wide: bool = False,
    ) -> None:
        """Begin; without a solver nothing but the search is used.

        If `wide`, the values of all columns are wanted, not only the best column.
        """
        # Loading or compiling does not count as thinking.
        load_kernels()
        if solver is not None:
            load_solver()
        self.started = time.perf_counter()
        self.position = position
        # A limit of depth is one of the search, which the solver would not respect.
        self.solver = None if limit.depth is not None else solver
        self.stop = limit.stop
        self.seconds = math.inf if limit.seconds is None else limit.seconds
        # Without a limit of time, decisions do not depend on how kernels run.
        is_slow = limit.seconds is not None and not IS_COMPILED
        self.exchange = PLAIN_SOLVER_NODES if is_slow else SOLVER_NODES
        """Nodes of the solver that take as long as one node of the search."""
        self.max_nodes = math.inf if limit.nodes is None else limit.nodes
        self.max_depth = limit.depth
        self.solver_nodes = 0
        self.from_book = False
        rules = position.rules
        self.left = rules.columns * rules.rows - position.ply
        self.after = {column: position.play(column) for column in position.legal_columns()}
        # The results that are still possible for every column, from the side to move's point of
        # view, and the result of the position, which the best column has.
        self.low = dict.fromkeys(self.after, Result.LOSS)
        self.high = dict.fromkeys(self.after, Result.WIN)
        self.value: Result | None = None
        self.plies: dict[int, int] = {}
        """Discs until a proven win or loss of a column; a faster win or a slower loss may exist."""
        stop = (
            np.zeros(1, np.uint8) if self.stop is None else np.frombuffer(self.stop.flag, np.uint8)
        )
        self.search = search.begin(position, stop, wide)
        # A decision within a number of nodes depends on its arguments alone. One within a time is
        # never repeated exactly, and may use what earlier ones have proven.
        if self.solver is not None and (limit.seconds is None or limit.nodes is not None):
            self.solver.forget()

    # --- the loop -------------------------------------------------------------------------------

    def decide(self, temperature: float = 0.0, rng: np.random.Generator | None = None) -> Decision:
        """Think, and choose the best column, or with a temperature a sample of all."""
        self.run()
        best = max(self.after, key=self.preference)
        return self.decision(best, self.sample(temperature, rng) if temperature > 0 else best)

    def run(self) -> None:
        """Think until the best column is proven or the limit is reached."""
        self.look_at_the_board()
        if not self.is_decided:
            self.look_into_the_book()
        while not self.is_decided and not self.is_over:
            nodes = self.slice()
            if self.solver_is_next():
                self.prove(nodes)
            elif self.can_deepen:
                self.search.think(nodes, self.max_depth)
                self.learn_from_search()
            else:
                break
        if self.is_decided and self.floor == Result.DRAW and not self.search.is_wide:
            self.choose_among_draws()

    def choose_among_draws(self) -> None:
        """Search on among the columns that may draw, for the one that is hardest to answer.

        All of them are worth the same, but opponents err, and they do so more often where the
        search sees an advantage.
        """
        if self.left == 1:
            return
        self.exclude_worse()
        last = self.search.nodes + DRAWS_NODES
        while list(self.high.values()).count(Result.DRAW) > 1 and not self.is_over:
            favourite = self.search.best
            if favourite is not None and self.low[favourite] < Result.DRAW and self.solver:
                self.ask(favourite, wins=False, nodes=self.slice())
            elif self.search.nodes < last and self.can_deepen:
                self.search.think(min(self.slice(), last - self.search.nodes), self.max_depth)
                self.learn_from_search()
            else:
                return

    @property
    def can_deepen(self) -> bool:
        """Whether a deeper search is allowed and can find anything new."""
        return not self.search.is_finished and self.search.depth < (self.max_depth or 1 << 30)

    @property
    def spent(self) -> int:
        """The work so far, in nodes of the search."""
        return self.search.nodes + self.solver_nodes // self.exchange

    @property
    def nodes(self) -> int:
        """The nodes of search and solver together."""
        return self.search.nodes + self.solver_nodes

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return (
            self.nodes >= self.max_nodes
            or (self.stop is not None and self.stop.is_set())
            or time.perf_counter() - self.started >= self.seconds
        )

    def slice(self) -> int:
        """Return the nodes after which to look at the clock again."""
        # A slice begins a depth anew, so slices grow with the work before them.
        nodes = min(max(FIRST_NODES, self.spent // 2), MAX_NODES)
        if self.seconds < math.inf:
            elapsed = time.perf_counter() - self.started
            speed = self.spent / elapsed if self.spent > FIRST_NODES else SPEED
            nodes = min(nodes, max(FEWEST_NODES, int((self.seconds - elapsed) * speed)))
        return int(min(nodes, self.max_nodes - self.nodes))

    @property
    def is_decided(self) -> bool:
        """Whether a column is proven to be at least as good as every other."""
        best = max(self.after, key=lambda column: (self.low[column], self.high[column]))
        return all(high <= self.low[best] for column, high in self.high.items() if column != best)

    # --- the sources ----------------------------------------------------------------------------

    def look_at_the_board(self) -> None:
        """Note wins at once, losses at once and the last disc."""
        g = self.position.rules.geometry
        wins, losses = at_once(self.position.own, self.position.mask, g)
        for column in self.after:
            cells = ((1 << g.rows) - 1) << column * g.height
            if wins & cells:
                self.settle(column, Result.WIN, 1)
            elif losses & cells:
                self.settle(column, Result.LOSS, 2)
            elif self.left == 1:
                self.settle(column, Result.DRAW, 1)

    def look_into_the_book(self) -> None:
        """Take over exact scores, if the book has them for all columns."""
        book = None if self.solver is None else self.solver.book
        if book is None:
            return
        scores = {
            column: book.score(after)
            for column, after in self.after.items()
            if self.low[column] < self.high[column]
        }
        if None in scores.values():
            # The last positions of the book: it has their result, but not that of any column.
            # In a lost position all columns are equal, and the search finds the longest resistance.
            score = book.score(self.position)
            if score is not None and score >= 0:
                self.value = Result.of_score(score)
                self.use_value()
            return
        self.from_book = True
        for column, score in scores.items():
            assert score is not None
            # The score is the opponent's, one disc later.
            self.settle(column, Result.of_score(-score), 1 + plies_to_end(score, self.left - 1))

    def use_value(self) -> None:
        """Narrow the results of the columns by that of the position, if it is known."""
        if self.value is None:
            return
        for column, high in self.high.items():
            self.high[column] = min(high, self.value)
        best = [column for column, high in self.high.items() if high == self.value]
        if len(best) == 1:
            self.low[best[0]] = self.value

    def learn_from_search(self) -> None:
        """Take over what the search has proven."""
        # At full depth there are no estimates any more: 0 is a draw.
        is_complete = self.search.depth >= self.search.deepest
        for column, score in self.search.scores.items():
            proven = score.proven
            if proven is None and is_complete:
                proven = Result.of_score(score.score)
            if proven is None:
                continue
            self.high[column] = min(self.high[column], proven)
            if score.is_exact:
                self.low[column] = max(self.low[column], proven)
            if score.end is not None:
                self.plies[column] = score.end - self.position.ply
        self.use_value()

    def solver_is_next(self) -> bool:
        """Return whether it is the solver's turn."""
        if self.solver is None:
            return False
        if self.search.is_finished:
            return True
        if self.search.nodes < SEARCH_FIRST:
            return False
        return self.solver_nodes < SOLVER_SHARE * self.exchange * self.spent

    def prove(self, nodes: int) -> None:
        """Let the solver work on the most useful question."""
        assert self.solver is not None
        column, wins = self.question()
        self.ask(column, wins, nodes)

    def ask(self, column: int, wins: bool, nodes: int) -> None:
        """Ask the solver whether a column wins, or else whether it does not lose."""
        assert self.solver is not None
        # Does the opponent's score exceed -1 (then the column does not win), or 0 (then it loses)?
        window = (-1, 0) if wins else (0, 1)
        allowed = int(min(nodes * self.exchange, self.max_nodes - self.nodes))
        limit = Limit(nodes=max(allowed, 1), stop=self.stop)
        solution = self.solver.narrow(self.after[column], limit, window)
        self.solver_nodes += solution.nodes
        self.low[column] = max(self.low[column], Result.of_score(-solution.upper))
        self.high[column] = min(self.high[column], Result.of_score(-solution.lower))
        if solution.score is not None and solution.score != 0:
            self.plies[column] = 1 + plies_to_end(solution.score, self.left - 1)
        self.use_value()
        self.exclude_worse()

    def exclude_worse(self) -> None:
        """Let the search pass over columns that are worse than another."""
        floor = self.floor
        worse = [
            column for column, high in self.high.items() if high < floor or high == Result.LOSS
        ]
        if len(worse) < len(self.after):
            self.search.exclude(worse)

    def question(self) -> tuple[int, bool]:
        """Return an open column, and whether to ask if it wins; else if it does not lose."""
        open_columns = [column for column in self.after if self.low[column] < self.high[column]]
        # Columns that only tie with the best one come last.
        proven = max(self.low.values())
        better = [column for column in open_columns if self.high[column] > proven]
        column = max(better or open_columns, key=self.preference)
        can_win = self.high[column] == Result.WIN
        is_safe = self.low[column] == Result.DRAW or self.floor >= Result.DRAW
        return column, can_win and (is_safe or self.estimate(column) > LIKELY_WIN)

    # --- the decision ---------------------------------------------------------------------------

    @property
    def floor(self) -> Result:
        """The result that the best column has at least."""
        proven = max(self.low.values())
        return proven if self.value is None else max(proven, self.value)

    def settle(self, column: int, result: Result, plies: int) -> None:
        """Note the exact result of a column."""
        self.low[column] = self.high[column] = result
        self.plies[column] = plies

    def estimate(self, column: int) -> float:
        """Return the value of a column: the proven result, or the search's estimate within it."""
        score = self.search.scores.get(column)
        value = 0.0 if score is None else score.value
        return min(max(value, float(self.low[column])), float(self.high[column]))

    def preference(self, column: int) -> tuple[float, float, float, bool, float, float]:
        """Return a sort key for columns, the best last."""
        value = self.estimate(column)
        plies = self.plies.get(column, self.left)
        score = self.search.scores.get(column)
        return (
            value,
            # What is proven is preferred to what is hoped.
            float(self.low[column]),
            # Win soon, lose late.
            -plies if value > 0 else plies,
            column == self.search.best,
            -math.inf if score is None else score.score,
            -self.position.rules.from_centre(column),
        )

    def sample(self, temperature: float, rng: np.random.Generator | None) -> int:
        """Return a column at random, in proportion to exp(value / temperature)."""
        values = np.array([self.estimate(column) for column in self.after])
        weights = np.exp((values - values.max()) / temperature)
        return int(generator(rng).choice(list(self.after), p=weights / weights.sum()))

    def decision(self, best: int, column: int) -> Decision:
        """Return the choice of a column, and what is proven of every column."""
        analysis = Analysis(
            columns=tuple(
                ColumnAnalysis(
                    legal,
                    value=self.estimate(legal),
                    proven=self.low[legal] if self.low[legal] == self.high[legal] else None,
                )
                for legal in self.after
            ),
            nodes=self.nodes,
            evaluations=self.search.evaluations,
            depth=self.search.depth,
            seconds=time.perf_counter() - self.started,
            from_book=self.from_book,
        )
        # A proof is one of the best column.
        proven = self.proven(best) if column == best else None
        return Decision(column, self.estimate(column), None, analysis, (column,), proven)

    def proven(self, best: int) -> Exact | None:
        """Return the exact result of the position, if it is proven."""
        result = self.low[best]
        # The best column's result is the position's if no other column can be better.
        if result < max(self.high.values()):
            return None
        if result == Result.DRAW:
            return Exact(result, self.left)
        # A win that the search has found need not be the fastest, nor a loss the slowest.
        distances = {self.plies.get(column) for column in self.after}
        is_exact = self.from_book or self.plies.get(best) == 1 or distances == {2}
        return Exact(result, self.plies[best] if is_exact else None)


class Searches:
    """The pattern searches of an agent, made when a board is first played."""

    def __init__(self, file: str | None) -> None:
        """Take a file of patterns; None for those that come with Fourlab."""
        self._file = file
        self._by_rules: dict[Rules, PatternSearch] = {}
        if file is not None:
            load(file)

    def on(self, rules: Rules) -> PatternSearch:
        """Return the search for a board; raise UserError if there are no patterns for it."""
        if rules not in self._by_rules:
            self._by_rules[rules] = PatternSearch(load_for(rules, self._file), SEARCH_MEGABYTES)
        return self._by_rules[rules]


def tightest(
    limit: Limit, seconds: float | None, nodes: int | None, depth: int | None, default: int
) -> Limit:
    """Return a limit with an agent's own bounds; `default` nodes if there is no bound at all."""
    if nodes is None and not any(
        (limit.seconds, seconds, limit.nodes, limit.depth, depth, limit.stop)
    ):
        nodes = default
    return replace(
        limit,
        seconds=_least(limit.seconds, seconds),
        nodes=_least(limit.nodes, nodes),
        depth=_least(limit.depth, depth),
    )


def _least(first: Number | None, second: Number | None) -> Number | None:
    if first is None or second is None:
        return first if second is None else second
    return min(first, second)


load_kernels = cache(warm_up)
"""Compile or load the kernels of the search, once."""
