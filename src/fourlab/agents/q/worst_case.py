"""What a player without chance gets in the worst case: all its opponent's replies are tried.

On small boards this is an exact measure of a policy, beside the exact value of the board.
"""

from collections.abc import Callable

from fourlab.game.outcome import RED, YELLOW
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.solver import Solver

Policy = Callable[[Position], int]
"""Chooses a column."""


def worst_result(policy: Policy, side: int, start: Position) -> int:
    """The result of a policy that plays one side against the replies that hurt it most: +1, 0 or -1 for that side."""
    known: dict[int, int] = {}

    def worst(position: Position) -> int:
        if (outcome := position.outcome()) is not None:
            return outcome.score(side)
        if position.key not in known:
            ours = position.to_move == side
            columns = (policy(position),) if ours else position.legal_columns()
            known[position.key] = min(worst(position.play(column)) for column in columns)
        return known[position.key]

    return worst(start)


def beside_the_truth(policy: Policy, rules: Rules) -> dict[str, dict[str, int]]:
    """The worst results as first and as second player from the empty board, beside what perfect play would get."""
    start = Position(board=rules)
    exact = Solver(16).solve(start, weak=True).result
    assert exact is not None
    return {
        "first": {"worst": worst_result(policy, RED, start), "perfect": exact},
        "second": {"worst": worst_result(policy, YELLOW, start), "perfect": -exact},
    }
