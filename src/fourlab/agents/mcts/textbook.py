"""Monte Carlo tree search as a textbook tells it, in plain Python, for any game of two players.

It is written to be read, and it judges the compiled search: fed the same random numbers, both grow the same tree
(`tests/agents/mcts/test_twin.py`). It knows all the switches of `fourlab.agents.mcts.kernel.Switches`, under the same names.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from fourlab.agent import UNLIMITED, Analysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.game.position import Position
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np

State = TypeVar("State")
Move = TypeVar("Move")
Below = Callable[[int], int]
"""A source of chance: below(n) is a number from 0 to n - 1."""


class Game(Protocol[State, Move]):
    """What the search must know of a game. States are values: playing makes a new one."""

    def to_move(self, state: State) -> int:
        """The side to move, 0 or 1."""
        ...

    def legal_moves(self, state: State) -> Sequence[Move]:
        """The moves, always in the same order."""
        ...

    def play(self, state: State, move: Move) -> State:
        """The state after the move."""
        ...

    def score(self, state: State, side: int) -> int | None:
        """The result for a side, +1, 0 or -1; None while the game goes on."""
        ...

    def random_move(self, state: State, below: Below) -> Move:
        """Any legal move, all with the same chance."""
        ...

    def rollout_move(self, state: State, below: Below) -> Move:
        """The move to try in a rollout."""
        ...


@dataclass(slots=True)
class Edge(Generic[State, Move]):
    """A move out of a node, with what is known of it."""

    move: Move
    prior: float = 0.0
    """How promising the move looked before it was tried, where the search goes by that; a node's priors sum to 1."""
    visits: int = 0
    total: float = 0.0
    """The sum of results for the side that plays the move."""
    node: "Node[State, Move] | None" = None
    """The node it leads to, once expanded."""
    proven: int | None = None
    """+1, 0 or -1 for the side that plays the move, once known."""


@dataclass(slots=True)
class Node(Generic[State, Move]):
    """A position that has been expanded."""

    state: State
    edges: "list[Edge[State, Move]]"
    visits: int = 0
    proven: int | None = None
    """The result for the side that moved here, once known (kept where transpositions are merged)."""

    @property
    def mean(self) -> float:
        """The mean result of the moves tried here, for the side to move."""
        return sum(edge.total for edge in self.edges) / max(sum(edge.visits for edge in self.edges), 1)


@dataclass
class TextbookSearch(Generic[State, Move]):
    """The search: select, expand, simulate, back up, as often as asked."""

    game: Game[State, Move]
    below: Below
    c: float = math.sqrt(2)
    log_ratio: bool = False
    expand_all: bool = False
    past_wins: bool = False
    draw: float = 0.0
    """What a draw is worth to both sides, -1 to +1."""
    draw_leaf_wins: bool = False
    leaf_wins: bool = False
    tie: Literal["first", "last", "random"] = "random"
    reply: Callable[[State, Below], Move] | None = None
    """The opponent as part of the transition: how it answers; None means that it is a player who maximises too."""
    frozen: bool = False
    """The opponent answers once and for all when a node is made, not at every pass."""
    solver: bool = False
    wins_at_once: Callable[[State], bool] | None = None
    """A quicker way to see whether the side to move can win at once than to try its moves, for the solver."""
    merged: bool = False
    """Positions reached in several ways share a node."""
    priors: Callable[[State, Sequence[Move]], Sequence[float]] | None = None
    """How promising the moves look before they are tried; None means that each is tried once before any is tried again."""
    judge: Callable[[State], float] | None = None
    """What a state is worth to the side to move, -1 to +1, for rollouts that are cut."""
    cut: int | None = None
    """Rollouts are cut after so many plies, and judged; None means that they are played to the end."""
    max_nodes: int = 10**9
    nodes: list[Node[State, Move]] = field(default_factory=list)
    floors: list[bool] = field(default_factory=list)
    """For each node of the path just walked, whether it had a proven draw to offer."""

    def search(self, state: State, simulations: int, go_on: Callable[[], bool] = lambda: True) -> Node[State, Move]:
        """Grow a tree from a state that is not over, as long as `go_on` says so; returns its root."""
        root = self.make_node(state, visits=0)
        for _ in range(simulations):
            if not go_on():
                break
            path, result, proven, rolled_out = self.descend(root)
            self.back_up(path, result, rolled_out)
            root.visits += 1
            if self.solver and proven and self.prove(path):
                break
        return root

    def descend(self, root: Node[State, Move]) -> tuple[list[tuple[Node[State, Move], Edge[State, Move]]], float, bool, bool]:
        """Walk down to a leaf and learn its result for the side that moved there; also whether it is proven or a rollout."""
        game, node, entering = self.game, root, self.expand_all and root.visits == 0
        path: list[tuple[Node[State, Move], Edge[State, Move]]] = []
        self.floors = floors = list[bool]()
        while True:
            others_turn = len(path) % 2 == 1
            if entering or (others_turn and self.reply is not None and not self.frozen):
                edge = self.random_edge(node)
            else:
                edge = self.select(node)
            path.append((node, edge))
            floors.append(self.solver and not entering and any(each.proven == 0 for each in node.edges))
            if edge.proven is not None:
                return path, edge.proven, True, False
            if edge.node is None:
                state = game.play(node.state, edge.move)
                if edge.visits == 0:
                    edge.proven = self.examine(state)
                    if edge.proven is not None:
                        return path, edge.proven, True, False
                ours = len(path) % 2 == 1
                through = (self.expand_all and not entering) or (self.reply is not None and ours)
                if (edge.visits == 0 and not through) or len(self.nodes) >= self.max_nodes:
                    return path, self.simulate(state, ours), False, True
                self.expand(edge, state, ours)
                entering = self.expand_all
            assert edge.node is not None
            if edge.node.proven is not None:
                edge.proven = edge.node.proven
                return path, edge.proven, True, False
            node = edge.node

    def select(self, node: Node[State, Move]) -> Edge[State, Move]:
        """Choose an untried move if there is one, else the one with the greatest upper confidence bound.

        With priors, untried moves have a bound, too.
        """
        if self.priors is None and (untried := [edge for edge in node.edges if edge.visits == 0]):
            return untried[{"first": 0, "last": -1}[self.tie] if self.tie != "random" else self.below(len(untried))]
        best, chosen, equals = -math.inf, None, 0
        mean = 0.0 if self.priors is None else node.mean
        for edge in node.edges:
            if self.solver and edge.proven is not None:
                continue  # what is proven is never tried again
            bound = self.upper_bound(edge, node.visits) if self.priors is None else self.bound_by_prior(edge, node.visits, mean)
            if bound > best:
                best, chosen, equals = bound, edge, 1
            elif bound == best:
                equals += 1
                if self.tie == "last" or (self.tie == "random" and self.below(equals) == 0):
                    chosen = edge
        assert chosen is not None
        return chosen

    def upper_bound(self, edge: Edge[State, Move], n: int) -> float:
        """Mean + c * sqrt(log n / visits), or document 000's form of it."""
        mean = edge.total / edge.visits
        if self.log_ratio:
            return mean + self.c * math.sqrt(max(math.log(n) - math.log(edge.visits), 0))
        return mean + self.c * math.sqrt(math.log(n) / edge.visits)

    def bound_by_prior(self, edge: Edge[State, Move], n: int, untried: float) -> float:
        """Mean + c * prior * sqrt(n) / (1 + visits), which is PUCT; `untried` is the mean of a move that has none yet."""
        mean = edge.total / edge.visits if edge.visits else untried
        return mean + self.c * edge.prior * math.sqrt(n) / (1 + edge.visits)

    def random_edge(self, node: Node[State, Move]) -> Edge[State, Move]:
        """Choose any move, all with the same chance."""
        move = self.game.random_move(node.state, self.below)
        return next(edge for edge in node.edges if edge.move == move)

    def examine(self, state: State) -> int | None:
        """The result of a state for the side that has just moved, if it is known without searching."""
        game, mover = self.game, 1 - self.game.to_move(state)
        result = game.score(state, mover)
        if self.past_wins and game.legal_moves(state):
            return None
        if result is None and self.solver and self.can_win_at_once(state):
            return -1
        return result

    def can_win_at_once(self, state: State) -> bool:
        """Whether the side to move has a move that wins."""
        if self.wins_at_once is not None:
            return self.wins_at_once(state)
        game, side = self.game, self.game.to_move(state)
        return any(game.score(game.play(state, move), side) == 1 for move in game.legal_moves(state))

    def expand(self, edge: Edge[State, Move], state: State, ours: bool) -> None:
        """Give the state after a move a node of its own, or the one it has already."""
        if self.merged:
            edge.node = next((node for node in self.nodes if node.state == state), None)
        if edge.node is None:
            edge.node = self.make_node(state, edge.visits)
            if ours and self.frozen and self.reply is not None:
                edge.node.edges = [Edge(self.reply(state, self.below))]

    def make_node(self, state: State, visits: int) -> Node[State, Move]:
        """A node with all its moves untried."""
        moves = self.game.legal_moves(state)
        priors = [0.0] * len(moves) if self.priors is None else self.priors(state, moves)
        node = Node(state, [Edge(move, prior) for move, prior in zip(moves, priors, strict=True)], visits)
        self.nodes.append(node)
        return node

    def simulate(self, state: State, others_turn: bool) -> float:
        """Play to the end, or to the cut, and return the result for the side that had moved to this state."""
        game, mover, plies = self.game, 1 - self.game.to_move(state), 0
        while (result := game.score(state, mover)) is None:
            if self.judge is not None and plies == self.cut:
                return self.judge(state) * (1 if game.to_move(state) == mover else -1)
            if others_turn and self.reply is not None and self.frozen:
                move = self.reply(state, self.below)
            else:
                move = game.rollout_move(state, self.below)
            state = game.play(state, move)
            others_turn, plies = not others_turn, plies + 1
        return result

    def back_up(self, path: list[tuple[Node[State, Move], Edge[State, Move]]], result: float, rolled_out: bool) -> None:
        """Credit every move of the path; `result` is for the side that played the last one."""
        if rolled_out and self.leaf_wins and result != 0:
            result = 1
        for (node, edge), floor in zip(reversed(path), reversed(self.floors), strict=True):
            is_leaf = edge is path[-1][1]
            if result != 0:
                edge.total += result
            else:
                edge.total += 1 if rolled_out and self.draw_leaf_wins and is_leaf else self.draw
            edge.visits += 1
            if node is not path[0][0]:
                node.visits += 1
            result = 0 if floor and result < 0 else -result  # a side that has a proven draw will not do worse

    def prove(self, path: list[tuple[Node[State, Move], Edge[State, Move]]]) -> bool:
        """Draw conclusions from the proven last move, upwards as far as they go; tell whether the root is proven."""
        for level in reversed(range(len(path))):
            node, edge = path[level]
            if edge.proven == 1:
                conclusion = -1  # the side to move wins, so whoever moved here loses
            elif any(each.proven is None for each in node.edges):
                return False
            else:
                conclusion = -max(each.proven for each in node.edges if each.proven is not None)
            if level == 0:
                return True
            if self.merged:
                node.proven = conclusion
            path[level - 1][1].proven = conclusion
        return False


class ConnectFour:
    """Connect Four as a `Game`; moves are columns from 0."""

    def to_move(self, state: Position) -> int:
        """The side to move."""
        return state.to_move

    def legal_moves(self, state: Position) -> Sequence[int]:
        """The open columns from left to right."""
        return state.legal_columns()

    def play(self, state: Position, move: int) -> Position:
        """Drop a disc."""
        return state.play(move)

    def score(self, state: Position, side: int) -> int | None:
        """The result for a side."""
        outcome = state.outcome()
        return None if outcome is None else outcome.score(side)

    def random_move(self, state: Position, below: Below) -> int:
        """Draw a column until it is open, as the compiled rollouts do."""
        legal = state.legal_columns()
        while (column := below(state.rules.columns)) not in legal:
            pass
        return column

    def rollout_move(self, state: Position, below: Below) -> int:
        """Rollouts are uniformly random."""
        return self.random_move(state, below)


class ConnectFourWithWinsAndBlocks(ConnectFour):
    """Rollouts win at once if they can, else block, else are random."""

    def rollout_move(self, state: Position, below: Below) -> int:
        """Look for a win, then for a block."""
        for side in (state.to_move, 1 - state.to_move):
            for column in state.legal_columns():
                if state.makes_line(column, side):
                    return column
        return self.random_move(state, below)


@dataclass(frozen=True)
class Textbook:
    """Monte Carlo tree search in plain Python, written to be read: slow, and right."""

    simulations: int = option(
        500,
        "How many simulations a move, unless the limit says less.",
        least=1,
        most=1_000_000_000,
        unit="simulations",
        public=True,
        public_most=2000,
    )
    c: float = option(math.sqrt(2), "Exploration, for results from -1 to +1.", least=0, public=True)

    def __post_init__(self) -> None:
        check(self)

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Search, then play the most visited column."""
        rng = generator(rng)
        simulations = min(self.simulations, limit.simulations or self.simulations, limit.nodes or self.simulations)
        search: TextbookSearch[Position, int] = TextbookSearch(ConnectFour(), lambda n: int(rng.integers(n)), c=self.c)
        end = math.inf if limit.seconds is None else time.perf_counter() + limit.seconds
        root = search.search(
            position, simulations, lambda: time.perf_counter() < end and not (limit.stop and limit.stop.is_set())
        )
        best = max(root.edges, key=lambda edge: edge.visits)
        shares: dict[int, Any] = {edge.move: edge.visits / max(root.visits, 1) for edge in root.edges}
        if root.visits == 0:
            return Decision(best.move)
        policy = tuple(shares.get(column, 0.0) for column in range(position.rules.columns))
        return Decision(best.move, best.total / best.visits, policy, Analysis(simulations=root.visits, nodes=len(search.nodes)))
