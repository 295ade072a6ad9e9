"""Arya's search (Figures 26 to 28), one object per node: slow, plain and literal.

Its details are those of the public notebook whose code the thesis lists.
A board is a list of rows, the top row first: 1 for the side to move, -1 for the other, 0 for empty
cells. Every node has its board turned round for the side to move there, so that a finished game
counts -1 for it. Nothing here is shared with the compiled search.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Board = list[list[int]]
Network = Callable[[Board], tuple[float, Sequence[float]]]
"""Returns a value for the side to move and a logit for every column."""


def open_columns(board: Board) -> list[int]:
    return [column for column, cell in enumerate(board[0]) if cell == 0]


def winner(board: Board, in_a_row: int) -> int:
    """Return 1 or -1 for a finished line, else 0."""
    rows, columns = len(board), len(board[0])
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                last_row = row + (in_a_row - 1) * down
                last_column = column + (in_a_row - 1) * right
                if last_row >= rows or not 0 <= last_column < columns:
                    continue
                line = {board[row + i * down][column + i * right] for i in range(in_a_row)}
                if len(line) == 1 and 0 not in line:
                    return line.pop()
    return 0


def after(board: Board, column: int) -> Board:
    """Drop a disc of the side to move, then turn the board round."""
    lowest = max(row for row in range(len(board)) if board[row][column] == 0)
    changed = [list(cells) for cells in board]
    changed[lowest][column] = 1
    return [[-cell for cell in cells] for cells in changed]


def softmax(logits: Sequence[float]) -> list[float]:
    powers = [math.exp(logit - max(logits)) for logit in logits]
    # In float32, as a network's softmax is.
    return [float(np.float32(power / sum(powers))) for power in powers]


@dataclass
class Node:
    board: Board
    parent: "Node | None" = None
    prior: float = 0.0
    visits: int = 0
    total: float = 0.0
    """Sum of the values for the side to move here."""
    evaluation: float = 0.0
    """The network's value for the side to move here."""
    children: "dict[int, Node]" = field(default_factory=dict)

    @property
    def value(self) -> float:
        return self.total / self.visits if self.visits else 0.0

    def best_child(self, c: float, unvisited: float | None) -> "Node":
        best, best_score = None, -math.inf
        for child in self.children.values():
            exploitation = 1 - (child.value + 1) / 2
            if unvisited is not None and child.visits == 0:
                exploitation = (self.evaluation - unvisited + 1) / 2
            exploration = child.prior * math.sqrt(self.visits) / (child.visits + 1)
            score = exploitation + c * exploration
            if score > best_score:
                best, best_score = child, score
        assert best is not None
        return best

    def back_up(self, value: float) -> None:
        node: Node | None = self
        while node is not None:
            node.total += value
            node.visits += 1
            value = -value
            node = node.parent


def search(
    board: Board,
    network: Network,
    iterations: int,
    c: float = 2.0,
    noise: Sequence[float] | None = None,
    share: float = 0.0,
    in_a_row: int = 4,
    fixed: str = "nothing",
    fpu: float = 0.0,
) -> Node:
    """Return the root after some iterations; `noise` has a number for every column.

    `fixed` names one fault that is corrected; `fpu` is used with "unvisited" only.
    """
    unvisited = fpu if fixed == "unvisited" else None
    root = Node(board)
    root_columns = open_columns(board)
    value, logits = network(board)
    shares = softmax(logits)
    if noise is not None:
        shares = [(1 - share) * p + share * n for p, n in zip(shares, noise, strict=True)]
    kept = sum(shares[column] for column in root_columns)
    for column in root_columns:
        prior = float(np.float32(shares[column] / kept))
        root.children[column] = Node(after(board, column), root, prior)
    root.visits, root.total, root.evaluation = 1, value, value
    for _ in range(iterations):
        node = root
        while node.children:
            node = node.best_child(c, unvisited)
        is_over = winner(node.board, in_a_row) != 0 or not open_columns(node.board)
        if node.visits or (is_over and fixed == "finished"):
            # A leaf that was visited before is a finished game.
            node.back_up(winner(node.board, in_a_row))
            continue
        columns = open_columns(node.board) if winner(node.board, in_a_row) == 0 else []
        if not columns:
            node.total = winner(node.board, in_a_row)
        for column in columns:
            node.children[column] = Node(after(node.board, column), node)
        # Also for a finished game, and the priors are those of the root's columns.
        value, logits = network(node.board)
        node.evaluation = value
        listed = columns if columns and fixed == "priors" else root_columns
        priors = softmax([logits[column] for column in listed])
        for child, prior in zip(node.children.values(), priors, strict=False):
            child.prior = prior
        node.back_up(value)
    return root
