"""The worst-case result of a deterministic policy, by trying all replies of its opponent.

On small boards this measures a policy exactly, for comparison with the value of perfect play.
"""

from collections.abc import Callable

from fourlab.game.outcome import RED, YELLOW
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.solver import Solver

Policy = Callable[[Position], int]
"""Returns the column to play."""


def worst_result(policy: Policy, side: int, start: Position) -> int:
    """Return a policy's result as `side` against the best replies: +1, 0 or -1 for that side."""
    # By key: a deterministic policy depends on the position, not on the moves before.
    results: dict[int, int] = {}

    def worst(position: Position) -> int:
        if (outcome := position.outcome()) is not None:
            return outcome.score(side)
        if position.key not in results:
            # `min` over one column is the policy's own move, over all columns the best reply.
            ours = position.to_move == side
            columns = (policy(position),) if ours else position.legal_columns()
            results[position.key] = min(worst(position.play(column)) for column in columns)
        return results[position.key]

    return worst(start)


def worst_and_perfect(policy: Policy, rules: Rules) -> dict[str, dict[str, int]]:
    """Return the worst-case and the perfect result as first and second player, by seat."""
    start = Position(board=rules)
    exact = Solver(16).solve(start, weak=True).result
    assert exact is not None
    return {
        "first": {"worst": worst_result(policy, RED, start), "perfect": exact},
        "second": {"worst": worst_result(policy, YELLOW, start), "perfect": -exact},
    }
