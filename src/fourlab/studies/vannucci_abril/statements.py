"""Two statements of Vannucci & Abril's text: the search builds a DAG, and what its values are not.

The published program makes a tree: equal positions reached in different orders are different nodes.
Here a plain program does both, so that the difference can be measured.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fourlab.game.position import Position
from fourlab.studies.claims import Answer, Claim, Source, Verdict, exactly, mean_of, share
from fourlab.studies.vannucci_abril.exact import ACTIONS, GIVEN, AgainstRandom, value
from fourlab.studies.verdicts import larger_share
from fourlab.studies.workbench import Part, Table, Workbench

ITERATIONS = 1000
"""As in the notebooks."""
CONSTANT = 2.0
POINTS = 20.0
"""Margin of the share of runs that rank action 4 first."""
KINDS = ("tree", "graph")
LABELS = {"faithful": "tree as coded", "corrected": "graph"}
"""What the two columns hold here."""


@dataclass
class Node:
    """A position with our side to move, or the end of the game."""

    position: Position
    untried: list[int]
    children: dict[int, "Node"] = field(default_factory=dict)
    visits: int = 0
    total: float = 0.0


class Search:
    """The search as coded, as a tree or with one node for equal positions."""

    def __init__(self, kind: str, rng: np.random.Generator) -> None:
        self.kind = kind
        self.rng = rng
        self.nodes: dict[object, Node] = {}
        self.root = self.node_of(GIVEN)

    def node_of(self, position: Position) -> Node:
        """Return a new node, or that of the position in a graph."""
        # In a tree every node has a key of its own.
        key = position if self.kind == "graph" else len(self.nodes)
        if key not in self.nodes:
            self.nodes[key] = Node(position, list(position.legal_columns()))
        return self.nodes[key]

    def run(self) -> list[float]:
        """Search, and return the means of the actions."""
        for _ in range(ITERATIONS):
            path = self.descend()
            result = self.rollout(path[-1].position)
            for node in path:
                node.visits += 1
                node.total += result
        children = [self.root.children[action] for action in ACTIONS]
        return [child.total / child.visits for child in children]

    def descend(self) -> list[Node]:
        """Return the nodes from the root to the one that is new or the end of a game."""
        path = [self.root]
        while path[-1].position.outcome() is None:
            node = path[-1]
            if node.untried:
                action = node.untried.pop(int(self.rng.integers(len(node.untried))))
                node.children[action] = self.node_of(self.answered(node.position.play(action)))
                return [*path, node.children[action]]
            path.append(max(node.children.values(), key=lambda child: self.bound(node, child)))
        return path

    def bound(self, node: Node, child: Node) -> float:
        """Return the upper bound as coded (B1)."""
        # In a graph, a node may have more visits than one of its parents.
        ratio = max(node.visits / child.visits, 1.0) if child.visits else math.inf
        if math.isinf(ratio):
            return math.inf
        return child.total / child.visits + CONSTANT * math.sqrt(math.log(ratio))

    def answered(self, position: Position) -> Position:
        """Return a position after a random reply, unless the game is over."""
        if position.outcome() is not None:
            return position
        return position.play(int(self.rng.choice(position.legal_columns())))

    def rollout(self, position: Position) -> float:
        """Play at random to the end; return our result."""
        while (outcome := position.outcome()) is None:
            position = position.play(int(self.rng.choice(position.legal_columns())))
        return float(outcome.score(GIVEN.to_move))


def searched(kind: str, seed: int, number: int) -> list[Any]:
    """Search once; return the means of the actions and the number of nodes."""
    search = Search(kind, np.random.default_rng([seed, number]))
    return [search.run(), len(search.nodes)]


def conduct(bench: Workbench) -> Iterator[Part]:
    """Compare a tree with a graph, and values with probabilities."""
    runs = {
        kind: bench.repeat(kind, searched, bench.size["runs"], kind, bench.seed) for kind in KINDS
    }
    nodes = {kind: [float(number) for _, number in runs[kind]] for kind in KINDS}
    yield Claim(
        "dag-nodes",
        f"nodes after {ITERATIONS:,} iterations",
        "the search builds a directed acyclic graph",
        Source.TEXT,
        faithful=mean_of(nodes["tree"], 0),
        corrected=mean_of(nodes["graph"], 0),
        true=Verdict(Answer.DIFFERS, "reading of the published program"),
        why="every node of the published program has one parent, and equal positions are searched "
        "again in each of their nodes",
        labels=LABELS,
    )
    first = {kind: sum(means[0] > means[1] for means, _ in runs[kind]) for kind in KINDS}
    number = len(runs["tree"])
    yield Claim(
        "dag-ranking",
        "one run ranks action 4 first; a graph does so more often",
        "",
        Source.OURS,
        faithful=share(first["tree"], number),
        corrected=share(first["graph"], number),
        true=larger_share(first["graph"], number, first["tree"], number, POINTS),
        why="with one frozen reply to every move (B2), hardly any position can be reached in two "
        "ways, so there is little to merge",
        labels=LABELS,
    )
    yield from _values(runs)
    yield from _probabilities()


def _values(runs: dict[str, list[Any]]) -> Iterator[Part]:
    """Compare the means of the actions in a tree and in a graph."""
    for place, action in enumerate(ACTIONS):
        means = {kind: [float(values[place]) for values, _ in runs[kind]] for kind in KINDS}
        yield Claim(
            f"dag-mean-{action}",
            f"action {action}: mean of one run",
            "",
            Source.OURS,
            faithful=mean_of(means["tree"]),
            corrected=mean_of(means["graph"]),
            labels=LABELS,
        )


def _probabilities() -> Iterator[Part]:
    """Put the probability to win beside the value, for best play against a random opponent."""
    best = AgainstRandom(best=True)
    chances = {action: best[GIVEN.play(action)] for action in ACTIONS}
    differs = any(value(chance) != chance[0] for chance in chances.values())
    yield Claim(
        "win-probability",
        "action 6: probability to win against a random opponent; its value is lower",
        "values are not directly winning probabilities",
        Source.TEXT,
        exact=exactly(chances[6][0]),
        true=Verdict(Answer.AGREES if differs else Answer.DIFFERS, "comparison"),
        why="a value is the probability to win less that to lose. Only without draws does one "
        "follow from the other",
    )
    rows = tuple(
        (action, float(value(one)), *(float(chance) for chance in one))
        for action, one in chances.items()
    )
    head = ("action", "value", "P(win)", "P(draw)", "P(loss)")
    yield Table("Values and probabilities, best play against a random opponent", head, rows)
