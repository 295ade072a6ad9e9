"""The default random generator of agents."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def generator(rng: "np.random.Generator | None") -> "np.random.Generator":
    """Return `rng`, or a new generator with an unpredictable seed if it is None.

    Matches, training runs and studies always pass a generator, so they are repeatable.
    """
    if rng is not None:
        return rng
    # Imported late, so that listing agents does not load NumPy.
    import numpy as np

    return np.random.default_rng()
