"""Monte Carlo tree search in which an evaluator plays the rollouts, or replaces their end."""

import time
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.agents.mcts import guided_kernel as guided
from fourlab.agents.mcts.tree import SearchTree, candidates, decision
from fourlab.agents.mcts.verbs import Switches
from fourlab.compiled.random import seed_state
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluator, evaluate_checked
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.game.rules import Rules
from fourlab.nets.loading import load
from fourlab.options import check, option

DEFAULT_SIMULATIONS = 1_000

_load_kernels = cache(guided.warm_up)
"""Load or compile the kernels once, before the time of a move starts."""


@dataclass(frozen=True)
class Guided:
    """Monte Carlo tree search with a network that plays rollouts or evaluates where they stop."""

    kernels: ClassVar[tuple[str, ...]] = ("guided search", "planes")
    """The kernel groups it needs (fourlab.compiled.warmup)."""
    learned: ClassVar[bool] = True
    """It plays only the board it was trained on (fourlab.agent.Learned)."""
    net: str = option(
        "value",
        "Network: the name of one that comes with Fourlab, an ONNX file, `patterns`, or a file "
        "from `fourlab train patterns`.",
    )
    simulations: int | None = option(
        None,
        "Simulations per move (default 1,000 if there is no other limit).",
        least=1,
        most=1_000_000_000,
        unit="simulations",
        public=True,
    )
    seconds: float | None = option(
        None, "Stop after this many seconds per move.", above=0, most=86_400, unit="s", public=True
    )
    c: float = option(
        1.4, "Exploration constant in mean + c * sqrt(log N / n).", least=0, most=1000, public=True
    )
    depth: int | None = option(
        0,
        "Plies of a rollout before the network evaluates the position (none: play to the end).",
        least=0,
        most=1000,
        unit="plies",
        public=True,
    )
    epsilon: float = option(
        0.25,
        "Probability of a random column in place of the network's best, per ply of a rollout "
        "(SeWell).",
        least=0,
        most=1,
        public=True,
    )
    batch: int = option(
        64,
        "Maximum number of simulations per batch; 1 is the plain search, more are faster.",
        least=1,
        most=4096,
        unit="simulations",
    )
    rollouts: Literal["uniform", "wins-and-blocks"] = option(
        "wins-and-blocks",
        "Rollout moves: follow epsilon always (uniform), or win at once, else block, else follow "
        "epsilon.",
        public=True,
    )
    proofs: bool = option(
        True,
        "Prove wins, draws and losses, and do not search proven columns again.",
        public=True,
        aliases=("solver",),
    )
    evaluator: Evaluator | None = field(default=None, repr=False, compare=False)
    """Evaluator to use in place of `net`, from Python only."""
    _has_logits: dict[Rules, bool] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        check(self)
        if self.evaluator is None:
            object.__setattr__(self, "evaluator", load(self.net))
        _load_kernels()

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Search in batches until a limit is reached or the position is proven.

        Plays the most visited column, of equals the one with the best mean.
        """
        position = unfinished(position)
        rng = generator(rng)
        started = time.perf_counter()
        by_logits = self._evaluates_logits(position)
        simulations, seconds = limit.bounds(self.simulations, self.seconds, DEFAULT_SIMULATIONS)
        # Without a bound the tree gets room for all the simulations that its sums can hold.
        max_simulations = min(simulations or guided.MAX_SIMULATIONS, guided.MAX_SIMULATIONS)
        state = seed_state(int(rng.integers(2**63)))
        search = _Search(self, position, by_logits, max_simulations, state)
        while not search.proven and search.done < max_simulations:
            if limit.stop is not None and limit.stop.is_set():
                break
            # Start with small batches: a small tree has few leaves worth a visit.
            batch = min(self.batch, 1 + search.done // 8, max_simulations - search.done)
            if seconds is not None:
                spent = time.perf_counter() - started
                if spent >= seconds:
                    break
                # At the rate so far, no more than the time allows.
                batch = max(min(batch, int(search.done * (seconds - spent) / spent)), 1)
            search.simulate(batch)
        columns = tuple(search.tree.columns())
        chosen = max(
            candidates(columns) if self.proofs else columns,
            key=lambda column: (column.visits, -1.0 if column.value is None else column.value),
        )
        elapsed = time.perf_counter() - started
        return decision(chosen, columns, [search.tree], search.done, elapsed, search.evaluations)

    def _evaluates_logits(self, position: Position) -> bool:
        """Return whether the evaluator has a policy; evaluates one position of every new board."""
        assert self.evaluator is not None
        if position.rules not in self._has_logits:
            evaluation = evaluate_checked(self.evaluator, Batch.of([position]))
            self._has_logits[position.rules] = evaluation.logits is not None
        return self._has_logits[position.rules]


class _Search:
    """A tree and the games played from its leaves."""

    def __init__(
        self, agent: Guided, position: Position, by_logits: bool, max_simulations: int, state: int
    ) -> None:
        assert agent.evaluator is not None
        self.evaluator = agent.evaluator
        self.state = state
        switches = Switches(c=agent.c, won=guided.WON, solver=agent.proofs)
        # A simulation needs at most one block.
        self.tree = SearchTree(position, switches, blocks=max_simulations + 3)
        self.games = guided.new_games(agent.batch, position.rules.geometry)
        self.policy = guided.Policy(
            # No rollout has -1 plies, so none is cut.
            depth=-1 if agent.depth is None else agent.depth,
            random=round(agent.epsilon * guided.COINS),
            wins_and_blocks=agent.rollouts == "wins-and-blocks",
            by_logits=by_logits,
        )
        self.done = self.evaluations = 0
        self.proven = False

    def simulate(self, simulations: int) -> None:
        """Run one batch of simulations."""
        tree, position, g = self.tree, self.tree.position, self.tree.geometry
        leaves, self.proven, self.state = guided.gather(
            tree.tree,
            position.own,
            position.mask,
            g,
            tree.switches,
            simulations,
            self.games,
            self.state,
        )
        # `gather` ends early if it proves the root, so there may be fewer than `simulations`.
        self.done = tree.visits
        # Empty arrays of the right type for the first call and for evaluators without a policy.
        no_logits = np.zeros((0, g.columns), np.float32)
        values = np.zeros(0, np.float32)
        logits = no_logits
        while leaves:
            # Every call takes the answers to the queries of the call before, in the same order.
            queries, self.state = guided.play_on(
                self.games, leaves, g, self.policy, values, logits, self.state
            )
            if queries == 0:
                break
            batch = Batch(
                self.games.query_own[:queries], self.games.query_mask[:queries], position.rules
            )
            evaluation = evaluate_checked(self.evaluator, batch)
            if self.policy.by_logits and evaluation.logits is None:
                raise UserError("an evaluator must return logits always or never")
            values = evaluation.values
            logits = no_logits if evaluation.logits is None else evaluation.logits
            self.evaluations += queries
        guided.back_up_batch(tree.tree.nodes, self.games, leaves)
