"""Training metrics as curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Curve:
    """A panel of a figure with some of the metrics."""

    label: str
    """The label of the y axis."""
    names: tuple[str, ...]
    """The metrics to draw; those in nested tables are named like `rules.score`."""
    logarithmic: bool = False


def number(row: Mapping[str, Any], name: str) -> float | None:
    """Return a number from a row of metrics, or None if it has none.

    `rules.score` is the score in the nested table `rules`.
    """
    value: Any = row
    # A row without the table, such as one between evaluations, has no number.
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    # None and text are not numbers, and neither can be drawn.
    return float(value) if isinstance(value, int | float) else None
