"""Call every kernel once on small input and print the results as JSON.

Run as it is, under NUMBA_DISABLE_JIT=1 and under NUMBA_BOUNDSCHECK=1 the output must be the same.
"""

import json
from itertools import islice

import numpy as np

from fourlab.kernels import board, count, random, rollout
from fourlab.kernels.geometry import geometry_of

g = geometry_of(5, 4, 4)
small = geometry_of(4, 3, 3)
own, mask = 0b00001_00001, 0b00011_00011
key = board.key(own, mask, g)
state = random.seed_state(1)

RESULTS = {
    "board.has_line": [board.has_line(0b1111, g.height, 4), board.has_line(0b0111, g.height, 4)],
    "board.landing": [board.landing(mask, column, g) for column in range(5)],
    "board.landings": board.landings(mask, g),
    "board.key": key,
    "board.from_key": board.from_key(key, g),
    "board.mirror": board.mirror(mask, g),
    "count.perft": [count.perft(0, 0, g, depth) for depth in range(6)],
    "count.children": count.children(np.array([key]), g).tolist(),
    "count.goes_on": count.goes_on(np.array([key]), g).tolist(),
    "count.distinct": list(islice(count.distinct(0, 0, small), 13)),
    "random.advance": random.advance(state),
    "random.below": random.below(7, state),
    "rollout.rollout": rollout.rollout(own, mask, g, state),
    "rollout.rollouts": rollout.rollouts(own, mask, g, 20, state),
    "rollout.line_starts": rollout.line_starts(0b1111, 1, 4),
    "rollout.lane_rollouts": rollout.lane_rollouts(own, mask, g, 40, 1),
}

if __name__ == "__main__":
    print(json.dumps(RESULTS, default=int))
