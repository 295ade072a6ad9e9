"""AlphaMCTS: tree search guided by a network that was trained by self-play."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Exact, Limit, Snapshot
from fourlab.agents.alphazero import forest_kernel
from fourlab.agents.alphazero.choosing import FIXES, Switches
from fourlab.agents.alphazero.forest import NO_POLICY, ForestSearch, Roots
from fourlab.agents.generators import generator
from fourlab.agents.mcts import nodes
from fourlab.agents.mcts.xray import marks
from fourlab.compiled._jit import IS_COMPILED
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluator, evaluate_checked
from fourlab.game.outcome import Result
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.game.rules import Rules
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.loading import load
from fourlab.options import check, option

DEFAULT_SIMULATIONS = 600
MOST_SIMULATIONS = 2_000_000
"""Simulations for which a tree has room, whatever the limits say."""
# 40 bytes each on seven columns (leaves.Cache), 0.7 MB in all.
CACHE = 1 << 14
"""Evaluations remembered during a search."""
FIRST_PLAN = 64
"""If the budget is unknown, plan for this many simulations, then replan after half of them."""

_load_kernels = cache(forest_kernel.warm_up)
"""Compile or load the kernels before the clock of a move starts."""


@dataclass(frozen=True)
class Searched:
    """A finished search; `decision` is what an agent returns."""

    decision: Decision
    forest: ForestSearch
    trace: tuple[Snapshot, ...] = ()
    """The root at growing numbers of simulations."""

    def look(self, path: tuple[int, ...]) -> list[ColumnAnalysis]:
        """Return the columns after a path from the root; empty if the search did not get there."""
        node = self.forest.node_after(path)
        return [] if node is None else _columns(node)


@dataclass(frozen=True)
class AlphaZero:
    """Tree search guided by a network that was trained by self-play."""

    kernels: ClassVar[tuple[str, ...]] = ("network search", "planes")
    """The kernel groups (fourlab.compiled.warmup) that the search needs."""
    learned: ClassVar[bool] = True
    """The agent plays only on the board it was trained on (fourlab.agent.Learned)."""
    net: str = option(
        "alphazero",
        "Network: a name shipped with Fourlab, an ONNX file from `fourlab train alphazero`, "
        "`patterns`, or a file from `fourlab train patterns`.",
    )
    simulations: int | None = option(
        None,
        "Maximum number of simulations per move (600 if there is no other limit); 0 plays by the "
        "network's policy alone.",
        least=0,
        most=1_000_000_000,
        unit="simulations",
        public=True,
    )
    seconds: float | None = option(
        None, "Time limit per move in seconds.", above=0, most=86_400, unit="s", public=True
    )
    method: Literal["gumbel", "puct"] = option(
        "gumbel",
        "Selection rule: gumbel (sequential halving at the root, improved policy below) or puct "
        "(AlphaZero's upper confidence bound).",
        public=True,
    )
    scale: float = option(0.3, "Weight of values against priors (gumbel).", least=0, most=1000)
    c: float = option(
        2.0,
        "Exploration constant in (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n) (puct).",
        least=0,
        most=1000,
        public=True,
    )
    fpu: float = option(
        0.2,
        "First-play urgency: an unvisited column is assumed to be this much worse than its "
        "position (puct).",
        least=0,
        most=10,
        public=True,
    )
    batch: int = option(
        16,
        "Maximum number of leaves per network call; 1 searches strictly one by one, more is "
        "faster.",
        least=1,
        most=1024,
        unit="positions",
        public=True,
        public_most=64,
    )
    reuse: bool = option(False, "Keep the search tree from move to move.")
    proofs: bool = option(
        True,
        "Detect immediate wins and forced replies on the board, and back up proven results.",
        public=True,
        aliases=("proving",),
    )
    solver_nodes: int = option(
        300,
        "Maximum number of solver nodes per leaf; only leaves that take more are evaluated by the "
        "network. 0 does without the solver, and so does faithful=1.",
        least=0,
        most=1_000_000,
        unit="nodes",
        public=True,
        public_most=1000,
    )
    temperature: float = option(
        0.0,
        "Sample columns in proportion to policy ** (1 / temperature); 0 plays the best one.",
        least=0,
        most=1000,
        public=True,
    )
    faithful: bool = option(
        False,
        "Reproduce Arya's PUCT with its faults, one simulation at a time (puct, without fpu); with "
        "proofs=0 the network also evaluates finished games at first.",
        public=True,
    )
    fixed: Literal["nothing", "priors", "finished", "unvisited"] = option(
        "nothing",
        "Correct one fault of faithful=1: priors of columns that are open at the root only, "
        "finished games that the network evaluates, or unvisited columns that count as even.",
    )
    evaluator: Evaluator | None = field(default=None, repr=False, compare=False)
    """An evaluator to use instead of `net`, for programs."""
    _checked_boards: set[Rules] = field(default_factory=set, init=False, repr=False, compare=False)
    # The last search, under the key "search", with the position at its root.
    _kept: dict[str, "tuple[Position, ForestSearch]"] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        check(self)
        if self.fixed != "nothing" and not self.faithful:
            raise UserError("fixed is for faithful=1, whose faults it corrects")
        evaluator = load(self.net) if self.evaluator is None else self.evaluator
        if isinstance(evaluator, NetworkEvaluator) and evaluator.network.purpose in ("value", "q"):
            name = self.net if self.evaluator is None else "the network"
            raise UserError(
                f"{name} has no policy and value; fourlab train alphazero makes such networks"
            )
        object.__setattr__(self, "evaluator", evaluator)
        _load_kernels()

    def _check_evaluator(self, position: Position) -> None:
        """Evaluate one position per board, so that an unsuitable evaluator is refused early."""
        assert self.evaluator is not None
        if position.rules in self._checked_boards:
            return
        if evaluate_checked(self.evaluator, Batch.of([position])).logits is None:
            raise UserError(NO_POLICY)
        self._checked_boards.add(position.rules)

    @property
    def _gumbel(self) -> bool:
        return self.method == "gumbel" and not self.faithful

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Search until a limit is reached or the position is proven, then play the best column."""
        position = unfinished(position)
        return self._search(position, limit, generator(rng), None).decision

    def search(
        self,
        position: Position,
        limit: Limit,
        rng: np.random.Generator,
        watch: Callable[[Snapshot], None] | None = None,
    ) -> Searched:
        """Search and return the whole result; call `watch` with every snapshot as it is taken."""
        trace: list[Snapshot] = []

        def on_snapshot(snapshot: Snapshot) -> None:
            trace.append(snapshot)
            if watch is not None:
                watch(snapshot)

        search = self._search(unfinished(position), limit, rng, on_snapshot)
        return replace(search, trace=tuple(trace))

    def _search(
        self,
        position: Position,
        limit: Limit,
        rng: np.random.Generator,
        on_snapshot: Callable[[Snapshot], None] | None,
    ) -> Searched:
        started = time.perf_counter()
        self._check_evaluator(position)
        budget, seconds = limit.bounds(self.simulations, self.seconds, DEFAULT_SIMULATIONS)
        most = MOST_SIMULATIONS if budget is None else min(budget, MOST_SIMULATIONS)
        search = self._new_search(position, most, seconds is not None)
        done, goal = search.forest.trees.done, search.forest.trees.goal
        # The first simulation of a new tree only evaluates the root.
        goal[0] = done[0] + (0 if search.forest.nodes.used[0] else 1)
        search.step()
        # `done` includes the simulations of a kept subtree; `made` counts those of this move.
        begun = int(done[0])
        made = 0
        snapshot_counts = marks()
        next_snapshot = next(snapshot_counts)
        # With a clock or without any budget, Gumbel search replans as its pace becomes known.
        replans = seconds is not None or budget is None
        replan_at = FIRST_PLAN // 2
        search.plan(begun + (min(most, FIRST_PLAN) if replans else most))
        while (
            not search.forest.trees.proof[0]
            and made < most
            and not (limit.stop and limit.stop.is_set())
        ):
            # A small tree has few leaves worth a visit, so batches grow with it.
            walks = min(self.batch, 1 + int(done[0]) // 8, most - made)
            if self.faithful:
                walks = 1
            if seconds is not None and time.perf_counter() - started >= seconds:
                break
            goal[0] = done[0] + walks
            search.leaves = walks
            search.step()
            made = int(done[0]) - begun
            if replans and made >= replan_at:
                # Without a clock the plan doubles; with one it is what the pace so far gives in all
                # the time.
                ahead = 2.0
                if seconds is not None:
                    ahead = seconds / (time.perf_counter() - started)
                search.plan(begun + min(most, int(made * max(ahead, 1.0))))
                replan_at = 2 * made
            if on_snapshot is not None and made >= next_snapshot:
                on_snapshot(_snapshot(search, made))
                while next_snapshot <= made:
                    next_snapshot = next(snapshot_counts)
        if self.reuse:
            self._kept["search"] = (position, search)
        if on_snapshot is not None:
            on_snapshot(_snapshot(search, made))
        elapsed = time.perf_counter() - started
        return Searched(self._decision(position, search, made, elapsed, rng), search)

    def _new_search(self, position: Position, most: int, timed: bool) -> ForestSearch:
        """Return a new search with room for `most` simulations more than the subtree it reuses."""
        assert self.evaluator is not None
        # Without simulations the network's policy plays, not what can be read off the board.
        proving = self.proofs and most > 0
        # In plain Python the solver is slower than a network.
        is_slow = timed and not IS_COMPILED
        solver_nodes = 0 if self.faithful or is_slow else self.solver_nodes
        # No noise (0.0): that is for exploration in self-play.
        switches = Switches(
            self._gumbel,
            self.c,
            self.scale,
            self.fpu,
            0.0,
            proving,
            self.faithful,
            FIXES[self.fixed],
            solver_nodes,
        )
        kept = self._kept.get("search")
        block = None if kept is None else _find(*kept, position)
        blocks = 0 if kept is None or block is None else int(kept[1].forest.nodes.used[0])
        # `_search` plans as soon as it knows a number; planning for 2,000,000 would take 64 MB.
        search = ForestSearch(
            self.evaluator,
            position.rules,
            1,
            max(most, 1) + blocks,
            switches,
            self.batch,
            CACHE,
            plan=1,
        )
        search.reset(np.array([position.own]), np.array([position.mask]), -1)
        if kept is not None and block is not None:
            search.adopt(kept[1], block)
        return search

    def _decision(
        self,
        position: Position,
        search: ForestSearch,
        simulations: int,
        seconds: float,
        rng: np.random.Generator,
    ) -> Decision:
        roots = search.roots()
        if simulations == 0 and not roots.proven[0]:
            column = int(np.where(roots.proofs[0] == nodes.CLOSED, -1.0, roots.priors[0]).argmax())
            shares = roots.priors[0]
        elif self._gumbel:
            shares = roots.improved(self.scale)[0]
            column = int(shares.argmax())
        else:
            shares = roots.shares()[0]
            column = int(roots.most_visited()[0])
            if self.faithful and not self.proofs:
                column = int(shares.argmax())  # the first of equals
        # Arya's agent does not sample from the bare policy.
        if self.temperature and not (self.faithful and simulations == 0):
            # Relative to the greatest share, so that no power overflows or makes all weights 0.
            weights = (shares / shares.max()) ** (1 / self.temperature)
            column = int(rng.choice(position.rules.columns, p=weights / weights.sum()))
        visited = roots.visits[0, column] > 0 or roots.proofs[0, column] > 0
        value = float(roots.means[0, column]) if visited else float(roots.values[0])
        value = max(-1.0, min(1.0, value))
        proven = None
        if roots.proven[0]:
            # WIN, DRAW and LOSS are 1, 2 and 3, results are +1, 0 and -1.
            proven = Exact(Result(2 - int(roots.proven[0])))
            value = float(proven.result)
        return Decision(
            column,
            value=value,
            policy=tuple(float(share) for share in shares),
            analysis=Analysis(
                columns=tuple(_columns(roots)),
                visits=tuple(int(count) for count in roots.visits[0]),
                simulations=simulations,
                nodes=int(search.forest.nodes.used[0]),
                evaluations=search.evaluations,
                seconds=seconds,
                network=float(roots.values[0]),
            ),
            line=search.line(column),
            proven=proven,
        )


def _snapshot(search: ForestSearch, simulations: int) -> Snapshot:
    return Snapshot(simulations, tuple(_columns(search.roots())), search.rules.columns)


def _columns(roots: Roots) -> list[ColumnAnalysis]:
    return [
        _column_analysis(roots, column)
        for column, proof in enumerate(roots.proofs[0])
        if proof != nodes.CLOSED
    ]


def _column_analysis(roots: Roots, column: int) -> ColumnAnalysis:
    visits = int(roots.visits[0, column])
    proof = int(roots.proofs[0, column])
    return ColumnAnalysis(
        column,
        visits,
        # Arya's search counts the result of a finished game twice at first.
        value=max(-1.0, min(1.0, float(roots.means[0, column]))) if visits or proof else None,
        prior=float(roots.priors[0, column]),
        proven=Result(2 - proof) if proof else None,
    )


def _find(before: Position, search: ForestSearch, position: Position) -> int | None:
    """Return the block of a position at most two plies below the root of the last search."""
    # A proven root stopped the search early, so its subtree is of little use.
    if search.forest.trees.proof[0]:
        return None
    if before == position:
        return 0
    # Two plies: the column that was played and the opponent's reply.
    for column in before.legal_columns():
        after = before.play(column)
        block = search.child(0, column)
        if block is None:
            continue
        if after == position:
            return block
        if after.outcome() is None:
            for reply in after.legal_columns():
                if after.play(reply) == position:
                    return search.child(block, reply)
    return None
