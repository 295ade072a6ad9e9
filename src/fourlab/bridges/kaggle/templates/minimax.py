"""Looks a fixed number of discs ahead with alpha-beta, or less if the clock does not allow it."""

import random
from typing import Any

from fourlab.bridges.kaggle.templates.board import read, seconds_to_think
from fourlab.bridges.kaggle.templates.search import best_columns

DEPTH = 4
"""How many discs to look ahead."""
EVALUATION = "lines"
"""Where the depth ends: count lines and threats ("lines"), or nothing but finished games ("terminal")."""
TIE = "centre"
"""Which of equally good columns: the most central, the first, or any ("random")."""


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column."""
    own, mask, shape = read(observation, configuration)
    best = best_columns(own, mask, shape, DEPTH, seconds_to_think(configuration), EVALUATION == "lines", True)
    return {"centre": best[0], "first": min(best), "random": random.choice(best)}[TIE]
