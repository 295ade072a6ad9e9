"""Monte Carlo tree search: the heart of all five documents, every variant a setting."""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Exact, Limit
from fourlab.agents.generators import generator
from fourlab.agents.mcts import kernel as mcts
from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.tree import SearchTree, candidates
from fourlab.agents.mcts.xray import Snapshot, marks
from fourlab.compiled.random import seed_states
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.options import check, option

DEFAULT_SIMULATIONS = 10_000
CHUNK_SECONDS = 0.001
"""Compiled code cannot be interrupted, so a search runs in pieces of about this length and looks at the clock between."""
MAX_CHUNK = 1 << 16
TIES = {"first": verbs.FIRST, "last": verbs.LAST, "random": verbs.ANY}
OPPONENTS = {
    "player": verbs.PLAYER,
    "random": verbs.RANDOM,
    "random-frozen": verbs.FROZEN,
    "negamax": verbs.NEGAMAX,
    "negamax-random-ties": verbs.NEGAMAX,
}


@dataclass(frozen=True)
class Result:
    """All that a search found; `decision` is what an agent returns."""

    decision: Decision
    columns: tuple[ColumnAnalysis, ...]
    trees: tuple[SearchTree, ...]
    """One per run; `tree.columns(path)` walks it."""
    snapshots: "tuple[_RawSnapshot, ...]"

    @cached_property
    def trace(self) -> tuple[Snapshot, ...]:
        """How the search converged: the root at growing numbers of simulations; of several runs, the end of each."""
        return tuple(each.read() for each in self.snapshots)

    def look(self, path: tuple[int, ...]) -> list[ColumnAnalysis]:
        """The columns after a path from the root; of several runs, in the first."""
        return self.trees[0].columns(path)


@dataclass(frozen=True)
class _RawSnapshot:
    """A snapshot as the search takes it, to be read later if anybody wants to."""

    simulations: int
    numbers: np.ndarray
    tree: SearchTree

    def read(self) -> Snapshot:
        return Snapshot(self.simulations, tuple(self.tree.decode(self.numbers, self.simulations)), self.tree.geometry.columns)


@dataclass(frozen=True)
class MCTS:
    """Monte Carlo tree search (UCT), compiled; proves wins and losses as it goes."""

    kernels: ClassVar[tuple[str, ...]] = ("tree search",)
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    simulations: int | None = option(
        None,
        "Simulations a move (10,000 if neither this nor any other bound is given).",
        least=1,
        most=1_000_000_000,
        unit="simulations",
        public=True,
    )
    seconds: float | None = option(None, "Seconds a move.", above=0, unit="s", public=True)
    clock: Literal["wall", "cpu"] = option("wall", "Which seconds: those on the wall, or CPU time of the process (document 004).")
    c: float = option(
        1.4, "Exploration: the bound is mean + c * sqrt(log N / n), for results on the chosen scale.", least=0, public=True
    )
    ucb: Literal["standard", "log-ratio"] = option("standard", "log-ratio: document 000's c * sqrt(log(N / n)).", public=True)
    scale: Literal["signed", "wins"] = option("signed", "Results from -1 to +1, or from 0 to 1.", public=True)
    draw: float | None = option(
        None, "What a draw is worth to both sides on that scale; by default the middle.", least=-1, most=1, public=True
    )
    expansion: Literal["one", "all"] = option(
        "one", "all: document 001 makes all children of a new node and rolls out from one of them.", public=True
    )
    terminal: Literal["proper", "past-wins"] = option(
        "proper", "past-wins: document 001 plays on after a win and lets the first line from the top left decide.", public=True
    )
    tie: Literal["first", "last", "random"] = option(
        "random", "Which of equally good columns the search follows, untried ones included.", public=True
    )
    final: Literal["visits", "mean", "sample"] = option(
        "visits", "Which column is played: most visited, best mean, or drawn by visits ** (1 / temperature).", public=True
    )
    final_tie: Literal["first", "last", "random"] = option("first", "Which of equally good columns is played.", public=True)
    temperature: float = option(1.0, "For final=sample.", above=0, public=True)
    opponent: Literal["player", "random", "random-frozen", "negamax", "negamax-random-ties"] = option(
        "player",
        "player: the other side maximises too. Else it is part of the transition: random at "
        "every pass, or a reply kept for good.",
        public=True,
    )
    credit: Literal["winner", "leaf"] = option(
        "winner", "leaf: document 004 credits every decided rollout to the side that moved to the leaf.", public=True
    )
    draw_credit: Literal["both", "leaf"] = option(
        "both", "leaf: document 004 counts a drawn rollout as a win for the side that moved to the leaf.", public=True
    )
    rollouts: Literal["uniform", "wins-and-blocks"] = option(
        "wins-and-blocks", "wins-and-blocks: rollouts win at once if they can, else block.", public=True
    )
    solver: bool = option(True, "Prove wins, draws and losses and never search them again.", public=True)
    transpositions: bool = option(False, "Merge positions that are reached in several ways.", public=True)
    reuse: Literal["none", "moves", "games"] = option(
        "none", "Keep the tree from move to move, or one tree for all games from the empty board (document 003)."
    )
    memory: int = option(
        1024, "Megabytes a tree may take; a full tree stops growing and the search goes on from its leaves.", least=1, unit="MB"
    )
    runs: int = option(
        1, "Independent searches whose statistics are averaged (document 000).", least=1, most=10_000, unit="searches"
    )
    threads: int = option(
        1, "Threads: for several runs, or on one shared tree with virtual losses.", least=1, most=256, unit="threads"
    )
    _kept: dict[str, SearchTree] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        low = -1.0 if self.scale == "signed" else 0.0
        if self.draw is not None and not low <= self.draw <= 1:
            raise UserError(f"a draw is worth {low:g} to 1 on the scale {self.scale}, not {self.draw:g}")
        if not self._draw_points().is_integer():
            raise UserError(f"a draw must be worth a whole number of quarters, not {self.draw:g}")
        adversarial = self.opponent == "player" and self.terminal == "proper" and self.credit == "winner"
        if self.solver and not adversarial:
            raise UserError("solver=1 proves play between two players who both know when a game is won; say solver=0 here")
        if self.opponent != "player" and self.rollouts != "uniform":
            raise UserError("rollouts=wins-and-blocks would play the opponent's side too; say rollouts=uniform here")
        if self.expansion == "all" and self.opponent != "player":
            raise UserError("expansion=all goes with opponent=player")
        plain = adversarial and self.expansion == "one" and self.draw_credit == "both"
        if self.threads > 1 and self.runs == 1 and not plain:
            raise UserError("threads on one tree go with opponent=player, expansion=one and no document's fault; use runs")
        if self.transpositions and (
            self.threads > 1 or self.reuse != "none" or self.opponent != "player" or self.expansion == "all"
        ):
            raise UserError("transpositions=1 goes with threads=1, reuse=none, opponent=player and expansion=one")
        if self.reuse != "none" and self.runs > 1:
            raise UserError("reuse goes with runs=1")
        _load_kernels(shared=self.threads > 1 and self.runs == 1)

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Search, then choose."""
        rng = generator(rng)
        return self._search(position, limit, rng, traced=False, watch=None).decision

    def search(
        self,
        position: Position,
        limit: Limit,
        rng: np.random.Generator,
        watch: Callable[[Snapshot], None] | None = None,
    ) -> Result:
        """Search and return everything found; `watch` is called with each snapshot as it is taken."""
        return self._search(position, limit, rng, traced=True, watch=watch)

    def _search(
        self,
        position: Position,
        limit: Limit,
        rng: np.random.Generator,
        traced: bool,
        watch: Callable[[Snapshot], None] | None,
    ) -> Result:
        """Search; snapshots on the way take time, so they are taken only if somebody wants them."""
        seeds = rng.integers(2**63, size=2).tolist()
        budget = _Budget(self, limit)
        blocks = min(self._room(position), budget.most_blocks(self.opponent != "player"))
        if self.runs == 1:
            trees = [self._tree(position, blocks)]
            trace = self._grow_together(trees[0], budget, seeds[0], traced, watch)
        else:
            trees = [SearchTree(position, self.switches(), blocks, self.transpositions) for _ in range(self.runs)]
            trace = self._grow_apart(trees, budget, seeds[0])
        columns = _averaged(trees)
        column = self._choose(columns, seeds[1])
        decision = self._decision(position, column, columns, trees, budget)
        return Result(decision, columns, tuple(trees), tuple(trace))

    def switches(self) -> verbs.Switches:
        """The settings as the kernel wants them: results from -1 to +1, draws in points."""
        return verbs.Switches(
            c=self.c if self.scale == "signed" else 2 * self.c,
            log_ratio=self.ucb == "log-ratio",
            expand_all=self.expansion == "all",
            past_wins=self.terminal == "past-wins",
            draw=int(self._draw_points()),
            draw_leaf_wins=self.draw_credit == "leaf",
            leaf_wins=self.credit == "leaf",
            tie=TIES[self.tie],
            opponent=OPPONENTS[self.opponent],
            random_ties=self.opponent == "negamax-random-ties",
            wins_and_blocks=self.rollouts == "wins-and-blocks",
            solver=self.solver,
            shared=self.threads > 1 and self.runs == 1,
        )

    def _draw_points(self) -> float:
        if self.draw is None:
            return 0.0
        signed = self.draw if self.scale == "signed" else 2 * self.draw - 1
        return signed * verbs.POINTS

    def _tree(self, position: Position, blocks: int) -> SearchTree:
        """A new tree, or the one kept from earlier moves or games."""
        if self.reuse == "none":
            return SearchTree(position, self.switches(), blocks, self.transpositions)
        room = self._room(position)  # later moves need it too
        if self.reuse == "games":
            start = self._start(position)
            if self._kept.get("tree") is None or self._kept["tree"].position != start:
                self._kept["tree"] = SearchTree(start, self.switches(), room)
            return self._kept["tree"].descend(position) or SearchTree(position, self.switches(), blocks)
        kept = self._kept.get("tree")
        if kept is not None and kept.move_root(position):
            kept.forget_the_rest()
        else:
            kept = SearchTree(position, self.switches(), room)
        self._kept["tree"] = kept
        return kept

    def _room(self, position: Position) -> int:
        """How many blocks fit into the memory, with four slots of the table for each where transpositions are merged."""
        a_block = 12 * position.rules.columns + (72 if self.transpositions else 0)
        return self.memory * 2**20 // a_block

    def _start(self, position: Position) -> Position:
        """Where the tree of all games begins: at the empty board, or at our first move if the opponent is no player."""
        if position.moves is None:
            return position
        start = Position(board=position.rules)
        if self.opponent != "player":
            for column in position.moves[: len(position.moves) % 2]:
                start = start.play(column)
        return start

    def _grow_together(
        self,
        tree: SearchTree,
        budget: "_Budget",
        seed: int,
        traced: bool,
        watch: Callable[[Snapshot], None] | None,
    ) -> list[_RawSnapshot]:
        """Search one tree with all threads, taking snapshots on the way if the search is traced."""
        trace: list[_RawSnapshot] = []

        def snap() -> None:
            trace.append(_RawSnapshot(budget.done, tree.snapshot(), tree))
            if watch is not None:
                watch(trace[-1].read())

        states = seed_states(seed, self.threads)
        snap_sometimes = snap if traced else None
        if self.threads == 1:
            budget.spend(tree, states[0], snap_sometimes)
        else:
            others = [threading.Thread(target=budget.spend, args=(tree, state, None)) for state in states[1:]]
            try:
                for other in others:
                    other.start()
                budget.spend(tree, states[0], snap_sometimes)
            except BaseException:
                budget.finished = True  # an interrupt must end the others too
                raise
            finally:
                for other in others:
                    if other.ident is not None:  # an interrupt may have come before it was started
                        other.join()
        if not trace or trace[-1].simulations != budget.done:
            snap()
        return trace

    def _grow_apart(self, trees: list[SearchTree], budget: "_Budget", seed: int) -> list[_RawSnapshot]:
        """Search every tree by itself with the whole budget of simulations; a snapshot a run."""
        budgets = [budget.share(self.runs, self.threads) for _ in trees]
        jobs = zip(trees, budgets, seed_states(seed, self.runs), strict=True)
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                list(pool.map(lambda job: job[1].spend(job[0], job[2], None), jobs))
            except BaseException:
                for each in budgets:
                    each.finished = True
                raise
        budget.done = sum(each.done for each in budgets)
        return [_RawSnapshot(each.done, tree.snapshot(), tree) for tree, each in zip(trees, budgets, strict=True)]

    def _choose(self, columns: tuple[ColumnAnalysis, ...], seed: int) -> ColumnAnalysis:
        """Choose the column to play."""
        if self.solver:
            columns = candidates(columns)
        if self.final == "sample":
            logs = np.log([max(each.visits, 1e-9) for each in columns]) / self.temperature
            weights = np.exp(logs - logs.max())
            chosen = np.random.default_rng(seed).choice(len(columns), p=weights / weights.sum())
            return columns[int(chosen)]
        if self.final == "mean":
            worth = [-math.inf if each.value is None else each.value for each in columns]
        else:
            worth = [float(each.visits) for each in columns]
        greatest = max(worth)
        best = [each for each, value in zip(columns, worth, strict=True) if value == greatest]
        if self.final_tie == "random":
            return best[int(np.random.default_rng(seed).integers(len(best)))]
        return best[0] if self.final_tie == "first" else best[-1]

    def _decision(
        self,
        position: Position,
        chosen: ColumnAnalysis,
        columns: tuple[ColumnAnalysis, ...],
        trees: list[SearchTree],
        budget: "_Budget",
    ) -> Decision:
        visits = sum(each.visits for each in columns)
        shares = {each.column: each.visits / visits for each in columns} if visits else {chosen.column: 1.0}
        proven = next((result for tree in trees if (result := tree.proven()) is not None), None)
        line = trees[0].line(chosen.column)
        visited = {each.column: each.visits for each in columns}
        analysis = Analysis(
            columns=columns,
            visits=tuple(visited.get(column, 0) for column in range(position.rules.columns)),
            simulations=budget.done,
            nodes=sum(tree.nodes for tree in trees),
            seconds=budget.elapsed(),
            memory_bytes=sum(tree.bytes for tree in trees),
        )
        return Decision(
            chosen.column,
            value=float(proven) if proven is not None else chosen.value,
            policy=tuple(shares.get(column, 0.0) for column in range(position.rules.columns)),
            analysis=analysis,
            line=line,
            proven=None if proven is None else Exact(proven),
        )


@lru_cache(maxsize=2)
def _load_kernels(shared: bool) -> None:
    """Load or compile the search before anybody's clock runs."""
    tree = SearchTree(Position(board="3x2x3"), verbs.Switches(shared=shared), 5)
    tree.search(1, 1, np.zeros(1, np.uint8))
    tree.forget_the_rest()


class _Budget:
    """How much searching is left; several threads may draw on it."""

    def __init__(self, agent: MCTS, limit: Limit) -> None:
        counts = [agent.simulations]  # per run, while a limit holds for all runs together
        if limit.simulations is not None:
            counts.append(max(limit.simulations // agent.runs, 1))
        if limit.nodes is not None:
            counts.append(max((limit.nodes // agent.runs - 2) // (1 if agent.opponent == "player" else 2), 1))
        times = [seconds for seconds in (agent.seconds, limit.seconds) if seconds is not None]
        given = [count for count in counts if count is not None]
        if not given and not times and limit.stop is None:
            given = [DEFAULT_SIMULATIONS]
        self.simulations = min(given) if given else None
        self.seconds = min(times) if times else None
        self.stop = np.zeros(1, np.uint8) if limit.stop is None else np.frombuffer(limit.stop.flag, np.uint8)
        self.clock = time.process_time if agent.clock == "cpu" else time.perf_counter
        self.started: float | None = self.clock()
        self.taken = self.done = 0
        self.finished = False
        self.lock = threading.Lock()

    def share(self, runs: int, threads: int) -> "_Budget":
        """The budget of one of several runs: all the simulations, but only its part of the time."""
        other = _Budget.__new__(_Budget)
        other.__dict__.update(self.__dict__, lock=threading.Lock(), started=None)
        if self.seconds is not None:
            other.seconds = self.seconds * min(threads, runs) / runs
        return other

    def elapsed(self) -> float:
        if self.started is None:  # a run's clock starts with the run
            self.started = self.clock()
        return self.clock() - self.started

    def most_blocks(self, two_a_simulation: bool) -> int:
        """More blocks than this the budget cannot fill."""
        if self.simulations is None:
            return 2**40 if self.seconds is None else int(self.seconds * 1e7) + 1000
        return self.simulations * (2 if two_a_simulation else 1) + 3

    def spend(self, tree: SearchTree, state: int, snap: Callable[[], None] | None) -> None:
        """Search in chunks until the budget is spent or the root is proven; `snap` is called at round counts."""
        largest = MAX_CHUNK if not tree.switches.shared else MAX_CHUNK // 32  # so that no thread waits long for another
        chunk = largest if self.seconds is None else 1
        counts = marks()
        mark = next(counts)
        self.elapsed()
        while not self.finished:
            with self.lock:
                wanted = chunk if self.simulations is None else min(chunk, self.simulations - self.taken)
                if snap is not None:
                    wanted = min(wanted, max(mark - self.taken, 1))
                self.taken += wanted
            if wanted <= 0:
                return
            before = time.perf_counter()
            done, why, state = tree.search(wanted, state, self.stop)
            spent = time.perf_counter() - before
            with self.lock:
                self.done += done
            out_of_time = self.seconds is not None and self.elapsed() >= self.seconds
            if why != mcts.RUNNING or out_of_time or tree.visits >= verbs.MOST_VISITS:
                self.finished = True
            if snap is not None and self.done >= mark:
                snap()
                while mark <= self.done:
                    mark = next(counts)
            if self.seconds is not None:
                chunk = min(_next_chunk(done, spent, self.seconds - self.elapsed()), largest)


def _next_chunk(done: int, spent: float, left: float) -> int:
    """As many simulations as take CHUNK_SECONDS, fewer towards the end, at most eight times the last."""
    rate = max(done, 1) / max(spent, 1e-7)
    return max(1, min(int(rate * min(CHUNK_SECONDS, max(left, 0.0))), 8 * max(done, 1), MAX_CHUNK))


def _averaged(trees: list[SearchTree]) -> tuple[ColumnAnalysis, ...]:
    """The columns of one tree, or of several: visits added, means averaged over the runs that visited."""
    if len(trees) == 1:
        return tuple(trees[0].columns())
    merged = []
    for together in zip(*(tree.columns() for tree in trees), strict=True):
        means = [each.value for each in together if each.value is not None]
        bounds = [each.bound for each in together if each.bound is not None]
        merged.append(
            ColumnAnalysis(
                together[0].column,
                sum(each.visits for each in together),
                sum(means) / len(means) if means else None,
                sum(bounds) / len(bounds) if bounds else None,
                proven=next((each.proven for each in together if each.proven is not None), None),
            )
        )
    return tuple(merged)
