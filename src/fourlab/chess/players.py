"""Chess players: Arya's tree search, an improved one, and one that moves at random."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import chess

from fourlab.agent import Limit
from fourlab.agents.mcts.textbook import Edge, Node, TextbookSearch
from fourlab.chess.game import Chess, ChessState, ChessWithCaptures, evaluate, mate_in_one, priors
from fourlab.chess.rollouts import CompiledSearch, Words
from fourlab.errors import UserError
from fourlab.game.outcome import Result

if TYPE_CHECKING:
    import numpy as np

MOST_NODES = 50_000
"""Largest size of a tree, so that a search without a limit cannot fill the memory."""
ENDLESS = 10**12
"""A number of simulations that is never reached."""
REPORT_SECONDS = 1.0
"""Time between two calls of `on_decision`."""
PROOF_ORDER: dict[int | None, int] = {Result.WIN: 2, None: 1, Result.DRAW: 0, Result.LOSS: -1}
"""Preference of root moves by proven result: wins, unproven moves, draws, losses."""
Root = Node[ChessState, chess.Move]


@dataclass(frozen=True)
class ChessDecision:
    """A chosen move and the search behind it."""

    move: chess.Move
    value: float | None = None
    """From the side to move's point of view, -1 to +1; None if the player has no estimate."""
    simulations: int = 0
    seconds: float = 0.0
    line: tuple[chess.Move, ...] = ()
    """The principal variation, beginning with `move`."""


OnDecision = Callable[[ChessDecision], None]
"""Called during a search with the decision that would be made now."""


class ChessPlayer(Protocol):
    """Chooses a move; the position must have at least one legal move."""

    def decide(
        self,
        state: ChessState,
        limit: Limit,
        rng: "np.random.Generator",
        on_decision: OnDecision | None = None,
    ) -> ChessDecision:
        """Return a decision that depends on the arguments alone."""
        ...


@dataclass(frozen=True)
class RandomMover:
    """Plays a legal move chosen uniformly."""

    def decide(
        self,
        state: ChessState,
        limit: Limit,
        rng: "np.random.Generator",
        on_decision: OnDecision | None = None,
    ) -> ChessDecision:
        """Return a random move."""
        move = state.moves[int(rng.integers(len(state.moves)))]
        return ChessDecision(move, line=(move,))


@dataclass(frozen=True)
class Mixed:
    """Plays a random move instead of another player's, with a probability."""

    player: ChessPlayer
    share: float
    """The probability of a random move."""

    def decide(
        self,
        state: ChessState,
        limit: Limit,
        rng: "np.random.Generator",
        on_decision: OnDecision | None = None,
    ) -> ChessDecision:
        """Return the player's decision, or a random move."""
        chosen = RandomMover() if rng.random() < self.share else self.player
        return chosen.decide(state, limit, rng, on_decision)


@dataclass(frozen=True)
class Searcher:
    """The textbook Monte Carlo tree search with the rules of chess."""

    simulations: int
    """Simulations per move, unless the limit bounds them or the time."""
    c: float
    """The exploration constant of UCT, for results from -1 to +1."""
    choose: Literal["mean", "visits"]
    """Whether to play the move with the best mean result or the most visited one."""
    cut: int | None = None
    """Number of plies after which a rollout ends and material is evaluated; None: never.

    With a cut, rollouts and the tree also prefer moves that win material, and mates are proven
    instead of estimated.
    """

    def decide(
        self,
        state: ChessState,
        limit: Limit,
        rng: "np.random.Generator",
        on_decision: OnDecision | None = None,
    ) -> ChessDecision:
        """Search until the first bound is reached, then choose.

        `limit.depth` bounds the length of the principal variation.
        """
        began = time.perf_counter()
        reported_at = began
        # Breaks ties; drawn once, so that calls of `on_decision` do not change the final choice.
        tie_breaks = rng.random(len(state.moves))
        search = self._search(int(rng.integers(2**62)))
        # The search proves mates but would not look at all moves before it finds one.
        if search.proofs and (mate := mate_in_one(state)) is not None:
            return ChessDecision(mate, 1.0, line=(mate,))

        def decision(root: Root) -> ChessDecision:
            edge = self.best(root.edges, tie_breaks)
            value = None
            if edge.proven is not None:
                value = float(edge.proven)
            elif edge.visits:
                value = edge.total / edge.visits
            seconds = time.perf_counter() - began
            return ChessDecision(edge.move, value, root.visits, seconds, _line(edge))

        def keep_going() -> bool:
            nonlocal reported_at
            root = search.nodes[0]
            now = time.perf_counter()
            if on_decision is not None and now - reported_at >= REPORT_SECONDS:
                reported_at = now
                on_decision(decision(root))
            if limit.stop and limit.stop.is_set():
                return False
            if limit.seconds and now - began >= limit.seconds:
                return False
            return limit.depth is None or root.visits == 0 or len(decision(root).line) < limit.depth

        # A time limit alone replaces the player's own number of simulations.
        default = self.simulations if limit.seconds is None else ENDLESS
        simulations = limit.simulations or limit.nodes or default
        return decision(search.search(state, simulations, keep_going))

    def _search(self, seed: int) -> TextbookSearch[ChessState, chess.Move]:
        # Arya's search: whole random games, no knowledge of chess.
        if self.cut is None:
            words = Words(seed)
            return CompiledSearch(Chess(), words.below, self.c, max_nodes=MOST_NODES, words=words)
        return TextbookSearch(
            ChessWithCaptures(),
            # Python's generator is faster than NumPy's for single numbers.
            random.Random(seed).randrange,
            self.c,
            proofs=True,
            wins_at_once=lambda state: mate_in_one(state) is not None,
            priors=priors,
            evaluate=evaluate,
            cut=self.cut,
            max_nodes=MOST_NODES,
        )

    def best(
        self, edges: Sequence[Edge[ChessState, chess.Move]], tie_breaks: "np.ndarray"
    ) -> Edge[ChessState, chess.Move]:
        """Return the edge to play.

        A proven win comes first, then the best unproven move by visits or mean. If that move has
        a negative mean, a proven draw is better.
        """

        def rank(i: int) -> tuple[float, float, float]:
            edge = edges[i]
            mean = edge.total / edge.visits if edge.visits else -math.inf
            # Ties of both are broken at random, by the last element.
            preference = mean if self.choose == "mean" else edge.visits
            return PROOF_ORDER[edge.proven], preference, tie_breaks[i]

        best = edges[max(range(len(edges)), key=rank)]
        # If no draw is proven, this is the best move itself.
        draw = next((edge for edge in edges if edge.proven == 0), best)
        return draw if best.total < 0 else best


def _line(edge: Edge[ChessState, chess.Move]) -> tuple[chess.Move, ...]:
    """Return the move and the most visited replies after it."""
    line = [edge.move]
    while edge.node is not None:
        # The most visited reply is the search's own choice.
        edge = max(edge.node.edges, key=lambda reply: reply.visits)
        if edge.visits == 0:
            break
        line.append(edge.move)
    return tuple(line)


PRESETS: dict[str, ChessPlayer] = {
    # Arya counts results from 0 to 1 and has c = 1; on the scale from -1 to +1,
    # which is twice as wide, the same search has c = 2.
    "arya": Searcher(simulations=50, c=2.0, choose="mean"),
    "improved": Searcher(simulations=400, c=1.5, choose="visits", cut=4),
    "random": RandomMover(),
}


OLD_NAMES = {"document": "arya"}
"""Names that earlier versions used. Runs keep the names that they were begun with."""


def player(name: str) -> ChessPlayer:
    """Return the player of this name, which may be an old one."""
    name = OLD_NAMES.get(name, name)
    if name not in PRESETS:
        raise UserError(
            f"there is no chess player {name!r}; players are {', '.join(PRESETS)}, "
            "and human in fourlab chess play"
        )
    return PRESETS[name]
