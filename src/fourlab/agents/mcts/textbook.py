"""Textbook Monte Carlo tree search in plain Python, for any two-player game.

It is written to be read, and it is the reference for the compiled search: from the same random
numbers both grow the same tree (`tests/agents/mcts/test_twin.py`). It has all the switches of
`fourlab.agents.mcts.verbs.Switches`, mostly under the same names.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from fourlab.agent import UNLIMITED, Analysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

State = TypeVar("State")
Move = TypeVar("Move")
Below = Callable[[int], int]
"""A random source: below(n) is a uniform integer from 0 to n - 1."""


class Game(Protocol[State, Move]):
    """The rules of a game, as the search needs them. States are immutable."""

    def to_move(self, state: State) -> int:
        """Return the side to move, 0 or 1."""
        ...

    def legal_moves(self, state: State) -> Sequence[Move]:
        """Return the legal moves, always in the same order."""
        ...

    def play(self, state: State, move: Move) -> State:
        """Return the state after a move."""
        ...

    def score(self, state: State, side: int) -> int | None:
        """Return the result for a side, +1, 0 or -1; None if the game is not over."""
        ...

    def random_move(self, state: State, below: Below) -> Move:
        """Return a uniformly random legal move."""
        ...

    def rollout_move(self, state: State, below: Below) -> Move:
        """Return the next move of a rollout."""
        ...


@dataclass(slots=True)
class Edge(Generic[State, Move]):
    """A move at a node, with its statistics."""

    move: Move
    prior: float = 0.0
    """Prior probability, in searches with priors; those of a node sum to 1."""
    visits: int = 0
    total: float = 0.0
    """Sum of results, from the point of view of the side that plays the move."""
    node: "Node[State, Move] | None" = None
    """The node it leads to, once expanded."""
    proven: int | None = None
    """The proven result for the side that plays the move: +1, 0 or -1, or None."""


@dataclass(slots=True)
class Node(Generic[State, Move]):
    """An expanded position."""

    state: State
    edges: "list[Edge[State, Move]]"
    visits: int = 0
    proven: int | None = None
    """The proven result for the side that moved here; only where transpositions are merged."""

    @property
    def mean(self) -> float:
        """Return the mean result of all moves here, for the side to move; 0 without visits."""
        visits = sum(edge.visits for edge in self.edges)
        return sum(edge.total for edge in self.edges) / max(visits, 1)


Path = list[tuple[Node[State, Move], Edge[State, Move]]]
"""The nodes from the root to a leaf, with the move selected at each."""


@dataclass
class TextbookSearch(Generic[State, Move]):
    """The search: select, expand, simulate, back up, for a number of simulations."""

    game: Game[State, Move]
    below: Below
    c: float = math.sqrt(2)
    """Exploration constant, for results from -1 to +1."""
    log_ratio: bool = False
    expand_all: bool = False
    past_wins: bool = False
    draw: float = 0.0
    """The result of a draw for both sides, -1 to +1."""
    draw_leaf_wins: bool = False
    leaf_wins: bool = False
    ties: Literal["first", "last", "random"] = "random"
    reply: Callable[[State, Below], Move] | None = None
    """Reply of an opponent that is part of the transition; None for one that maximises, too."""
    frozen: bool = False
    """The reply is fixed when a node is created, not sampled at every visit."""
    proofs: bool = False
    wins_at_once: Callable[[State], bool] | None = None
    """Whether the side to move can win at once, if there is a faster way than to try its moves."""
    merged: bool = False
    """Transpositions share a node."""
    priors: Callable[[State, Sequence[Move]], Sequence[float]] | None = None
    """Prior probabilities of moves (PUCT); without them every move is tried once first (UCT)."""
    evaluate: Callable[[State], float] | None = None
    """Value of a state for the side to move, -1 to +1, where a rollout is cut."""
    cut: int | None = None
    """Plies after which a rollout is cut and evaluated; None to play to the end."""
    forced_replies: bool = False
    """Forced replies are played before a state is evaluated, and prove what they lead to."""
    max_nodes: int = 10**9
    nodes: list[Node[State, Move]] = field(default_factory=list)
    has_draw: list[bool] = field(default_factory=list)
    """For every node of the last path, whether one of its moves is a proven draw."""

    def search(
        self, state: State, simulations: int, keep_going: Callable[[], bool] = lambda: True
    ) -> Node[State, Move]:
        """Grow a tree from a state that is not over, and return its root.

        The search ends early if `keep_going` returns False or the root is proven.
        """
        root = self.make_node(state, visits=0)
        for _ in range(simulations):
            if not keep_going():
                break
            path, result, proven, rolled_out = self.descend(root)
            self.back_up(path, result, rolled_out)
            root.visits += 1
            if self.proofs and proven and self.prove(path):
                break
        return root

    def descend(self, root: Node[State, Move]) -> tuple[Path[State, Move], float, bool, bool]:
        """Descend from the root to a leaf, and determine the leaf's result.

        Returns the path, the result for the side that moved to the leaf, whether it is proven, and
        whether it comes from a rollout.
        """
        node = root
        # With expand_all the rollout of a new node starts from one of its children at random.
        entering = self.expand_all and root.visits == 0
        path: Path[State, Move] = []
        self.has_draw = []
        while True:
            # The side to move at the root chooses at even depths.
            others_turn = len(path) % 2 == 1
            if entering or (others_turn and self.reply is not None and not self.frozen):
                edge = self.random_edge(node)
            else:
                edge = self.select(node)
            path.append((node, edge))
            self.has_draw.append(
                self.proofs and not entering and any(move.proven == 0 for move in node.edges)
            )
            if edge.proven is not None:
                return path, edge.proven, True, False
            if edge.node is None:
                state = self.game.play(node.state, edge.move)
                # Later visits need no second look: the position was open at the first.
                if edge.visits == 0:
                    edge.proven = self.examine(state)
                    if edge.proven is not None:
                        return path, edge.proven, True, False
                ours = len(path) % 2 == 1
                # A reply that is part of the transition belongs to the simulation of our move.
                expand_at_once = (self.expand_all and not entering) or (
                    self.reply is not None and ours
                )
                first_visit = edge.visits == 0 and not expand_at_once
                if first_visit or len(self.nodes) >= self.max_nodes:
                    return path, self.simulate(state, ours), False, True
                self.expand(edge, state, ours)
                entering = self.expand_all
            assert edge.node is not None
            if edge.node.proven is not None:
                edge.proven = edge.node.proven
                return path, edge.proven, True, False
            node = edge.node

    def select(self, node: Node[State, Move]) -> Edge[State, Move]:
        """Return an untried move, otherwise the one with the greatest upper confidence bound.

        With priors, untried moves have a bound, too.
        """
        if self.priors is None:
            # UCB1 tries every move once before it compares bounds; `ties` decides the order.
            untried = [edge for edge in node.edges if edge.visits == 0]
            if untried and self.ties == "random":
                return untried[self.below(len(untried))]
            if untried:
                return untried[0 if self.ties == "first" else -1]
        best, chosen, equals = -math.inf, None, 0
        mean = 0.0 if self.priors is None else node.mean
        for edge in node.edges:
            if self.proofs and edge.proven is not None:
                continue
            if self.priors is None:
                bound = self.upper_bound(edge, node.visits)
            else:
                bound = self.bound_by_prior(edge, node.visits, mean)
            if bound > best:
                best, chosen, equals = bound, edge, 1
            elif bound == best:
                # At random, the k-th of the equals replaces the choice with probability 1/k.
                equals += 1
                if self.ties == "last" or (self.ties == "random" and self.below(equals) == 0):
                    chosen = edge
        assert chosen is not None
        return chosen

    def upper_bound(self, edge: Edge[State, Move], n: int) -> float:
        """Return mean + c * sqrt(log n / visits), or the form of Vannucci & Abril."""
        # UCB1 at every node (Kocsis & Szepesvári, 2006). n is at least 1, since all moves were
        # tried.
        mean = edge.total / edge.visits
        if self.log_ratio:
            return mean + self.c * math.sqrt(max(math.log(n) - math.log(edge.visits), 0))
        return mean + self.c * math.sqrt(math.log(n) / edge.visits)

    def bound_by_prior(self, edge: Edge[State, Move], n: int, untried: float) -> float:
        """Return mean + c * prior * sqrt(n) / (1 + visits) (PUCT), with `untried` for no mean."""
        # The rule of AlphaGo Zero (Silver et al., 2017).
        mean = edge.total / edge.visits if edge.visits else untried
        return mean + self.c * edge.prior * math.sqrt(n) / (1 + edge.visits)

    def random_edge(self, node: Node[State, Move]) -> Edge[State, Move]:
        """Return a uniformly random move."""
        move = self.game.random_move(node.state, self.below)
        return next(edge for edge in node.edges if edge.move == move)

    def examine(self, state: State) -> int | None:
        """Return the result of a state for the side that has just moved, if no search is needed."""
        result = self.game.score(state, 1 - self.game.to_move(state))
        if self.past_wins and self.game.legal_moves(state):
            return None
        # The side that has just moved loses; the compiled `examine` looks one ply ahead, too.
        if result is None and self.proofs and self.can_win_at_once(state):
            return -1
        if result is None and self.proofs and self.forced_replies:
            return self.forced_result(state)
        return result

    def forced_result(self, state: State) -> int | None:
        """Return the result to which forced moves lead, for the side that moved to `state`."""
        mover = 1 - self.game.to_move(state)
        while (result := self.game.score(state, mover)) is None:
            move = self.forced_move(state)
            if move is None:
                return None
            state = self.game.play(state, move)
        return result

    def forced_move(self, state: State) -> Move | None:
        """Return a move that wins at once, or else the only one that does not lose at once.

        If all moves lose at once this is one of them; None if the side to move has a choice.
        """
        side = self.game.to_move(state)
        after = {move: self.game.play(state, move) for move in self.game.legal_moves(state)}
        for move, child in after.items():
            if self.game.score(child, side) == 1:
                return move
        safe = [move for move, child in after.items() if not self.can_win_at_once(child)]
        return None if len(safe) > 1 else (safe or list(after))[0]

    def can_win_at_once(self, state: State) -> bool:
        """Return whether the side to move has a winning move."""
        if self.wins_at_once is not None:
            return self.wins_at_once(state)
        side = self.game.to_move(state)
        children = (self.game.play(state, move) for move in self.game.legal_moves(state))
        return any(self.game.score(child, side) == 1 for child in children)

    def expand(self, edge: Edge[State, Move], state: State, ours: bool) -> None:
        """Give the state after a move a new node, or the one it shares."""
        if self.merged:
            # A linear search; the compiled search has a hash table (`verbs.find_slot`).
            edge.node = next((node for node in self.nodes if node.state == state), None)
        if edge.node is None:
            edge.node = self.make_node(state, edge.visits)
            # The opponent's node keeps the reply as its only move.
            if ours and self.frozen and self.reply is not None:
                edge.node.edges = [Edge(self.reply(state, self.below))]

    def make_node(self, state: State, visits: int) -> Node[State, Move]:
        """Create a node with all its moves untried."""
        moves = self.game.legal_moves(state)
        priors = [0.0] * len(moves) if self.priors is None else self.priors(state, moves)
        node = Node[State, Move](state, [], visits)
        for move, prior in zip(moves, priors, strict=True):
            node.edges.append(Edge(move, prior))
        self.nodes.append(node)
        return node

    def simulate(self, state: State, others_turn: bool) -> float:
        """Play a rollout; return the result for the side that moved to `state`."""
        game = self.game
        # The loop does not start if the game is over, as it can be where play continues past wins.
        mover = 1 - game.to_move(state)
        plies = 0
        while (result := game.score(state, mover)) is None:
            forced = self.forced_move(state) if self.forced_replies else None
            is_cut = self.cut is not None and plies >= self.cut and forced is None
            if self.evaluate is not None and is_cut:
                return self.evaluate(state) * (1 if game.to_move(state) == mover else -1)
            if forced is not None:
                move = forced
            elif others_turn and self.reply is not None and self.frozen:
                move = self.reply(state, self.below)
            else:
                move = game.rollout_move(state, self.below)
            state = game.play(state, move)
            others_turn = not others_turn
            plies += 1
        return result

    def back_up(self, path: Path[State, Move], result: float, rolled_out: bool) -> None:
        """Add a result to every move of the path; it is for the side that played the last one."""
        if rolled_out and self.leaf_wins and result != 0:
            result = 1
        for (node, edge), has_draw in zip(reversed(path), reversed(self.has_draw), strict=True):
            is_leaf = edge is path[-1][1]
            if result != 0:
                edge.total += result
            else:
                edge.total += 1 if rolled_out and self.draw_leaf_wins and is_leaf else self.draw
            edge.visits += 1
            # `search` counts the visits of the root.
            if node is not path[0][0]:
                node.visits += 1
            # A side that has a proven draw will not do worse.
            result = 0 if has_draw and result < 0 else -result

    def prove(self, path: Path[State, Move]) -> bool:
        """Back up a proof of the last move; return whether it reaches the root."""
        # MCTS-Solver (Winands et al., 2008), for draws as well: one winning move proves a node, any
        # other result needs all moves proven.
        for level in reversed(range(len(path))):
            node, edge = path[level]
            if edge.proven == 1:
                conclusion = -1  # the side to move wins, so the side that moved here loses
            else:
                results = [move.proven for move in node.edges if move.proven is not None]
                if len(results) < len(node.edges):
                    return False
                conclusion = -max(results)
            if level == 0:
                return True
            if self.merged:
                node.proven = conclusion
            path[level - 1][1].proven = conclusion
        return False


class ConnectFour:
    """Connect Four as a `Game`; moves are columns, counted from 0."""

    def to_move(self, state: Position) -> int:
        """Return the side to move."""
        return state.to_move

    def legal_moves(self, state: Position) -> Sequence[int]:
        """Return the open columns from left to right."""
        return state.legal_columns()

    def play(self, state: Position, move: int) -> Position:
        """Drop a disc."""
        return state.play(move)

    def score(self, state: Position, side: int) -> int | None:
        """Return the result for a side."""
        outcome = state.outcome()
        return None if outcome is None else outcome.score(side)

    def random_move(self, state: Position, below: Below) -> int:
        """Sample columns until one is open, as the compiled rollouts do."""
        legal = state.legal_columns()
        while (column := below(state.rules.columns)) not in legal:
            pass
        return column

    def rollout_move(self, state: Position, below: Below) -> int:
        """Return a uniformly random column."""
        return self.random_move(state, below)


class ConnectFourWithWinsAndBlocks(ConnectFour):
    """Connect Four whose rollouts win at once, else block, else are random."""

    def rollout_move(self, state: Position, below: Below) -> int:
        """Return a winning column, else a blocking one, else a random one."""
        # The leftmost column of several, like the lowest bit in the compiled rollout.
        for side in (state.to_move, 1 - state.to_move):
            for column in state.legal_columns():
                if state.makes_line(column, side):
                    return column
        return self.random_move(state, below)


@dataclass(frozen=True)
class Textbook:
    """Monte Carlo tree search in plain Python, written to be read; slow."""

    simulations: int = option(
        500,
        "Simulations per move.",
        least=1,
        most=1_000_000_000,
        unit="simulations",
        public=True,
        public_most=2000,
    )
    c: float = option(
        math.sqrt(2),
        "Exploration constant in mean + c * sqrt(log N / n).",
        least=0,
        most=1000,
        public=True,
    )

    def __post_init__(self) -> None:
        check(self)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Search, then play the most visited column."""
        position = unfinished(position)
        rng = generator(rng)
        simulations = min(
            self.simulations, limit.simulations or self.simulations, limit.nodes or self.simulations
        )
        search: TextbookSearch[Position, int] = TextbookSearch(
            ConnectFour(), lambda n: int(rng.integers(n)), c=self.c
        )
        is_over = limit.alarm()
        root = search.search(position, simulations, lambda: not is_over())
        best = max(root.edges, key=lambda edge: edge.visits)
        if root.visits == 0:
            return Decision(best.move)
        policy = [0.0] * position.rules.columns
        for edge in root.edges:
            policy[edge.move] = edge.visits / root.visits
        return Decision(
            best.move,
            best.total / best.visits,
            tuple(policy),
            Analysis(simulations=root.visits, nodes=len(search.nodes)),
        )
