"""Monte Carlo tree search with an evaluator: it plays the rollouts, or judges where they are cut short."""

import time
from dataclasses import dataclass, field, replace
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Exact, Limit
from fourlab.agents.generators import generator
from fourlab.agents.mcts import guided_kernel as guided
from fourlab.agents.mcts.tree import SearchTree, candidates
from fourlab.agents.mcts.verbs import Switches
from fourlab.compiled.random import seed_state
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluator, ask
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.evaluator import load
from fourlab.options import check, option

DEFAULT_SIMULATIONS = 1_000

_load_kernels = cache(guided.warm_up)
"""Compile or load the search before anybody's clock runs."""


@dataclass(frozen=True)
class Guided:
    """Monte Carlo tree search whose rollouts a network plays, or judges where they are cut short."""

    kernels: ClassVar[tuple[str, ...]] = ("guided search", "planes")
    """The groups of kernels (fourlab.compiled.warmup) that it searches with."""
    learned: ClassVar[bool] = True
    """It knows the board that it has learned on (fourlab.agent.Learned)."""
    net: str = option("value", "The network: the name of one that comes with Fourlab, or an ONNX file.")
    simulations: int | None = option(
        None,
        "Simulations a move (1,000 if neither this nor any other bound is given).",
        least=1,
        most=1_000_000_000,
        unit="simulations",
        public=True,
    )
    seconds: float | None = option(None, "Seconds a move.", above=0, unit="s", public=True)
    c: float = option(1.4, "Exploration: the bound is mean + c * sqrt(log N / n).", least=0, public=True)
    depth: int | None = option(
        0,
        "After so many plies a rollout is cut and judged by the network, at 0 before its first; none: it ends with the game.",
        least=0,
        unit="plies",
        public=True,
    )
    epsilon: float = option(
        0.25,
        "At every ply of a rollout the chance of a random column, not the network's best (document 003); 1 leaves all to chance.",
        least=0,
        most=1,
        public=True,
    )
    batch: int = option(
        64,
        "The most simulations to make at once; 1 is the plain search, more is quicker.",
        least=1,
        most=4096,
        unit="simulations",
    )
    rollouts: Literal["uniform", "wins-and-blocks"] = option(
        "wins-and-blocks",
        "wins-and-blocks: rollouts win at once if they can, else block, and only else follow epsilon.",
        public=True,
    )
    solver: bool = option(True, "Prove wins, draws and losses and never search them again.", public=True)
    evaluator: Evaluator | None = field(default=None, repr=False, compare=False)
    """For programs: an evaluator of one's own in place of a network."""
    _policies: dict[Rules, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        if self.evaluator is None:
            object.__setattr__(self, "evaluator", load(self.net))
        _load_kernels()

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Search in batches until a bound is reached or the position is proven; then play the column visited most."""
        rng = generator(rng)
        assert self.evaluator is not None
        started = time.perf_counter()
        by_logits = self._has_policy(position)
        counted, seconds = limit.bounds(self.simulations, self.seconds, DEFAULT_SIMULATIONS)
        most = min(counted or guided.MOST_SIMULATIONS, guided.MOST_SIMULATIONS)
        search = _Search(self, position, by_logits, most, seed_state(int(rng.integers(2**63))))
        while not search.proven and search.done < most and not (limit.stop and limit.stop.is_set()):
            # Few at first: a small tree has few leaves that are worth a visit.
            walks = min(self.batch, 1 + search.done // 8, most - search.done)
            if seconds is not None:
                spent = time.perf_counter() - started
                if spent >= seconds:
                    break
                walks = max(min(walks, int(search.done * (seconds - spent) / spent)), 1)  # no more than there is time for
            search.simulate(walks)
        return self._decision(position, search, time.perf_counter() - started)

    def _has_policy(self, position: Position) -> bool:
        """Ask about one position of each new board: whether the evaluator has a policy there."""
        assert self.evaluator is not None
        if position.rules not in self._policies:
            self._policies[position.rules] = ask(self.evaluator, Batch.of([position])).logits is not None
        return self._policies[position.rules]

    def _decision(self, position: Position, search: "_Search", seconds: float) -> Decision:
        columns = tuple(search.tree.columns())
        worthy = candidates(columns) if self.solver else columns
        chosen = max(worthy, key=lambda each: (each.visits, -1.0 if each.value is None else each.value))
        visits = {each.column: each.visits for each in columns}
        shares = {column: count / search.done for column, count in visits.items()} if search.done else {chosen.column: 1.0}
        proven = search.tree.proven()
        return Decision(
            chosen.column,
            value=float(proven) if proven is not None else chosen.value,
            policy=tuple(shares.get(column, 0.0) for column in range(position.rules.columns)),
            analysis=Analysis(
                columns=columns,
                visits=tuple(visits.get(column, 0) for column in range(position.rules.columns)),
                simulations=search.done,
                nodes=search.tree.nodes,
                evaluations=search.evaluations,
                seconds=seconds,
                memory_bytes=search.tree.bytes,
            ),
            line=search.tree.line(chosen.column),
            proven=None if proven is None else Exact(proven),
        )


class _Search:
    """One tree and the games played from its leaves."""

    def __init__(self, agent: Guided, position: Position, by_logits: bool, most: int, state: int) -> None:
        assert agent.evaluator is not None
        self.evaluator, self.state = agent.evaluator, state
        switches = Switches(c=guided.FINE * agent.c, solver=agent.solver)
        self.tree = _FineTree(position, switches, blocks=most + 3)  # every simulation may make a block
        self.games = guided.new_games(agent.batch, position.rules.geometry)
        self.policy = guided.Policy(
            depth=-1 if agent.depth is None else agent.depth,
            random=round(agent.epsilon * guided.COINS),
            wins_and_blocks=agent.rollouts == "wins-and-blocks",
            by_logits=by_logits,
        )
        self.done = self.evaluations = 0
        self.proven = False

    def simulate(self, walks: int) -> None:
        """Make this many simulations at once."""
        tree, position, g = self.tree, self.tree.position, self.tree.geometry
        leaves, self.proven, self.state = guided.gather(
            tree.tree,
            position.own,
            position.mask,
            g,
            tree.switches,
            walks,
            self.games,
            self.state,
        )
        self.done = tree.visits
        no_logits = np.zeros((0, g.columns), np.float32)
        values, logits = np.zeros(0, np.float32), no_logits
        while leaves:
            asked, self.state = guided.play_on(self.games, leaves, g, self.policy, values, logits, self.state)
            if asked == 0:
                break
            batch = Batch(self.games.asked_own[:asked], self.games.asked_mask[:asked], position.rules)
            answer = ask(self.evaluator, batch)
            if self.policy.by_logits and answer.logits is None:
                raise UserError("an evaluator must return logits always or never")
            values = answer.values
            logits = no_logits if answer.logits is None else answer.logits
            self.evaluations += asked
        guided.hand_up(tree.tree.words, self.games, leaves, g)


class _FineTree(SearchTree):
    """A tree in which results, and c, are FINE times as large, so that fractions of a win are whole points."""

    def decode(self, numbers: np.ndarray, n: int) -> list[ColumnAnalysis]:
        """Read the numbers of a block: its open columns, with results from -1 to +1."""
        return [_in_wins(each) for each in super().decode(numbers, n)]


def _in_wins(column: ColumnAnalysis) -> ColumnAnalysis:
    if column.value is None or column.bound is None:
        return column
    return replace(column, value=column.value / guided.FINE, bound=column.bound / guided.FINE)
