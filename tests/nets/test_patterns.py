"""Pattern networks: the compiled evaluation against a slow twin, files, and what is refused."""

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fourlab.compiled.patterns import (
    add_step,
    code_of,
    fill_indices,
    key_after,
    red_key,
    total,
    total_after,
)
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.nets import patterns
from fourlab.nets.patterns import PatternNetwork, Shape, random_walks
from tests.agents.patterns import twin

BOARDS = [Rules(4, 3, 3), Rules(5, 4, 4), CLASSIC, Rules(3, 9, 4)]


def network_of(rules: Rules, tuples: int = 5, cells: int = 5, seed: int = 1) -> PatternNetwork:
    """Return a network with random weights."""
    shape = Shape(rules, random_walks(rules, tuples, cells, seed))
    weights = np.random.default_rng(seed).integers(-3000, 3000, (2, shape.entries))
    return PatternNetwork(shape, weights.astype(np.int16))


def random_game(rules: Rules, seed: int) -> list[Position]:
    """Return the positions of a random game in which it is not over."""
    rng = np.random.default_rng(seed)
    positions = [Position(board=rules)]
    while True:
        after = positions[-1].play(int(rng.choice(positions[-1].legal_columns())))
        if after.outcome() is not None:
            return positions
        positions.append(after)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_the_sum_of_weights_is_that_of_the_slow_twin(rules: Rules) -> None:
    network = network_of(rules)
    p, g = network.patterns, rules.geometry
    indices = np.zeros((1, network.shape.lookups), np.int32)
    for position in random_game(rules, 3):
        fill_indices(red_key(position.own, position.mask, g), p, g, indices, 0)
        assert sorted(indices[0].tolist()) == sorted(twin.indices(network.shape, position))
        expected = twin.total(network.shape, p.weights, position)
        assert total(p, position.ply & 1, indices, 0) == expected


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_a_step_gives_the_indices_after_a_disc(rules: Rules) -> None:
    network = network_of(rules)
    p, g = network.patterns, rules.geometry
    indices = np.zeros((3, network.shape.lookups), np.int32)
    positions = random_game(rules, 5)
    for before, after in pairwise(positions):
        fill_indices(red_key(before.own, before.mask, g), p, g, indices, 0)
        fill_indices(red_key(after.own, after.mask, g), p, g, indices, 1)
        cell = before.mask ^ after.mask
        column = (cell.bit_length() - 1) // g.height
        key = key_after(red_key(before.own, before.mask, g), cell, before.ply % 2 == 0)
        assert key == red_key(after.own, after.mask, g)
        code = code_of(key, column, g)
        add_step(p, column, code, indices, 0, 2)
        assert indices[2].tolist() == indices[1].tolist()
        side = after.ply & 1
        assert total_after(p, side, column, code, indices, 0) == total(p, side, indices, 1)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_mirror_images_have_the_same_value(rules: Rules) -> None:
    network = network_of(rules)
    for position in random_game(rules, 7):
        assert network.value(position) == network.value(position.mirror())


def test_values_are_for_the_side_to_move() -> None:
    shape = Shape(CLASSIC, (1,))
    # Every state of the cell a1 is worth 1 to red, whoever is to move.
    network = PatternNetwork(shape, np.full((2, shape.entries), patterns.UNIT, np.int16))
    # The tuple and its mirror image, so tanh(2).
    assert network.value(Position()) == pytest.approx(np.tanh(2))
    assert network.value(Position("4")) == pytest.approx(-np.tanh(2))


def test_a_cell_has_four_states_and_a_column_only_possible_ones() -> None:
    assert Shape(CLASSIC, (1,)).entries == 3  # the lowest cell is red, yellow or playable
    assert Shape(CLASSIC, (2,)).entries == 4
    # Two cells, one above the other: 2 x 2 colours, 2 with the upper one playable, the lower one
    # playable.
    assert Shape(CLASSIC, (0b11,)).entries == 4 + 2 + 1


def test_files_have_the_same_network_again(tmp_path: Path) -> None:
    network = network_of(CLASSIC)
    network.save(tmp_path / "patterns.npz")
    loaded = patterns.load(str(tmp_path / "patterns.npz"))
    assert loaded.shape == network.shape
    assert (loaded.patterns.weights == network.patterns.weights).all()


def test_random_walks_are_connected_and_have_no_mirror_images() -> None:
    tuples = random_walks(CLASSIC, 60, 6, seed=2)
    assert len(set(tuples)) == 60
    for bits in tuples:
        cells = twin.cells_of(bits, CLASSIC)
        assert len(cells) == 6
        mirrored = {(6 - column, row) for column, row in cells}
        others = {frozenset(twin.cells_of(other, CLASSIC)) for other in tuples if other != bits}
        assert frozenset(mirrored) not in others
        reached = {cells[0]}
        for _ in cells:
            reached |= {
                (c, r) for c, r in cells for a, b in reached if max(abs(c - a), abs(r - b)) == 1
            }
        assert reached == set(cells)
    assert tuples == random_walks(CLASSIC, 60, 6, seed=2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Shape(CLASSIC, ()), "1 to 1000 tuples, not 0"),
        (lambda: Shape(CLASSIC, (1 << 6,)), "cells that the board 7x6x4 does not have"),
        (lambda: Shape(CLASSIC, (-1,)), "cells that the board 7x6x4 does not have"),
        (lambda: Shape(CLASSIC, (CLASSIC.geometry.cells,)), "up to 16 cells, not 42"),
        (lambda: Shape(Rules(2, 12, 4), (1,)), "up to 9 rows, not 2x12x4"),
        (lambda: Shape(CLASSIC, (0x3F | 0x3F << 7 | 0xF << 14,) * 100), "more than 16,777,216"),
        (lambda: random_walks(Rules(3, 3, 3), 5, 9, 0), "not 5 different tuples of 9 cells"),
        (lambda: random_walks(CLASSIC, 1, 17, 0), "cannot have 17 cells"),
        (lambda: network_of(CLASSIC).value(Position(board="6x5")), "for the board 7x6x4, not 6x5"),
        (lambda: patterns.load("nothing.npz"), "No such file or directory; Fourlab comes with"),
    ],
)  # fmt: skip
def test_impossible_patterns_are_refused_in_one_line(make: object, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        make()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def packed(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def test_damaged_files_are_refused_in_one_line() -> None:
    network = network_of(Rules(4, 3, 3))
    data = network.to_bytes()
    board = np.array([4, 3, 3])
    tuples = np.array(network.shape.tuples)
    weights = network.patterns.weights
    hostile = [
        b"",
        data[:-40],
        data[: len(data) // 2] + b"?" + data[len(data) // 2 + 1 :],
        packed(board=board, tuples=tuples),
        packed(board=board, tuples=tuples, weights=weights[:, :-1]),
        packed(board=board, tuples=tuples, weights=weights.astype(np.float32)),
        packed(board=board[:2], tuples=tuples, weights=weights),
        packed(board=np.array([4, 300, 3]), tuples=tuples, weights=weights),
        packed(board=board, tuples=tuples | 1 << 40, weights=weights),
        packed(board=board, tuples=np.zeros(0, np.int64), weights=weights),
    ]
    for damaged in hostile:
        with pytest.raises(UserError, match="is not a file of patterns or is damaged") as caught:
            patterns.read(damaged, "x.npz")
        assert "\n" not in str(caught.value)
