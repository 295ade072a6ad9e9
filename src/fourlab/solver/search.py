"""The question and the limits of a search, which is done in slices."""

import math
import time
from typing import NamedTuple

import numpy as np

from fourlab.agent import Limit
from fourlab.game.geometry import Geometry
from fourlab.game.rules import Rules

SLICE, TIMED_SLICE = 1 << 21, 1 << 15
"""The search runs in slices of this many nodes, without and with a time limit. Between two slices
the solver checks the clock and Python handles Ctrl-C. A slice that does not move the bounds is
followed by one twice as long: otherwise a table that is too small might lose the work of every
slice."""
NO_BOUND = 1 << 60
"""More nodes than any search takes."""
NEVER_STOP = np.zeros(1, np.uint8)


class Search(NamedTuple):
    """The question and the limits of a search."""

    g: Geometry
    window: tuple[int, int]
    size: int
    """The number of nodes of the first slice."""
    max_nodes: int
    """Most nodes per position."""
    end: float
    """When the time is over, a value of `time.perf_counter`."""
    stop: np.ndarray
    """uint8[1]: 1 if another thread ends the search."""

    @classmethod
    def begin(cls, rules: Rules, limit: Limit, window: tuple[int, int]) -> "Search":
        """Start the clock."""
        size = SLICE
        end = math.inf
        if limit.seconds is not None:
            # The cost of a node grows with the length of a line, roughly as its cube.
            size = max(TIMED_SLICE * 4**3 // rules.in_a_row**3, 16)
            end = time.perf_counter() + limit.seconds
        max_nodes = NO_BOUND if limit.nodes is None else limit.nodes
        stop = NEVER_STOP if limit.stop is None else np.frombuffer(limit.stop.flag, np.uint8)
        return cls(rules.geometry, window, size, max_nodes, end, stop)

    def is_over(self) -> bool:
        """Return whether the time is over or the stop flag is set."""
        is_late = self.end < math.inf and time.perf_counter() >= self.end
        return is_late or bool(self.stop[0])
