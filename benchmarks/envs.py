"""The environments: steps per second, ours beside PettingZoo's connect_four in one run, the same games for both.

A step is one turn of the loop that PettingZoo's page teaches: whose turn, `last()`, `step()`. Their environment is measured as
it is made by name, in the wrappers that check what it is told, and bare; ours checks the same things without wrappers.
"""

import itertools
import random
from collections.abc import Iterator

import gymnasium
from pettingzoo.classic.connect_four import connect_four as theirs

from fourlab import Position
from fourlab.bridges.gymnasium import ID
from fourlab.bridges.pettingzoo import env as ours
from fourlab.reporting.speed import rates


def random_games(number: int) -> list[tuple[int, ...]]:
    """The columns of some random games."""
    chance, games = random.Random(1), []
    for _ in range(number):
        position = Position()
        while position.outcome() is None:
            position = position.play(chance.choice(position.legal_columns()))
        games.append(position.moves or ())
    return games


GAMES = random_games(100)


def play(env: theirs.raw_env, games: Iterator[tuple[int, ...]]) -> int:
    """Play the games, and count the steps."""
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
    env, steps, chance = gymnasium.make(ID, opponent=opponent).unwrapped, 0, random.Random(1)
    for game in range(games):
        _, info = env.reset(seed=None if game else 1)
        over = False
        while not over:
            column = chance.choice([column for column, is_open in enumerate(info["action_mask"]) if is_open])
            _, _, over, _, info = env.step(column)
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
    rate = measured["fourlab env()"]
    for name, each in measured.items():
        print(f"  {name:22} {each:>10,.0f}  ours is {rate / each:5.1f} times as fast")
    opponents = ("random", "rules", "mcts:simulations=50")
    found = rates({opponent: lambda o=opponent: play_gymnasium(50, o) for opponent in opponents}, turns=3)  # type: ignore[misc]
    print("Gymnasium, steps per CPU second with the opponent's reply and a random learner")
    for opponent, each in found.items():
        print(f"  {opponent:22} {each:>10,.0f}")


if __name__ == "__main__":
    main()
