"""Players of chess: document 004's, an improved one, and one that moves at random."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import chess

from fourlab.agent import Limit
from fourlab.agents.mcts.textbook import Below, Edge, Node, TextbookSearch
from fourlab.chess.game import Chess, ChessState, ChessWithCaptures, judge, mate_in_one, priors
from fourlab.errors import UserError

if TYPE_CHECKING:
    import numpy as np

MOST_NODES = 50_000
"""A tree does not grow beyond this, or a search that is never stopped would fill the memory."""
ENDLESS = 10**12
"""So many simulations are never made."""
TELL_SECONDS = 1.0
"""Who listens is told so often how a search goes."""
Root = Node[ChessState, chess.Move]


@dataclass(frozen=True)
class ChessDecision:
    """A chosen move and what the player thought."""

    move: chess.Move
    value: float | None = None
    """The expected result for the side to move, -1 to +1; None if the player has no opinion."""
    simulations: int = 0
    seconds: float = 0.0
    line: tuple[chess.Move, ...] = ()
    """The play the player expects, beginning with its own move."""


Told = Callable[[ChessDecision], None]
"""Hears, while a player thinks, what it would play now."""


class ChessPlayer(Protocol):
    """Chooses a move of a position that has some, from its arguments alone."""

    def decide(self, state: ChessState, limit: Limit, rng: "np.random.Generator", told: Told | None = None) -> ChessDecision:
        """Choose."""
        ...


@dataclass(frozen=True)
class RandomMover:
    """Plays any legal move."""

    def decide(self, state: ChessState, limit: Limit, rng: "np.random.Generator", told: Told | None = None) -> ChessDecision:
        """Draw a move."""
        move = state.moves[int(rng.integers(len(state.moves)))]
        return ChessDecision(move, line=(move,))


@dataclass(frozen=True)
class Searcher:
    """Monte Carlo tree search: the textbook's, with the rules of chess."""

    simulations: int
    """How many simulations a move, unless the limit bounds them or the time."""
    c: float
    """Exploration, for results from -1 to +1."""
    choose: Literal["mean", "visits"]
    """The move with the best mean result is played, or the one visited most."""
    cut: int | None = None
    """Rollouts are cut after so many plies and judged by the pieces; None means that they are random to the end.

    With a cut, what wins material comes first, in rollouts and in the tree, and mates are proven, not only estimated.
    """

    def decide(self, state: ChessState, limit: Limit, rng: "np.random.Generator", told: Told | None = None) -> ChessDecision:
        """Search until the first bound is reached, then choose. The bound of a depth is the length of the expected line."""
        began = told_at = time.perf_counter()
        luck = rng.random(len(state.moves))  # decides between equals; drawn now, so that telling changes nothing
        search = self._search(random.Random(int(rng.integers(2**62))).randrange)  # quicker than rng for one number at a time
        if search.solver and (mate := mate_in_one(state)) is not None:
            return ChessDecision(mate, 1.0, line=(mate,))

        def decision(root: Root) -> ChessDecision:
            edge = self.best(root.edges, luck)
            value = edge.total / edge.visits if edge.visits else None
            value = value if edge.proven is None else float(edge.proven)
            return ChessDecision(edge.move, value, root.visits, time.perf_counter() - began, _line(edge))

        def goes_on() -> bool:
            nonlocal told_at
            root, now = search.nodes[0], time.perf_counter()
            if told is not None and now - told_at >= TELL_SECONDS:
                told_at = now
                told(decision(root))
            if (limit.stop and limit.stop.is_set()) or (limit.seconds and now - began >= limit.seconds):
                return False
            return limit.depth is None or root.visits == 0 or len(decision(root).line) < limit.depth

        own = self.simulations if limit.seconds is None else ENDLESS
        return decision(search.search(state, limit.simulations or limit.nodes or own, goes_on))

    def _search(self, below: Below) -> TextbookSearch[ChessState, chess.Move]:
        if self.cut is None:
            return TextbookSearch(Chess(), below, self.c, max_nodes=MOST_NODES)
        return TextbookSearch(
            ChessWithCaptures(),
            below,
            self.c,
            solver=True,
            wins_at_once=lambda state: mate_in_one(state) is not None,
            priors=priors,
            judge=judge,
            cut=self.cut,
            max_nodes=MOST_NODES,
        )

    def best(self, edges: Sequence[Edge[ChessState, chess.Move]], luck: "np.ndarray") -> Edge[ChessState, chess.Move]:
        """A proven win; else the best by visits or mean of what is open, or a proven draw if that looks worse than one."""

        def worth(i: int) -> tuple[float, float, float]:
            edge = edges[i]
            mean = edge.total / edge.visits if edge.visits else -math.inf
            return {1: 2, None: 1, 0: 0, -1: -1}[edge.proven], mean if self.choose == "mean" else edge.visits, luck[i]

        best = edges[max(range(len(edges)), key=worth)]
        draw = next((edge for edge in edges if edge.proven == 0), best)
        return draw if best.total < 0 else best


def _line(edge: Edge[ChessState, chess.Move]) -> tuple[chess.Move, ...]:
    """The move and the most visited ones after it."""
    line = [edge.move]
    while edge.node is not None:
        edge = max(edge.node.edges, key=lambda each: each.visits)
        if edge.visits == 0:
            break
        line.append(edge.move)
    return tuple(line)


PRESETS: dict[str, ChessPlayer] = {
    "document": Searcher(simulations=50, c=2.0, choose="mean"),  # its results are 0 to 1 and its c is 1, which is the same
    "improved": Searcher(simulations=400, c=1.5, choose="visits", cut=4),
    "random": RandomMover(),
}


def player(name: str) -> ChessPlayer:
    """The player of a name."""
    if name not in PRESETS:
        raise UserError(f"there is no chess player {name!r}; players are {', '.join(PRESETS)}, and human in fourlab chess play")
    return PRESETS[name]
