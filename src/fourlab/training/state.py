"""Values of a checkpoint's state, which somebody else may have written."""

from collections.abc import Mapping
from typing import Any

MOST = 2**63 - 1


def count(state: Mapping[str, Any], name: str) -> int:
    """Return a whole number from 0 to MOST; raise KeyError or ValueError for anything else."""
    value = state[name]
    # Not isinstance: true is an int, too.
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{name} is {value!r:.40}")
    return value
