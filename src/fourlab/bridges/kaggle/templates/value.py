"""One ply deep: plays the column after which a network expects least for the other side.

On boards that the network does not know, and without NumPy, it searches instead.
"""

from typing import Any

from fourlab.bridges.kaggle.templates.board import columns_of, landing, landings, read, seconds_to_think, winning_cells
from fourlab.bridges.kaggle.templates.network import judge, knows
from fourlab.bridges.kaggle.templates.search import best_columns

ELSEWHERE_DEPTH = 8


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column."""
    own, mask, shape = read(observation, configuration)
    if not knows(shape):
        return best_columns(own, mask, shape, ELSEWHERE_DEPTH, seconds_to_think(configuration), True, False)[0]
    moves = landings(mask, shape)
    wins = winning_cells(own, mask, shape) & moves
    if wins:
        return min(columns_of(wins, shape))
    columns = sorted(columns_of(moves, shape))
    after = [(mask ^ own, mask | landing(mask, column, shape)) for column in columns]
    values, policy = judge(after)
    if values is None:  # a network of Q-values: a position is worth its best column
        open_columns = [columns_of(landings(discs, shape), shape) for _, discs in after]
        values = [max((row[each] for each in some), default=0) for row, some in zip(policy, open_columns, strict=True)]
    worth = [
        0.0 if discs == shape.cells else max(-1.0, min(1.0, float(value)))
        for value, (_, discs) in zip(values, after, strict=True)
    ]
    return columns[worth.index(min(worth))]
