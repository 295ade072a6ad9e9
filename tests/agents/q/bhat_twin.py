"""Bhat's training as her program describes it, written down literally: slow and obvious.

Boards are tuples of rows, values are Python numbers in a dictionary under these boards. Only the
random numbers and the opponent's search are the lab's, so that both play the same games.
"""

from collections.abc import Callable

from fourlab.compiled.random import advance, below

EMPTY, SEARCH, LEARNER = 0, 1, 2
UNFINISHED, DRAW = -1, 0
Board = tuple[tuple[int, ...], ...]
"""Rows from top to bottom; each cell EMPTY, SEARCH or LEARNER."""
COLUMNS = 5


def dropped(board: Board, column: int, player: int) -> Board:
    """Return the board after a disc."""
    rows = [list(row) for row in board]
    lowest = max(row for row in range(len(rows)) if rows[row][column] == EMPTY)
    rows[lowest][column] = player
    return tuple(map(tuple, rows))


def open_columns(board: Board) -> list[int]:
    """Return the columns with an empty cell, from left to right."""
    return [column for column in range(COLUMNS) if board[0][column] == EMPTY]


def result_of(board: Board) -> int:
    """Return the winner, DRAW or UNFINISHED."""
    rows = len(board)
    for row in range(rows):
        for column in range(COLUMNS):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + step * down, column + step * right) for step in range(4)]
                if all(0 <= r < rows and 0 <= c < COLUMNS for r, c in cells):
                    players = {board[r][c] for r, c in cells}
                    if len(players) == 1 and players != {EMPTY}:
                        return players.pop()
    return UNFINISHED if open_columns(board) else DRAW


class BhatTwin:
    """The learner and its training loop."""

    def __init__(self, rows: int, epsilon: float, alpha: float, gamma: float, state: int) -> None:
        self.rows = rows
        self.epsilon = epsilon
        self.alpha = alpha
        self.gamma = gamma
        self.q: dict[Board, float] = {}
        self.state = state
        self.won = 0

    def draw(self, n: int) -> int:
        self.state = advance(self.state)
        return below(n, self.state)

    def value(self, board: Board) -> float:
        """Look a value up; a board that is met for the first time enters the table with 1."""
        return self.q.setdefault(board, 1.0)

    def reward(self, board: Board) -> float:
        return {LEARNER: 2.0, SEARCH: -2.0, DRAW: 0.5, UNFINISHED: 0.0}[result_of(board)]

    def move(self, board: Board) -> Board:
        """Play a random column with probability epsilon, else the first with the greatest value."""
        if self.draw(1 << 31) < self.epsilon * (1 << 31):
            while True:
                column = self.draw(COLUMNS)
                if column in open_columns(board):
                    return dropped(board, column, LEARNER)
        boards = [dropped(board, column, LEARNER) for column in open_columns(board)]
        values = [self.value(after) for after in boards]
        return boards[values.index(max(values))]

    def update(self, before: Board, value: float) -> None:
        target = self.reward(before) + self.gamma * value
        self.q[before] = self.value(before) + self.alpha * (target - self.value(before))
        self.alpha /= 2
        self.epsilon = min(self.epsilon + 0.01, 1.0)  # as the report's text says

    def game(self, simulations: list[int], search: Callable[[Board, int], Board]) -> None:
        """Play one game and learn from it; `search` makes the opponent's move."""
        chosen = simulations[self.draw(len(simulations))]
        board: Board = ((EMPTY,) * COLUMNS,) * self.rows
        before = board
        while True:
            # A search without playouts has no children to choose from: it passes.
            if chosen:
                board = search(board, chosen)
            if (result := result_of(board)) != UNFINISHED:
                self.q[before] = 0.5 if result == DRAW else -2.0
                return
            board = self.move(board)
            if (result := result_of(board)) != UNFINISHED:
                self.won += result == LEARNER
                self.q[board] = 0.5 if result == DRAW else 2.0
                self.update(before, self.value(board))
                return
            self.update(before, self.value(board))
            before = board
