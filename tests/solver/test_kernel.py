"""The solver's kernel beside brute force, and its bounds when it is not allowed to finish."""

from functools import cache

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.game import bitboard as bits
from fourlab.game.geometry import Geometry
from fourlab.solver.kernel import NO, UNKNOWN, YES, claimeven, solve
from fourlab.solver.table import new_table
from tests.strategies import FULL

GO_ON = np.zeros(1, np.uint8)
EXACTLY, WHO_WINS = (-40, 40), (-1, 1)


def bounds(
    position: Position,
    most_nodes: int = 1 << 60,
    table: np.ndarray | None = None,
    asked: tuple[int, int] = EXACTLY,
    jitter: int = 0,
) -> tuple[int, int, int]:
    """The bounds and the nodes spent."""
    nodes = np.zeros(1, np.int64)
    table = new_table(4 << 14) if table is None else table
    g = position.rules.geometry
    lower, upper = solve(position.own, position.mask, -40, 40, asked, g, table, jitter, most_nodes, GO_ON, nodes)
    return lower, upper, int(nodes[0])


@cache
def score(position: Position) -> int:
    """Pons's score by brute force: half the discs the winner has left when it wins, the winning one included."""
    best = -100
    for column in position.legal_columns():
        after = position.play(column)
        outcome = after.outcome()
        if outcome is None:
            best = max(best, -score(after))
        elif outcome.winner is None:
            best = max(best, 0)
        else:
            left = position.rules.columns * position.rules.rows - position.ply
            best = max(best, (left + 1) // 2)
    return best


def all_scores(g: Geometry) -> dict[tuple[int, int], int | None]:
    """The score of every position of a board, by brute force on integers; None where the side that just moved has won."""
    scores: dict[tuple[int, int], int | None] = {}

    def visit(own: int, mask: int) -> int | None:
        if (own, mask) not in scores:
            left = g.columns * g.rows - mask.bit_count()
            if bits.has_line(own ^ mask, g.height, g.in_a_row):
                scores[own, mask] = None
            else:
                best = 0 if left == 0 else -100
                for column in range(g.columns):
                    if cell := bits.landing(mask, column, g):
                        after = visit(own ^ mask, mask | cell)
                        best = max(best, (left + 1) // 2 if after is None else -after)
                scores[own, mask] = best
        return scores[own, mask]

    visit(0, 0)
    return scores


def random_positions(board: str, plies: int, count: int) -> list[Position]:
    rng, found = np.random.default_rng(3), []
    while len(found) < count:
        position = Position(board=board)
        while position.ply < plies and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            found.append(position)
    return found


@pytest.mark.parametrize(
    ("board", "plies", "count"),
    [
        ("4x4x3", 1, 20),
        ("5x4x4", 9, 100),
        ("6x4x5", 14, 40),
        ("7x6x4", 32, 100),
        ("3x5x3", 2, 60),
        ("5x5x4", 14, 40),
        ("12x4x4", 40, 20),
    ],
)
def test_the_score_is_that_of_brute_force(board: str, plies: int, count: int) -> None:
    for position in random_positions(board, plies, count if FULL else count // 4):
        true = score(position)
        assert bounds(position)[:2] == (true, true), position
        lower, upper, _ = bounds(position, asked=WHO_WINS)
        assert lower <= true <= upper
        assert lower > 0 or upper < 0 or lower == upper == 0


def test_all_positions_of_4x4_are_as_brute_force_says() -> None:
    g, table, nodes = Rules(4, 4).geometry, new_table(4 << 16), np.zeros(1, np.int64)
    scores = all_scores(g)
    assert len(scores) == 161_029
    assert scores[0, 0] == 0
    for (own, mask), true in scores.items():
        if true is not None and mask != g.cells:
            assert solve(own, mask, -40, 40, EXACTLY, g, table, 0, 1 << 60, GO_ON, nodes) == (true, true)


def test_a_shared_table_never_changes_a_score() -> None:
    """A tiny table full of other positions: what is stored names its position exactly."""
    table = new_table(4 << 6)
    for position in random_positions("5x4x4", 8, 40):
        assert bounds(position, table=table)[:2] == bounds(position)[:2]


def test_mirror_images_have_the_same_score() -> None:
    for position in random_positions("7x6x4", 20, 30):
        assert bounds(position)[:2] == bounds(position.mirror())[:2]


def test_node_counts_repeat_and_another_jitter_searches_otherwise() -> None:
    positions = random_positions("7x6x4", 16, 8)
    counts = [bounds(position) for position in positions]
    assert counts == [bounds(position) for position in positions]
    jittered = [bounds(position, jitter=3) for position in positions]
    assert [each[:2] for each in jittered] == [each[:2] for each in counts]
    assert jittered != counts


def test_an_interrupted_search_claims_only_what_it_knows() -> None:
    unfinished = 0
    for position in random_positions("7x6x4", 18, 30):
        exact, _, nodes = bounds(position)
        for most in (0, nodes // 4, nodes // 2, nodes - 1):
            lower, upper, spent = bounds(position, most)
            assert lower <= exact <= upper
            assert spent <= max(most, 0)
            unfinished += lower < upper
    assert unfinished > 30


def test_a_stop_flag_ends_the_search() -> None:
    nodes, position, table = np.zeros(1, np.int64), Position(), new_table(4 << 10)
    stop = np.ones(1, np.uint8)
    g = position.rules.geometry
    lower, upper = solve(position.own, position.mask, -40, 40, EXACTLY, g, table, 0, 1 << 60, stop, nodes)
    assert lower < upper
    assert nodes[0] == 0


def test_claimeven_answers_are_true_and_do_occur() -> None:
    answered, count = 0, 100 if FULL else 50
    for board, plies in (("4x4x4", 6), ("5x4x4", 10), ("4x6x4", 14)):
        for position in random_positions(board, plies, count) + random_positions(board, plies + 1, count):
            g, left = position.rules.geometry, position.rules.columns * position.rules.rows - position.ply
            if any(position.play(column).outcome() for column in position.legal_columns()):
                continue  # the solver asks only where nobody wins at once
            for alpha in (-2, -1, 0, 1):
                answer = claimeven(position.own, position.mask, alpha, left, g)
                assert answer in (UNKNOWN, YES if score(position) > alpha else NO), (position, alpha)
                answered += answer != UNKNOWN
    assert answered > 20
