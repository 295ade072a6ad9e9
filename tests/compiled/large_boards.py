"""What the kernels say about games on boards that fill all 63 bits, as JSON for one board.

The output must not depend on NUMBA_DISABLE_JIT=1 or NUMBA_BOUNDSCHECK=1.
"""

import json
import sys
from functools import cache
from typing import Any

import numpy as np

from fourlab import Position, Rules
from fourlab.compiled import board as bits
from fourlab.compiled.batches import urgent_columns
from fourlab.compiled.counting import children, is_unfinished
from fourlab.compiled.lines import line_starts
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import MAX_BITS, Geometry
from fourlab.solver.kernel import NOT_SHARED, solve
from fourlab.solver.table import mix, table_for
from tests.naive import NaiveGame
from tests.solver.brute_force import late_positions

BOARDS = (
    *("9x6x4", "9x6x5", "7x8x4", "7x8x5", "21x2x4", "21x2x3", "3x20x4", "3x20x3", "3x20x5"),
    *("1x62x3", "1x62x63"),
)
GAMES = 4


@cache
def moves_of_games(board: str) -> list[list[int]]:
    """Return random games; half of them avoid lines as long as possible, so they fill the board."""
    rng = np.random.default_rng(6)
    games = []
    for number in range(GAMES):
        game = NaiveGame(*map(int, board.split("x")))
        moves: list[int] = []
        while not game.is_over():
            columns = rng.permutation(game.legal()).tolist()
            if number % 2:
                columns = [c for c in columns if not completes(game, c, game.to_move)] or columns
            moves.append(columns[0])
            game.play(columns[0])
        games.append(moves)
    return games


def completes(game: NaiveGame, column: int, side: int) -> bool:
    """Return whether a disc of a side, dropped into a column, completes a line."""
    game.discs[column].append(side)
    is_line = bool(game.winning_cells())
    game.discs[column].pop()
    return is_line


def obvious(board: str, moves: list[int]) -> list[Any]:
    """Return what the naive game says after every move."""
    game = NaiveGame(*map(int, board.split("x")))
    facts: list[Any] = []
    for column in moves:
        game.play(column)
        legal = [c for c in range(game.columns) if len(game.discs[c]) < game.rows]
        facts.append(
            {
                "won": game.winner is not None,
                "open": legal,
                # Questions about finished games have no answer.
                "wins": [
                    [c for c in legal if game.winner is None and completes(game, c, side)]
                    for side in (game.to_move, 1 - game.to_move)
                ],
            }
        )
    return facts


def seen_by_kernels(board: str, moves: list[int]) -> list[Any]:
    """Return the same from the kernels."""
    g = Rules.parse(board).geometry
    assert g.columns * g.height == MAX_BITS
    own = mask = 0
    facts: list[Any] = []
    for column in moves:
        cell = bits.landing(mask, column, g)
        own, mask = own ^ mask, mask | cell
        won = bool(bits.has_line(own ^ mask, g.height, g.in_a_row))
        assert won == bool(lines(own ^ mask, g))
        key = bits.key(own, mask, g)
        assert 0 < key < 1 << MAX_BITS
        assert 0 <= mix(key, MAX_BITS) < 1 << MAX_BITS
        assert bits.from_key(key, g) == (own, mask)
        assert bits.mirror(bits.mirror(key, g), g) == key
        assert is_unfinished(np.array([key]), g).tolist() == [not won]
        playable = bits.landings(mask, g)
        legal = [c for c in range(g.columns) if bits.landing(mask, c, g)]
        assert len(children(np.array([key]), g)) == len(legal)
        wins = [winning_cells(discs, mask, g) & playable for discs in (own, own ^ mask)]
        facts.append(
            {
                "won": won,
                "open": legal,
                "wins": [
                    [c for c in legal if not won and cells & bits.landing(mask, c, g)]
                    for cells in wins
                ],
            }
        )
        if not won and any(wins):
            urgent = urgent_columns(np.array([own]), np.array([mask]), False, g)[0]
            assert np.flatnonzero(urgent).tolist() == next(filter(None, facts[-1]["wins"]))
    return facts


def lines(discs: int, g: Geometry) -> int:
    """Return where lines start, in any direction."""
    starts = 0
    for step in (1, g.height, g.height - 1, g.height + 1):
        starts |= line_starts(discs, step, g.in_a_row)
    return starts


@cache
def endings(board: str) -> list[Position]:
    """Return positions that brute force can solve."""
    return late_positions(board, 8, 3)


def solved(position: Position) -> list[int]:
    """Return the bounds of the score."""
    g = position.rules.geometry
    nodes = np.zeros(1, np.int64)
    lower, upper = solve(
        position.own, position.mask, -40, 40, (-40, 40), g, table_for(g, 64), NOT_SHARED,
        1 << 60, np.zeros(1, np.uint8), nodes,
    )  # fmt: skip
    return [int(lower), int(upper)]


if __name__ == "__main__":
    results = {
        board: [
            [seen_by_kernels(board, moves) for moves in moves_of_games(board)],
            [solved(position) for position in endings(board)],
        ]
        for board in sys.argv[1:]
    }
    print(json.dumps(results))
