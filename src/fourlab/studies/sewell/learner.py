"""SeWell's learner: a tree search that keeps one tree for all its games against negamax.

Negamax is part of the tree: every choice in it is the learner's, and negamax's reply to it is
made once, when the node is created, and kept. Before each of its own moves the learner makes five
rollouts from the current position and backs them up as far as that position. A training "game"
follows the kept replies, so what is learned is a line of play against them; a game against a real
opponent leaves the tree as soon as that opponent replies differently.

With this fault (B2) corrected, negamax is consulted whenever it is to move, and the tree holds all
its replies.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from fourlab.agent import Agent, Limit
from fourlab.agents.mcts.textbook import Below, ConnectFour, Edge, Node, TextbookSearch
from fourlab.agents.minimax.negamax import Negamax
from fourlab.agents.registry import make
from fourlab.game.outcome import RED
from fourlab.game.position import Position
from fourlab.nets.evaluator import load
from fourlab.studies.workbench import Workbench

ROLLOUTS = 5
"""Rollouts before each of the learner's moves."""
SHOWN = 5
"""Games that SeWell shows after training."""
NETWORKS = ("sewell", "sewell-2", "sewell-3")
"""Networks of three trainings with SeWell's settings, which ship with Fourlab."""
WITHOUT_LIMIT = Limit()
RESOLUTION = 1 << 20
"""Random numbers of rollouts have 20 bits, from the search's own stream."""
FINISHED = 100
"""Value of a won game for a rollout that looks at finished games."""
Reply = Callable[[Position, Below], int]
"""Chooses the opponent's column in a position."""
Floats = NDArray[np.float64]
Values = Callable[[NDArray[np.int64], NDArray[np.int64]], Floats]
"""Returns the values of positions, given the discs of one side and all discs of each."""


@dataclass(frozen=True)
class TreeTraining:
    """Settings of a training; calling it with a run number performs that run, reproducibly."""

    seed: int
    games: int
    ties: Literal["first", "random"] = "first"
    """How negamax breaks ties: first column, as in SeWell's day, or at random, as today (B13)."""
    keep_replies: bool = True
    """Whether a reply in the tree is made once, as in the report, or again on every visit (B2)."""
    side: int = RED
    """The learner's side."""
    net: str | None = None
    """Network that plays the learner's side in rollouts; None plays it at random."""
    nets: tuple[str, ...] = ()
    """Several such networks in place of one: runs take them in turn."""
    looks: bool = False
    """Whether such rollouts take a column that wins and avoid one that loses, which is ours."""
    blind: bool = False
    """Whether the network is not asked about finished games: they count as the position before."""
    fixed: bool = False
    """Whether such rollouts go by numbers that are fixed for every position, not by a network."""
    epsilon: float = 0.25
    """Probability of a random column all the same; SeWell's first run had 0.5."""
    opponents: tuple[str, ...] = ()
    """Specs of the agents that the learner meets in real games after training."""
    games_after: int = 0
    """Real games against each of them."""
    tested: tuple[Position, ...] = ()
    """Positions in which the learner chooses a column after all games."""

    def __call__(self, number: int) -> dict[str, Any]:
        """Train one tree; results are +1, 0 or -1 from the learner's point of view."""
        training = self
        if self.nets:
            training = replace(self, net=self.nets[number % len(self.nets)])
        # The run number is part of the seed: runs are independent and repeatable.
        learner = Learner(training, np.random.default_rng([self.seed, number]))
        games = [learner.play() for _ in range(self.games)]
        rollouts = learner.rollouts  # of the training only: later games make more
        shown = [learner.play() for _ in range(SHOWN)]
        afterwards = {}
        for spec in self.opponents:
            opponent = make(spec)
            afterwards[spec] = [
                self._result(learner.play(opponent)) for _ in range(self.games_after)
            ]
        return {
            "results": [self._result(game) for game in games],
            "shown": ["".join(str(column + 1) for column in game.moves or ()) for game in shown],
            "plies": sum(game.ply for game in games),
            "rollouts": rollouts,
            "afterwards": afterwards,
            "columns": [learner.choose(position) for position in self.tested],
        }

    def _result(self, game: Position) -> int:
        outcome = game.outcome()
        assert outcome is not None
        return outcome.score(self.side)


Run = TypeVar("Run")


def by_network(runs: Sequence[Run]) -> list[Sequence[Run]]:
    """Return the runs of each of NETWORKS, which take turns.

    Runs with the same network are no independent trainings: their mean is one observation.
    """
    groups = [runs[first :: len(NETWORKS)] for first in range(len(NETWORKS))]
    return [group for group in groups if group]


Kind = TypeVar("Kind", bound=Hashable)


def train_all(bench: Workbench, kinds: Mapping[Kind, TreeTraining]) -> dict[Kind, list[Any]]:
    """Perform `bench.size["runs"]` runs of each kind of training and return their results.

    All runs go into one queue, because worker processes take time to start.
    """
    # Of each kind.
    runs = bench.size["runs"]
    results = bench.repeat("lessons", _train, runs * len(kinds), tuple(kinds.values()), runs)
    return {kind: results[place * runs : (place + 1) * runs] for place, kind in enumerate(kinds)}


def _train(kinds: tuple[TreeTraining, ...], runs: int, number: int) -> dict[str, Any]:
    """Perform one run; numbers go through all runs of a kind first."""
    kind, run = divmod(number, runs)
    return kinds[kind](run)


class Learner:
    """A tree that is kept over many games, and the search that grows it."""

    def __init__(self, training: TreeTraining, rng: np.random.Generator) -> None:
        self.rng = rng
        self.rollouts = 0
        self.negamax = Negamax(ties=training.ties)
        self.replies: dict[Position, int] = {}
        self.side = training.side
        self.keep_replies = training.keep_replies
        game = ConnectFour() if self.keep_replies else ResampledReplies(self.side, self.reply)
        if training.net is not None or training.looks or training.fixed:
            # GuidedRollouts does not check whose turn it is in a rollout.
            assert self.keep_replies
            values = None if training.net is None else raw_values(training.net)
            if training.fixed:
                values = fixed_values(int(rng.integers(1 << 62)))
            ends = training.looks, training.blind
            game = GuidedRollouts(values, self.reply, training.epsilon, *ends)
        self.search: TextbookSearch[Position, int] = TextbookSearch(
            # √2 is the constant of UCB1 (Auer et al. 2002).
            game,
            self.below,
            c=math.sqrt(2),
            reply=self.reply,
            frozen=self.keep_replies,
        )
        start = Position()
        if self.side != RED:
            # The learner's tree begins with its own first choice.
            start = start.play(self._ask_negamax(start))
        self.root = self.search.make_node(start, visits=0)
        self._roll_out(self.root, None)

    def below(self, n: int) -> int:
        """Return a random integer from 0 to n - 1."""
        return int(self.rng.integers(n))

    def reply(self, position: Position, below: Below) -> int:
        """Return negamax's column; deterministic replies are cached."""
        # Random replies must not be cached: each visit has a reply of its own.
        if self.negamax.ties == "random":
            return self._ask_negamax(position)
        if position not in self.replies:
            self.replies[position] = self._ask_negamax(position)
        return self.replies[position]

    def _ask_negamax(self, position: Position) -> int:
        return self.negamax.decide(position, WITHOUT_LIMIT, self.rng).column

    def play(self, opponent: Agent | None = None) -> Position:
        """Play one game, learning on the way, and return its final position.

        Without an opponent, negamax replies as the tree has it.
        """
        node = self.root
        into = None  # the edge that led to `node`, if it is in the tree
        if opponent is not None and self.side != RED:
            node = self._after_first_move(opponent)
        while True:
            # Think, choose, and let the opponent reply, until the game is over.
            for _ in range(ROLLOUTS):
                self._roll_out(node, into)
            into = self._best(node)
            position = node.state.play(into.move)
            if position.outcome() is not None:
                return position
            assert into.node is not None  # an edge with visits has a node for the reply
            if opponent is not None:
                reply = opponent.decide(position, WITHOUT_LIMIT, self.rng).column
            elif self.keep_replies:
                # A kept reply is the only edge below the learner's move (B2).
                reply = into.node.edges[0].move
            else:
                reply = self.reply(position, self.below)
            position = position.play(reply)
            if position.outcome() is not None:
                return position
            edge = next((edge for edge in into.node.edges if edge.move == reply), None)
            if edge is None:
                # The game leaves the tree and goes on from a new root.
                node = self.search.make_node(position, visits=0)
                into = None
                continue
            if edge.node is None:
                self.search.expand(edge, position, ours=False)
            assert edge.node is not None
            node = edge.node

    def choose(self, position: Position) -> int:
        """Return the column after the usual rollouts from a position outside the tree."""
        node = self.search.make_node(position, visits=0)
        for _ in range(ROLLOUTS):
            self._roll_out(node, None)
        return self._best(node).move

    def _after_first_move(self, opponent: Agent) -> Node[Position, int]:
        """Return the node after a real opponent's first move, new if it is not the root's."""
        start = Position()
        position = start.play(opponent.decide(start, WITHOUT_LIMIT, self.rng).column)
        # The root is the position after negamax's own first move.
        if position == self.root.state:
            return self.root
        return self.search.make_node(position, visits=0)

    def _best(self, node: Node[Position, int]) -> Edge[Position, int]:
        """Return the edge with the highest mean result, a random one of equals."""
        # Unvisited edges have no mean and cannot be chosen.
        means = {edge.move: edge.total / edge.visits for edge in node.edges if edge.visits}
        highest = max(means.values())
        best = [edge for edge in node.edges if means.get(edge.move) == highest]
        return best[int(self.rng.integers(len(best)))]

    def _roll_out(self, node: Node[Position, int], into: Edge[Position, int] | None) -> None:
        """Grow the tree below a node and back up to `into`; edges above it learn nothing."""
        # Select, expand, simulate, then back up along the path.
        path, result, _, rolled_out = self.search.descend(node)
        self.search.back_up(path, result, rolled_out)
        node.visits += 1
        self.rollouts += 1
        if into is not None:
            into.visits += 1
            # `result` is from the point of view of the side that made the last move of the path;
            # `into` and the first edge of the path are both the learner's.
            into.total += result if len(path) % 2 else -result


@dataclass(frozen=True)
class ResampledReplies(ConnectFour):
    """Connect Four in which random moves of the other side are replaced by the opponent's reply.

    This applies in the tree and in rollouts.
    """

    side: int
    """The learner's side, which plays at random in rollouts."""
    reply: Reply

    def random_move(self, state: Position, below: Below) -> int:
        """Return a random column on the learner's turn, else the opponent's reply."""
        # Random rollouts for the learner, negamax for its opponent.
        if state.to_move == self.side:
            return super().random_move(state, below)
        return self.reply(state, below)


@dataclass(frozen=True)
class GuidedRollouts(ConnectFour):
    """Connect Four with rollouts that compare the positions after a column and one reply to it."""

    values: Values | None
    """A network's values of positions; None for random numbers."""
    reply: Reply
    epsilon: float
    looks: bool
    """Whether the result of a finished game replaces its value. SeWell's program has no such look.

    It asks the network about won and lost boards, too. A won board has a disc more of the winner,
    since there is no reply, and this alone raises its value.
    """
    blind: bool = False
    """Whether a finished game has the value of the position before it, to take this hint away."""

    def rollout_move(self, state: Position, below: Below) -> int:
        """Return a random column with probability epsilon, else the one with the best value."""
        if below(RESOLUTION) < self.epsilon * RESOLUTION:
            return self.random_move(state, below)
        columns = state.legal_columns()
        successors = []
        for column in columns:
            position = state.play(column)
            if position.outcome() is None:
                position = position.play(self.reply(position, below))
            successors.append(position)
        values = self._values(successors, state.to_move, below)
        for place, position in enumerate(successors):
            outcome = position.outcome()
            if outcome is not None and self.looks:
                # Beyond any other value; a draw is between them.
                values[place] = FINISHED * outcome.score(state.to_move)
            elif outcome is not None and self.blind:
                values[place] = self._values([state], state.to_move, below)[0]
        return columns[int(np.argmax(values))]

    def _values(self, positions: list[Position], side: int, below: Below) -> Floats:
        """Return a value of each position for one side."""
        if self.values is None:
            return np.array([below(RESOLUTION) / RESOLUTION - 0.5 for _ in positions])
        # After a move that ends the game it is the other side's turn, but the network is asked
        # about the discs of this one.
        own = [
            position.own if position.to_move == side else position.mask ^ position.own
            for position in positions
        ]
        mask = np.array([position.mask for position in positions], np.int64)
        return self.values(np.array(own, np.int64), mask)


def fixed_values(seed: int) -> Values:
    """Return values that know nothing: a random number for every position, always the same."""

    def values(own: NDArray[np.int64], mask: NDArray[np.int64]) -> Floats:
        # Products of unsigned 64-bit integers wrap around, which mixes their bits.
        mixed = own.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= (mask.astype(np.uint64) + np.uint64(seed)) * np.uint64(0xC2B2AE3D27D4EB4F)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
        # The upper 53 bits, as many as a float has.
        numbers: Floats = (mixed >> np.uint64(11)).astype(np.float64) / 2**53 - 0.5
        return numbers

    return values


def raw_values(net: str) -> Values:
    """Return a network's values before they are clipped to the range of results.

    Clipping would make equal what the network tells apart, since many values are beyond 1.
    """
    evaluator = load(net)

    def values(own: NDArray[np.int64], mask: NDArray[np.int64]) -> Floats:
        return evaluator.heads(evaluator.planes(own, mask))["value"][:, 0].astype(np.float64)

    return values
