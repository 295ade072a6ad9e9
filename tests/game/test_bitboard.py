"""The bitboard rules: the compiled functions agree with plain Python and with brute force."""

from hypothesis import given
from hypothesis import strategies as st

from fourlab import Position, Rules
from fourlab.compiled import board
from fourlab.compiled.bits import popcount
from fourlab.compiled.counting import perft
from fourlab.game import bitboard as rules
from tests.strategies import ANY_BOARD, examples, positions


@examples(300)
@given(positions())
def test_compiled_rules_agree_with_plain_python(position: Position) -> None:
    g, own, mask = position.rules.geometry, position.own, position.mask
    for discs in (own, mask ^ own):
        assert board.has_line(discs, g.height, g.in_a_row) == rules.has_line(
            discs, g.height, g.in_a_row
        )
    for column in range(g.columns):
        assert board.landing(mask, column, g) == rules.landing(mask, column, g)
    assert board.landings(mask, g) == rules.landings(mask, g)
    assert board.key(own, mask, g) == rules.key(own, mask, g)
    assert board.from_key(position.key, g) == rules.from_key(position.key, g) == (own, mask)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 59)), max_size=40), ANY_BOARD)
def test_lines_of_any_discs_are_found(cells: list[tuple[int, int]], chosen: Rules) -> None:
    """Discs anywhere, even floating: a shifted line must never wrap over an edge."""
    g = chosen.geometry
    inside = {(c % g.columns, r % g.rows) for c, r in cells}
    discs = sum(1 << c * g.height + r for c, r in inside)
    lines = [
        [(c + i * right, r + i * up) for i in range(g.in_a_row)]
        for c, r in inside
        for right, up in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    full = [line for line in lines if inside.issuperset(line)]
    assert rules.has_line(discs, g.height, g.in_a_row) == bool(full)
    assert board.has_line(discs, g.height, g.in_a_row) == bool(full)
    line_cells = {cell for line in full for cell in line}
    assert rules.line_cells(discs, g.height, g.in_a_row) == sum(
        1 << c * g.height + r for c, r in line_cells
    )


def test_a_line_longer_than_the_board_is_never_found() -> None:
    """A two-column board of 30 rows requires a shift by 64 bits, undefined in machine code."""
    g = Rules(2, 30, 4).geometry
    diagonal_pair = 1 | 1 << g.height + 1
    assert not board.has_line(diagonal_pair, g.height, g.in_a_row)
    assert not rules.has_line(diagonal_pair, g.height, g.in_a_row)


@given(st.integers(0, 2**63 - 1))
def test_popcount_counts_ones(bits: int) -> None:
    assert popcount(bits) == bin(bits).count("1")


def test_popcount_is_compiled_inside_kernels() -> None:
    g = Rules().geometry
    assert perft(0, 0, g, 1) == 7  # depth 1 is one popcount
