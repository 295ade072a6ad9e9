"""The wins and "blocks" with which Arya's thesis tests a network, as its program makes them."""

from functools import cache

import numpy as np

from fourlab.compiled.batches import ONGOING, WON, play_columns, urgent_columns
from fourlab.game.rules import CLASSIC
from fourlab.nets.base import NetworkEvaluator
from fourlab.training.games import draw

EXAMPLES = 500
"""Examples of each kind."""


@cache
def listed_examples() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the examples of the thesis: `EXAMPLES` wins, then `EXAMPLES` "blocks".

    They are the last positions of games between players that win if they can, else block, else
    play at random. Where the second player wins, the thesis swaps the colours and calls the
    position a block.

    Returns four arrays of length 2 * `EXAMPLES`: the bitboards `own` and `mask` (int64), the one
    column that counts as correct, and whether the second player is to move.
    """
    geometry = CLASSIC.geometry
    # Fixed, so that every network is tested on the same examples.
    rng = np.random.default_rng(33)
    # Examples (own, mask, column) by whether the second player is to move.
    examples: dict[bool, list[tuple[int, int, int]]] = {False: [], True: []}
    # 200 games are played at once; a finished game starts again from the empty board.
    own, mask = np.zeros((2, 200), np.int64)
    while min(map(len, examples.values())) < EXAMPLES:
        # bool[games, columns]: the wins, else the blocks, else all open columns.
        urgent = urgent_columns(own, mask, False, geometry)
        # The boards before the move; play_columns changes the arrays in place.
        before = list(zip(own.tolist(), mask.tolist(), strict=True))
        # The thesis accepts one column only, the first that wins.
        first_urgent = urgent.argmax(axis=1)
        states = play_columns(own, mask, draw(urgent, rng), geometry)
        for game in np.flatnonzero(states == WON).tolist():
            # An odd number of discs: the second player is to move.
            second = before[game][1].bit_count() % 2 == 1
            if len(examples[second]) < EXAMPLES:
                examples[second].append((*before[game], int(first_urgent[game])))
        own[states != ONGOING] = mask[states != ONGOING] = 0
    # int64[2 * EXAMPLES, 3]: own, mask, column
    rows = np.array(examples[False] + examples[True])
    return rows[:, 0], rows[:, 1], rows[:, 2], np.arange(len(rows)) >= EXAMPLES


def listed_accuracy(evaluator: NetworkEvaluator) -> dict[str, float]:
    """Return the shares of wins and of "blocks" that a policy's best column gets right.

    Empty for boards other than the classic one, for which there are no examples.
    """
    if evaluator.rules != CLASSIC:
        return {}
    own, mask, columns, second = listed_examples()
    logits = evaluator.heads(evaluator.planes(own, mask))["policy"]
    correct = logits.argmax(axis=1) == columns  # the thesis does not exclude full columns
    return {"wins": float(correct[~second].mean()), "blocks": float(correct[second].mean())}
