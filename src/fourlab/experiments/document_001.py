"""Document 001's experiments: MC40 against MC200 on a board of five columns, and Q-learning against MC25."""

from collections import Counter
from collections.abc import Iterator

from fourlab.arena.tournament import Player, Tournament
from fourlab.experiments.compare import same_share, share
from fourlab.experiments.experiment import Experiment, Finding, Part
from fourlab.experiments.workbench import Workbench

BOARD = "5x6x4"
TABLE_5 = {"bhat-mc40": (12, 36, 2), "bhat-mc200": (10, 40, 0)}
"""By who begins: games won by MC40 and by MC200, and drawn."""


def _results(bench: Workbench, first: str, faithful: int) -> tuple[int, int, int]:
    second = {"bhat-mc40": "bhat-mc200", "bhat-mc200": "bhat-mc40"}[first]
    players = tuple(Player(f"{each}:faithful={faithful}", name=each) for each in (first, second))
    name = f"{first}-first{'-faithful' if faithful else ''}"
    games = bench.play(name, Tournament(players, (BOARD,), "empty", bench.size["games"], "fixed", bench.seed))
    won = Counter({1: game.red, -1: game.yellow}.get(game.result or 0, "draw") for game in games)
    return won["bhat-mc40"], won["bhat-mc200"], won["draw"]


def table_5(bench: Workbench) -> Iterator[Part]:
    """Who wins, by who begins."""
    for first, reported in TABLE_5.items():
        faithful, corrected = (_results(bench, first, each) for each in (1, 0))
        for place, who in enumerate(("MC40 wins", "MC200 wins", "draws")):
            yield Finding(
                f"{first.removeprefix('bhat-').upper()} first: {who}",
                share(reported[place], 50),
                share(faithful[place], sum(faithful)),
                share(corrected[place], sum(corrected)),
                agrees=same_share(reported[place], 50, faithful[place], sum(faithful)),
                why="B5: a won position is searched on, and its children are counted for whoever has a line first",
            )


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "001-table-5",
        ("D1-04", "D1-05"),
        "Table 5: MC40 against MC200",
        "MC200 wins 36 of 50 games when MC40 begins and 40 of 50 when it begins itself.",
        {"smoke": {"games": 10}, "quick": {"games": 1000}, "full": {"games": 3000}},
        table_5,
        (2, 30, 90),
    ),
)
