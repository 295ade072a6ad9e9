"""The batched guided search grows the same tree as the textbook search.

Both use the same random numbers and the same evaluations.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fourlab import Position
from fourlab.agents.mcts import guided_kernel as guided
from fourlab.agents.mcts import nodes, verbs
from fourlab.agents.mcts.textbook import ConnectFour, Edge, Node, TextbookSearch
from fourlab.compiled import random
from tests.agents.mcts.test_twin import Stream, assert_same

Path = list[tuple[Node[Position, int], Edge[Position, int]]]
Game = Generator[list[Position], np.ndarray, float]

POSITIONS = {
    "empty": Position(),
    "five by four": Position("3324", board="5x4x4"),
    "three in a row": Position("3", board="5x4x3"),
    "Vannucci & Abril": Position("vannucci-abril"),
    "late": Position("2713217673732233676731"),
    "drawish": Position("24422231", board="4x4x4"),
    "one column open": Position(". X .\nO X O\nX O X", board="3x3x4", check_counts=False),
}
GREEDY = guided.Policy(depth=-1, random=guided.COINS // 4, wins_and_blocks=False, by_logits=False)
VARIANTS: dict[str, tuple[int, bool, dict[str, Any]]] = {
    "one at a time": (1, False, {}),
    "in batches": (7, False, {}),
    "with a solver": (7, True, {}),
    "wins and blocks": (7, True, {"wins_and_blocks": True}),
    "by logits": (7, True, {"by_logits": True}),
    "by logits, wins and blocks": (1, False, {"by_logits": True, "wins_and_blocks": True}),
    "always greedy": (7, False, {"random": 0}),
    "always random": (7, True, {"random": guided.COINS}),
    "leaves evaluated": (7, True, {"depth": 0}),
    "leaves evaluated, one at a time": (1, False, {"depth": 0}),
    "cut after two plies": (7, False, {"depth": 2}),
    "cut after three, random, wins and blocks": (
        7,
        True,
        {"depth": 3, "random": guided.COINS, "wins_and_blocks": True},
    ),
    "many at a time": (40, True, {"depth": 1}),
}


def evaluations(own: np.ndarray, mask: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return arbitrary but repeatable values and logits, with frequent ties."""
    digits = (own * 31 + mask * 17)[:, None] // (np.arange(columns + 1) * 7919 + 101) % 9
    numbers = digits.astype(np.float32) / 3.1 - 1.4  # some are outside -1 to +1
    return numbers[:, 0], numbers[:, 1:]


@dataclass
class Twin(TextbookSearch[Position, int]):
    """The textbook search with rollouts that are played in batches, with an evaluator."""

    policy: guided.Policy = GREEDY
    leaf: Position = field(default_factory=Position)

    def search_in_batches(
        self, position: Position, batches: int, batch: int
    ) -> Node[Position, int]:
        root = self.make_node(position, visits=0)
        for _ in range(batches):
            waiting: list[tuple[Path, list[bool], Game]] = []
            proven = False
            for _ in range(batch):
                path, result, is_proven, _ = self.descend(root)
                root.visits += 1
                if is_proven:
                    self.back_up(path, result, False)
                    if self.proofs and self.prove(path):
                        proven = True
                        break
                else:
                    self.count_losses(path, 1)
                    waiting.append((path, self.has_draw, self.play(self.leaf)))
            results = side_by_side([game for *_, game in waiting])
            for (path, has_draw, _), result in zip(waiting, results, strict=True):
                self.count_losses(path, -1)
                self.has_draw = has_draw
                points = np.floor(guided.WON * np.clip(result, -1, 1) + 0.5)
                self.back_up(path, -float(points) / guided.WON, True)
            if proven:
                break
        return root

    def simulate(self, state: Position, others_turn: bool) -> int:
        self.leaf = state  # played later, by `play`
        return 0

    def count_losses(self, path: Path, losses: int) -> None:
        for node, edge in path:
            edge.visits += losses
            edge.total -= losses
            if node is not path[0][0]:
                node.visits += losses

    def play(self, position: Position) -> Game:
        """Play from a leaf: yield positions to evaluate, return the result for its side to move."""
        p = self.policy
        start = position
        while (outcome := position.outcome()) is None:
            side = position.to_move
            legal = position.legal_columns()
            wins = [column for column in legal if position.makes_line(column, side)]
            blocks = [column for column in legal if position.makes_line(column, 1 - side)]
            if p.wins_and_blocks and wins:
                column = wins[0]
            elif position.ply - start.ply == p.depth:
                value = float((yield [position])[0, 0])
                return value if side == start.to_move else -value
            elif p.wins_and_blocks and blocks:
                column = blocks[0]
            elif p.random < guided.COINS and self.below(guided.COINS) >= p.random:
                column = wins[0] if wins else legal[0]
                if not wins and len(legal) > 1:
                    if p.by_logits:
                        ratings = (yield [position])[0, 1:][list(legal)]
                    else:
                        ratings = -(yield [position.play(column) for column in legal])[:, 0]
                    column = legal[self.best(ratings)]
            else:
                column = self.game.random_move(position, self.below)
            position = position.play(column)
        return outcome.score(start.to_move)

    def best(self, ratings: np.ndarray) -> int:
        chosen, equals = 0, 1
        for place in range(1, len(ratings)):
            if ratings[place] > ratings[chosen]:
                chosen, equals = place, 1
            elif ratings[place] == ratings[chosen]:
                equals += 1
                if self.below(equals) == 0:
                    chosen = place
        return chosen


def side_by_side(games: list[Game]) -> list[float]:
    """Play all games to their next query, answer all queries, and so on."""
    results: dict[int, float] = {}
    answers: dict[int, np.ndarray | None] = dict.fromkeys(range(len(games)))
    while answers:
        for place in list(answers):
            try:
                queries = games[place].send(answers[place])  # type: ignore[arg-type]
            except StopIteration as ended:
                results[place] = ended.value
                del answers[place]
                continue
            own = np.array([position.own for position in queries], np.int64)
            mask = np.array([position.mask for position in queries], np.int64)
            values, logits = evaluations(own, mask, queries[0].rules.columns)
            answers[place] = np.column_stack([values, logits])
    return [results[place] for place in range(len(games))]


def slow(
    position: Position, s: verbs.Switches, p: guided.Policy, batches: int, batch: int, seed: int
) -> tuple[Any, int]:
    stream = Stream(seed)
    twin = Twin(ConnectFour(), stream.below, c=s.c, proofs=s.solver, policy=p)
    return twin.search_in_batches(position, batches, batch), stream.state


def fast(
    position: Position, s: verbs.Switches, p: guided.Policy, batches: int, batch: int, seed: int
) -> tuple[Any, int, int]:
    g = position.rules.geometry
    tree = verbs.new_tree(batches * batch + 3, 0, g)
    verbs.new_block(tree.nodes, 1, position.mask, g)
    games = guided.new_games(batch, g)
    state = random.seed_state(seed)
    for _ in range(batches):
        leaves, proven, state = guided.gather(
            tree, position.own, position.mask, g, s, batch, games, state
        )
        values = np.zeros(0, np.float32)
        logits = np.zeros((0, g.columns), np.float32)
        while True:
            queries, state = guided.play_on(games, leaves, g, p, values, logits, state)
            if queries == 0:
                break
            own, mask = games.query_own[:queries], games.query_mask[:queries]
            values, logits = map(np.ascontiguousarray, evaluations(own, mask, g.columns))
        guided.back_up_batch(tree.nodes, games, leaves)
        if proven:
            break
    return tree.nodes.words, int(tree.counts[0]), state


@pytest.mark.parametrize("where", list(POSITIONS))
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_both_grow_the_same_tree(variant: str, where: str) -> None:
    position = POSITIONS[where]
    batch, solver, changed = VARIANTS[variant]
    switches = verbs.Switches(c=1.3, won=guided.WON, solver=solver)
    policy = GREEDY._replace(**changed)
    tree, simulations, state = fast(position, switches, policy, 150 // batch, batch, seed=1)
    root, slow_state = slow(position, switches, policy, 150 // batch, batch, seed=1)
    assert (simulations, state) == (root.visits, slow_state)
    compared = assert_same(tree, 1, root, position.rules.columns, guided.WON)
    assert compared > (5 if where == "empty" else 0)


def test_all_virtual_losses_are_taken_back() -> None:
    """Every game counts as a draw, so only virtual losses could be left in the sums."""
    g = Position().rules.geometry
    tree = verbs.new_tree(500, 0, g)
    games = guided.new_games(64, g)
    verbs.new_block(tree.nodes, 1, 0, g)
    blocks = tree.nodes.words.reshape(-1, 3, 7)
    leaves, _, _ = guided.gather(tree, 0, 0, g, verbs.Switches(c=90.0), 64, games, 1)
    assert leaves == 64
    positions = set(zip(games.own.tolist(), games.mask.tolist(), strict=True))
    assert len(positions) > 50  # not the same leaf 64 times
    assert blocks[1, nodes.SUMS].sum() == -64 * guided.WON
    games.results[:] = 0
    guided.back_up_batch(tree.nodes, games, leaves)
    assert blocks[1, nodes.VISITS].sum() == tree.counts[0] == 64
    assert not blocks[1 : tree.nodes.used[0], nodes.SUMS].any()


def test_values_are_clipped_to_a_win() -> None:
    g = Position().rules.geometry
    for value, points in (
        (1.25, guided.WON),
        (-7.0, -guided.WON),
        (0.5, guided.WON // 2),
        (np.inf, guided.WON),
    ):
        tree = verbs.new_tree(2, 0, g)
        verbs.new_block(tree.nodes, 1, 0, g)
        games = guided.new_games(1, g)
        games.paths[0, 0] = 2 * 21
        games.lengths[0] = 1
        games.results[0] = value
        guided.back_up_batch(tree.nodes, games, 1)
        # A win of the side to move at the leaf is a loss of the other side.
        assert tree.nodes.words[21 + 7] == guided.WON - points
