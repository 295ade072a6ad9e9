"""Document 003's learner: a tree search that keeps one tree for all its games and has negamax's replies inside.

Every choice in the tree is ours; the reply to it is made once, by negamax, and kept. Five rollouts are made before each own
column, from where the game stands, and credited from there on. A "game" follows the replies that are kept, so what is
learned is a line against them; a game against a real opponent leaves the tree when that opponent replies otherwise.

Without this fault (B2) negamax is asked anew whenever it is to move, and the tree has room for all its replies.
"""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.agents.mcts.textbook import Below, ConnectFour, Edge, Node, TextbookSearch
from fourlab.agents.minimax.negamax import Negamax
from fourlab.agents.registry import make
from fourlab.evaluator import Batch
from fourlab.game.outcome import RED
from fourlab.game.position import Position
from fourlab.nets.evaluator import OnnxEvaluator, load
from fourlab.studies.workbench import Workbench

ROLLOUTS = 5
"""Before each own column."""
SHOWN = 5
"""Games that the document shows after the training."""
WITHOUT_LIMIT = Limit()
Reply = Callable[[Position, Below], int]


@dataclass(frozen=True)
class Lessons:
    """Runs of games with one tree each; called with a number it makes that run, always in the same way."""

    seed: int
    games: int
    ties: Literal["first", "random"] = "first"
    """Which of equal columns negamax takes: the first as in the document's day, or any as today (B13)."""
    kept: bool = True
    """Whether a reply in the tree is made once and kept, as in the document, or anew at every pass (B2)."""
    side: int = RED
    """Which side learns."""
    net: str | None = None
    """The network that plays our side's plies of rollouts; None leaves them to chance."""
    epsilon: float = 0.25
    """The chance of a random column at each such ply; from the document's code, its text does not say."""
    opponents: tuple[str, ...] = ()
    """Against whom real games are played when all is learned."""
    afterwards: int = 0
    """How many such games against each."""

    def __call__(self, number: int) -> dict[str, Any]:
        """Results are ours: +1, 0 or -1."""
        learner = Learner(self, np.random.default_rng([self.seed, number]))
        games = [learner.play() for _ in range(self.games)]
        rollouts = learner.rollouts  # those of the training: in games after it the search goes on
        shown = [learner.play() for _ in range(SHOWN)]
        return {
            "results": [self._result(game) for game in games],
            "shown": ["".join(str(column + 1) for column in game.moves or ()) for game in shown],
            "plies": sum(game.ply for game in games),
            "rollouts": rollouts,
            "afterwards": {
                spec: [self._result(learner.play(opponent)) for _ in range(self.afterwards)]
                for spec, opponent in ((spec, make(spec)) for spec in self.opponents)
            },
        }

    def _result(self, game: Position) -> int:
        outcome = game.outcome()
        assert outcome is not None
        return outcome.score(self.side)


Kind = TypeVar("Kind", bound=Hashable)


def teach(bench: Workbench, kinds: Mapping[Kind, Lessons]) -> dict[Kind, list[Any]]:
    """Make as many runs of each kind as the size says; all together, since processes take their time to start."""
    runs = bench.size["runs"]
    found = bench.repeat("lessons", _Course(tuple(kinds.values()), runs), runs * len(kinds))
    return {kind: found[place * runs : (place + 1) * runs] for place, kind in enumerate(kinds)}


@dataclass(frozen=True)
class _Course:
    """The work: so many runs of each kind of lessons."""

    kinds: tuple[Lessons, ...]
    runs: int

    def __call__(self, number: int) -> dict[str, Any]:
        kind, run = divmod(number, self.runs)
        return self.kinds[kind](run)


class Learner:
    """One tree and what is played with it."""

    def __init__(self, lessons: Lessons, rng: np.random.Generator) -> None:
        self.rng, self.rollouts = rng, 0
        self.negamax, self.known = Negamax(ties=lessons.ties), dict[Position, int]()
        self.side, self.kept, start = lessons.side, lessons.kept, Position()
        game: ConnectFour
        if lessons.net is not None:
            assert self.kept  # whose ply it is in a rollout, a network's game does not ask
            game = ByNetwork(load(lessons.net), self.reply, lessons.epsilon)
        else:
            game = ConnectFour() if self.kept else AskedAnew(self.side, self.reply)
        self.search: TextbookSearch[Position, int] = TextbookSearch(
            game, self.below, c=math.sqrt(2), reply=self.reply, frozen=self.kept
        )
        self.root = self.search.make_node(start if self.side == RED else start.play(self._first_reply(start)), visits=0)
        self._roll_out(self.root, None)

    def below(self, n: int) -> int:
        """Chance."""
        return int(self.rng.integers(n))

    def reply(self, position: Position, below: Below) -> int:
        """Negamax's; one that takes the first of equals replies the same every time."""
        if self.negamax.ties == "random":
            return self._first_reply(position)
        if position not in self.known:
            self.known[position] = self._first_reply(position)
        return self.known[position]

    def _first_reply(self, position: Position) -> int:
        return self.negamax.decide(position, WITHOUT_LIMIT, self.rng).column

    def play(self, opponent: Agent | None = None) -> Position:
        """Play a game, learning as it goes, and return its end; without an opponent the tree's own negamax replies."""
        node, into = self.root, None
        if opponent is not None and self.side != RED:
            node = self._meet(Position(), opponent, self.root)
        while True:
            for _ in range(ROLLOUTS):
                self._roll_out(node, into)
            into = self._best(node)
            position = node.state.play(into.move)
            if position.outcome() is not None:
                return position
            assert into.node is not None  # whatever has been tried has its reply
            if opponent is not None:
                reply = opponent.decide(position, WITHOUT_LIMIT, self.rng).column
            else:
                reply = into.node.edges[0].move if self.kept else self.reply(position, self.below)
            position = position.play(reply)
            if position.outcome() is not None:
                return position
            known = next((edge for edge in into.node.edges if edge.move == reply), None)
            if known is None:
                node, into = self.search.make_node(position, visits=0), None  # the tree does not know this position
                continue
            if known.node is None:
                self.search.expand(known, position, ours=False)
            assert known.node is not None
            node = known.node

    def _meet(self, start: Position, opponent: Agent, known: Node[Position, int]) -> Node[Position, int]:
        """Where a game stands that a real opponent has begun."""
        position = start.play(opponent.decide(start, WITHOUT_LIMIT, self.rng).column)
        return known if position == known.state else self.search.make_node(position, visits=0)

    def _best(self, node: Node[Position, int]) -> Edge[Position, int]:
        """The column with the best mean, of equals any."""
        means = {edge.move: edge.total / edge.visits for edge in node.edges if edge.visits}
        best = [edge for edge in node.edges if means.get(edge.move) == max(means.values())]
        return best[int(self.rng.integers(len(best)))]

    def _roll_out(self, node: Node[Position, int], into: Edge[Position, int] | None) -> None:
        """Grow the tree below a node, and credit the column that led there; those before it learn nothing."""
        path, result, _, rolled_out = self.search.descend(node)
        self.search.back_up(path, result, rolled_out)
        node.visits += 1
        self.rollouts += 1
        if into is not None:
            into.visits += 1
            into.total += result if len(path) % 2 else -result  # it is the last mover's


@dataclass(frozen=True)
class AskedAnew(ConnectFour):
    """Connect Four in which whatever the other side plays by chance, in the tree and in rollouts, is its opponent's reply."""

    side: int
    """Ours, which plays at random in rollouts."""
    reply: Reply

    def random_move(self, state: Position, below: Below) -> int:
        """Any column if it is our turn, else the reply."""
        return super().random_move(state, below) if state.to_move == self.side else self.reply(state, below)


@dataclass(frozen=True)
class ByNetwork(ConnectFour):
    """Connect Four whose rollouts a value network plays for us, with the opponent's replies known."""

    judge: OnnxEvaluator
    reply: Reply
    epsilon: float

    def rollout_move(self, state: Position, below: Below) -> int:
        """With chance epsilon any column; else the one after which, and after the reply, the network likes our side best."""
        if below(1 << 20) < self.epsilon * (1 << 20):
            return self.random_move(state, below)
        columns, after = state.legal_columns(), list[Position]()
        for column in columns:
            position = state.play(column)
            after.append(position if position.outcome() is not None else position.play(self.reply(position, below)))
        values = self.judge.evaluate(Batch.of(after)).values
        for place, each in enumerate(after):
            if (outcome := each.outcome()) is not None:
                values[place] = 2 * outcome.score(state.to_move)  # a win is beyond whatever a network expects
        return columns[int(np.argmax(values))]
