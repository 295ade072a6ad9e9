"""The batched search beside the textbook's: fed the same random numbers and judged alike, both grow the same tree."""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fourlab import Position
from fourlab.agents.mcts import guided_kernel as guided
from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.textbook import ConnectFour, Edge, Node, TextbookSearch
from fourlab.compiled import random

Path = list[tuple[Node[Position, int], Edge[Position, int]]]
Game = Generator[list[Position], np.ndarray, float]

POSITIONS = {
    "empty": Position(),
    "five by four": Position("3324", board="5x4x4"),
    "three in a row": Position("3", board="5x4x3"),
    "document 000": Position("vannucci-abril"),
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
    "leaves judged": (7, True, {"depth": 0}),
    "leaves judged, one at a time": (1, False, {"depth": 0}),
    "cut after two plies": (7, False, {"depth": 2}),
    "cut after three, random, wins and blocks": (7, True, {"depth": 3, "random": guided.COINS, "wins_and_blocks": True}),
    "many at a time": (40, True, {"depth": 1}),
}


def opinions(own: np.ndarray, mask: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """A judge without sense: any value and any logits, the same for the same position, often equal ones."""
    digits = (own * 31 + mask * 17)[:, None] // (np.arange(columns + 1) * 7919 + 101) % 9
    judged = digits.astype(np.float32) / 3.1 - 1.4  # some beyond -1 and +1
    return judged[:, 0], judged[:, 1:]


@dataclass
class Twin(TextbookSearch[Position, int]):
    """The textbook's search, its rollouts played side by side and judged."""

    policy: guided.Policy = GREEDY
    leaf: Position = field(default_factory=Position)

    def search_in_batches(self, position: Position, batches: int, batch: int) -> Node[Position, int]:
        root = self.make_node(position, visits=0)
        for _ in range(batches):
            waiting: list[tuple[Path, list[bool], Game]] = []
            proven = False
            for _ in range(batch):
                path, result, is_known, _ = self.descend(root)
                root.visits += 1
                if is_known:
                    self.back_up(path, result, False)
                    if self.solver and self.prove(path):
                        proven = True
                        break
                else:
                    self.count_losses(path, 1)
                    waiting.append((path, self.floors, self.play(self.leaf)))
            for (path, floors, _), result in zip(waiting, side_by_side([game for *_, game in waiting]), strict=True):
                self.count_losses(path, -1)
                self.floors = floors
                self.back_up(path, -np.floor(guided.WON * np.clip(result, -1, 1) + 0.5) / guided.WON, True)  # type: ignore[arg-type]
            if proven:
                break
        return root

    def simulate(self, state: Position, others_turn: bool) -> int:
        self.leaf = state  # to be played later
        return 0

    def count_losses(self, path: Path, losses: int) -> None:
        for node, edge in path:
            edge.visits += losses
            edge.total -= losses
            if node is not path[0][0]:
                node.visits += losses

    def play(self, position: Position) -> Game:
        """Play from a leaf; yields the positions to be judged and returns the result for the side to move at the leaf."""
        p, start = self.policy, position
        while (outcome := position.outcome()) is None:
            side, legal = position.to_move, position.legal_columns()
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
                        worth = (yield [position])[0, 1:][list(legal)]
                    else:
                        worth = -(yield [position.play(column) for column in legal])[:, 0]
                    column = legal[self.best(worth)]
            else:
                column = self.game.random_move(position, self.below)
            position = position.play(column)
        return outcome.score(start.to_move)

    def best(self, worth: np.ndarray) -> int:
        chosen, equals = 0, 1
        for place in range(1, len(worth)):
            if worth[place] > worth[chosen]:
                chosen, equals = place, 1
            elif worth[place] == worth[chosen]:
                equals += 1
                if self.below(equals) == 0:
                    chosen = place
        return chosen


def side_by_side(games: list[Game]) -> list[float]:
    """Play all games to their next question, answer all, and so on."""
    results: dict[int, float] = {}
    answers: dict[int, np.ndarray | None] = dict.fromkeys(range(len(games)))
    while answers:
        for place in list(answers):
            try:
                asked = games[place].send(answers[place])  # type: ignore[arg-type]
            except StopIteration as ended:
                results[place] = ended.value
                del answers[place]
                continue
            own, mask = (np.array(part, np.int64) for part in zip(*((each.own, each.mask) for each in asked), strict=True))
            values, logits = opinions(own, mask, asked[0].rules.columns)
            answers[place] = np.column_stack([values, logits])
    return [results[place] for place in range(len(games))]


def slow(position: Position, s: verbs.Switches, p: guided.Policy, batches: int, batch: int, seed: int) -> tuple[Any, int]:
    state = random.seed_state(seed)

    def below(n: int) -> int:
        nonlocal state
        state = random.advance(state)
        return random.below(n, state)

    twin = Twin(ConnectFour(), below, c=s.c / guided.FINE, solver=s.solver, policy=p)
    return twin.search_in_batches(position, batches, batch), state


def fast(position: Position, s: verbs.Switches, p: guided.Policy, batches: int, batch: int, seed: int) -> tuple[Any, int, int]:
    g = position.rules.geometry
    tree = verbs.new_tree(batches * batch + 3, 0, g)
    verbs.new_block(tree.words, 1, position.mask, g)
    games, state = guided.new_games(batch, g), random.seed_state(seed)
    for _ in range(batches):
        leaves, proven, state = guided.gather(tree, position.own, position.mask, g, s, batch, games, state)
        values, logits = np.zeros(0, np.float32), np.zeros((0, g.columns), np.float32)
        while True:
            asked, state = guided.play_on(games, leaves, g, p, values, logits, state)
            if asked == 0:
                break
            values, logits = map(np.ascontiguousarray, opinions(games.asked_own[:asked], games.asked_mask[:asked], g.columns))
        guided.hand_up(tree.words, games, leaves, g)
        if proven:
            break
    return tree.words, int(tree.counts[0]), state


def assert_same(tree: np.ndarray, block: int, node: Node[Position, int], columns: int) -> int:
    """Compare a block with a node and all below them; returns how many nodes were compared."""
    start, compared = block * 3 * columns, 1
    edges = {edge.move: edge for edge in node.edges}
    for column in range(columns):
        visits, total, leads = (int(tree[start + part * columns + column]) for part in range(3))
        if column not in edges:
            assert visits == verbs.FULL
            continue
        edge = edges[column]
        assert edge.visits == visits - (0 if visits >= 0 else verbs.DRAWN if visits >= verbs.DRAWN else verbs.LOST)
        assert edge.total == total / guided.WON
        assert edge.proven == (2 - (-leads & 7) if leads < 0 else None)
        below = leads if leads > 0 else -leads >> 3
        assert (below > 0) == (edge.node is not None)
        if edge.node is not None:
            compared += assert_same(tree, below, edge.node, columns)
    return compared


@pytest.mark.parametrize("where", list(POSITIONS))
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_both_grow_the_same_tree(variant: str, where: str) -> None:
    position, (batch, solver, changed) = POSITIONS[where], VARIANTS[variant]
    switches, policy = verbs.Switches(c=1.3 * guided.FINE, solver=solver), GREEDY._replace(**changed)
    tree, simulations, state = fast(position, switches, policy, 150 // batch, batch, seed=1)
    root, slow_state = slow(position, switches, policy, 150 // batch, batch, seed=1)
    assert (simulations, state) == (root.visits, slow_state)
    assert assert_same(tree, 1, root, position.rules.columns) > (5 if where == "empty" else 0)


def test_losses_counted_in_advance_are_all_taken_back() -> None:
    """Every game is judged a draw, so nothing but them could be left in the sums."""
    g = Position().rules.geometry
    tree, games = verbs.new_tree(500, 0, g), guided.new_games(64, g)
    verbs.new_block(tree.words, 1, 0, g)
    leaves, _, _ = guided.gather(tree, 0, 0, g, verbs.Switches(c=90.0), 64, games, 1)
    assert leaves == 64
    assert len({(int(own), int(mask)) for own, mask in zip(games.own, games.mask, strict=True)}) > 50  # not one leaf 64 times
    assert tree.words[21 + 7 : 21 + 14].sum() == -64 * guided.WON
    games.results[:] = 0
    guided.hand_up(tree.words, games, leaves, g)
    assert tree.words[21 : 21 + 7].sum() == tree.counts[0] == 64
    sums = tree.words[21 : 21 * tree.used[0]].reshape(-1, 3, 7)[:, 1]
    assert not sums.any()


def test_a_judgement_beyond_a_win_counts_as_a_win() -> None:
    g = Position().rules.geometry
    for judged, points in ((1.25, guided.WON), (-7.0, -guided.WON), (0.5, guided.WON // 2), (np.inf, guided.WON)):
        tree, games = np.zeros(2 * 21, np.int32), guided.new_games(1, g)
        games.paths[0, 0], games.lengths[0], games.results[0] = 2 * 21, 1, judged
        guided.hand_up(tree, games, 1, g)
        assert tree[21 + 7] == guided.WON - points  # what the side to move at the leaf won, the other lost
