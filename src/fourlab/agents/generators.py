"""Random generators for agents that are asked without one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def generator(rng: "np.random.Generator | None") -> "np.random.Generator":
    """The generator itself; without one a new one, whose seed nobody knows.

    Whatever must be repeatable passes a generator: matches, trainings and studies always do.
    """
    if rng is not None:
        return rng
    import numpy as np

    return np.random.default_rng()
