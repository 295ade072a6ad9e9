"""What the faults of SeWell's program cost, one fix at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fourlab.arena.accuracy import Answer as Judged
from fourlab.game.outcome import RED
from fourlab.studies.ablation import (
    CLASSIC,
    Arm,
    Program,
    Row,
    Trained,
    compare_trained,
    fixed,
    measure,
    positions_of,
    present,
)
from fourlab.studies.claims import Claim, Kind, Source, share
from fourlab.studies.sewell.learner import NETWORKS, TreeTraining, by_network
from fourlab.studies.trainings import ONE_TRAINING
from fourlab.studies.verdicts import larger_share
from fourlab.studies.workbench import Part, Workbench

TODAY, THEN = "negamax:ties=random", "negamax:ties=first"
"""Kaggle's negamax today, and in SeWell's day."""
LISTED = "sewell:faithful=1,reuse=moves"
"""Keeps its tree within a game only; the learners below keep one tree for all games."""
SEARCH = Program(
    "search",
    "search with 5 rollouts, a new tree in every game",
    (
        Arm("search-faithful", "", LISTED, "nothing (the search as coded)"),
        Arm(
            "b13-search",
            "B13",
            fixed(LISTED, opponent="negamax-random-ties"),
            "expect negamax to break ties at random",
        ),
    ),
    TODAY,
    "negamax",
)
LISTED_GUIDED = "sewell-guided:faithful=1"
GUIDED = Program(
    "guided",
    "Experiment 3's search in a two-player tree, 5 rollouts",
    (
        Arm("guided-faithful", "", LISTED_GUIDED, "nothing (the network is never used)"),
        Arm(
            "guided-corrected",
            "B10 and more",
            fixed(LISTED_GUIDED, epsilon=0.25),
            "two changes: the network chooses in rollouts, which take wins",
        ),
    ),
    TODAY,
    "negamax",
    no_verdict=ONE_TRAINING,
)
LEARNERS: Mapping[Arm, Mapping[str, Any]] = {
    Arm("learner-faithful", "", "", "nothing (one tree for all games, as coded)"): {},
    Arm("b13", "B13", "", "train against negamax with random ties"): {"ties": "random"},
    Arm("b2", "B2", "", "ask negamax again at every visit"): {"keep_replies": False},
    Arm("b10", "B10", "", "let the network choose in rollouts"): {"nets": NETWORKS},
    Arm("look", "", "", "let rollouts see wins and losses, without a network"): {"looks": True},
    Arm("b10-look", "B10", "", "let the network choose, and look at finished games"): {
        "nets": NETWORKS,
        "looks": True,
    },
    Arm("learner-corrected", "B2, B13", "", "random ties, asked again at every visit"): {
        "ties": "random",
        "keep_replies": False,
    },
}
"""The settings of `TreeTraining` that an arm changes."""
CAPTION = (
    "What each fix of SeWell's program gains: Elo against the program as coded, and the share of "
    "moves that keep the exact value in solved positions where it can be lost, both with 95 % "
    "intervals. Searches play pairs of games from balanced openings; learners are trained several "
    "times, then play real games against today's negamax, moving first, and choose with five "
    "rollouts in solved positions where the first player is to move"
)
BY_NETWORK = "runs take three trained networks in turn; each network is one observation"
NOTES = {
    "b10": BY_NETWORK,
    "b10-look": BY_NETWORK,
    "b2": "with ties broken by the first column, negamax always gives the reply that is kept, so "
    "this fix alone changes only the random numbers",
    "look": "not a fault: with the look, rollouts take a column that ends the game in a win and "
    "avoid one after which it ends in a loss",
}
POINTS = 10
"""Margin of shares of games, in percentage points."""
BADLY_WRONG = 0.9
LATE = 50
"""The last games of a training, in which it has learned what it will."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Measure B2, B10 and B13 in games, B11 by real games, and B12 by errors."""
    results = _results(bench)
    rows = [*measure(bench, SEARCH), *measure(bench, GUIDED), *_learners(results)]
    yield from present(rows, CAPTION)
    yield _evaluation(next(iter(results.values())))
    yield _scales(bench)
    yield Claim(
        "ablation-b14",
        "results are negated on the way up",
        "no",
        Source.CODE,
        faithful="no",
        corrected="no",
        why="B14: not a fault. Every node of SeWell's tree is a position in which the learner is "
        "to move, so there is nothing to negate; a tree with both sides' moves would have to",
    )


@dataclass(frozen=True)
class _Trainings:
    """All trainings of all arms; calling it with a number performs one."""

    seed: int
    games: int
    afterwards: int
    positions: int

    def __call__(self, number: int) -> dict[str, Any]:
        run, place = divmod(number, len(LEARNERS))
        positions, scores = positions_of(CLASSIC, self.positions, RED)
        training = TreeTraining(
            self.seed,
            self.games,
            opponents=(TODAY, THEN),
            games_after=self.afterwards,
            tested=tuple(positions),
            **list(LEARNERS.values())[place],
        )
        result = training(run)
        chosen = zip(positions, scores, result["columns"], strict=True)
        return {
            "results": result["results"],
            "afterwards": result["afterwards"],
            "kept": [
                not Judged(position, values, column, 0.0).is_mistake
                for position, values, column in chosen
            ],
        }


def _results(bench: Workbench) -> dict[Arm, list[dict[str, Any]]]:
    """Return the results of the trainings by arm."""
    size = bench.size
    trainings = _Trainings(bench.seed, size["games"], size["afterwards"], size["positions"])
    results = bench.repeat("trainings", trainings, size["seeds"] * len(LEARNERS))
    return {arm: results[place :: len(LEARNERS)] for place, arm in enumerate(LEARNERS)}


def _learners(results: Mapping[Arm, list[dict[str, Any]]]) -> list[Row]:
    arms = []
    for arm, runs in results.items():
        # A training is one tree; where a network plays, it is the network with all its trees.
        trained = by_network(runs) if "nets" in LEARNERS[arm] else [[run] for run in runs]
        # Results are +1, 0 and -1 for the learner.
        games = [[one for run in own for one in run["afterwards"][TODAY]] for own in trained]
        scores = [(sum((1 + result) / 2 for result in own), len(own)) for own in games]
        kept_by = [[one for run in own for one in run["kept"]] for own in trained]
        kept = [(sum(own), len(own)) for own in kept_by]
        arms.append(Trained(arm, scores, kept, NOTES.get(arm.name, "")))
    return compare_trained("learner, one tree for all games", "negamax", arms)


def _evaluation(runs: list[dict[str, Any]]) -> Claim:
    """Compare games along the stored replies with real games (B11)."""
    walked = [result for run in runs for result in run["results"][-LATE:]]
    real = {
        spec: [result for run in runs for result in run["afterwards"][spec]]
        for spec in (TODAY, THEN)
    }
    won = [games.count(1) for games in (walked, real[TODAY])]
    return Claim(
        "ablation-b11",
        f"games won after training: more of the last {LATE} games along the replies kept in the "
        "tree than of real games against today's negamax",
        "",
        Source.OURS,
        faithful=share(won[0], len(walked)),
        corrected=share(won[1], len(real[TODAY])),
        true=larger_share(won[0], len(walked), won[1], len(real[TODAY]), POINTS),
        labels={"faithful": "along kept replies", "corrected": "in real games"},
        why="B11: a game that follows the kept replies repeats the line that was learned; against "
        "the negamax of SeWell's day, which always replies alike, the real share is "
        f"{share(real[THEN].count(1), len(real[THEN]))}",
    )


def _scales(bench: Workbench) -> Claim:
    """Count bad errors of the network on either scale of labels (B12)."""
    wrong = bench.calculate("scales", _badly_wrong)
    return Claim(
        "ablation-b12",
        f"positions of 67,557 in which the network errs by more than {BADLY_WRONG}: labels "
        "0, ½, 1 as counted, and -1, 0, 1 as the text says",
        share(87, wrong["positions"], 2),
        Source.TEXT,
        faithful=share(wrong["sewell-unit"], wrong["positions"], 2),
        corrected=share(wrong["sewell"], wrong["positions"], 2),
        why="B12: an error of 0.45 on the scale 0, ½, 1 is one of 0.9 on the scale -1, 0, 1",
        kind=Kind.DIAGNOSTIC,
    )


def _badly_wrong() -> dict[str, int]:
    from fourlab.datasets.labels import uci8
    from fourlab.nets.evaluator import load

    data = uci8()
    wrong = {"positions": len(data)}
    labels = {"sewell-unit": (data.results + 1) / 2, "sewell": data.results}
    for net, actual in labels.items():
        evaluator = load(net)
        # Raw outputs of the value head: not clipped to the range of results.
        values = evaluator.heads(evaluator.planes(*data.discs))["value"][:, 0].astype(np.float64)
        wrong[net] = int((np.abs(values - actual) > BADLY_WRONG).sum())
    return wrong
