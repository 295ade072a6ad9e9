"""Statistics that say how much is known."""

import math

Z_95 = 1.959963984540054
"""Nineteen of twenty normal values lie within so many standard deviations."""


def wilson(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """The Wilson interval of a share, by default with 95 % confidence; it is sensible even at 0 and 1 (Wilson 1927)."""
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    middle = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
