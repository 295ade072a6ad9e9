"""Plays every open column with the same chance."""

import random
from typing import Any


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column."""
    return random.choice([column for column in range(configuration.columns) if observation.board[column] == 0])
