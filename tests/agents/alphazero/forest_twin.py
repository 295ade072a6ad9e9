"""Search with a network as plainly as possible, one node an object: the judge of the compiled forest."""

import math
from dataclasses import dataclass, field

import numpy as np

from fourlab import Position
from fourlab.agents.alphazero.forest_kernel import EXACT, SPREAD, Switches, schedule
from fourlab.evaluator import Batch, Evaluator

F = np.float32


@dataclass
class Node:
    position: Position
    value: F
    priors: dict[int, F]
    visits: dict[int, int] = field(default_factory=dict)
    sums: dict[int, F] = field(default_factory=dict)
    children: "dict[int, Node]" = field(default_factory=dict)
    proven: dict[int, int] = field(default_factory=dict)
    """+1, 0, -1 for the side to move, by column."""

    def open(self) -> list[int]:
        return [column for column in self.position.legal_columns() if self.proven.get(column) != -1]

    def mean(self, column: int) -> F:
        return F(self.proven[column]) if column in self.proven else self.sums[column] / F(self.visits[column])


def wins(position: Position) -> bool:
    outcomes = [position.play(column).outcome() for column in position.legal_columns()]
    return any(outcome is not None and outcome.winner == position.to_move for outcome in outcomes)


class Twin:
    """One tree."""

    def __init__(self, position: Position, evaluator: Evaluator, s: Switches, simulations: int, noise: np.ndarray) -> None:
        self.evaluator, self.s, self.noise = evaluator, s, noise
        self.schedule = schedule(position.rules.columns, simulations)
        self.proof = self.seen(position)
        if self.proof is None:
            self.root = self.node(position)
            for number in range(simulations):
                if self.proof is None:
                    self.simulate(number)

    def seen(self, position: Position) -> int | None:
        """What the discs tell the side to move."""
        if (outcome := position.outcome()) is not None:
            return 0 if outcome.winner is None else -1
        if wins(position):
            return 1
        return -1 if all(self.loses(position, column) for column in position.legal_columns()) else None

    def known(self, position: Position) -> int | None:
        """The same, or in the end of a game what comes of trying everything."""
        seen, cells = self.seen(position), position.rules.columns * position.rules.rows
        if seen is None and position.mask.bit_count() + EXACT >= cells:
            return max(-known for column in position.legal_columns() if (known := self.known(position.play(column))) is not None)
        return seen

    def loses(self, position: Position, column: int) -> bool:
        after = position.play(column)
        return after.outcome() is None and wins(after)

    def node(self, position: Position) -> Node:
        image = position.mirror()
        turned = image.key < position.key
        asked = image if turned else position
        found = self.evaluator.evaluate(Batch.of([asked]))
        assert found.logits is not None
        logits = found.logits[0][::-1] if turned else found.logits[0]
        made = Node(position, F(found.values[0]), {})
        for column in position.legal_columns():
            made.visits[column], made.sums[column] = 0, F(0)
            if self.loses(position, column):
                made.proven[column] = -1
        top = max(logits[column] for column in made.open())
        powers = {column: F(math.exp(F(logits[column] - top))) for column in made.open()}
        total = F(0)
        for power in powers.values():
            total += power
        made.priors = {column: powers.get(column, F(0)) / total for column in position.legal_columns()}
        return made

    def simulate(self, number: int) -> None:
        node, path = self.root, []
        while True:
            column = self.choose(node, number, not path)
            path.append((node, column))
            if column in node.proven:
                result = F(node.proven[column])
                break
            if column in node.children:
                node = node.children[column]
                continue
            after = node.position.play(column)
            if (seen := self.known(after)) is not None:
                result = F(-seen)
                node.proven[column] = -seen
                self.conclude(path)
            else:
                node.children[column] = self.node(after)
                result = -node.children[column].value
            break
        for node, column in reversed(path):
            node.visits[column] += 1
            node.sums[column] = (node.sums[column] - F(1)) + (F(1) + result)
            result = -result

    def conclude(self, path: list[tuple[Node, int]]) -> None:
        for level in reversed(range(len(path))):
            node = path[level][0]
            known = node.proven
            if 1 not in known.values() and len(known) < len(node.position.legal_columns()):
                return
            best = max(known.values())
            if level == 0:
                self.proof = best
            else:
                above, column = path[level - 1]
                above.proven[column] = -best

    def completed(self, node: Node) -> dict[int, F]:
        """The value of every open column; those not played get a mixture."""
        played = [column for column in node.open() if node.visits[column]]
        total = sum(node.visits[column] for column in node.open())
        value, weight = node.value, sum((node.priors[column] for column in played), F(0))
        if weight > 0:
            worth = sum((node.priors[column] * node.mean(column) for column in played), F(0))
            value = (value + F(total) * worth / weight) / F(1 + total)
        return {column: node.mean(column) if node.visits[column] else value for column in node.open()}

    def choose(self, node: Node, number: int, is_root: bool) -> int:
        total = sum(node.visits.values())
        if not self.s.gumbel:
            spread, unplayed = F(self.s.c * math.sqrt(total + 1)), node.value - F(self.s.fpu)
            bound = {
                column: ((node.mean(column) if node.visits[column] else unplayed) + F(1)) * F(0.5)
                + spread * node.priors[column] / F(1 + node.visits[column])
                for column in node.open()
            }
            return max(bound, key=lambda column: bound[column])
        total, most = (each(node.visits[column] for column in node.open()) for each in (sum, max))
        worth, weight = self.completed(node), F(self.s.scale * (SPREAD + most) / 2)
        if is_root:
            promise = {column: self.noise[column] + F(math.log(node.priors[column])) + weight * worth[column] for column in worth}
            ranked = sorted(worth, key=lambda column: (-node.visits[column], -promise[column]))
            left = ranked[: self.schedule[len(worth), number]]
            return min(left, key=lambda column: (node.visits[column], -promise[column]))
        top = max(worth.values())
        powers = {column: node.priors[column] * F(math.exp(weight * (worth[column] - top))) for column in worth}
        whole = sum(powers.values(), F(0))
        lag = {column: powers[column] / whole - F(node.visits[column]) / F(1 + total) for column in worth}
        return max(lag, key=lambda column: lag[column])
