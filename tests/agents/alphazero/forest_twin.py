"""A plain network search with one object per node: the reference for the compiled forest."""

import math
from dataclasses import dataclass, field

import numpy as np

from fourlab import Position
from fourlab.agents.alphazero.choosing import VISIT_OFFSET, Switches, schedule
from fourlab.agents.alphazero.forest_kernel import SOLVED_CELLS
from fourlab.evaluator import Batch, Evaluator
from fourlab.solver import Solver

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
        if column in self.proven:
            return F(self.proven[column])
        return self.sums[column] / F(self.visits[column])


def wins(position: Position) -> bool:
    outcomes = [position.play(column).outcome() for column in position.legal_columns()]
    return any(outcome is not None and outcome.winner == position.to_move for outcome in outcomes)


class Twin:
    """A single search tree, grown one simulation at a time."""

    def __init__(
        self,
        position: Position,
        evaluator: Evaluator,
        s: Switches,
        simulations: int,
        noise: np.ndarray,
    ) -> None:
        self.evaluator = evaluator
        self.s = s
        self.noise = noise
        self.schedule = schedule(position.rules.columns, simulations)
        self.proof = self.immediate_result(position)
        if self.proof is None:
            self.root = self.node(position)
            for number in range(simulations):
                if self.proof is None:
                    self.simulate(number)

    def immediate_result(self, position: Position) -> int | None:
        """Return the result for the side to move that can be read off the board, if any."""
        if (outcome := position.outcome()) is not None:
            return 0 if outcome.winner is None else -1
        if wins(position):
            return 1
        if all(self.loses(position, column) for column in position.legal_columns()):
            return -1
        return None

    def exact_result(self, position: Position) -> int | None:
        """Return the immediate result, or with few empty cells that of a full search."""
        result = self.immediate_result(position)
        cells = position.rules.columns * position.rules.rows
        left = cells - position.mask.bit_count()
        if result is not None:
            return result
        if left > SOLVED_CELLS:
            if not self.s.solver_nodes:
                return None
            # However many nodes it takes.
            return int(Solver(1, book=None).solve(position, weak=True).result)
        results = []
        for column in position.legal_columns():
            reply = self.exact_result(position.play(column))
            assert reply is not None
            results.append(-reply)
        return max(results)

    def loses(self, position: Position, column: int) -> bool:
        after = position.play(column)
        return after.outcome() is None and wins(after)

    def node(self, position: Position) -> Node:
        image = position.mirror()
        mirrored = image.key < position.key
        answer = self.evaluator.evaluate(Batch.of([image if mirrored else position]))
        assert answer.logits is not None
        logits = answer.logits[0][::-1] if mirrored else answer.logits[0]
        node = Node(position, F(answer.values[0]), {})
        for column in position.legal_columns():
            node.visits[column] = 0
            node.sums[column] = F(0)
            if self.loses(position, column):
                node.proven[column] = -1
        top = max(logits[column] for column in node.open())
        powers = {column: F(math.exp(F(logits[column] - top))) for column in node.open()}
        total = F(0)
        for power in powers.values():
            total += power
        node.priors = {
            column: powers.get(column, F(0)) / total for column in position.legal_columns()
        }
        return node

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
            if (exact := self.exact_result(after)) is not None:
                result = F(-exact)
                node.proven[column] = -exact
                self.back_up_proof(path)
            else:
                node.children[column] = self.node(after)
                result = -node.children[column].value
            break
        for node, column in reversed(path):
            node.visits[column] += 1
            # The same rounding as with a virtual loss that is taken back.
            node.sums[column] = (node.sums[column] - F(1)) + (F(1) + result)
            result = -result

    def back_up_proof(self, path: list[tuple[Node, int]]) -> None:
        for level in reversed(range(len(path))):
            node = path[level][0]
            results = node.proven.values()
            if 1 not in results and len(results) < len(node.position.legal_columns()):
                return
            best = max(results)
            if level == 0:
                self.proof = best
            else:
                parent, column = path[level - 1]
                parent.proven[column] = -best

    def completed(self, node: Node) -> dict[int, F]:
        """Return the value of every open column; unvisited ones get the mixed value."""
        visited = [column for column in node.open() if node.visits[column]]
        total = sum(node.visits[column] for column in node.open())
        value = node.value
        weight = sum((node.priors[column] for column in visited), F(0))
        if weight > 0:
            weighted = sum((node.priors[column] * node.mean(column) for column in visited), F(0))
            value = (value + F(total) * weighted / weight) / F(1 + total)
        return {
            column: node.mean(column) if node.visits[column] else value for column in node.open()
        }

    def choose(self, node: Node, number: int, is_root: bool) -> int:
        if not self.s.gumbel:
            spread = F(self.s.c * math.sqrt(sum(node.visits.values()) + 1))
            unvisited = node.value - F(self.s.fpu)
            bound = {}
            for column in node.open():
                q = node.mean(column) if node.visits[column] else unvisited
                exploration = spread * node.priors[column] / F(1 + node.visits[column])
                bound[column] = (q + F(1)) * F(0.5) + exploration
            return max(bound, key=lambda column: bound[column])
        visits = [node.visits[column] for column in node.open()]
        values = self.completed(node)
        weight = F(self.s.scale * (VISIT_OFFSET + max(visits)) / 2)
        if is_root:
            score = {}
            for column, value in values.items():
                log_prior = F(math.log(node.priors[column]))
                score[column] = self.noise[column] + log_prior + weight * value
            ranked = sorted(values, key=lambda column: (-node.visits[column], -score[column]))
            left = ranked[: self.schedule[len(values), number]]
            return min(left, key=lambda column: (node.visits[column], -score[column]))
        top = max(values.values())
        powers = {
            column: node.priors[column] * F(math.exp(weight * (value - top)))
            for column, value in values.items()
        }
        whole = sum(powers.values(), F(0))
        lag = {
            column: power / whole - F(node.visits[column]) / F(1 + sum(visits))
            for column, power in powers.items()
        }
        return max(lag, key=lambda column: lag[column])
