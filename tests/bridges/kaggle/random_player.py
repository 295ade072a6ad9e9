"""A submission as a competitor writes it."""

import random
from typing import Any


def agent(observation: Any, configuration: Any) -> int:
    """Play any open column."""
    return random.choice(
        [column for column in range(configuration.columns) if observation.board[column] == 0]
    )
