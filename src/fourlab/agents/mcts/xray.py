"""Views of a tree search: when to take snapshots of the root, and excerpts of the tree."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from fourlab.agent import ColumnAnalysis


def marks() -> Iterator[int]:
    """Yield the simulation counts of snapshots: ten per power of ten, and five below 10."""
    yield from (1, 2, 3, 5, 7)
    power = 1
    while True:
        # Nearly even steps on a logarithmic axis.
        yield from (step * power for step in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80))
        power *= 10


@dataclass
class Node:
    """A column in a tree, and the columns tried after it."""

    stats: ColumnAnalysis
    children: "list[Node]" = field(default_factory=list)


def excerpt(
    look: Callable[[tuple[int, ...]], Sequence[ColumnAnalysis]], max_nodes: int
) -> list[Node]:
    """Return up to `max_nodes` of a tree's most visited nodes, as the columns at its root.

    `look` returns the columns after a path from the root.
    """
    top: list[Node] = []
    # A heap of nodes to expand, most visits first: -visits, path, and the list of its children.
    # Paths differ, so the heap never compares the lists.
    waiting: list[tuple[int, tuple[int, ...], list[Node]]] = [(0, (), top)]
    while waiting and max_nodes > 0:
        _, path, children = heapq.heappop(waiting)
        tried = [stats for stats in look(path) if stats.visits > 0 or stats.proven is not None]
        for stats in sorted(tried, key=lambda stats: -stats.visits)[:max_nodes]:
            node = Node(stats)
            children.append(node)
            heapq.heappush(waiting, (-stats.visits, (*path, stats.column), node.children))
        max_nodes -= len(children)
    return top
