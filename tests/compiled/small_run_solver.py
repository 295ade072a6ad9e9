"""Results of the kernels of the solver, for `small_run`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fourlab.compiled import board, random
from fourlab.game.geometry import geometry_of
from fourlab.solver import batch, endgame, strategies, table
from fourlab.solver import kernel as solver

g = geometry_of(5, 4, 4)
small = geometry_of(4, 3, 3)
own, mask = 0b00001_00001, 0b00011_00011
key = board.key(own, mask, g)
state = random.seed_state(1)


def ended() -> list[object]:
    """Play a game to its end and return everything that was written."""
    owns = np.zeros(12, np.int64)
    masks = np.zeros(12, np.int64)
    policies = np.zeros((12, 4), np.float32)
    table = np.zeros(4 << 6, np.int64)
    result = endgame.play_out(0, 0, small, table, owns, masks, policies, state)
    return [result, owns.tolist(), masks.tolist(), policies.tolist()]


positions = np.zeros((1, batch.WIDTH), np.int64)
moves = np.zeros((5, batch.WIDTH), np.int64)
canonical = np.array([min(key, board.mirror(key, g)), 1 << 40])


ends = np.zeros(4, np.int64)
solved = np.zeros(4 << 6, np.int64)
visited = np.zeros(1, np.int64)
never_stop = np.zeros(1, np.uint8)
not_shared = np.zeros(0, np.int64)
busy = np.zeros(16, np.int64)
larger = table.new_table(4 << 8)
stack = np.zeros(21 * solver.frame_size(g), np.int64)

SOLVER_RESULTS: dict[str, Callable[[], Any]] = {
    "solver.table.mix": lambda: table.mix(12345, 30),
    "solver.table.bucket_of": lambda: table.bucket_of(solved, 12345),
    "solver.table.tag_of": lambda: table.tag_of(solved, 12345),
    "solver.table.store": lambda: table.store(solved, 12345, -3, 4, 100),
    "solver.table.probe": lambda: [table.probe(solved, 12345), table.probe(solved, 54321)],
    "solver.table.copy_entries": lambda: [
        table.copy_entries(solved, larger, 0, len(solved)),
        table.probe(larger, 12345),
    ],
    "solver.kernel.solve": lambda: [
        solver.solve(own, mask, -99, 99, window, g, solved, words, 3000, never_stop, visited)
        for words in (not_shared, busy)
        for window in ((-40, 40), (-1, 1))
    ],
    "solver.kernel.exceeds": lambda: [
        solver.exceeds(own, mask, 0, g, solved, not_shared, 9000, never_stop, visited, stack),
        visited.tolist(),
    ],
    "solver.kernel.next_alpha": lambda: [
        solver.next_alpha(low, high, easy)
        for low, high in ((-10, 10), (-10, 0), (2, 9), (3, 4))
        for easy in (True, False)
    ],
    "solver.kernel.frame_size": lambda: solver.frame_size(g),
    "solver.kernel.answer_from": lambda: [
        solver.answer_from((2, 5), 1),
        solver.answer_from((2, 5), 5),
        solver.answer_from((2, 5), 3),
    ],
    "solver.kernel.negate": lambda: [solver.negate(0, False), solver.negate(0, True)],
    "solver.kernel.mixed_key": lambda: [
        solver.mixed_key(own, mask, g),
        solver.mixed_key(*board.from_key(key, g), g),
    ],
    "solver.kernel.play_forced": lambda: [
        int(number) for number in solver.play_forced(own, mask, 0, 0, g)
    ],
    "solver.strategies.answer_by_strategy": lambda: [
        strategies.answer_by_strategy(own, mask, alpha, 20 - mask.bit_count(), 0, g)
        for alpha in (-1, 0)
    ],
    "solver.strategies.claimeven": lambda: [
        bool(strategies.claimeven(0b10, 0b01, 0b11, wanted, to_move, 0, g))
        for wanted in (0, 1)
        for to_move in (True, False)
    ],
    "solver.strategies.odd_threat": lambda: [
        bool(strategies.odd_threat(0b10, 0b01, 0b11, wanted, to_move, 1 << 12, g))
        for wanted in (0, 1)
        for to_move in (True, False)
    ],
    "solver.strategies.even_cells_above": lambda: strategies.even_cells_above(
        0b10, g.cells ^ g.odd_rows, g
    ),
    "solver.kernel.list_children": lambda: solver.list_children(
        stack, 0, own, mask, 0, board.landings(mask, g), 0, g, solved
    ),
    "solver.kernel.move_score": lambda: solver.move_score(0b01100, 0b00100, 0b00010, 8, g),
    "solver.kernel.probe_children": lambda: solver.probe_children(stack, 0, 3, g, solved),
    "solver.kernel.place_of": lambda: solver.place_of(busy, 12345),
    "solver.kernel.mark": lambda: [solver.mark(busy, 12345), busy.tolist()],
    "solver.kernel.defer_busy": lambda: [
        solver.defer_busy(stack, 0, g, busy),
        stack[: solver.frame_size(g)].tolist(),
    ],
    "solver.kernel.unmark": lambda: [solver.unmark(busy, 12345), busy.tolist()],
    "solver.kernel.next_child": lambda: solver.next_child(np.arange(99), 0, g),
    "solver.endgame.column_results": lambda: [
        endgame.column_results(0, 0, small, np.zeros(4 << 6, np.int64), ends),
        ends.tolist(),
    ],
    "solver.endgame.play_out": lambda: ended(),
    "solver.batch.read_keys": lambda: [
        batch.read_keys(np.array([key]), positions, g),
        batch.write_position(moves, 4, own, mask, g),
        positions.tolist(),
    ],
    "solver.batch.write_position": lambda: moves.tolist(),
    "solver.batch.look_up": lambda: [
        batch.look_up(positions, 8, canonical, np.array([3, 4], np.int8), g),
        positions.tolist(),
    ],
    "solver.batch.list_moves": lambda: [
        batch.list_moves(positions, np.array([2, 1, 3, 0, 4]), g, moves),
        moves.tolist(),
    ],
    "solver.batch._is_open": lambda: [
        bool(batch._is_open(lower, upper, (-1, 1)))
        for lower, upper in ((-3, 4), (1, 4), (-3, -1), (0, 0))
    ],
    "solver.batch.solve_rows": lambda: [
        batch.solve_rows(moves, 0, (-40, 40), g, solved, not_shared, 900, 900, 9000, never_stop),
        moves.tolist(),
    ],
}
