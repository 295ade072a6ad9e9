"""Small calls of the kernels of pattern networks; part of `small_run.py`."""

import hashlib
from collections.abc import Callable

import numpy as np

from fourlab.agents.mcts import kernel as mcts
from fourlab.agents.mcts import verbs
from fourlab.agents.patterns import entries, search
from fourlab.agents.patterns import kernel as training
from fourlab.compiled import patterns
from fourlab.compiled.board import landings
from fourlab.game.geometry import geometry_of
from fourlab.game.rules import Rules
from fourlab.nets.patterns import Shape, random_walks

g = geometry_of(5, 4, 4)
own, mask = 0b00001_00001, 0b00011_00011
SHAPE = Shape(Rules(5, 4, 4), random_walks(Rules(5, 4, 4), 3, 4, 1))
KEY = patterns.red_key(own, mask, g)
EXPLORATION = training.Exploration(3, 0.2, 0.5, 0, True)
RULE = training.Learning(2.0, 0.7, True)


def network(dtype: type = np.int32) -> patterns.Patterns:
    """Return a network with random weights."""
    weights = np.random.default_rng(1).integers(-9000, 9000, (2, SHAPE.entries))
    return SHAPE.patterns(weights.astype(dtype))


def indices() -> np.ndarray:
    """Return the indices of the position, and room for a second one."""
    rows = np.zeros((2, SHAPE.lookups), np.int32)
    patterns.fill_indices(KEY, network(), g, rows, 0)
    return rows


def stepped() -> list[object]:
    """Return the indices after a disc."""
    rows = indices()
    patterns.add_step(network(), 2, 0b11, rows, 0, 1)
    return rows.tolist()


def games_played() -> training.Games:
    """Play some games."""
    games = training.new_games(4, g)
    states = np.array([11, 22, 33, 44])
    table = np.zeros(64, np.int64)
    training.play_games(0, 4, states, games, EXPLORATION, network(), table, g)
    return games


def contents(games: training.Games) -> list[object]:
    """Return everything that is known of games."""
    return [array.tolist() for array in games]


def opened() -> list[object]:
    """Play a random opening."""
    games = training.new_games(1, g)
    return [training.random_opening(5, 0, games, EXPLORATION, g), contents(games)]


def finished() -> list[object]:
    """Play a game to its end from the position."""
    games = training.new_games(1, g)
    games.openings[0] = 4
    training.play_to_end(
        *(5, 0, games, KEY, own, mask, indices(), np.zeros(5), EXPLORATION, network()),
        *(np.zeros(64, np.int64), g),
    )
    return contents(games)


def chosen() -> list[object]:
    """Return the best column, and the values of all."""
    values = np.zeros(5)
    moves = landings(mask, g)
    best = training.best_column(KEY, own, mask, moves, True, indices(), values, network(), g)
    return [best, values.tolist(), training.explore(9, 2, values, mask, moves, EXPLORATION, g)]


def learned(learn: Callable[..., object]) -> list[object]:
    """Let a function learn; return what it returns, rounded, and a checksum of the weights."""
    p = network()
    sums = np.zeros((2, SHAPE.entries, 2), np.float32)
    result = learn(p, sums)
    # Compiled tanh may differ from Python's in the last bit, so not all digits are compared.
    rough = np.rint(p.weights / 64).astype(np.int64)
    return [np.round(result or 0, 6).tolist(), hashlib.sha256(rough.tobytes()).hexdigest()]


def positions_learned(p: patterns.Patterns, sums: np.ndarray) -> object:
    """Learn the result of one position."""
    one = np.array([own])
    order = np.zeros(1, np.int64)
    results = np.ones(1, np.int64)
    return training.learn_positions(one, np.array([mask]), results, order, RULE, p, sums, g)


def columns_chosen() -> list[object]:
    """Return the column of one position."""
    columns = np.zeros(1, np.int64)
    training.choose_columns(np.array([own]), np.array([mask]), network(), g, columns)
    return columns.tolist()


def memory() -> search.Memory:
    """Return the memory of a search with enough nodes."""
    m = search.new_memory(20, 5, SHAPE.lookups, 64, np.zeros(1, np.uint8))
    m.counts[search.ALLOWED] = 3000
    return m


def searched(depth: int = 4, deepening: bool = False) -> list[object]:
    """Search the position; return the score and what is known of its columns."""
    m = memory()
    p = network(np.int16)
    result = (
        search.deepen(own, mask, 0, depth, m, p, g)
        if deepening
        else search.search(own, mask, depth, m, p, g)
    )
    return [result, m.counts.tolist(), m.scores.tolist(), m.kinds.tolist()]


def entered() -> list[object]:
    """Enter a node, and store it."""
    m = memory()
    p = network(np.int16)
    patterns.fill_indices(KEY, p, g, m.indices, 0)
    result = search.enter(own, mask, KEY, -1, 3, -99, 99, 0, m, p, g)
    search.store(0, m)
    return [result, m.stack[0].tolist(), m.table.tolist()]


def ranked() -> list[object]:
    """Rank the moves of the position."""
    m = memory()
    p = network(np.int16)
    patterns.fill_indices(KEY, p, g, m.indices, 0)
    moves = (mask + g.bottom) & g.cells
    return [search.rank_moves(own, mask, KEY, moves, 4, 2, 0, m, p, g), m.stack[0].tolist()]


def frontier_evaluated() -> list[object]:
    """Evaluate a node one ply above the horizon, which the disc in column 2 has led to."""
    m = memory()
    p = network(np.int16)
    patterns.fill_indices(KEY, p, g, m.indices, 0)
    moves = (mask + g.bottom) & g.cells
    result = search.frontier(own, mask, KEY, 2, -99, 99, moves, 1, m, p, g)
    return [result, m.stack[1].tolist(), m.counts.tolist()]


def sorted_children() -> list[object]:
    """Sort the moves of the position by what is plain to see after them."""
    m = memory()
    moves = (mask + g.bottom) & g.cells
    return [search.sort_children(own, mask, moves, 0, m.stack, g), m.stack[0].tolist()]


def answered() -> list[object]:
    """Return the values of two positions and of what follows their columns."""
    values, after = np.zeros(2, np.float32), np.zeros((2, 5), np.float32)
    boards = np.array([own, 0b0111]), np.array([mask, 0b00111_00111])
    patterns.evaluate_positions(*boards, network(np.int16), g, values, after)
    return [np.round(values, 5).tolist(), np.round(after, 5).tolist()]


def evaluated() -> list[object]:
    """Evaluate positions with and without forced replies; search with evaluated leaves."""
    p = network(np.int16)
    s = verbs.Switches(won=verbs.WON, solver=True)
    tree = verbs.new_tree(400, 0, g)
    verbs.new_block(tree.nodes, 1, mask, g)
    stop = np.zeros(1, np.uint8)
    return [
        verbs.evaluate(own, mask, p, indices(), g, s),
        verbs.evaluate(0b0111, 0b00111_00111, p, indices(), g, s),
        verbs.evaluate(0b00100_00011, 0b00111_00111, p, indices(), g, s),
        mcts.search(tree, 1, own, mask, g, s, 150, 5, stop, p),
        tree.nodes.words[: tree.nodes.used[0] * tree.nodes.size][15:].tolist(),
    ]


WORD = entries.packed(-1234, search.AT_MOST, 7, 3, 200)
PATTERN_RESULTS: dict[str, Callable[[], object]] = {
    "compiled.patterns.code_of": lambda: patterns.code_of(KEY, 1, g),
    "compiled.patterns.key_after": lambda: patterns.key_after(KEY, 1 << 10, True),
    "compiled.patterns.red_key": lambda: patterns.red_key(own, mask, g),
    "compiled.patterns.fill_indices": lambda: indices().tolist(),
    "compiled.pattern_sums.add_step": stepped,
    "compiled.pattern_sums.total": lambda: patterns.total(network(), 1, indices(), 0),
    "compiled.pattern_sums.total_after": lambda: patterns.total_after(
        network(), 1, 2, 0b11, indices(), 0
    ),
    "compiled.patterns.value_of": lambda: round(
        patterns.value_of(own, mask, network(np.int16), g, indices()), 9
    ),
    "compiled.patterns.evaluate_positions": answered,
    "agents.mcts.verbs.evaluate": evaluated,
    "agents.patterns.kernel.play_games": lambda: contents(games_played()),
    "agents.patterns.kernel.random_opening": opened,
    "agents.patterns.kernel.play_to_end": finished,
    "agents.patterns.kernel.best_column": chosen,
    "agents.patterns.kernel.explore": chosen,
    "agents.patterns.kernel.learn_games": lambda: learned(
        lambda p, sums: training.learn_games(games_played(), RULE, p, sums, g)
    ),
    "agents.patterns.kernel.move_weights": lambda: learned(
        lambda p, sums: training.move_weights(p, 1, sums, indices(), 0, 0.25, RULE)
    ),
    "agents.patterns.kernel.learn_positions": lambda: learned(positions_learned),
    "agents.patterns.kernel.choose_columns": columns_chosen,
    "agents.patterns.search.at_once": lambda: search.at_once(0b0111, 0b00111_00111, g),
    "agents.patterns.search.deepen": lambda: searched(deepening=True),
    "agents.patterns.search.search": searched,
    "agents.patterns.search.enter": entered,
    "agents.patterns.search.store": entered,
    "agents.patterns.search.rank_moves": ranked,
    "agents.patterns.search.frontier": frontier_evaluated,
    "agents.patterns.search.sort_children": sorted_children,
    "agents.patterns.search.slot_of": lambda: search.slot_of(KEY, np.zeros(64, np.int64), g),
    "agents.patterns.entries.packed": lambda: entries.packed(5, search.EXACT, 2, 1, 9),
    "agents.patterns.entries.entry_score": lambda: entries.entry_score(WORD),
    "agents.patterns.entries.entry_depth": lambda: entries.entry_depth(WORD),
    "agents.patterns.entries.entry_generation": lambda: entries.entry_generation(WORD),
    "agents.patterns.entries.entry_column": lambda: entries.entry_column(WORD),
    "agents.patterns.entries.entry_kind": lambda: entries.entry_kind(WORD),
}
