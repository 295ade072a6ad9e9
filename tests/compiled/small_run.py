"""Call every kernel once on small input and print the results as JSON; or only the kernels named.

Run as it is, under NUMBA_DISABLE_JIT=1 and under NUMBA_BOUNDSCHECK=1 the output must be the same.
"""

import hashlib
import json
import sys
from itertools import islice

import numpy as np

from fourlab.agents.alphazero import choosing
from fourlab.agents.alphazero import forest_kernel as forest
from fourlab.agents.mcts import guided_kernel as guided
from fourlab.agents.mcts import kernel as mcts
from fourlab.agents.mcts import nodes, verbs
from fourlab.agents.minimax import kernel as minimax
from fourlab.agents.q import kernel as q_learning
from fourlab.agents.q import table_kernel as qtable
from fourlab.compiled import batches as play_batch
from fourlab.compiled import board, lines, negamax, planes, random, threats
from fourlab.compiled import counting as count
from fourlab.compiled import rollouts as rollout
from fourlab.datasets import sample
from fourlab.game.geometry import geometry_of
from fourlab.solver import endgame, table
from fourlab.solver import kernel as solver

g = geometry_of(5, 4, 4)
small = geometry_of(4, 3, 3)
own, mask = 0b00001_00001, 0b00011_00011
key = board.key(own, mask, g)
state = random.seed_state(1)

SWITCHES = verbs.Switches(c=1.5, random_ties=True)


def searched(merging: bool = False, simulations: int = 150, **changed: object) -> list[object]:
    """Search a little with some switches changed; returns how it ended and a checksum of the whole tree."""
    tree = verbs.new_tree(400, 1024 if merging else 0, g)
    verbs.new_block(tree.words, 1, mask, g)
    switches = SWITCHES._replace(**changed)
    run = mcts.search_together if switches.shared else mcts.search
    ended = run(tree, 1, own, mask, g, switches, simulations, state, np.zeros(1, np.uint8))
    return [ended, hashlib.sha256(tree.words[15 : int(tree.used[0]) * 15].tobytes()).hexdigest()]


def searched_with_guide(**changed: object) -> list[object]:
    """Search in four batches of six with part of the policy changed and an evaluator that only adds bits."""
    tree, games = verbs.new_tree(40, 0, g), guided.new_games(6, g)
    random_state = state
    verbs.new_block(tree.words, 1, mask, g)
    s, p = verbs.Switches(c=90.0, solver=True), guided.Policy(-1, guided.COINS // 4, False, False)._replace(**changed)
    for _ in range(4):
        leaves, _, random_state = guided.gather(tree, own, mask, g, s, 6, games, random_state)
        values, logits, asked = np.zeros(0, np.float32), np.zeros((0, 5), np.float32), 1
        while asked:
            asked, random_state = guided.play_on(games, leaves, g, p, values, logits, random_state)
            bits = [int(each).bit_count() for each in games.asked_own[:asked] * 3 ^ games.asked_mask[:asked]]
            values = np.array(bits, np.float32) / 50
            logits = values[:, None] * np.arange(5, dtype=np.float32)
        guided.hand_up(tree.words, games, leaves, g)
    return [random_state, tree.words[15 : 15 * int(tree.used[0])].tolist()]


PUCT = forest.Switches(gumbel=False, c=2.0, scale=1.0, fpu=0.2, noise=0.0, proving=True)


def grown(simulations: int = 40, leaves: int = 1, cached: int = 64, **changed: object) -> forest.Forest:
    """Two trees, grown with some switches changed and a network that only adds bits."""
    s, f, cache = PUCT._replace(**changed), forest.new_forest(2, 64, leaves, g), forest.new_cache(cached, g)
    left_at = forest.schedule(5, simulations)
    f.own[1], f.mask[1], f.goal[:] = own, mask, simulations
    f.noise[:] = np.array([[0.1, 0.2, 0.3, 0.25, 0.15], [0.5, 0.1, 0.1, 0.1, 0.2]])
    while asked := forest.gather(f, 64, leaves, g, s, left_at, cache):
        bits = np.array([int(each).bit_count() for each in f.asked_own[:asked] * 3 ^ f.asked_mask[:asked]], np.float32)
        logits = bits[:, None] / 20 * np.arange(5, dtype=np.float32)
        forest.grow(f, 64, asked, logits, bits / 40 - np.float32(0.1), g, s, cache)
    return f


def told(f: forest.Forest) -> list[object]:
    """What has grown: the whole numbers as they are, the others rounded."""
    blocks = [tree * 64 + block for tree in range(2) for block in range(int(f.used[tree]))]
    numbers = [[f"{each:.3f}" for each in f.numbers[block, 10:].tolist()] for block in blocks]
    return [f.words[blocks, :10].tolist(), numbers, f.done.tolist(), f.proof.tolist()]


def ended() -> list[object]:
    """A game played to its end."""
    owns, masks, policies = np.zeros(12, np.int64), np.zeros(12, np.int64), np.zeros((12, 4), np.float32)
    how = endgame.play_out(0, 0, small, np.zeros(4 << 6, np.int64), owns, masks, policies, state)
    return [how, owns.tolist(), masks.tolist(), policies.tolist()]


f1, f2 = grown(), grown(gumbel=True)
f_cache, f_path = forest.new_cache(8, g), np.array([[0, 2], [3, 1]], np.int32)
f_block = (f2.words, f2.numbers, 0)
ends = np.zeros(4, np.int64)

Q_RULE = q_learning.Rule(True, 0, True, False, 2.0, 0.5, -2.0, 0.0, 0.9, 1.0, 0.999, 0.01, False, 0.0, 0.99, 0.001, 0.1)
SEARCH = verbs.Switches(c=2.0, expand_all=True, draw=-4, tie=verbs.LAST)


def learned(seats: int = 3, values: int = 1, mirrored: bool = False, passing: bool = False, **changed: object) -> list[object]:
    """Learn from some games with part of the rule changed; returns what is counted and a checksum of the table."""
    rule, pace, numbers = Q_RULE._replace(**changed), np.array([0.5, 0.3, 0.0, 0.0]), np.zeros(5, np.int64)
    t = qtable.layout_of(1024, values, rule.alpha_by_visits, mirrored, 1.0)
    words = np.zeros(1024 * t.width + 1, np.int64)
    trainer, searches = q_learning.Trainer(seats, passing, SEARCH), np.array([0, 5])
    ended = q_learning.play_games(g, words, words.view(np.float32), t, rule, trainer, searches, 12, 9, pace, numbers, state)
    return [ended, pace.tolist(), numbers.tolist(), hashlib.sha256(words.tobytes()).hexdigest()]


q_layout = qtable.layout_of(64, 1, True, False, 0.25)
q_words, q_larger = np.zeros(64 * 2 + 1, np.int64), np.zeros(128 * 2 + 1, np.int64)
q_table = (q_words, q_words.view(np.float32), q_layout)
q_pace, q_counts, q_last, worth = np.array([0.5, 0.3, 0.0, 0.0]), np.zeros(5, np.int64), np.array([2, -1]), np.zeros(5)
q_progress = (q_pace, q_counts)
q_keys = q_learning.keys_of(own, mask, q_layout, g)

known = np.zeros(4 << 6, np.int64)
visited = np.zeros(1, np.int64)
go_on = np.zeros(1, np.uint8)
larger = table.new_table(4 << 8)
stack = np.zeros(21 * solver.frame_size(g), np.int64)
cache, counts = np.zeros((2, 1 << 10), np.int64), np.array([0, 1 << 30])

tree = np.zeros(30, np.int32)
verbs.new_block(tree, 1, mask, g)
copied = np.zeros(30, np.int32)
path = np.array([2 * 15, 0])
games = guided.new_games(1, g)
policy = guided.Policy(-1, guided.COINS // 2, True, False)

owns, masks = np.array([0, own, 0b0111, 0b1111]), np.array([0, mask, 0b0111, 0b1111_0_1111])


def played_in_step() -> list[object]:
    """Play a column in some games; returns all that changed."""
    after_own, after_mask = owns.copy(), masks.copy()
    stands = play_batch.play_columns(after_own, after_mask, np.array([4, 2, 0, 2]), g)
    return [stands.tolist(), after_own.tolist(), after_mask.tolist()]


def mirrored() -> list[object]:
    """Mirror every other of some moves."""
    moves = owns.copy(), masks.copy(), np.arange(4)
    play_batch.mirror_moves(*moves, np.arange(4) % 2 == 1, g)
    return [each.tolist() for each in moves]


def drawn() -> list[object]:
    """Draw some positions in every way."""
    cells, stones, threats_too = (np.zeros((len(owns), count, 4, 5), np.float32) for count in (1, 2, 6))
    planes.draw_cells(owns, masks, g, cells)
    planes.draw_planes(owns, masks, g, stones)
    planes.draw_planes(owns, masks, g, threats_too)
    return [each.tolist() for each in (cells, stones, threats_too)]


def drawn_once() -> list[object]:
    """Draw one board."""
    plane = np.zeros((4, 5), np.float32)
    planes.draw(mask, g, 3, plane)
    return plane.tolist()


RESULTS = {
    "compiled.board.has_line": lambda: [board.has_line(0b1111, g.height, 4), board.has_line(0b0111, g.height, 4)],
    "compiled.board.landing": lambda: [board.landing(mask, column, g) for column in range(5)],
    "compiled.board.landings": lambda: board.landings(mask, g),
    "compiled.board.key": lambda: key,
    "compiled.board.from_key": lambda: board.from_key(key, g),
    "compiled.counting.perft": lambda: [count.perft(0, 0, g, depth) for depth in range(6)],
    "compiled.counting.children": lambda: count.children(np.array([key]), g).tolist(),
    "compiled.counting.goes_on": lambda: count.goes_on(np.array([key]), g).tolist(),
    "compiled.counting.distinct": lambda: list(islice(count.distinct(0, 0, small), 13)),
    "compiled.random.advance": lambda: random.advance(state),
    "compiled.random.below": lambda: random.below(7, state),
    "compiled.rollouts.rollout": lambda: rollout.rollout(own, mask, g, state),
    "compiled.rollouts.rollouts": lambda: rollout.rollouts(own, mask, g, 20, state),
    "datasets.sample.quiet": lambda: sample.quiet(np.array([key, board.key(0b0111, 0b00111_00000_00111, g)]), g).tolist(),
    "datasets.sample.sample": lambda: [sample.sample(9, 20, g, state)[0].tolist(), sample.sample(9, 20, g, state)[1]],
    "datasets.sample.random_position": lambda: [sample.random_position(plies, True, g, state) for plies in (0, 6, 12, 19)],
    "compiled.planes.draw": lambda: drawn_once(),
    "compiled.planes.draw_cells": lambda: drawn()[0],
    "compiled.planes.draw_planes": lambda: drawn()[1:],
    "compiled.lines.line_starts": lambda: lines.line_starts(0b1111, 1, 4),
    "compiled.threats.winning_cells": lambda: [
        threats.winning_cells(0b0111, 0b0111, g),
        threats.winning_cells(own, mask, geometry_of(5, 4, 3)),
    ],
    "compiled.negamax.kaggle_negamax": lambda: [negamax.kaggle_negamax(own, mask, g, 2, ties, state) for ties in (False, True)],
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
    "agents.mcts.nodes.place": lambda: nodes.place(nodes.LEADS, 3, 7),
    "agents.mcts.nodes.settled": lambda: nodes.settled(5, nodes.DRAW),
    "agents.mcts.nodes.proof_of": lambda: [nodes.proof_of(leads) for leads in (-42, 0, 9)],
    "agents.mcts.nodes.block_of": lambda: [nodes.block_of(leads) for leads in (-42, 0, 9)],
    "agents.mcts.nodes.opposite": lambda: nodes.opposite(nodes.WIN),
    "agents.mcts.nodes.result_of": lambda: nodes.result_of(nodes.LOSS),
    "agents.mcts.verbs.edge_of": lambda: verbs.edge_of(2, 3, 7),
    "agents.mcts.verbs.sums_of": lambda: verbs.sums_of(45, 7),
    "agents.mcts.verbs.leads_of": lambda: verbs.leads_of(45, 7),
    "agents.mcts.verbs.node_of": lambda: verbs.node_of(45, 7),
    "agents.mcts.verbs.has_room": lambda: verbs.has_room(verbs.new_tree(2, 0, g), 5),
    "agents.alphazero.forest_kernel.root_leads": lambda: forest.root_leads(4, 4, nodes.WIN),
    "agents.mcts.verbs.new_block": lambda: tree.tolist(),
    "agents.mcts.verbs.choose": lambda: [int(each) for each in verbs.choose(tree, 1, 5, 3, SWITCHES, state)],
    "agents.mcts.verbs.any_open": lambda: verbs.any_open(tree, 1, 5, state),
    "agents.mcts.verbs.examine": lambda: verbs.examine(own, mask, g, SWITCHES),
    "agents.mcts.verbs.expand": lambda: "in search",
    "agents.mcts.kernel.search_together": lambda: searched(shared=True, simulations=600),
    "agents.mcts.verbs.conclusion": lambda: verbs.conclusion(tree, 1, 5),
    "agents.mcts.verbs.settle": lambda: verbs.settle(np.array([0, 0, 3]), 0, 1, nodes.WIN),
    "agents.mcts.verbs.mark": lambda: verbs.mark(np.array([7]), 0, verbs.LOST),
    "agents.mcts.verbs.find_slot": lambda: verbs.find_slot(np.zeros(8, np.int64), 77),
    "agents.mcts.verbs.freeze_reply": lambda: verbs.freeze_reply(
        tree.copy(), 1, own, mask, g, SWITCHES._replace(opponent=verbs.NEGAMAX), state
    ),
    "agents.mcts.verbs.simulate": lambda: verbs.simulate(own, mask, g, SWITCHES, False, state),
    "compiled.rollouts.rollout_with_wins_and_blocks": lambda: rollout.rollout_with_wins_and_blocks(own, mask, g, state),
    "compiled.rollouts.rollout_against_negamax": lambda: rollout.rollout_against_negamax(
        0, 0, geometry_of(3, 2, 3), True, True, state
    ),
    "compiled.lines.first_line": lambda: lines.first_line(0b1111, 0b1111_0_1111, g),
    "compiled.lines.line_heads": lambda: lines.line_heads(0b1111, g),
    "agents.mcts.verbs.back_up": lambda: verbs.back_up(tree, path, 1, 5, 1, True, SWITCHES),
    "agents.mcts.verbs.prove": lambda: verbs.prove(verbs.new_tree(2, 0, g)._replace(words=tree), path, 1, 5, nodes.WIN),
    "agents.mcts.verbs.copy_subtree": lambda: [verbs.copy_subtree(tree, 1, 5, copied), copied.tolist()],
    "agents.mcts.verbs.copy_block": lambda: [verbs.copy_block(tree, 1, copied, 0, 15), copied.tolist()],
    "agents.mcts.guided_kernel.gather": lambda: searched_with_guide(),
    "agents.mcts.guided_kernel.play_on": lambda: [
        searched_with_guide(by_logits=True),
        searched_with_guide(depth=2, wins_and_blocks=True),
    ],
    "agents.mcts.guided_kernel.next_cell": lambda: guided.next_cell(own, mask, 0, g, policy, state),
    "agents.mcts.guided_kernel.ask_children": lambda: [guided.ask_children(games, 0, own, mask, g), games.asked_mask.tolist()],
    "agents.mcts.guided_kernel.best_cell": lambda: guided.best_cell(
        mask, g, policy, np.zeros(5, np.float32), np.zeros((0, 5), np.float32), 0, state
    ),
    "agents.mcts.guided_kernel.hand_up": lambda: guided.hand_up(tree.copy(), games, 1, g),
    "agents.mcts.guided_kernel.back_up": lambda: guided.back_up(tree.copy(), path, 1, 5, 7),
    "agents.minimax.kernel.minimax_columns": lambda: [
        minimax.minimax_columns(own, mask, g, 4, worth, cache.copy(), counts, go_on).tolist()
        for worth in (minimax.lines_through_cells(g), np.zeros(0, np.int64))
    ],
    "agents.minimax.kernel.minimax": lambda: minimax.minimax(
        own, mask, g, 3, -99, 99, 1, np.zeros(0, np.int64), cache, counts, go_on
    ),
    "agents.minimax.kernel.guess": lambda: minimax.guess(own, mask, 5, g),
    "agents.minimax.kernel.cell_number": lambda: minimax.cell_number(1 << 17),
    "compiled.board.mirror": lambda: board.mirror(mask, g),
    "compiled.threats.completing_cells": lambda: threats.completing_cells(0b0111, geometry_of(5, 4, 3)),
    "solver.table.mix": lambda: table.mix(12345, 30),
    "solver.table.bucket_of": lambda: table.bucket_of(known, 12345),
    "solver.table.tag_of": lambda: table.tag_of(known, 12345),
    "solver.table.store": lambda: table.store(known, 12345, -3, 4, 100),
    "solver.table.probe": lambda: [table.probe(known, 12345), table.probe(known, 54321)],
    "solver.table.copy_entries": lambda: [table.copy_entries(known, larger), table.probe(larger, 12345)],
    "solver.kernel.solve": lambda: [
        solver.solve(own, mask, -99, 99, asked, g, known, jitter, 3000, go_on, visited)
        for jitter in (0, 1)
        for asked in ((-40, 40), (-1, 1))
    ],
    "solver.kernel.exceeds": lambda: [solver.exceeds(own, mask, 0, g, known, 0, 9000, go_on, visited, stack), visited.tolist()],
    "solver.kernel.next_question": lambda: [solver.next_question(*each) for each in ((-10, 10), (-10, 0), (2, 9), (3, 4))],
    "solver.kernel.frame_size": lambda: solver.frame_size(g),
    "solver.kernel.judge": lambda: [solver.judge((2, 5), 1), solver.judge((2, 5), 5), solver.judge((2, 5), 3)],
    "solver.kernel.negate": lambda: [solver.negate(0, False), solver.negate(0, True)],
    "solver.kernel.name_of": lambda: [solver.name_of(own, mask, g), solver.name_of(*board.from_key(key, g), g)],
    "solver.kernel.play_forced": lambda: [int(each) for each in solver.play_forced(own, mask, 0, 0, g)],
    "solver.kernel.non_losing": lambda: [solver.non_losing(mask, threats, g) for threats in (0, 0b00100_00000, 0b00100_00100)],
    "solver.kernel.claimeven": lambda: [solver.claimeven(own, mask, alpha, 20 - mask.bit_count(), g) for alpha in (-1, 0)],
    "solver.kernel.list_children": lambda: solver.list_children(stack, 0, own, mask, 0, board.landings(mask, g), 0, g, known, 0),
    "solver.kernel.looks": lambda: solver.looks(0b01100, 0b00100, 0b00010, 8, g),
    "solver.kernel.ask_children": lambda: solver.ask_children(stack, 0, 3, g, known),
    "compiled.batches.play_columns": lambda: played_in_step(),
    "compiled.batches.open_columns": lambda: play_batch.open_columns(masks, g).tolist(),
    "compiled.batches.urgent_columns": lambda: [
        play_batch.urgent_columns(owns, masks, central, g).tolist() for central in (False, True)
    ],
    "compiled.batches.mirror_moves": lambda: mirrored(),
    "solver.endgame.column_results": lambda: [
        endgame.column_results(0, 0, small, np.zeros(4 << 6, np.int64), ends),
        ends.tolist(),
    ],
    "solver.endgame.play_out": lambda: ended(),
    "agents.alphazero.forest_kernel.gather": lambda: [
        told(f1),
        told(grown(proving=False)),
        told(grown(proving=False, faithful=True)),
        told(grown(cached=1)),
        told(grown(simulations=60, leaves=4)),
    ],
    "agents.alphazero.forest_kernel.grow": lambda: [told(f2), told(grown(noise=0.25)), told(grown(gumbel=True, leaves=4))],
    "agents.alphazero.forest_kernel.walk": lambda: forest.walk(f1, 0, 0, 0, g, PUCT, forest.schedule(5, 50), f_cache),
    "agents.alphazero.forest_kernel.question": lambda: [forest.question(own, mask, g), forest.question(0b1, 0b1, g)],
    "agents.alphazero.forest_kernel.slot_of": lambda: forest.slot_of(key, f_cache),
    "agents.alphazero.forest_kernel.examine": lambda: [
        forest.examine(own, mask, g, PUCT._replace(proving=each)) for each in (False, True)
    ],
    "agents.alphazero.forest_kernel.ending": lambda: [forest.ending(own, mask, small), forest.ending(0, 0, small)],
    "agents.alphazero.choosing.mean": lambda: f"{choosing.mean(*f_block, 2, 5):.3f}",
    "agents.alphazero.choosing.is_out": lambda: [choosing.is_out(f2.words, 0, column, 5) for column in range(5)],
    "agents.alphazero.choosing.choose_by_puct": lambda: choosing.choose_by_puct(*f_block, 5, PUCT),
    "agents.alphazero.choosing.complete": lambda: [f"{each:.3f}" for each in choosing.complete(*f_block, 5)],
    "agents.alphazero.choosing.choose_as_planned": lambda: choosing.choose_as_planned(*f_block, 5, PUCT),
    "agents.alphazero.choosing.improved": lambda: f"{choosing.improved(*f_block, 1, 5, 0.1, 2.0, 0.3):.3f}",
    "agents.alphazero.choosing.choose_by_schedule": lambda: choosing.choose_by_schedule(
        *f_block, f2.noise[0], 9, g, PUCT, forest.schedule(5, 50)
    ),
    "agents.alphazero.forest_kernel.conclusion": lambda: forest.conclusion(f2.words, 0, 5),
    "agents.alphazero.forest_kernel.transplant": lambda: [
        forest.transplant(f2.words, 1, 5, f1.words[64:]),
        f1.words[64:70, :10].tolist(),
    ],
    "agents.alphazero.forest_kernel.mix_noise": lambda: forest.mix_noise(*f_block, f2.noise[0], 5, np.float32(0.25)),
    "agents.alphazero.forest_kernel.credit": lambda: forest.credit(f2.numbers, f_path, 2, 5, np.float32(0.5)),
    "agents.alphazero.forest_kernel.take_back": lambda: forest.take_back(f2.words, f2.numbers, f_path, 1, 5),
    "agents.alphazero.forest_kernel.prove": lambda: forest.prove(f2, 0, f_path, 2, 5, forest.WIN),
    "agents.alphazero.forest_kernel.plant": lambda: forest.plant(
        f2, 0, 0, f_path, 1, 1 << 20, mask, np.zeros(6, np.float32), False, g, PUCT
    ),
    "agents.alphazero.forest_kernel.settle": lambda: [forest.settle(f2, 1, 64, 0b0111, 0b00111_00111, forest.WIN, g), told(f2)],
    "agents.q.table_kernel.home": lambda: qtable.home(key, q_layout),
    "agents.q.table_kernel.find": lambda: qtable.find(key, q_words, q_layout),
    "agents.q.table_kernel.enter": lambda: qtable.enter(key, *q_table),
    "agents.q.table_kernel.fill": lambda: [
        qtable.fill(np.array([key + 2, key + 4]), np.full((2, 2), 0.5, np.float32), *q_table),
        q_words.tolist(),
    ],
    "agents.q.table_kernel.is_full": lambda: qtable.is_full(q_words, q_layout, g),
    "agents.q.table_kernel.copy_slots": lambda: [
        qtable.copy_slots(q_words, q_larger, qtable.layout_of(128, 1, True, False, 0.25)),
        q_larger.tolist(),
    ],
    "agents.q.kernel.keys_of": lambda: [
        q_learning.keys_of(own, mask, q_layout._replace(mirrored=each), g) for each in (False, True)
    ],
    "agents.q.kernel.name_of": lambda: [
        q_learning.name_of((key, board.mirror(key, g)), mask, 4, qtable.layout_of(64, values, False, True, 0.0), g)
        for values in (1, 5)
    ],
    "agents.q.kernel.ask_ahead": lambda: q_learning.ask_ahead(q_keys, mask, g, q_words, q_layout),
    "agents.q.kernel.judge": lambda: [q_learning.judge(q_keys, mask, g, *q_table, worth), worth.tolist()],
    "agents.q.kernel.greatest": lambda: q_learning.greatest(worth),
    "agents.q.kernel.best_column": lambda: [q_learning.best_column(np.zeros(5), ties, state) for ties in (False, True)],
    "agents.q.kernel.any_column": lambda: q_learning.any_column(mask, g, state),
    "agents.q.kernel.choose": lambda: [
        q_learning.choose(q_keys, mask, g, *q_table, Q_RULE, epsilon, worth, state) for epsilon in (0.0, 1.0)
    ],
    "agents.q.kernel.learn": lambda: [
        q_learning.learn(number, 1.0, *q_table[1:], Q_RULE._replace(alpha_by_visits=True), *q_progress) for number in (2, 2, -1)
    ],
    "agents.q.kernel.end": lambda: q_learning.end(2, 1.0, *q_table[1:], Q_RULE, *q_progress),
    "agents.q.kernel.look_back": lambda: q_learning.look_back(
        q_keys, mask, 3, False, 0, g, *q_table, Q_RULE, q_learning.Learner(q_last, worth, *q_progress)
    ),
    "agents.q.kernel.see_end": lambda: q_learning.see_end(0, True, q_last, *q_table[1:], Q_RULE, *q_progress),
    "agents.q.kernel.close_game": lambda: [
        q_learning.close_game(-1, Q_RULE, *q_progress),
        q_pace.tolist(),
        q_counts.tolist(),
        q_last.tolist(),
        q_words.tolist(),
    ],
    "agents.q.kernel.search_move": lambda: [
        q_learning.search_move(own, mask, g, SEARCH, simulations, np.zeros(30 * 15, np.int32), state) for simulations in (0, 25)
    ],
    "agents.q.kernel.play_games": lambda: [
        learned(),
        learned(seats=2, mirrored=True, passing=True, alpha_update=0.5, epsilon_update=0.01),
        learned(seats=0, values=5, target=q_learning.BEST, set_endings=False, random_ties=True),
        learned(values=5, mirrored=True, target=q_learning.NEGAMAX, draw=0.0, alpha_by_visits=True),
        learned(learning=False),
    ],
    "compiled.rollouts.lane_rollouts": lambda: rollout.lane_rollouts(own, mask, g, 40, 1),
}

if __name__ == "__main__":
    names = sys.argv[1:] or RESULTS
    print(json.dumps({name: RESULTS[name]() for name in names}, default=int))
