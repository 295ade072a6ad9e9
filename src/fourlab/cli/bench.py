"""`fourlab bench`: measure the kernels against plain Python."""

from fourlab.cli.options import JsonOption, print_json
from fourlab.game.position import Position


def bench(json: JsonOption = False) -> None:
    """Measure the speed of the kernels on this machine.

    Every rate is also given as a ratio to plain Python, measured in the same run. The signature is
    a checksum of the results: it is the same on every machine.

    Example: fourlab bench
    """
    from fourlab.compiled.counting import perft
    from fourlab.compiled.rollouts import lane_rollouts, rollouts
    from fourlab.reporting.speed import rates

    start = Position()
    g = start.rules.geometry
    # The text before the comma names the work; it pairs a kernel with its plain Python version.
    per_second = rates(
        {
            "random games, plain Python": lambda: _random_games(start, 100, seed=1),
            "random games, compiled": lambda: sum(rollouts(0, 0, g, 300_000, 1)[:3]),
            "random games, compiled in lanes": lambda: sum(lane_rollouts(0, 0, g, 600_000, 1)[:3]),
            "perft leaves, plain Python": lambda: _perft(start, 4),
            "perft leaves, compiled": lambda: perft(0, 0, g, 9),
        }
    )
    # Index 3 of a rollout's result is the number of discs in all games, which depends on each.
    signature = (
        rollouts(0, 0, g, 1000, 1)[3] + lane_rollouts(0, 0, g, 1000, 1)[3] + perft(0, 0, g, 8)
    )
    rows = [
        {
            "work": name,
            "per_second": round(rate),
            "ratio": rate / per_second[f"{name.partition(',')[0]}, plain Python"],
        }
        for name, rate in per_second.items()
    ]
    if json:
        print_json({"rates": rows, "signature": signature})
        return
    for row in rows:
        print(f"{row['work']:32} {row['per_second']:>14,} per CPU second  {row['ratio']:>8,.0f} x")
    print(f"signature {signature}")


def _random_games(start: Position, games: int, seed: int) -> int:
    """Play random games in plain Python; return their number."""
    import numpy as np

    rng = np.random.default_rng(seed)
    for _ in range(games):
        position = start
        while legal := position.legal_columns():
            position = position.play(legal[rng.integers(len(legal))])
    return games


def _perft(position: Position, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(_perft(position.play(column), depth - 1) for column in position.legal_columns())
