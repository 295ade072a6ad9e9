"""What Kaggle's negamax plays in 1,000 positions.

`python -m tests.bridges.kaggle.negamax_golden` writes the golden file. A line has a position, the
column of the deterministic form (the first of equal columns), and the column and final random state
of the form with random ties, whose random numbers come from our generator seeded with the line
number. Columns count from 1.
"""

import importlib
from typing import Any

import numpy as np

from fourlab import Position
from fourlab.compiled.random import advance, seed_state
from tests.conftest import ROOT

FILE = ROOT / "tests" / "golden" / "kaggle_negamax.txt"
COUNT = 1000


def seeded_positions() -> list[Position]:
    """Return distinct positions of random games on the usual board, more of them at later plies."""
    rng = np.random.default_rng(9)
    positions: dict[Position, None] = {}
    while len(positions) < COUNT:
        position = Position()
        for _ in range(int(36 * np.sqrt(rng.random()))):
            if position.outcome() is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            positions[position] = None
    return list(positions)


class Coins:
    """Stands for `random.choice` in Kaggle's module: says no, or tosses our generator's coins."""

    def __init__(self, state: int | None) -> None:
        self.state = state

    def __call__(self, options: list[Any]) -> bool:
        assert options == [True, False]
        if self.state is None:
            return False
        self.state = int(advance(self.state))
        return bool((self.state ^ (self.state >> 32)) & 1)


def kaggles_answer(position: Position, state: int | None) -> tuple[int, int | None]:
    """The column that Kaggle's own code plays, and the random state afterwards."""
    connectx: Any = importlib.import_module("kaggle_environments.envs.connectx.connectx")
    struct: Any = importlib.import_module("kaggle_environments.utils").Struct
    coins, before = Coins(state), connectx.choice
    connectx.choice = coins
    try:
        board = [cell for row in position.grid() for cell in row]
        column = connectx.negamax_agent(
            struct(board=board, mark=1 + position.to_move), struct(columns=7, rows=6, inarow=4)
        )
    finally:
        connectx.choice = before
    return column, coins.state


def line_of(number: int, position: Position) -> str:
    first, _ = kaggles_answer(position, None)
    tossed, state = kaggles_answer(position, seed_state(number))
    return f"{position.write('moves') or '-'} {first + 1} {tossed + 1} {state}\n"


if __name__ == "__main__":
    FILE.write_text(
        "".join(line_of(number, position) for number, position in enumerate(seeded_positions()))
    )
