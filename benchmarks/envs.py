"""Environments: steps per second, ours and PettingZoo's connect_four on the same games in one run.

A step is one iteration of the loop in PettingZoo's documentation: `agent_iter`, `last()`, `step()`.
Their environment is measured with the wrappers that check its arguments, as `env()` returns it, and
without; ours checks the same things without wrappers.
"""

import itertools
import random
from collections.abc import Iterator
from functools import partial

import gymnasium
from pettingzoo.classic.connect_four import connect_four as theirs

from fourlab import Position
from fourlab.bridges.gymnasium import ID
from fourlab.bridges.pettingzoo import env as ours
from fourlab.reporting.speed import rates


def random_games(number: int) -> list[tuple[int, ...]]:
    """Return the columns of `number` random games."""
    rng = random.Random(1)
    games = []
    for _ in range(number):
        position = Position()
        while position.outcome() is None:
            position = position.play(rng.choice(position.legal_columns()))
        games.append(position.moves or ())
    return games


GAMES = random_games(100)


def play(env: theirs.raw_env, games: Iterator[tuple[int, ...]]) -> int:
    """Play the games; returns the number of steps."""
    steps = 0
    for game in games:
        columns = iter(game)
        env.reset()
        for _ in env.agent_iter():
            _, _, terminated, truncated, _ = env.last()
            env.step(None if terminated or truncated else next(columns))
            steps += 1
    return steps


def play_gymnasium(games: int, opponent: str) -> int:
    """Play random games against an opponent; returns the number of steps."""
    env = gymnasium.make(ID, opponent=opponent).unwrapped
    rng = random.Random(1)
    steps = 0
    for game in range(games):
        _, info = env.reset(seed=None if game else 1)
        over = False
        while not over:
            legal = [column for column, is_legal in enumerate(info["action_mask"]) if is_legal]
            _, _, over, _, info = env.step(rng.choice(legal))
            steps += 1
    return steps


def main() -> None:
    measured = rates(
        {
            "PettingZoo env()": lambda: play(theirs.env(), iter(GAMES)),
            "PettingZoo raw_env()": lambda: play(theirs.raw_env(), iter(GAMES)),
            "fourlab env()": lambda: play(ours(), itertools.chain(*[GAMES] * 10)),
        },
        turns=9,
    )
    print("steps per CPU second of one thread, 100 random games (ours ten times)")
    our_rate = measured["fourlab env()"]
    for name, rate in measured.items():
        print(f"  {name:22} {rate:>10,.0f}  ours is {our_rate / rate:5.1f} times as fast")
    opponents = ("random", "rules", "mcts:simulations=50")
    measured = rates(
        {opponent: partial(play_gymnasium, 50, opponent) for opponent in opponents}, turns=3
    )
    print("Gymnasium, steps per CPU second with the opponent's reply and a random learner")
    for opponent, rate in measured.items():
        print(f"  {opponent:22} {rate:>10,.0f}")


if __name__ == "__main__":
    main()
