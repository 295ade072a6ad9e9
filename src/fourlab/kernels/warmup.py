"""A tiny call of every kernel, so that all are compiled and cached before somebody waits for them."""

from collections.abc import Callable

from fourlab.kernels.count import distinct, perft
from fourlab.kernels.geometry import geometry_of
from fourlab.kernels.random import seed_state
from fourlab.kernels.rollout import lane_rollouts, rollouts

_CLASSIC = geometry_of(7, 6, 4)

WARMUPS: dict[str, Callable[[], object]] = {
    "perft": lambda: perft(0, 0, _CLASSIC, 3),
    "distinct positions": lambda: sum(distinct(0, 0, geometry_of(3, 2, 3))),
    "rollouts": lambda: rollouts(0, 0, _CLASSIC, 10, seed_state(0)),
    "rollouts in lanes": lambda: lane_rollouts(0, 0, _CLASSIC, 10, 0),
}
