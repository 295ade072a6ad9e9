"""Tree search (PUCT) guided by a network that has learned by playing itself.

On boards that the network does not know, and without NumPy, it searches by alpha-beta instead.
"""

import math
import time
from typing import Any

from fourlab.bridges.kaggle.templates.board import (
    Shape,
    columns_of,
    landing,
    landings,
    read,
    seconds_to_think,
    urgent_columns,
    winning_cells,
)
from fourlab.bridges.kaggle.templates.network import judge, knows
from fourlab.bridges.kaggle.templates.search import best_columns

SIMULATIONS: int | None = None
"""Simulations a move at most; None: as many as the time allows."""
SECONDS: float | None = None
"""Seconds a move at most; None: as many as the clock allows."""
C = 2.0
"""Exploration: the bound is (Q + 1) / 2 + C * prior * sqrt(N) / (1 + n)."""
FPU = 0.2
"""A column that was not played yet is worth so much less than its position."""
BATCH = 8
"""How many leaves the network is asked about at once, at most."""
ELSEWHERE_DEPTH = 63


class Node:
    """A position in the tree; its value is for the side to move."""

    def __init__(self, own: int, mask: int) -> None:
        self.own, self.mask = own, mask
        self.visits, self.total = 0, 0.0
        self.ended: float | None = None
        """The result, if the game is over or about to be."""
        self.priors: dict[int, float] = {}
        self.children: dict[int, Node] = {}

    def mean(self) -> float:
        """What the side to move can expect."""
        return self.total / self.visits if self.visits else 0.0


def select(root: Node, shape: Shape) -> list[Node]:
    """Go down by the greatest bounds to a node that has no priors yet; on the way every node counts as a loss, for now."""
    path = [root]
    while path[-1].priors:
        node = path[-1]
        root_of_visits = math.sqrt(node.visits)

        def bound(column: int, node: Node = node, root_of_visits: float = root_of_visits) -> float:
            child = node.children.get(column)
            q = node.mean() - FPU if child is None or child.visits == 0 else -child.mean()
            return (q + 1) / 2 + C * node.priors[column] * root_of_visits / (1 + (child.visits if child else 0))

        column = max(node.priors, key=bound)
        if column not in node.children:
            node.children[column] = Node(node.mask ^ node.own, node.mask | landing(node.mask, column, shape))
        path.append(node.children[column])
    for node in path[1:]:
        node.visits += 1
        node.total += 1
    root.visits += 1
    return path


def expand(leaves: list[Node], shape: Shape) -> list[float]:
    """Ask the network about new nodes; returns their values. Wins at once and forced replies are seen without it."""
    asked = []
    for leaf in leaves:
        moves = landings(leaf.mask, shape)
        if winning_cells(leaf.own, leaf.mask, shape) & moves:
            leaf.ended = 1.0
        elif moves == 0:
            leaf.ended = 0.0
        elif leaf.ended is None and not leaf.priors and leaf not in asked:
            asked.append(leaf)
    values, logits = judge([(leaf.own, leaf.mask) for leaf in asked]) if asked else ((), ())
    known = {}
    for leaf, value, row in zip(asked, values, logits, strict=True):
        blocks = winning_cells(leaf.mask ^ leaf.own, leaf.mask, shape) & landings(leaf.mask, shape)
        columns = columns_of(blocks or landings(leaf.mask, shape), shape)
        chances = [math.exp(row[column] - max(row)) for column in columns]
        leaf.priors = {column: chance / sum(chances) for column, chance in zip(columns, chances, strict=True)}
        known[id(leaf)] = float(value)
    return [known[id(leaf)] if leaf.ended is None else leaf.ended for leaf in leaves]


def back_up(path: list[Node], value: float) -> None:
    """Put the value, that of the leaf, in the place of the losses counted for now."""
    for place, node in enumerate(reversed(path)):
        node.total += (value if place % 2 == 0 else -value) - (1 if node is not path[0] else 0)


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column: the most visited one."""
    started = time.perf_counter()
    own, mask, shape = read(observation, configuration)
    seconds = seconds_to_think(configuration)
    if not knows(shape):
        return best_columns(own, mask, shape, ELSEWHERE_DEPTH, seconds, True, False)[0]
    urgent = urgent_columns(own, mask, shape)
    if urgent:
        return urgent[0]
    root, done = Node(own, mask), 0
    root.total, root.visits = expand([root], shape)[0], 1
    seconds = seconds if SECONDS is None else min(SECONDS, seconds)
    while (SIMULATIONS is None or done < SIMULATIONS) and time.perf_counter() - started < seconds:
        paths = [select(root, shape) for _ in range(min(BATCH, 1 + done // 8, (SIMULATIONS or 1 << 40) - done))]
        for path, value in zip(paths, expand([path[-1] for path in paths], shape), strict=True):
            back_up(path, value)
        done += len(paths)
    return max(root.priors, key=lambda each: (root.children[each].visits if each in root.children else 0, root.priors[each]))
