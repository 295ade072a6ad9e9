"""The examples of Arya's thesis."""

import numpy as np

from fourlab import Position, Rules
from fourlab.game.bitboard import key
from fourlab.game.rules import CLASSIC
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.evaluator import load
from fourlab.training.listed_examples import EXAMPLES, listed_accuracy, listed_examples


def test_listed_examples_are_wins_of_both_sides_not_blocks() -> None:
    own, mask, columns, second = listed_examples()
    assert second.tolist() == [False] * EXAMPLES + [True] * EXAMPLES
    for place in (0, 1, 499, 500, 501, 999):
        position = Position.from_key(
            key(int(own[place]), int(mask[place]), CLASSIC.geometry), CLASSIC
        )
        assert position.makes_line(int(columns[place]), position.to_move)
        assert (position.to_move == 1) == second[place]


def test_the_accuracy_is_the_share_of_examples_with_the_one_correct_column() -> None:
    columns = listed_examples()[2]

    class Knowing(NetworkEvaluator):
        """Knows all wins and none of the blocks."""

        def heads(self, planes: np.ndarray) -> dict[str, np.ndarray]:
            answers = np.where(np.arange(len(columns)) < EXAMPLES, columns, (columns + 1) % 7)
            return {"policy": np.eye(7)[answers]}

    network = load("alphazero").network
    assert listed_accuracy(Knowing(network)) == {"wins": 1.0, "blocks": 0.0}
    other = Knowing(network)
    other.rules = Rules.parse("5x4x4")
    assert listed_accuracy(other) == {}
