"""No search: plays the open column that a network values most.

On boards that the network does not know, and without NumPy, it searches instead.
"""

from typing import Any

from fourlab.bridges.kaggle.templates.board import columns_of, landings, read, seconds_to_think
from fourlab.bridges.kaggle.templates.network import judge, knows
from fourlab.bridges.kaggle.templates.search import best_columns

ELSEWHERE_DEPTH = 8


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column."""
    own, mask, shape = read(observation, configuration)
    if not knows(shape):
        return best_columns(own, mask, shape, ELSEWHERE_DEPTH, seconds_to_think(configuration), True, False)[0]
    _, policy = judge([(own, mask)])
    return max(sorted(columns_of(landings(mask, shape), shape)), key=lambda column: policy[0][column])
