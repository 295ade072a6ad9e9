"""Call every kernel on small input, or only the kernels named, and print the results as JSON.

The output must not depend on NUMBA_DISABLE_JIT=1 or NUMBA_BOUNDSCHECK=1.
"""

import hashlib
import json
import sys
from collections.abc import Callable
from itertools import islice

import numpy as np

from fourlab.agents.alphazero import choosing
from fourlab.agents.alphazero import forest_kernel as forest
from fourlab.agents.alphazero import leaves as leaf_kernels
from fourlab.agents.mcts import guided_kernel as guided
from fourlab.agents.mcts import kernel as mcts
from fourlab.agents.mcts import nodes, verbs
from fourlab.agents.minimax import kernel as minimax
from fourlab.compiled import batches as play_batch
from fourlab.compiled import board, lines, negamax, planes, random, threats
from fourlab.compiled import counting as count
from fourlab.compiled import rollouts as rollout
from fourlab.datasets import sample
from fourlab.game.geometry import geometry_of
from tests.compiled.small_run_chess import CHESS_RESULTS
from tests.compiled.small_run_patterns import PATTERN_RESULTS
from tests.compiled.small_run_q import Q_RESULTS
from tests.compiled.small_run_solver import SOLVER_RESULTS

g = geometry_of(5, 4, 4)
small = geometry_of(4, 3, 3)
own, mask = 0b00001_00001, 0b00011_00011
key = board.key(own, mask, g)
state = random.seed_state(1)

SWITCHES = verbs.Switches(c=1.5, random_ties=True)


def in_use(blocks: nodes.Nodes) -> np.ndarray:
    """Return the words of the blocks in use but for block 0."""
    return blocks.words[blocks.size : int(blocks.used[0]) * blocks.size]


def searched(merging: bool = False, simulations: int = 150, **changed: object) -> list[object]:
    """Search with some switches changed; return the search's result and a checksum of the tree."""
    tree = verbs.new_tree(400, 1024 if merging else 0, g)
    verbs.new_block(tree.nodes, 1, mask, g)
    switches = SWITCHES._replace(**changed)
    run = mcts.search_together if switches.shared else mcts.search
    ended = run(tree, 1, own, mask, g, switches, simulations, state, np.zeros(1, np.uint8), None)
    return [ended, hashlib.sha256(in_use(tree.nodes).tobytes()).hexdigest()]


def descended() -> list[object]:
    """Walk to a leaf of a tree that has only its root, three times."""
    tree = verbs.new_tree(40, 0, g)
    verbs.new_block(tree.nodes, 1, mask, g)
    path = np.zeros(30, np.int64)
    switches = verbs.Switches(solver=True)
    walks = [guided.descend(tree, own, mask, g, switches, path, state + i) for i in range(3)]
    return [*walks, path.tolist()]


def searched_with_guide(**changed: object) -> list[object]:
    """Search in four batches of six, with an evaluator that counts bits."""
    tree = verbs.new_tree(40, 0, g)
    games = guided.new_games(6, g)
    random_state = state
    verbs.new_block(tree.nodes, 1, mask, g)
    switches = verbs.Switches(c=90.0, solver=True)
    policy = guided.Policy(-1, guided.COINS // 4, False, False)._replace(**changed)
    for _ in range(4):
        leaves, _, random_state = guided.gather(
            tree, own, mask, g, switches, 6, games, random_state
        )
        values = np.zeros(0, np.float32)
        logits = np.zeros((0, 5), np.float32)
        queries = 1
        while queries:
            queries, random_state = guided.play_on(
                games, leaves, g, policy, values, logits, random_state
            )
            bits = [
                int(number).bit_count()
                for number in games.query_own[:queries] * 3 ^ games.query_mask[:queries]
            ]
            values = np.array(bits, np.float32) / 50
            logits = values[:, None] * np.arange(5, dtype=np.float32)
        guided.back_up_batch(tree.nodes, games, leaves)
    return [random_state, in_use(tree.nodes).tolist()]


PUCT = choosing.Switches(gumbel=False, c=2.0, scale=1.0, fpu=0.2, noise=0.0, proving=True)
LISTED = PUCT._replace(noise=0.25, proving=False, faithful=True)


def grown(
    simulations: int = 40, leaves: int = 1, cached: int = 64, **changed: object
) -> forest.Forest:
    """Return two trees, grown with some switches changed and an evaluator that counts bits."""
    s = PUCT._replace(**changed)
    f = forest.new_forest(2, 64, leaves, g)
    cache = leaf_kernels.new_cache(cached, g)
    left_at = choosing.schedule(5, simulations)
    f.trees.own[1], f.trees.mask[1], f.trees.goal[:] = own, mask, simulations
    f.trees.noise[:] = np.array([[0.1, 0.2, 0.3, 0.25, 0.15], [0.5, 0.1, 0.1, 0.1, 0.2]])
    while queries := forest.gather(f, leaves, g, s, left_at, cache):
        mixed = f.queue.own[:queries] * 3 ^ f.queue.mask[:queries]
        bits = np.array([int(number).bit_count() for number in mixed], np.float32)
        logits = bits[:, None] / 20 * np.arange(5, dtype=np.float32)
        forest.expand(f, queries, logits, bits / 40 - np.float32(0.1), g, s, cache)
    return f


def tree_contents(f: forest.Forest) -> list[object]:
    """Return the contents of the trees, with floats rounded."""
    blocks = [tree * 64 + block for tree in range(2) for block in range(int(f.nodes.used[tree]))]
    words = f.nodes.words.reshape(-1, f.nodes.size)[blocks]
    numbers = f.nodes.numbers.reshape(-1, f.nodes.size)[blocks]
    # VISITS and LEADS are integers, SUMS, PRIORS and the value are not.
    rounded = [f"{number:.3f}" for number in np.hstack([numbers[:, 5:10], numbers[:, 15:]]).flat]
    integers = np.hstack([words[:, :5], words[:, 10:15]])
    return [integers.tolist(), rounded, f.trees.done.tolist(), f.trees.proof.tolist()]


f1, f2 = grown(), grown(gumbel=True)
f_cache = leaf_kernels.new_cache(8, g)
f_path = np.array([2 * 2, 2 * (3 * f2.nodes.size + 1)])  # column 2 of block 0, 1 of block 3

never_stop = np.zeros(1, np.uint8)
cache, counts = np.zeros((2, 1 << 10), np.int64), np.array([0, 1 << 30])

whole_tree = verbs.tree_in(np.zeros(30, np.int32), g)
tree = whole_tree.nodes
verbs.new_block(tree, 1, mask, g)
copied = verbs.tree_in(np.zeros(30, np.int32), g).nodes
n = f2.nodes  # for the accessors
places = np.zeros(len(n.words) // n.size, np.int32)
places[1] = 1
path = np.array([2 * 15, 0])
games = guided.new_games(1, g)
policy = guided.Policy(-1, guided.COINS // 2, True, False)

owns, masks = np.array([0, own, 0b0111, 0b1111]), np.array([0, mask, 0b0111, 0b1111_0_1111])


def written(function: Callable[..., object], *arguments: object) -> list[object]:
    """Call a kernel on a copy of some nodes.

    Returns its result, which words have changed and how, and some words of other nodes among the
    arguments.
    """
    words = n.words.copy()
    copy = n._replace(words=words, numbers=words.view(np.float32))
    result = function(copy, *arguments)
    changed = np.flatnonzero(words != n.words)
    copies = [argument for argument in arguments if isinstance(argument, nodes.Nodes)]
    return [
        result,
        changed.tolist(),
        words[changed].tolist(),
        *(in_use(copy._replace(used=np.full(1, 64))).tolist()[::7] for copy in copies),
    ]


def played_in_step() -> list[object]:
    """Play a column in some games and return everything that changed."""
    after_own = owns.copy()
    after_mask = masks.copy()
    states = play_batch.play_columns(after_own, after_mask, np.array([4, 2, 0, 2]), g)
    return [states.tolist(), after_own.tolist(), after_mask.tolist()]


def mirrored() -> list[object]:
    """Mirror every second move."""
    moves = owns.copy(), masks.copy(), np.arange(4)
    play_batch.mirror_moves(*moves, np.arange(4) % 2 == 1, g)
    return [array.tolist() for array in moves]


def drawn() -> list[object]:
    """Return some positions as all kinds of planes."""
    kinds = [np.zeros((len(owns), count, 4, 5), np.float32) for count in (1, 2, 3, 6)]
    for array in kinds:
        planes.draw_planes(owns, masks, g, array)
    return [array.tolist() for array in kinds]


def drawn_once() -> list[object]:
    """Return one board as a plane."""
    plane = np.zeros((4, 5), np.float32)
    planes.draw(mask, g, 3, plane)
    return plane.tolist()


RESULTS = {
    "compiled.board.has_line": lambda: [
        board.has_line(0b1111, g.height, 4),
        board.has_line(0b0111, g.height, 4),
    ],
    "compiled.board.landing": lambda: [board.landing(mask, column, g) for column in range(5)],
    "compiled.board.landings": lambda: board.landings(mask, g),
    "compiled.board.key": lambda: key,
    "compiled.board.from_key": lambda: board.from_key(key, g),
    "compiled.counting.perft": lambda: [count.perft(0, 0, g, depth) for depth in range(6)],
    "compiled.counting.children": lambda: count.children(np.array([key]), g).tolist(),
    "compiled.counting.is_unfinished": lambda: count.is_unfinished(np.array([key]), g).tolist(),
    "compiled.counting.distinct": lambda: list(islice(count.distinct(0, 0, small), 13)),
    "compiled.random.advance": lambda: random.advance(state),
    "compiled.random.below": lambda: random.below(7, state),
    "compiled.rollouts.rollout": lambda: rollout.rollout(own, mask, g, state),
    "compiled.rollouts.rollouts": lambda: rollout.rollouts(own, mask, g, 20, state),
    "datasets.sample.quiet": lambda: sample.quiet(
        np.array([key, board.key(0b0111, 0b00111_00000_00111, g)]), g
    ).tolist(),
    "datasets.sample.sample": lambda: [
        sample.sample(9, 20, g, state)[0].tolist(),
        sample.sample(9, 20, g, state)[1],
    ],
    "datasets.sample.random_position": lambda: [
        sample.random_position(plies, True, g, state) for plies in (0, 6, 12, 19)
    ],
    "compiled.planes.draw": lambda: drawn_once(),
    "compiled.planes.draw_planes": lambda: drawn(),
    "compiled.lines.line_starts": lambda: lines.line_starts(0b1111, 1, 4),
    "compiled.threats.non_losing": lambda: [
        threats.non_losing(mask, cells, g) for cells in (0, 0b00100_00000, 0b00100_00100)
    ],
    "compiled.threats.winning_cells": lambda: [
        threats.winning_cells(0b0111, 0b0111, g),
        threats.winning_cells(own, mask, geometry_of(5, 4, 3)),
    ],
    "compiled.negamax.kaggle_negamax": lambda: [
        negamax.kaggle_negamax(own, mask, g, 2, ties, state) for ties in (False, True)
    ],
    "compiled.negamax.better": lambda: [
        negamax.better(score, 1, 0, 2, ties, state) for score in (0, 1) for ties in (False, True)
    ],
    "compiled.negamax.enter": lambda: negamax.enter(own, mask, g),
    "compiled.negamax.own_neighbours": lambda: negamax.own_neighbours(own, 0b100, 0, g),
    "agents.mcts.kernel.search": lambda: [
        searched(),
        searched(solver=True),
        searched(merging=True, solver=True),
        searched(shared=True, solver=True),
        searched(log_ratio=True, tie=verbs.LAST),
        searched(expand_all=True, past_wins=True, draw=-4, tie=verbs.LAST),
        searched(leaf_wins=True, draw_leaf_wins=True),
        searched(opponent=verbs.RANDOM, tie=verbs.FIRST),
        searched(opponent=verbs.FROZEN),
        searched(wins_and_blocks=True),
    ],
    "agents.mcts.nodes.settled": lambda: nodes.settled(5, nodes.DRAW),
    "agents.mcts.nodes.proof_of": lambda: [nodes.proof_of(leads) for leads in (-42, 0, 9)],
    "agents.mcts.nodes.block_of": lambda: [nodes.block_of(leads) for leads in (-42, 0, 9)],
    "agents.mcts.nodes.opposite": lambda: nodes.opposite(nodes.WIN),
    "agents.mcts.nodes.result_of": lambda: nodes.result_of(nodes.LOSS),
    "agents.mcts.nodes.edge_of": lambda: nodes.edge_of(n, 2, 3),
    "agents.mcts.nodes.node_of": lambda: nodes.node_of(n, 45),
    "agents.mcts.nodes.sum_at": lambda: nodes.sum_at(n, 45),
    "agents.mcts.nodes.leads_at": lambda: nodes.leads_at(n, 45),
    "agents.mcts.nodes.visits_of": lambda: nodes.visits_of(n, 2),
    "agents.mcts.nodes.points_of": lambda: nodes.points_of(tree, 15),
    "agents.mcts.nodes.sum_of": lambda: f"{nodes.sum_of(n, 2):.3f}",
    "agents.mcts.nodes.leads_of": lambda: nodes.leads_of(n, 2),
    "agents.mcts.nodes.prior_of": lambda: f"{nodes.prior_of(n, 2):.3f}",
    "agents.mcts.nodes.value_of": lambda: f"{nodes.value_of(n, 1):.3f}",
    "agents.mcts.nodes.add_visits": lambda: written(nodes.add_visits, 2, 3),
    "agents.mcts.nodes.add_points": lambda: written(nodes.add_points, 2, -3),
    "agents.mcts.nodes.add_to_sum": lambda: written(nodes.add_to_sum, 2, np.float32(0.5)),
    "agents.mcts.nodes.set_leads": lambda: written(nodes.set_leads, 2, 7),
    "agents.mcts.nodes.set_prior": lambda: written(nodes.set_prior, 2, np.float32(0.5)),
    "agents.mcts.nodes.set_value": lambda: written(nodes.set_value, 0, np.float32(0.5)),
    "agents.mcts.nodes.new_edge": lambda: written(nodes.new_edge, 2, 9, -4),
    "agents.mcts.nodes.settle": lambda: written(nodes.settle, 2, nodes.WIN),
    "agents.mcts.nodes.mark": lambda: written(nodes.mark, 2, nodes.LOST),
    "agents.mcts.nodes.conclusion": lambda: [nodes.conclusion(tree, 1), nodes.conclusion(n, 0)],
    "agents.mcts.nodes.prove": lambda: [
        nodes.prove(tree, path, 1, proof, True) for proof in (nodes.WIN, nodes.LOSS)
    ],
    "agents.mcts.nodes.copy_subtree": lambda: [
        [written(nodes.copy_subtree, 1, forest.new_forest(1, 64, 1, g).nodes, 0, whole)]
        for whole in (False, True)
    ],
    "agents.mcts.nodes.number_subtree": lambda: [
        nodes.number_subtree(n, places, 1, len(places), 1),
        places.tolist(),
    ],
    "agents.mcts.nodes.move_blocks": lambda: written(nodes.move_blocks, places, 1, len(places)),
    "agents.mcts.nodes.copy_block": lambda: [
        nodes.copy_block(tree, 1, copied, 0),
        copied.words.tolist(),
    ],
    "agents.mcts.verbs.tree_in": lambda: verbs.tree_in(np.zeros(30, np.int32), g).counts.tolist(),
    "agents.mcts.verbs.has_room": lambda: verbs.has_room(tree),
    "agents.alphazero.forest_kernel.root_leads": lambda: forest.root_leads(4, 4, nodes.WIN),
    "agents.mcts.verbs.new_block": lambda: tree.words.tolist(),
    "agents.mcts.verbs.choose": lambda: [
        int(number) for number in verbs.choose(tree, 1, 3, SWITCHES, state)
    ],
    "agents.mcts.verbs.random_column": lambda: verbs.random_column(tree, 1, state),
    "agents.mcts.verbs.examine": lambda: verbs.examine(own, mask, g, SWITCHES),
    "agents.mcts.verbs.expand": lambda: "in search",
    "agents.mcts.kernel.search_together": lambda: searched(shared=True, simulations=600),
    "agents.mcts.verbs.find_slot": lambda: verbs.find_slot(np.zeros(8, np.int64), 77),
    "agents.mcts.verbs.freeze_reply": lambda: verbs.freeze_reply(
        copied, 1, own, mask, g, SWITCHES._replace(opponent=verbs.NEGAMAX), state
    ),
    "agents.mcts.verbs.simulate": lambda: verbs.simulate(own, mask, g, SWITCHES, False, state),
    "compiled.rollouts.rollout_with_wins_and_blocks": lambda: rollout.rollout_with_wins_and_blocks(
        own, mask, g, state
    ),
    "compiled.rollouts.rollout_against_negamax": lambda: rollout.rollout_against_negamax(
        0, 0, geometry_of(3, 2, 3), True, True, state
    ),
    "compiled.lines.first_line": lambda: lines.first_line(0b1111, 0b1111_0_1111, g),
    "compiled.lines.line_heads": lambda: lines.line_heads(0b1111, g),
    "agents.mcts.verbs.back_up": lambda: verbs.back_up(tree, path, 1, 1, True, SWITCHES),
    "agents.mcts.verbs.back_up_proof": lambda: verbs.back_up_proof(whole_tree, path, 1, nodes.WIN),
    "agents.mcts.guided_kernel.gather": lambda: searched_with_guide(),
    "agents.mcts.guided_kernel.descend": lambda: descended(),
    "agents.mcts.guided_kernel.play_on": lambda: [
        searched_with_guide(by_logits=True),
        searched_with_guide(depth=2, wins_and_blocks=True),
    ],
    "agents.mcts.guided_kernel.next_cell": lambda: guided.next_cell(own, mask, 0, g, policy, state),
    "agents.mcts.guided_kernel.query_children": lambda: [
        guided.query_children(games, 0, own, mask, g),
        games.query_mask.tolist(),
    ],
    "agents.mcts.guided_kernel.best_cell": lambda: guided.best_cell(
        mask, g, policy, np.zeros(5, np.float32), np.zeros((0, 5), np.float32), 0, state
    ),
    "agents.mcts.guided_kernel.back_up_batch": lambda: guided.back_up_batch(tree, games, 1),
    "agents.mcts.guided_kernel.back_up": lambda: guided.back_up(tree, path, 1, 7),
    "agents.minimax.kernel.minimax_columns": lambda: [
        minimax.minimax_columns(own, mask, g, 4, worth, cache.copy(), counts, never_stop).tolist()
        for worth in (minimax.lines_through_cells(g), np.zeros(0, np.int64))
    ],
    "agents.minimax.kernel.minimax": lambda: minimax.minimax(
        own, mask, g, 3, -99, 99, 1, np.zeros(0, np.int64), cache, counts, never_stop
    ),
    "agents.minimax.kernel.evaluate": lambda: minimax.evaluate(own, mask, 5, g),
    "agents.minimax.kernel.cell_number": lambda: minimax.cell_number(1 << 17),
    "compiled.board.mirror": lambda: board.mirror(mask, g),
    "compiled.threats.completing_cells": lambda: threats.completing_cells(
        0b0111, geometry_of(5, 4, 3)
    ),
    **SOLVER_RESULTS,
    "compiled.batches.play_columns": lambda: played_in_step(),
    "compiled.batches.open_columns": lambda: play_batch.open_columns(masks, g).tolist(),
    "compiled.batches.urgent_columns": lambda: [
        play_batch.urgent_columns(owns, masks, central, g).tolist() for central in (False, True)
    ],
    "compiled.batches.mirror_moves": lambda: mirrored(),
    "agents.alphazero.forest_kernel.gather": lambda: [
        tree_contents(f1),
        tree_contents(grown(proving=False)),
        tree_contents(grown(proving=False, faithful=True)),
        tree_contents(grown(faithful=True, noise=0.25)),
        tree_contents(grown(cached=1)),
        tree_contents(grown(simulations=60, leaves=4)),
    ],
    "agents.alphazero.forest_kernel.expand": lambda: [
        tree_contents(f2),
        tree_contents(grown(noise=0.25)),
        tree_contents(grown(gumbel=True, leaves=4)),
    ],
    "agents.alphazero.forest_kernel.simulate": lambda: forest.simulate(
        f1, 0, 0, g, PUCT, choosing.schedule(5, 50), f_cache
    ),
    "agents.alphazero.leaves.canonical_key": lambda: [
        leaf_kernels.canonical_key(own, mask, g),
        leaf_kernels.canonical_key(0b1, 0b1, g),
    ],
    "agents.alphazero.leaves.slot_of": lambda: leaf_kernels.slot_of(key, f_cache),
    "agents.alphazero.leaves.immediate_result": lambda: [
        leaf_kernels.immediate_result(own, mask, g, PUCT._replace(proving=proving))
        for proving in (False, True)
    ],
    "agents.alphazero.leaves.solve_leaf": lambda: [
        leaf_kernels.solve_leaf(own, mask, g, PUCT._replace(solver_nodes=nodes), f_cache)
        for nodes in (1, 5000)
    ],
    "agents.alphazero.leaves.solve_ending": lambda: [
        leaf_kernels.solve_ending(own, mask, small),
        leaf_kernels.solve_ending(0, 0, small),
    ],
    "agents.alphazero.choosing.mean": lambda: f"{choosing.mean(n, 2, np.float32(0)):.3f}",
    "agents.alphazero.choosing.is_excluded": lambda: [
        choosing.is_excluded(n, column) for column in range(5)
    ],
    "agents.alphazero.choosing.choose_by_puct": lambda: choosing.choose_by_puct(n, 0, PUCT),
    "agents.alphazero.choosing.listed_mean": lambda: [
        f"{choosing.listed_mean(n, column, 0.0, LISTED):.3f}" for column in range(5)
    ],
    "agents.alphazero.choosing.choose_as_listed": lambda: choosing.choose_as_listed(n, 0, LISTED),
    "agents.alphazero.choosing.mixed_value": lambda: [
        f"{number:.3f}" for number in choosing.mixed_value(n, 0)
    ],
    "agents.alphazero.choosing.choose_by_improved_policy": lambda: (
        choosing.choose_by_improved_policy(n, 0, PUCT)
    ),
    "agents.alphazero.choosing.improved_weight": lambda: (
        f"{choosing.improved_weight(n, 1, np.float32(0.1), np.float32(2), np.float32(0.3)):.3f}"
    ),
    "agents.alphazero.choosing.choose_by_schedule": lambda: choosing.choose_by_schedule(
        n, 0, f2.trees.noise[0], 9, PUCT, choosing.schedule(5, 50)
    ),
    "agents.alphazero.forest_kernel.set_priors": lambda: written(
        forest.set_priors, 0, np.arange(6, dtype=np.float32), True
    ),
    "agents.alphazero.forest_kernel.set_listed_priors": lambda: [
        forest.set_listed_priors(f1, 1, 64 + block, mask, np.arange(6, dtype=np.float32), g, LISTED)
        or tree_contents(f1)
        for block in (0, 1)
    ],
    "agents.alphazero.forest_kernel.mix_noise": lambda: forest.mix_noise(
        n, 0, f2.trees.noise[0], np.float32(0.25)
    ),
    "agents.alphazero.forest_kernel.back_up": lambda: forest.back_up(n, f_path, 2, np.float32(0.5)),
    "agents.alphazero.forest_kernel.undo": lambda: forest.undo(n, f_path, 1),
    "agents.alphazero.forest_kernel.add_node": lambda: forest.add_node(
        f2, 0, f_path, 1, 1 << 20, mask, np.zeros(6, np.float32), False, g, PUCT
    ),
    "agents.alphazero.forest_kernel.add_proven_root": lambda: [
        forest.add_proven_root(f2, 1, 0b0111, 0b00111_00111, nodes.WIN, g),
        tree_contents(f2),
    ],
    "compiled.rollouts.lane_rollouts": lambda: rollout.lane_rollouts(own, mask, g, 40, 1),
    **Q_RESULTS,
    **PATTERN_RESULTS,
    **CHESS_RESULTS,
}

if __name__ == "__main__":
    names = sys.argv[1:] or RESULTS
    print(json.dumps({name: RESULTS[name]() for name in names}, default=int))
