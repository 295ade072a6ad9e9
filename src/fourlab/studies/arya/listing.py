"""Arya's vanilla search in plain Python, step by step as the thesis lists it, to be timed.

It keeps what the listing does and costs: a board of nested lists that is copied for every rollout,
one object per node, a dictionary of children, a win check from the last disc. Its faults are
included: rollouts are credited to the side that moved to the leaf (B15), and a draw counts 1 there
and 0 above (B16). The compiled search plays the experiments; tests compare the two.
"""

import math
import random
import time
from copy import deepcopy

ROWS, COLUMNS, LINE = 6, 7, 4
PLAYERS = (1, 2)
DRAW = 3
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
EXPLORATION = math.sqrt(2)


class State:
    """A position: cells are 0 or a player's number, row 0 is the top."""

    def __init__(self) -> None:
        self.board = [[0] * COLUMNS for _ in range(ROWS)]
        self.free = [ROWS - 1] * COLUMNS
        """The row in which a disc would come to rest, by column."""
        self.to_play = PLAYERS[0]
        self.last: tuple[int, int] | None = None

    def play(self, column: int) -> None:
        """Drop a disc of the player to move."""
        row = self.free[column]
        self.board[row][column] = self.to_play
        self.last = (row, column)
        self.free[column] -= 1
        self.to_play = PLAYERS[0] if self.to_play == PLAYERS[1] else PLAYERS[1]

    def legal_columns(self) -> list[int]:
        """Return the columns that are not full."""
        return [column for column in range(COLUMNS) if self.board[0][column] == 0]

    def winner(self) -> int:
        """Return the player who completed a line with the last disc, or 0."""
        if self.last is None:
            return 0
        row, column = self.last
        player = self.board[row][column]
        for down, right in DIRECTIONS:
            length = 1
            for sign in (1, -1):
                r, c = row + sign * down, column + sign * right
                while 0 <= r < ROWS and 0 <= c < COLUMNS and self.board[r][c] == player:
                    length += 1
                    r += sign * down
                    c += sign * right
            if length >= LINE:
                return player
        return 0

    def is_over(self) -> bool:
        """Return whether a line is complete or the board is full."""
        return self.winner() != 0 or not self.legal_columns()

    def outcome(self) -> int:
        """Return the winner of a finished game, or DRAW."""
        return self.winner() or DRAW


class Node:
    """A move in the tree, with its visits and rewards."""

    def __init__(self, move: int | None, parent: "Node | None") -> None:
        self.move = move
        self.parent = parent
        self.visits = 0
        self.rewards = 0
        self.children: dict[int, Node] = {}
        self.outcome = 0

    def value(self) -> float:
        """Return the upper confidence bound; infinite without visits."""
        if self.visits == 0:
            return math.inf
        assert self.parent is not None
        exploration = EXPLORATION * math.sqrt(math.log(self.parent.visits) / self.visits)
        return self.rewards / self.visits + exploration


class ListedSearch:
    """The search; `rng` makes it repeatable, which the listing is not."""

    def __init__(self, state: State | None = None, seed: int = 0) -> None:
        self.state = state or State()
        self.root = Node(None, None)
        self.rollouts = 0
        self.rng = random.Random(seed)

    def search(self, seconds: float) -> None:
        """Search for some seconds of CPU time."""
        start = time.process_time()
        while time.process_time() - start < seconds:
            self.step()

    def step(self) -> None:
        """Make one rollout."""
        node, state = self._select()
        outcome = self._roll_out(state)
        # The rollout has changed `state`, so this is the side to move at its end (B15).
        self._back_up(node, state.to_play, outcome)
        self.rollouts += 1

    def best_column(self) -> int:
        """Return a column with the most visits."""
        children = self.root.children.values()
        most = max(child.visits for child in children)
        best = self.rng.choice([child for child in children if child.visits == most])
        assert best.move is not None
        return best.move

    def _select(self) -> tuple[Node, State]:
        node = self.root
        state = deepcopy(self.state)
        while node.children:
            node = self._best(list(node.children.values()))
            assert node.move is not None
            state.play(node.move)
        # The figure has this test outside of the loop, so the first rollout starts at the root.
        if node.visits == 0:
            return node, state
        if self._expand(node, state):
            node = self.rng.choice(list(node.children.values()))
            assert node.move is not None
            state.play(node.move)
        return node, state

    def _best(self, children: list[Node]) -> Node:
        greatest = max(child.value() for child in children)
        return self.rng.choice([child for child in children if child.value() == greatest])

    def _expand(self, node: Node, state: State) -> bool:
        if state.is_over():
            node.outcome = state.outcome()
            return False
        for column in state.legal_columns():
            node.children[column] = Node(column, node)
        return True

    def _roll_out(self, state: State) -> int:
        while not state.is_over():
            state.play(self.rng.choice(state.legal_columns()))
        return state.outcome()

    def _back_up(self, node: Node | None, turn: int, outcome: int) -> None:
        reward = 0 if outcome == turn else 1
        while node is not None:
            node.visits += 1
            node.rewards += reward
            node = node.parent
            reward = 0 if outcome == DRAW else 1 - reward
