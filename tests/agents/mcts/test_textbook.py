"""The textbook search beyond the compiled one: priors, and rollouts cut and evaluated."""

import numpy as np
import pytest

from fourlab import Position
from fourlab.agents.mcts.textbook import ConnectFour, Node, TextbookSearch


def grown(position: Position, simulations: int, **options: object) -> Node[Position, int]:
    rng = np.random.default_rng(1)
    search: TextbookSearch[Position, int] = TextbookSearch(
        ConnectFour(), lambda n: int(rng.integers(n)), **options
    )  # type: ignore[arg-type]
    return search.search(position, simulations)


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_a_cut_rollout_has_the_value_of_its_last_position(cut: int) -> None:
    evaluated: list[Position] = []

    def red_leads(position: Position) -> float:
        evaluated.append(position)
        return 0.25 if position.to_move == 0 else -0.25

    root = grown(Position("44"), 7, evaluate=red_leads, cut=cut)
    assert {position.ply for position in evaluated} == {3 + cut}
    assert all(edge.total / edge.visits == 0.25 for edge in root.edges)


def test_a_rollout_that_ends_before_the_cut_has_its_result() -> None:
    root = grown(Position("121212"), 7, evaluate=lambda position: 0.0, cut=40)
    assert next(edge for edge in root.edges if edge.move == 0).total == 1


def test_moves_are_tried_in_proportion_to_their_priors() -> None:
    priors = [0.0, 0.1, 0.2, 0.4, 0.2, 0.1, 0.0]
    root = grown(
        Position(),
        60,
        priors=lambda position, moves: [priors[move] for move in moves],
        evaluate=lambda p: 0.0,
        cut=0,
    )
    visits = [edge.visits for edge in root.edges]
    assert visits[0] == visits[6] == 0
    assert visits == pytest.approx([60 * prior for prior in priors], abs=2)


def test_the_better_move_prevails_over_a_low_prior() -> None:
    wins = Position("121212")  # column 1 wins for red
    root = grown(
        wins, 200, priors=lambda position, moves: [0.04 if move == 0 else 0.16 for move in moves]
    )
    assert max(root.edges, key=lambda edge: edge.visits).move == 0
