"""Wins if it can, else blocks a win, else plays near the centre or by lot."""

import random
from typing import Any

from fourlab.bridges.kaggle.templates.board import columns_of, landings, read, urgent_columns

OTHERWISE = "centre"
"""Among equally urgent columns: the most central ("centre"), or any ("random")."""


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column."""
    own, mask, shape = read(observation, configuration)
    choices = urgent_columns(own, mask, shape) or columns_of(landings(mask, shape), shape)
    if OTHERWISE == "centre":  # two may be equally far from it
        choices = [each for each in choices if each in (choices[0], shape.columns - 1 - choices[0])]
    return random.choice(choices)
