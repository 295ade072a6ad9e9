"""The compiled search grows the same tree as the textbook search, for every switch.

Both use the same random numbers.
"""

import itertools
import math
from functools import cache, partial
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest

from fourlab import Position
from fourlab.agents.mcts import kernel, nodes, verbs
from fourlab.agents.mcts.textbook import (
    Below,
    ConnectFour,
    ConnectFourWithWinsAndBlocks,
    Game,
    Node,
    TextbookSearch,
)
from fourlab.compiled import random
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.game.outcome import RED
from fourlab.game.rules import CLASSIC, Rules
from fourlab.nets.patterns import UNIT, PatternNetwork, Shape, random_walks
from tests.agents.patterns import twin
from tests.naive import NaiveGame

PLAIN = verbs.Switches(c=1.3)
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "first of equals": {"tie": verbs.FIRST},
    "last of equals": {"tie": verbs.LAST},
    "c = 0": {"c": 0.0},
    "much exploration": {"c": 5.0},
    "log(N / n)": {"log_ratio": True, "c": 2.0},
    "all children at once": {"expand_all": True},
    "all children, last of equals": {"expand_all": True, "tie": verbs.LAST, "draw": -4},
    "Bhat": {"expand_all": True, "past_wins": True, "tie": verbs.LAST, "draw": -4},
    "past wins, one child": {"past_wins": True},
    "draws are losses": {"draw": -4},
    "draws are half wins": {"draw": 2},
    "Arya": {"leaf_wins": True, "draw_leaf_wins": True, "draw": -4},
    "random opponent": {"opponent": verbs.RANDOM},
    "frozen opponent": {"opponent": verbs.FROZEN},
    "Vannucci & Abril": {"opponent": verbs.FROZEN, "log_ratio": True, "c": 2.0},
    "negamax opponent": {"opponent": verbs.NEGAMAX},
    "negamax with random ties": {"opponent": verbs.NEGAMAX, "random_ties": True},
    "wins and blocks": {"wins_and_blocks": True},
    "solver": {"solver": True},
    "solver, wins and blocks": {"solver": True, "wins_and_blocks": True},
    "solver, first of equals": {"solver": True, "tie": verbs.FIRST},
    "solver, all children at once": {"solver": True, "expand_all": True},
    "shared": {"shared": True},
    "shared with solver": {"shared": True, "solver": True},
}
TIES: dict[int, Literal["first", "last", "random"]] = {
    verbs.FIRST: "first",
    verbs.LAST: "last",
    verbs.ANY: "random",
}
POSITIONS = {
    "empty": Position(),
    "five by four": Position(board="5x4x4"),
    "three in a row": Position("3", board="5x4x3"),
    "Vannucci & Abril": Position("vannucci-abril"),
    "late": Position("2713217673732233676731"),
    "small": Position(board="4x3x3"),
}


class PastWins(ConnectFour):
    """Bhat's game: play continues after a win, and the first line from the top left decides."""

    def play(self, state: tuple[Any, ...], move: int) -> tuple[Any, ...]:  # type: ignore[override]
        rules, side, columns = state
        return (
            rules,
            1 - side,
            tuple((*discs, side) if i == move else discs for i, discs in enumerate(columns)),
        )

    def to_move(self, state: tuple[Any, ...]) -> int:  # type: ignore[override]
        return int(state[1])

    def legal_moves(self, state: tuple[Any, ...]) -> list[int]:  # type: ignore[override]
        return [i for i, discs in enumerate(state[2]) if len(discs) < state[0].rows]

    def score(self, state: tuple[Any, ...], side: int) -> int | None:  # type: ignore[override]
        rules, _, columns = state
        game = NaiveGame(rules.columns, rules.rows, rules.in_a_row)
        game.discs = [list(discs) for discs in columns]
        for row, column in itertools.product(reversed(range(rules.rows)), range(rules.columns)):
            for right, up in ((1, 0), (0, -1), (1, -1), (1, 1)):
                owners = {
                    game.cell(column + i * right, row + i * up) for i in range(rules.in_a_row)
                }
                if len(owners) == 1 and owners != {None}:
                    return 1 if owners == {side} else -1
        return 0 if not self.legal_moves(state) else None

    def random_move(self, state: tuple[Any, ...], below: Below) -> int:  # type: ignore[override]
        while (column := below(state[0].columns)) not in self.legal_moves(state):
            pass
        return column


def state_of(position: Position) -> tuple[Any, ...]:
    grid = position.grid()[::-1]
    columns = tuple(
        tuple(row[i] - 1 for row in grid if row[i]) for i in range(position.rules.columns)
    )
    return position.rules, position.to_move, columns


class Stream:
    """The compiled random generator as a `Below`."""

    def __init__(self, seed: int) -> None:
        self.state = random.seed_state(seed)

    def below(self, n: int) -> int:
        self.state = random.advance(self.state)
        return random.below(n, self.state)


def compiled(
    position: Position,
    switches: verbs.Switches,
    simulations: int,
    seed: int,
    blocks: int,
    merging: bool,
    network: PatternNetwork | None = None,
) -> Any:
    g = position.rules.geometry
    tree = verbs.new_tree(blocks, 8192 if merging else 0, g)
    verbs.new_block(tree.nodes, 1, position.mask, g)
    stop = np.zeros(1, np.uint8)
    state = random.seed_state(seed)
    patterns = None if network is None else network.patterns
    done, _, state = kernel.search(
        tree, 1, position.own, position.mask, g, switches, simulations, state, stop, patterns
    )
    assert tree.counts[0] == done
    return tree.nodes.words, done, state


def textbook(
    position: Position,
    s: verbs.Switches,
    simulations: int,
    seed: int,
    blocks: int,
    merging: bool,
    network: PatternNetwork | None = None,
) -> Any:
    stream = Stream(seed)

    def negamax(state: Position, below: Below) -> int:
        _, column, stream.state = kaggle_negamax(
            state.own, state.mask, state.rules.geometry, 4, s.random_ties, stream.state
        )
        return column

    game: Game[Any, int] = ConnectFourWithWinsAndBlocks() if s.wins_and_blocks else ConnectFour()
    start: Any = position
    if s.past_wins:
        game, start = PastWins(), state_of(position)  # type: ignore[assignment]
    replies = {
        verbs.PLAYER: None,
        verbs.RANDOM: game.random_move,
        verbs.FROZEN: game.random_move,
        verbs.NEGAMAX: negamax,
    }
    search: TextbookSearch[Any, int] = TextbookSearch(
        game,
        stream.below,
        c=s.c,
        log_ratio=s.log_ratio,
        expand_all=s.expand_all,
        past_wins=s.past_wins,
        draw=s.draw / verbs.POINTS,
        draw_leaf_wins=s.draw_leaf_wins,
        leaf_wins=s.leaf_wins,
        ties=TIES[s.tie],
        reply=replies[s.opponent],
        frozen=s.opponent >= verbs.FROZEN,
        proofs=s.solver,
        merged=merging,
        max_nodes=blocks - 1,
        evaluate=None if network is None else partial(rounded_value, network),
        cut=0,
        forced_replies=network is not None,
    )
    root = search.search(start, simulations)
    return root, root.visits, stream.state


def rounded_value(network: PatternNetwork, position: Position) -> float:
    """Return the value for the side to move by the slow twin, in steps of a point."""
    weights = twin.total(network.shape, network.patterns.weights, position)
    value = math.tanh(weights / UNIT) * (1 if position.to_move == RED else -1)
    return math.floor(verbs.WON * value + 0.5) / verbs.WON


@cache
def network_on(rules: Rules) -> PatternNetwork:
    """Return a network with random weights."""
    shape = Shape(rules, random_walks(rules, 5, 4, 1))
    weights = np.random.default_rng(1).integers(-600, 600, (2, shape.entries))
    return PatternNetwork(shape, weights.astype(np.int16))


def assert_same(
    words: np.ndarray, block: int, node: Node[Any, int], columns: int, points: int = verbs.POINTS
) -> int:
    """Compare a block with a node, and all below them; returns the number of nodes compared.

    `points` is the sum of a win in the compiled tree.
    """
    numbers = words[block * 3 * columns : (block + 1) * 3 * columns].reshape(3, columns)
    compared = 1
    edges = {edge.move: edge for edge in node.edges}
    for column, (visits, total, leads) in enumerate(numbers.T.tolist()):
        if column not in edges:
            assert visits == verbs.FULL
            continue
        edge = edges[column]
        if visits < 0:
            visits -= nodes.DRAWN if visits >= nodes.DRAWN else nodes.LOST
        assert edge.visits == visits
        assert edge.total == total / points
        assert edge.proven == (2 - (-leads & 7) if leads < 0 else None)
        below = leads if leads > 0 else -leads >> 3
        assert (below > 0) == (edge.node is not None)
        if edge.node is not None:
            compared += assert_same(words, below, edge.node, columns, points)
    return compared


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
@pytest.mark.parametrize("where", list(POSITIONS))
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_both_grow_the_same_tree(variant: str, where: str, seed: int) -> None:
    position = POSITIONS[where]
    switches = PLAIN._replace(**VARIANTS[variant])
    simulations = 25 if switches.opponent == verbs.NEGAMAX else 250
    fast = compiled(position, switches, simulations, seed, 2000, merging=False)
    slow = textbook(position, switches, simulations, seed, 2000, merging=False)
    assert fast[1:] == slow[1:]  # simulations done and the last random state
    assert assert_same(fast[0], 1, slow[0], position.rules.columns) > 1


@pytest.mark.parametrize("where", list(POSITIONS))
@pytest.mark.parametrize("solver", [False, True])
def test_both_merge_transpositions_alike(solver: bool, where: str) -> None:
    position = POSITIONS[where]
    switches = PLAIN._replace(solver=solver)
    fast = compiled(position, switches, 400, 3, 2000, merging=True)
    slow = textbook(position, switches, 400, 3, 2000, merging=True)
    assert fast[1:] == slow[1:]
    assert assert_same(fast[0], 1, slow[0], position.rules.columns) > 1


def test_both_stop_growing_when_the_tree_is_full() -> None:
    for seed in range(3):
        fast = compiled(Position(), PLAIN, 300, seed, 20, merging=False)
        slow = textbook(Position(), PLAIN, 300, seed, 20, merging=False)
        assert fast[1:] == slow[1:]
        assert assert_same(fast[0], 1, slow[0], 7) == 19


MERGING = ("plain", "last of equals", "solver", "much exploration")
"""Variants in which transpositions may be merged, which threads do not."""


@pytest.mark.parametrize("where", list(POSITIONS))
@pytest.mark.parametrize(
    ("variant", "merging"),
    [*product(MERGING, (False, True)), ("shared with solver", False)],
)
def test_both_evaluate_leaves_by_patterns_alike(variant: str, merging: bool, where: str) -> None:
    position = POSITIONS[where]
    network = network_on(position.rules)
    switches = PLAIN._replace(won=verbs.WON, **VARIANTS[variant])
    fast = compiled(position, switches, 150, 1, 2000, merging, network)
    slow = textbook(position, switches, 150, 1, 2000, merging, network)
    assert fast[1:] == slow[1:]
    # Forced replies may prove the root before it has a second node.
    assert assert_same(fast[0], 1, slow[0], position.rules.columns, verbs.WON) >= 1


def test_both_evaluate_again_when_the_tree_is_full() -> None:
    network = network_on(CLASSIC)
    switches = PLAIN._replace(won=verbs.WON, solver=True)
    fast = compiled(Position(), switches, 200, 1, 20, False, network)
    slow = textbook(Position(), switches, 200, 1, 20, False, network)
    assert fast[1:] == slow[1:]
    assert assert_same(fast[0], 1, slow[0], 7, verbs.WON) == 19
