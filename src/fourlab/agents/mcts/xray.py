"""What a search saw, for people to look at: the root as it converged, and the tree as far as anybody wants to go."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from fourlab.agent import ColumnAnalysis


@dataclass(frozen=True)
class Snapshot:
    """The root after some simulations, for curves of convergence."""

    simulations: int
    columns: tuple[ColumnAnalysis, ...]
    """The open ones."""
    width: int
    """How many columns the board has."""

    @property
    def visits(self) -> tuple[int, ...]:
        """Per column, 0 for closed ones."""
        known = {each.column: each.visits for each in self.columns}
        return tuple(known.get(column, 0) for column in range(self.width))

    @property
    def means(self) -> tuple[float | None, ...]:
        """Per column, None before the first visit."""
        known = {each.column: each.value for each in self.columns}
        return tuple(known.get(column) for column in range(self.width))


def marks() -> Iterator[int]:
    """The simulation counts at which snapshots are taken: ten to a power of ten, five below ten."""
    yield from (1, 2, 3, 5, 7)
    power = 1
    while True:
        yield from (step * power for step in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80))
        power *= 10


@dataclass
class Node:
    """A column in a tree, and those tried after it."""

    stats: ColumnAnalysis
    children: "list[Node]" = field(default_factory=list)


def excerpt(look: Callable[[tuple[int, ...]], Sequence[ColumnAnalysis]], most: int) -> list[Node]:
    """The most visited nodes of a tree, at most so many, as the columns at its root; `look` tells the columns after a path."""
    top: list[Node] = []
    waiting: list[tuple[int, tuple[int, ...], list[Node]]] = [(0, (), top)]
    while waiting and most > 0:
        _, path, children = heapq.heappop(waiting)
        tried = [each for each in look(path) if each.visits > 0 or each.proven is not None]
        for each in sorted(tried, key=lambda each: -each.visits)[:most]:
            node = Node(each)
            children.append(node)
            heapq.heappush(waiting, (-each.visits, (*path, each.column), node.children))
        most -= len(children)
    return top
