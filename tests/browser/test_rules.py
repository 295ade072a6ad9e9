"""The page's own rules, compared with the Python game's."""

import random

from playwright.sync_api import Page

from fourlab.errors import UserError
from fourlab.game.position import Position

PLAYED = """async ([start, board, moves]) => {
    const { Game } = await import('/static/game.js');
    try {
        const game = Game.from({ start, board, moves });
        const { fen, toMove, outcome, grid, movesText } = game;
        const won = game.winningCells;
        return { fen, toMove, outcome, grid, movesText, legal: game.legal(), won };
    } catch (error) {
        return error.message;
    }
}"""


def test_games_on_all_kinds_of_boards_agree_with_python(page: Page) -> None:
    page.goto("/")
    rng = random.Random(4)
    for board in ("7x6x4", "5x4x3", "10x5x4", "3x9x3", "12x4x5", "1x3x3", "4x4x4", "9x6x5"):
        for _ in range(6):
            position = Position("", board)
            while position.outcome() is None:
                position = position.play(rng.choice(position.legal_columns()))
            cut = rng.randrange(len(position.moves or ()) + 1)
            start = Position("", board)
            for column in (position.moves or ())[:cut]:
                start = start.play(column)
            rest = [column + 1 for column in (position.moves or ())[cut:]]
            seen = page.evaluate(PLAYED, [start.write("fen"), board, rest])
            assert seen["fen"] == position.write("fen")
            assert seen["outcome"] == str(position.outcome())
            assert seen["grid"] == position.grid()
            assert seen["legal"] == []
            assert {tuple(cell) for cell in seen["won"]} == {
                (c + 1, r + 1) for c, r in position.winning_cells()
            }
            from_empty = page.evaluate(PLAYED, ["", board, position.write("moves")])
            assert from_empty["movesText"] == position.write("moves")
            assert from_empty["fen"] == position.write("fen")


def test_both_refuse_the_same_positions(page: Page) -> None:
    page.goto("/")
    invalid = [
        ("", "7x6x2", ""),
        ("", "31x2x4", ""),
        ("", "0x6x4", ""),
        ("", "7x6x4", "4444444"),
        ("", "7x6x4", "8"),
        ("3r3/7 y 4", "", ""),
        ("rrrr3/yyyy3 r 4", "", ""),
        ("7/6 r 4", "", ""),
        ("7/7/7/7/7/7 r 4", "5x4x3", ""),
    ]
    for start, board, moves in invalid:
        assert isinstance(page.evaluate(PLAYED, [start, board, moves]), str), (start, board, moves)
        try:
            position = Position(start, board or None, check_counts=False)
            for digit in moves:
                position = position.play(int(digit) - 1)
        except UserError:
            continue
        raise AssertionError(f"Python accepts {start!r} {board} {moves!r}")
