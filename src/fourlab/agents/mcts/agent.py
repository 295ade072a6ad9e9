"""The Monte Carlo tree search agent; the variants of the five reports are options."""

import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, ColumnAnalysis, Decision, Limit, Snapshot
from fourlab.agents.generators import generator
from fourlab.agents.mcts import kernel, verbs
from fourlab.agents.mcts.budget import Budget
from fourlab.agents.mcts.checks import check_together
from fourlab.agents.mcts.runs import averaged, search_runs
from fourlab.agents.mcts.tree import SearchTree, candidates, decision
from fourlab.compiled.random import seed_states
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.options import check, option

DEFAULT_SIMULATIONS = 10_000
ROLLOUTS_C, PATTERNS_C = 1.4, 0.2
"""Exploration constants; patterns judge with less noise (docs/measurements.md)."""
TIES = {"first": verbs.FIRST, "last": verbs.LAST, "random": verbs.ANY}
# Both kinds of negamax are one opponent to the kernel; `Switches.random_ties` distinguishes them.
OPPONENTS = {
    "player": verbs.PLAYER,
    "random": verbs.RANDOM,
    "random-frozen": verbs.FROZEN,
    "negamax": verbs.NEGAMAX,
    "negamax-random-ties": verbs.NEGAMAX,
}

# Load or compile the kernels once, before the time of a move starts.
_load_kernels = cache(kernel.warm_up)
_load_shared_kernels = cache(kernel.warm_up_threads)
_load_pattern_kernels = cache(kernel.warm_up_patterns)
_load_shared_pattern_kernels = cache(kernel.warm_up_patterns_threads)
NEGAMAX_COLUMNS = 9
"""On wider boards a single simulation against negamax takes too long to be interrupted in time."""


@dataclass(frozen=True)
class SearchResult:
    """The result of a search; `decision` is what the agent returns."""

    decision: Decision
    columns: tuple[ColumnAnalysis, ...]
    trees: tuple[SearchTree, ...]
    """One per run; `tree.columns(path)` reads it."""
    trace: tuple[Snapshot, ...]
    """The root at growing numbers of simulations; of several runs, the end of each."""

    def look(self, path: tuple[int, ...]) -> list[ColumnAnalysis]:
        """Return the columns after a path from the root; of several runs, in the first."""
        return self.trees[0].columns(path)


@dataclass(frozen=True)
class MCTS:
    """Monte Carlo tree search (UCT), compiled; proves wins, draws and losses as it searches."""

    kernels: ClassVar[tuple[str, ...]] = ("tree search",)
    """The kernel groups it needs (fourlab.compiled.warmup)."""
    simulations: int | None = option(
        None,
        "Simulations per move (default 10,000 if there is no other limit).",
        least=1,
        most=1_000_000_000,
        unit="simulations",
        public=True,
    )
    seconds: float | None = option(
        None, "Stop after this many seconds per move.", above=0, most=86_400, unit="s", public=True
    )
    clock: Literal["wall", "cpu"] = option(
        "wall", "Measure seconds as wall-clock time, or as CPU time of the process (Arya)."
    )
    c: float | None = option(
        None,
        "Exploration constant in mean + c * sqrt(log N / n), for results on the chosen scale "
        f"(default {ROLLOUTS_C}, with leaves=patterns {PATTERNS_C}).",
        least=0,
        most=1000,
        public=True,
    )
    ucb: Literal["standard", "log-ratio"] = option(
        "standard",
        "Exploration term: standard, or c * sqrt(log(N / n)) (log-ratio, Vannucci & Abril).",
        public=True,
    )
    scale: Literal["signed", "wins"] = option(
        "signed", "Scale of results: -1 to +1 (signed) or 0 to 1 (wins).", public=True
    )
    draw: float | None = option(
        None,
        "Result of a draw for both sides, on that scale (default: the middle).",
        least=-1,
        most=1,
        public=True,
    )
    expansion: Literal["one", "all"] = option(
        "one",
        "Children to create at once: one, or all with a rollout from a random one (Bhat).",
        public=True,
    )
    terminal: Literal["proper", "past-wins"] = option(
        "proper",
        "End of a game: at a win, or play continues past wins and the first line from the top left "
        "decides (past-wins, Bhat).",
        public=True,
    )
    ties: Literal["first", "last", "random"] = option(
        "random",
        "Break ties between columns during the search, untried ones included.",
        public=True,
        aliases=("tie",),
    )
    final: Literal["visits", "mean", "sample"] = option(
        "visits",
        "Play the most visited column, the best mean, or a sample by visits ** (1 / temperature).",
        public=True,
    )
    final_ties: Literal["first", "last", "random"] = option(
        "first", "Break ties between columns to play.", public=True, aliases=("final_tie",)
    )
    temperature: float = option(
        1.0, "Temperature for final=sample; higher is more random.", above=0, most=1000, public=True
    )
    opponent: Literal["player", "random", "random-frozen", "negamax", "negamax-random-ties"] = (
        option(
            "player",
            "Model of the other side: a player that maximises, too, or a part of the transition. "
            "random samples a reply at every visit; the other three fix one reply per node.",
            public=True,
        )
    )
    credit: Literal["winner", "leaf"] = option(
        "winner",
        "Credit a decided rollout to its winner, or always to the side that moved to the leaf "
        "(Arya).",
        public=True,
    )
    draw_credit: Literal["both", "leaf"] = option(
        "both",
        "Count a drawn rollout as a draw for both sides, or as a win for the side that moved to "
        "the leaf (Arya).",
        public=True,
    )
    rollouts: Literal["uniform", "wins-and-blocks"] = option(
        "wins-and-blocks",
        "Rollout moves: uniformly random, or win at once, else block, else random.",
        public=True,
    )
    leaves: Literal["rollouts", "patterns"] = option(
        "rollouts",
        "What a new leaf is worth: the result of a rollout, or its value by a pattern network, "
        "after forced replies.",
    )
    file: str | None = option(
        None,
        "File of `fourlab train patterns` for leaves=patterns (default: the patterns that come "
        "with Fourlab for the board).",
    )
    proofs: bool = option(
        True,
        "Prove wins, draws and losses, and do not search proven columns again.",
        public=True,
        aliases=("solver",),
    )
    transpositions: bool = option(False, "Share one node between transpositions.", public=True)
    reuse: Literal["none", "moves", "games"] = option(
        "none",
        "Keep the tree between moves, or one tree for all games from the empty board (SeWell).",
    )
    memory_mb: int = option(
        1024,
        "Maximum size of a tree; a full tree stops growing, the search continues.",
        least=1,
        most=1_000_000,
        unit="MB",
        aliases=("memory",),
    )
    runs: int = option(
        1,
        "Number of independent searches to average (Vannucci & Abril).",
        least=1,
        most=10_000,
        unit="searches",
    )
    threads: int = option(
        1,
        "Number of threads: for several runs, or on one tree with virtual losses.",
        least=1,
        most=256,
        unit="threads",
    )
    # By the position at the root: one tree, or with reuse=games one for either side's first choice.
    # A dict, since the fields of a frozen class stay the same.
    _kept: dict[Position, SearchTree] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    # At most one pool. Its threads wait between moves: starting them takes as long as dozens of
    # simulations. They end with `close`, with the agent, or with the program.
    _pools: list[ThreadPoolExecutor] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        check(self)
        check_together(self)
        is_shared = self.threads > 1 and self.runs == 1
        if self.leaves == "rollouts":
            (_load_shared_kernels if is_shared else _load_kernels)()
        else:
            (_load_shared_pattern_kernels if is_shared else _load_pattern_kernels)()

    def close(self) -> None:
        """End the threads; another search starts new ones."""
        while self._pools:
            self._pools.pop().shutdown()

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Search, then choose a column."""
        position = unfinished(position)
        rng = generator(rng)
        return self._search(position, limit, rng, traced=False, watch=None).decision

    def search(
        self,
        position: Position,
        limit: Limit,
        rng: np.random.Generator,
        watch: Callable[[Snapshot], None] | None = None,
    ) -> SearchResult:
        """Search and return the trees, too; `watch` is called with snapshots of the root."""
        return self._search(unfinished(position), limit, rng, traced=True, watch=watch)

    def _search(
        self,
        position: Position,
        limit: Limit,
        rng: np.random.Generator,
        traced: bool,
        watch: Callable[[Snapshot], None] | None,
    ) -> SearchResult:
        """Search; a traced search takes snapshots on the way, which costs time."""
        if self.opponent.startswith("negamax") and position.rules.columns > NEGAMAX_COLUMNS:
            raise UserError(
                f"opponent={self.opponent} is for boards of at most {NEGAMAX_COLUMNS} columns, "
                f"not {position.rules}"
            )
        # Two seeds, so that breaking final ties does not change the search.
        search_seed, choice_seed = rng.integers(2**63, size=2).tolist()
        budget = self._budget(limit)
        blocks = min(self._room(position), budget.max_blocks(self._blocks_per_simulation))
        if self.runs == 1:
            trees = [self._tree(position, blocks, budget)]
            trace = self._search_one(trees[0], budget, search_seed, traced, watch)
            columns = tuple(trees[0].columns())
        else:
            runs = search_runs(
                lambda: self._new_tree(position, blocks),
                budget,
                self.runs,
                self.threads,
                search_seed,
                self._pool,
            )
            trees = [run.tree for run in runs]
            trace = [run.tree.snapshot(run.budget.done) for run in runs] if traced else []
            columns = averaged([run.columns for run in runs])
        chosen = self._choose(columns, choice_seed)
        return SearchResult(
            decision(chosen, columns, trees, budget.done, budget.elapsed()),
            columns,
            tuple(trees),
            tuple(trace),
        )

    @property
    def _blocks_per_simulation(self) -> int:
        """Return the blocks a simulation may need; a reply in the transition takes one, too."""
        return 1 if self.opponent == "player" else 2

    def _budget(self, limit: Limit) -> Budget:
        """Return the budget of one run.

        The agent's own simulations are per run; those of the limit are for all runs together. A
        tree starts with two blocks.
        """
        counts = [] if self.simulations is None else [self.simulations]
        if limit.simulations is not None:
            counts.append(max(limit.simulations // self.runs, 1))
        if limit.nodes is not None:
            blocks = limit.nodes // self.runs - 2
            counts.append(max(blocks // self._blocks_per_simulation, 1))
        times = [seconds for seconds in (self.seconds, limit.seconds) if seconds is not None]
        if not counts and not times and limit.stop is None:
            counts = [DEFAULT_SIMULATIONS]
        # The option `clock` is for the agent's own seconds; those of a limit are wall-clock time.
        by_cpu = self.clock == "cpu" and self.seconds is not None
        return Budget(
            simulations=min(counts, default=None),
            seconds=self.seconds if by_cpu else min(times, default=None),
            stop=limit.stop,
            clock=time.process_time if by_cpu else time.perf_counter,
            wall_seconds=limit.seconds if by_cpu else None,
        )

    def switches(self) -> verbs.Switches:
        """Return the settings of the kernel: results from -1 to +1, draws in points."""
        c = self.c
        if c is None:
            c = ROLLOUTS_C if self.leaves == "rollouts" else PATTERNS_C
        # A mean m from 0 to 1 is 2 * m - 1 here. With a c twice as large the whole bound is scaled
        # in the same way, so the same columns are selected.
        return verbs.Switches(
            c=c if self.scale == "signed" else 2 * c,
            log_ratio=self.ucb == "log-ratio",
            expand_all=self.expansion == "all",
            past_wins=self.terminal == "past-wins",
            won=verbs.POINTS if self.leaves == "rollouts" else verbs.WON,
            draw=int(self.draw_points()),
            draw_leaf_wins=self.draw_credit == "leaf",
            leaf_wins=self.credit == "leaf",
            tie=TIES[self.ties],
            opponent=OPPONENTS[self.opponent],
            random_ties=self.opponent == "negamax-random-ties",
            wins_and_blocks=self.rollouts == "wins-and-blocks",
            solver=self.proofs,
            shared=self.threads > 1 and self.runs == 1,
        )

    def draw_points(self) -> float:
        """Return the points of a draw, where a win is +POINTS and a loss -POINTS."""
        if self.draw is None:
            return 0.0
        # From 0 to 1 on the scale of wins is from -1 to +1 here.
        signed = self.draw if self.scale == "signed" else 2 * self.draw - 1
        return signed * verbs.POINTS

    def _new_tree(self, position: Position, blocks: int) -> SearchTree:
        """Return a new tree of this many blocks."""
        patterns = None
        if self.leaves == "patterns":
            # Here, since exported files contain what a module imports, and have no patterns.
            from fourlab.nets.patterns import load_for

            patterns = load_for(position.rules, self.file).patterns
        return SearchTree(position, self.switches(), blocks, self.transpositions, patterns)

    def _tree(self, position: Position, blocks: int, budget: Budget) -> SearchTree:
        """Return a new tree of this many blocks, or the one kept from earlier moves or games."""
        if self.reuse == "none":
            return self._new_tree(position, blocks)
        if self.reuse == "games":
            whole = self._kept_for_games(position)
            # A position outside the kept tree, or a full tree: search a tree for this move only.
            return whole.descend(position) or self._new_tree(position, blocks)
        kept = next(iter(self._kept.values()), None)
        if kept is None or not kept.move_root(position) or not kept.prune(budget.is_over):
            # A tree that is kept needs space for later moves.
            kept = self._new_tree(position, self._room(position))
        self._kept.clear()
        self._kept[position] = kept
        return kept

    def _kept_for_games(self, position: Position) -> SearchTree:
        """Return the tree that is kept for all games like that of a position."""
        start = self._start(position)
        if start not in self._kept:
            room = self._room(position)
            if self.opponent != "player":
                # As second player, there is one tree for each first move of the opponent.
                room //= 1 + position.rules.columns
            if any(kept.rules != start.rules or kept.moves is None for kept in self._kept):
                # Another board, or a position without its game: these trees are not needed again.
                self._kept.clear()
            self._kept[start] = self._new_tree(start, room)
        return self._kept[start]

    @property
    def remembers(self) -> bool:
        """Whether the tree is kept from game to game."""
        return self.reuse == "games"

    def _room(self, position: Position) -> int:
        """Return how many blocks fit into the memory."""
        # Three int32 per column; with transpositions also up to four slots of two int64 and two
        # int32 per block.
        block_bytes = 12 * position.rules.columns + (72 if self.transpositions else 0)
        if self.reuse == "moves":
            block_bytes += 4  # pruning takes an int32 per block
        return self.memory_mb * 2**20 // block_bytes

    def _start(self, position: Position) -> Position:
        """Return the root of the tree for all games.

        It is the empty board, or our first move if the opponent is part of the transition.
        """
        if position.moves is None:
            return position
        start = Position(board=position.rules)
        if self.opponent != "player":
            for column in position.moves[: len(position.moves) % 2]:
                start = start.play(column)
        return start

    def _search_one(
        self,
        tree: SearchTree,
        budget: Budget,
        seed: int,
        traced: bool,
        watch: Callable[[Snapshot], None] | None,
    ) -> list[Snapshot]:
        """Search one tree with all threads; returns its snapshots if the search is traced."""
        trace: list[Snapshot] = []

        def snap() -> None:
            trace.append(tree.snapshot(budget.done))
            if watch is not None:
                watch(trace[-1])

        # This thread searches, too, and it alone takes the snapshots.
        own, *others = seed_states(seed, self.threads)
        helpers = list[Future[None]]()
        try:
            for state in others:
                helpers.append(self._pool().submit(budget.spend, tree, state, None))
            budget.spend(tree, own, snap if traced else None)
        except BaseException:
            budget.finished = True  # an interrupt ends the helpers, too
            raise
        finally:
            # A helper that has not begun by now has nothing left to do.
            wait([helper for helper in helpers if not helper.cancel()])
        for helper in helpers:
            if not helper.cancelled():
                helper.result()  # raises what the helper raised
        if traced and (not trace or trace[-1].simulations != budget.done):
            snap()
        return trace

    def _pool(self) -> ThreadPoolExecutor:
        """Return the threads of this agent."""
        if not self._pools:
            # The thread that asks for a move searches, too.
            self._pools.append(ThreadPoolExecutor(self.threads - 1, "search"))
        return self._pools[0]

    def _choose(self, columns: tuple[ColumnAnalysis, ...], seed: int) -> ColumnAnalysis:
        """Choose the column to play."""
        if self.proofs:
            columns = candidates(columns)
        if self.final == "sample":
            # Softmax of the logarithms, which does not overflow at low temperatures. Below 1e-6 the
            # most visited column has all the weight in any case.
            temperature = max(self.temperature, 1e-6)
            logs = np.log([max(column.visits, 1e-9) for column in columns]) / temperature
            weights = np.exp(logs - logs.max())
            chosen = np.random.default_rng(seed).choice(len(columns), p=weights / weights.sum())
            return columns[int(chosen)]
        if self.final == "mean":
            scores = [-math.inf if column.value is None else column.value for column in columns]
        else:
            scores = [float(column.visits) for column in columns]
        highest = max(scores)
        best = [column for column, score in zip(columns, scores, strict=True) if score == highest]
        if self.final_ties == "random":
            return best[int(np.random.default_rng(seed).integers(len(best)))]
        return best[0] if self.final_ties == "first" else best[-1]
