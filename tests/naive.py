"""Connect Four written as plainly as possible, to check the fast versions against."""


class NaiveGame:
    """A game on a list of columns, which are lists of discs from the bottom up: 0 red, 1 yellow."""

    def __init__(self, columns: int = 7, rows: int = 6, in_a_row: int = 4) -> None:
        self.columns = columns
        self.rows = rows
        self.in_a_row = in_a_row
        self.discs: list[list[int]] = [[] for _ in range(columns)]
        self.to_move = 0
        self.winner: int | None = None

    def cell(self, column: int, row: int) -> int | None:
        """Return the disc on a cell; None if it is empty or off the board."""
        if 0 <= column < self.columns and 0 <= row < len(self.discs[column]):
            return self.discs[column][row]
        return None

    def legal(self) -> list[int]:
        if self.winner is not None:
            return []
        return [column for column in range(self.columns) if len(self.discs[column]) < self.rows]

    def play(self, column: int) -> None:
        assert column in self.legal()
        self.discs[column].append(self.to_move)
        if self.winning_cells():
            self.winner = self.to_move
        self.to_move = 1 - self.to_move

    def is_over(self) -> bool:
        return self.winner is not None or not self.legal()

    def winning_cells(self) -> set[tuple[int, int]]:
        """Return all cells of all lines on the board."""
        cells = set()
        for column in range(self.columns):
            for row in range(self.rows):
                for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    line = [(column + i * right, row + i * up) for i in range(self.in_a_row)]
                    owners = {self.cell(*cell) for cell in line}
                    if len(owners) == 1 and owners != {None}:
                        cells.update(line)
        return cells

    def grid(self) -> list[list[int]]:
        """Return the rows from the top: 0 empty, 1 red, 2 yellow."""
        codes = {None: 0, 0: 1, 1: 2}
        return [
            [codes[self.cell(column, row)] for column in range(self.columns)]
            for row in reversed(range(self.rows))
        ]
