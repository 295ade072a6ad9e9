"""Document 004's Experiment 4, vanilla search against AlphaMCTS, and what playing by lot costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fourlab.arena.tables import Table
from fourlab.studies.arya.bouts import CORRECTED, FAITHFUL, Bout, Reading, Score, conduct, match, play, score
from fourlab.studies.arya.matches import stands_for, vanilla
from fourlab.studies.compare import share
from fourlab.studies.experiment import Experiment, Finding, Part
from fourlab.studies.workbench import Workbench

NETWORKS = {1000: "arya-1000", 5000: "arya-5000"}
"""The networks in Fourlab's repository, by how many games of the preset arya they learned from."""
SEEING = "faithful=1,batch=1,fpu=0"
"""The document's search, but wins at once are seen on the discs, as in the games that our network learned from."""
LISTED = f"{SEEING},proving=0"
"""The document's search as it was coded."""
MENDED = "method=puct"
"""The same search without its faults."""
ITERATIONS = 1000
"""How many its program makes a move unless it is told otherwise."""
AS_PLAYED = 1.25
"""The temperature at which the document's agent plays, also in matches."""


def alpha(net: str, iterations: int, search: str, temperature: float = 0.0) -> str:
    """AlphaMCTS by its network, how long it searches, how, and how much it leaves to chance."""
    return f"alphazero:net={net},simulations={iterations},{search},temperature={temperature}"


def experiment_4(bench: Workbench) -> Iterator[Part]:
    """The vanilla search against AlphaMCTS after 1,000 and after 5,000 games, in two parts."""
    rollouts, iterations, seconds = bench.size["rollouts"], bench.size["iterations"], bench.seconds(5)
    listed, mended = (vanilla(rollouts, faithful, seconds) for faithful in (True, False))
    parts = (("experiment-4a", 1000, True, Score(66, 34, 0)), ("experiment-4b", 5000, False, Score(81, 19, 0)))
    bouts = []
    for name, games, vanilla_wins, reported in parts:
        players, net = ("MCTS 5 s", f"AlphaMCTS({games // 100})"), NETWORKS[games]
        readings = {
            # as faithful as our networks let it be
            FAITHFUL: Reading(listed, alpha(net, iterations, LISTED, AS_PLAYED)),
            "wins at once are seen": Reading(listed, alpha(net, iterations, SEEING, AS_PLAYED)),
            "search corrected": Reading(mended, alpha(net, iterations, LISTED, AS_PLAYED)),
            CORRECTED: Reading(mended, alpha(net, iterations, MENDED)),
        }
        why = (
            f"no verdict, for the network is not the document's: {net} learned from {games:,} games without the document's "
            f"faults (B17), so it never had to see wins at once. It makes {iterations:,} iterations a move (the document's "
            f"number is not told, its program's is {ITERATIONS:,}); {stands_for(rollouts, seconds)}. The document's own "
            "result would need networks of `fourlab train alphazero --preset arya --faithful`; the one that 004-figure-33 "
            "trains at full scale is not used here"
        )
        hero = players[0 if vanilla_wins else 1]
        bouts.append(Bout(name, players, hero, reported, readings, why, comparable=False))
    yield from conduct(bench, bouts, bench.size["games"])


@dataclass(frozen=True)
class _Mistakes:
    """Asks agents about solved positions, one after the other."""

    specs: tuple[str, ...]
    positions: int
    seed: int

    def __call__(self, number: int) -> dict[str, Any]:
        """Let one of them answer one position: numbers go through all positions for each."""
        import numpy as np

        from fourlab.agent import Limit
        from fourlab.agents.registry import make
        from fourlab.training.test_set import some_positions

        which, place = divmod(number, self.positions)
        positions, truth = some_positions(self.positions)
        rng = np.random.default_rng([self.seed, number])
        column = make(self.specs[which]).decide(positions[place], Limit(), rng).column
        signs = {each: (value > 0) - (value < 0) for each, value in truth[place].items()}
        return {"mistake": signs[column] < max(signs.values()), "open": min(signs.values()) < max(signs.values())}


def temperature(bench: Workbench) -> Iterator[Part]:
    """What the document's faults of search and of play cost: beside the exact truth, and in games against each other."""
    net, iterations = NETWORKS[5000], bench.size["iterations"]
    ways = {
        "as listed, temperature 1.25": alpha(net, iterations, LISTED, AS_PLAYED),
        "as listed, temperature 0": alpha(net, iterations, LISTED),
        "mended, temperature 1.25": alpha(net, iterations, MENDED, AS_PLAYED),
        "mended, temperature 0": alpha(net, iterations, MENDED),
    }
    positions, specs = bench.size["positions"], tuple(ways.values())
    answers = bench.repeat("mistakes", _Mistakes(specs, positions, bench.seed), positions * len(ways))
    rows = []
    for place, name in enumerate(ways):
        asked = [each for each in answers[place * positions : (place + 1) * positions] if each["open"]]
        wrong = sum(each["mistake"] for each in asked)
        rows.append((name, share(wrong, len(asked))))
    yield Table(
        f"Columns that throw away a win or a draw where that can be done, {iterations:,} iterations a move",
        ("AlphaMCTS", "mistakes"),
        tuple(rows),
    )
    names = list(ways)
    duels = [(names[0], names[1]), (names[2], names[3]), (names[0], names[3])]
    matches = [
        match(bench, (ways[one], ways[other]), (one, other), bench.size["games"], openings="random:2") for one, other in duels
    ]
    for (one, other), games in zip(duels, play(bench, "games", matches), strict=True):
        found = score(games, one)
        told = "; ".join(share(each, found.games) for each in found)
        yield Finding(
            f"{one}, against {other}: wins, losses, draws",
            "",
            told if one.startswith("as listed") else "",
            told if one.startswith("mended") else "",
            why="B17: columns are drawn by visits to the power of 1 / 1.25, so that a worse one is played now and then",
        )


EXPERIMENTS = (
    Experiment(
        "004-experiment-4",
        ("D4-04", "D4-06", "D4-07", "D4-11", "D4-17", "D4-18"),
        "Experiment 4: tree search against AlphaMCTS",
        "Vanilla search with five seconds a move wins 66-34 against AlphaMCTS after 1,000 games of self-play, and loses 19-81 "
        "after 5,000.",
        {
            "smoke": {"games": 2, "rollouts": 100, "iterations": 4},
            "quick": {"games": 40, "rollouts": 9_000, "iterations": 60},
            "full": {"games": 100, "rollouts": 150_000, "iterations": ITERATIONS},
        },
        experiment_4,
        (3, 240, 10_000),
        networks=tuple(NETWORKS.values()),
    ),
    Experiment(
        "004-temperature",
        ("D4-07", "D4-11"),
        "What the faults of AlphaMCTS cost in play",
        "The agent that plays is the one that was trained, without noise.",
        {
            "smoke": {"positions": 2, "games": 2, "iterations": 2},
            "quick": {"positions": 100, "games": 14, "iterations": 50},
            "full": {"positions": 960, "games": 200, "iterations": ITERATIONS},
        },
        temperature,
        (2, 130, 35_000),
        networks=(NETWORKS[5000],),
    ),
)
