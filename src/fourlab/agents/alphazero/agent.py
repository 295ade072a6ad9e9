"""AlphaMCTS: tree search guided by a network that has learned by playing itself."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Exact, Limit
from fourlab.agents.alphazero import forest_kernel as forest
from fourlab.agents.alphazero.forest import NO_POLICY, ForestSearch, Roots
from fourlab.agents.generators import generator
from fourlab.agents.mcts import nodes
from fourlab.agents.mcts.xray import Snapshot, marks
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluator, ask
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.evaluator import load
from fourlab.options import check, option

DEFAULT_SIMULATIONS = 600
MOST_SIMULATIONS = 2_000_000
CACHE = 1 << 14
FIRST_PLAN = 64
"""Who does not know how many simulations there will be plans for so many, and again after half of them, and so on."""

_load_kernels = cache(forest.warm_up)
"""Compile or load the search before anybody's clock runs."""


@dataclass(frozen=True)
class Result:
    """All that a search found; `decision` is what an agent returns."""

    decision: Decision
    forest: ForestSearch
    trace: tuple[Snapshot, ...] = ()
    """How the search converged: the root at growing numbers of simulations."""

    def look(self, path: tuple[int, ...]) -> list[ColumnAnalysis]:
        """The columns after a path from the root; empty if the search did not get there."""
        roots = self.forest.look(path)
        return [] if roots is None else _columns(roots)


@dataclass(frozen=True)
class AlphaZero:
    """Tree search guided by a network that has learned by playing itself."""

    kernels: ClassVar[tuple[str, ...]] = ("network search", "planes")
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    learned: ClassVar[bool] = True
    """It knows the board that it has learned on (fourlab.agent.Learned)."""
    net: str = option(
        "alphazero", "The network: the name of one that comes with Fourlab, or an ONNX file made by `fourlab train alphazero`."
    )
    simulations: int | None = option(
        None,
        "Simulations a move (600 if neither this nor any other bound is given); 0 plays by the network's policy alone.",
        least=0,
        most=1_000_000_000,
        unit="simulations",
        public=True,
    )
    seconds: float | None = option(None, "Seconds a move.", above=0, unit="s", public=True)
    method: Literal["gumbel", "puct"] = option(
        "gumbel", "gumbel: sequential halving at the root and planned visits below; puct: AlphaZero's bound.", public=True
    )
    scale: float = option(0.3, "Gumbel: the weight of values against priors.", least=0)
    c: float = option(2.0, "PUCT: exploration, (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n).", least=0, public=True)
    fpu: float = option(
        0.2, "PUCT: a column that was not played yet is worth so much less than its position.", least=0, public=True
    )
    batch: int = option(
        16,
        "The most leaves to ask the network about at once; 1 is the plain search, more is quicker.",
        least=1,
        most=1024,
        unit="positions",
        public=True,
        public_most=64,
    )
    reuse: bool = option(False, "Keep what was searched from move to move.")
    proving: bool = option(True, "See wins and forced replies on the discs, and back up what is proven.", public=True)
    temperature: float = option(
        0.0,
        "Columns are drawn by their shares of the policy to the power of 1 / temperature; 0 plays the best one.",
        least=0,
        public=True,
    )
    faithful: bool = option(
        False,
        "Document 004: PUCT with its faults; with proving=0 the network first judges finished games, which end one disc early.",
        public=True,
    )
    evaluator: Evaluator | None = field(default=None, repr=False, compare=False)
    """For programs: an evaluator of one's own in place of a network."""
    _known_boards: set[Rules] = field(default_factory=set, init=False, repr=False, compare=False)
    _kept: dict[str, "tuple[Position, ForestSearch]"] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        evaluator = load(self.net) if self.evaluator is None else self.evaluator
        if isinstance(evaluator, NetworkEvaluator) and evaluator.network.purpose in ("value", "q"):
            name = self.net if self.evaluator is None else "the network"
            raise UserError(f"{name} has no policy and value; fourlab train alphazero makes such networks")
        object.__setattr__(self, "evaluator", evaluator)
        _load_kernels()

    def _check_evaluator(self, position: Position) -> None:
        """Ask about one position of each new board, so that a wrong evaluator is refused at once."""
        assert self.evaluator is not None
        if position.rules in self._known_boards:
            return
        if ask(self.evaluator, Batch.of([position])).logits is None:
            raise UserError(NO_POLICY)
        self._known_boards.add(position.rules)

    @property
    def _gumbel(self) -> bool:
        return self.method == "gumbel" and not self.faithful

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Search in batches until a bound is reached or the position is proven; then play the best column."""
        rng = generator(rng)
        return self._search(position, limit, rng, None).decision

    def search(
        self,
        position: Position,
        limit: Limit,
        rng: np.random.Generator,
        watch: Callable[[Snapshot], None] | None = None,
    ) -> Result:
        """Search and return everything found; `watch` is called with each snapshot as it is taken."""
        trace: list[Snapshot] = []

        def snap(snapshot: Snapshot) -> None:
            trace.append(snapshot)
            if watch is not None:
                watch(snapshot)

        return replace(self._search(position, limit, rng, snap), trace=tuple(trace))

    def _search(
        self, position: Position, limit: Limit, rng: np.random.Generator, snap: Callable[[Snapshot], None] | None
    ) -> Result:
        started = time.perf_counter()
        self._check_evaluator(position)
        counted, seconds = limit.bounds(self.simulations, self.seconds, DEFAULT_SIMULATIONS)
        most = MOST_SIMULATIONS if counted is None else min(counted, MOST_SIMULATIONS)
        search = self._plant(position, most)
        done, goal = search.forest.done, search.forest.goal
        goal[0] = done[0] + (0 if search.forest.used[0] else 1)  # first look at the root
        search.grow()
        begun, counts, plan_at = int(done[0]), marks(), FIRST_PLAN // 2
        mark = next(counts)
        search.plan(begun + (most if seconds is None and counted is not None else min(most, FIRST_PLAN)))
        while not search.forest.proof[0] and done[0] - begun < most and not (limit.stop and limit.stop.is_set()):
            # Few at first: a small tree has few leaves that are worth a visit.
            walks = min(self.batch, 1 + int(done[0]) // 8, most - int(done[0]) + begun)
            if seconds is not None and time.perf_counter() - started >= seconds:
                break
            goal[0] = done[0] + walks
            search.leaves = walks
            search.grow()
            if (seconds is not None or counted is None) and done[0] - begun >= plan_at:
                made, ahead = int(done[0]) - begun, 2.0 if seconds is None else seconds / (time.perf_counter() - started)
                search.plan(begun + min(most, int(made * max(ahead, 1.0))))
                plan_at = 2 * made
            if snap is not None and done[0] - begun >= mark:
                snap(_snapshot(search, int(done[0]) - begun))
                while mark <= done[0] - begun:
                    mark = next(counts)
        if self.reuse:
            self._kept["search"] = (position, search)
        simulations = int(done[0]) - begun
        if snap is not None:
            snap(_snapshot(search, simulations))
        return Result(self._decision(position, search, simulations, time.perf_counter() - started, rng), search)

    def _plant(self, position: Position, most: int) -> ForestSearch:
        """A new tree, or what grew from this position in the last search."""
        assert self.evaluator is not None
        proving = self.proving and most > 0  # without a search it is the network that plays, not what is seen on the discs
        switches = forest.Switches(self._gumbel, self.c, self.scale, self.fpu, 0.0, proving, self.faithful)
        kept = self._kept.get("search")
        root = None if kept is None else _find(*kept, position)
        blocks = 0 if kept is None or root is None else int(kept[1].forest.used[0])
        new = ForestSearch(self.evaluator, position.rules, 1, max(most, 1) + blocks, switches, self.batch, CACHE, plan=1)
        new.plant(np.array([position.own]), np.array([position.mask]), -1)
        if kept is not None and root is not None:
            new.take_over(kept[1], root)
        return new

    def _decision(
        self, position: Position, search: ForestSearch, simulations: int, seconds: float, rng: np.random.Generator
    ) -> Decision:
        roots, columns = search.roots(), position.rules.columns
        if simulations == 0 and not roots.proven[0]:
            column = int(np.where(roots.proofs[0] == nodes.CLOSED, -1.0, roots.priors[0]).argmax())
            shares = roots.priors[0]
        else:
            shares = (roots.improved(self.scale) if self._gumbel else roots.shares())[0]
            column = int(shares.argmax() if self._gumbel else roots.most_visited()[0])
        if self.temperature:
            chances = (shares / shares.max()) ** (1 / self.temperature)
            column = int(rng.choice(columns, p=chances / chances.sum()))
        proven = 2 - int(roots.proven[0]) if roots.proven[0] else None
        played = roots.visits[0, column] > 0 or roots.proofs[0, column] > 0
        value = float(roots.means[0, column]) if played else float(roots.values[0])
        return Decision(
            column,
            value=float(proven) if proven is not None else max(-1.0, min(1.0, value)),
            policy=tuple(float(share) for share in shares),
            analysis=Analysis(
                columns=tuple(_columns(roots)),
                visits=tuple(int(count) for count in roots.visits[0]),
                simulations=simulations,
                nodes=int(search.forest.used[0]),
                evaluations=search.evaluations,
                seconds=seconds,
                network=float(roots.values[0]),
            ),
            line=search.line(column),
            proven=None if proven is None else Exact(proven),
        )


def _snapshot(search: ForestSearch, simulations: int) -> Snapshot:
    return Snapshot(simulations, tuple(_columns(search.roots())), search.rules.columns)


def _columns(roots: Roots) -> list[ColumnAnalysis]:
    return [_column_stats(roots, column) for column, proof in enumerate(roots.proofs[0]) if proof != nodes.CLOSED]


def _column_stats(roots: Roots, column: int) -> ColumnAnalysis:
    visits, proof = int(roots.visits[0, column]), int(roots.proofs[0, column])
    mean = float(roots.means[0, column]) if visits or proof else None
    return ColumnAnalysis(column, visits, mean, None, float(roots.priors[0, column]), 2 - proof if proof else None)


def _find(before: Position, search: ForestSearch, position: Position) -> int | None:
    """The block of a position that is at most two plies below the root of the last search, if there is one."""
    if search.forest.proof[0]:
        return None  # it was not searched any more
    if before == position:
        return 0
    for column in before.legal_columns():
        after, block = before.play(column), search.leads(0, column)
        if block is None:
            continue
        if after == position:
            return block
        if after.outcome() is None:
            for reply in after.legal_columns():
                if after.play(reply) == position:
                    return search.leads(block, reply)
    return None
