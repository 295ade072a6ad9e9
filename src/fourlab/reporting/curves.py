"""Metrics of a training as curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Curve:
    """What to draw of the metrics: some of their numbers in one panel."""

    label: str
    """What the panel's axis says."""
    names: tuple[str, ...]
    """Which numbers of a row; those of nested tables as `rules.score`."""
    logarithmic: bool = False


def number(row: Mapping[str, Any], name: str) -> float | None:
    """A number of a row, `rules.score` being the score in the table `rules`; None where there is none."""
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None
