"""Arya's Experiment 4, vanilla search against AlphaMCTS, and the cost of sampling moves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.game.outcome import Result
from fourlab.nets.evaluator import SHIPPED
from fourlab.studies.arya.bouts import (
    CORRECTED,
    FAITHFUL,
    TRAINED_POINTS,
    Bout,
    Reading,
    conduct,
    of_version,
    play_bouts,
    reported_score,
    rise,
    too_few,
    training_of,
    won_shares,
)
from fourlab.studies.arya.matches import CORRECTED_SEARCH, describe_budget, vanilla
from fourlab.studies.arya.ship import FAITHFUL_NAME, self_play_precision
from fourlab.studies.claims import Claim, Source, Value, share
from fourlab.studies.trainings import ONE_TRAINING
from fourlab.studies.verdicts import FEWEST_TRAININGS, larger_mean
from fourlab.studies.workbench import Part, Workbench
from fourlab.training.test_set import solved_positions

NETWORKS = {1000: "arya-1000", 5000: "arya-5000"}
"""Networks by the number of `arya` preset games that they were trained on, without its faults.

Further trainings with other seeds are called arya-1000-SEED.
"""
LISTED_NETWORKS = {1000: "arya-alphamcts-10", 5000: "arya-alphamcts-50"}
"""The same with the faults, `--preset arya --faithful`: arya-alphamcts-10-SEED."""
SEEDS = range(1, 10)
"""The seeds of trainings that may be in the folder of networks."""
LISTED_PROVING = "faithful=1,batch=1,fpu=0"
"""Arya's search, except that immediate wins are found on the board."""
LISTED = f"{LISTED_PROVING},proofs=0"
"""Arya's search as coded."""
WITHOUT_FAULTS = "method=puct,solver_nodes=0"
"""The same search with its faults fixed."""
ITERATIONS = 1000
"""Default number of simulations per move in Arya's program; the thesis gives no number."""
ROLLOUTS = 150_000
"""Rollouts of the vanilla search in five seconds, by the thesis."""
AS_PLAYED = 1.25
"""Temperature at which Arya's agent samples its moves, in matches too."""


def alpha(net: str, iterations: int, search: str, temperature: float = 0.0) -> str:
    """Return the spec of an AlphaMCTS agent; `search` is one of the option strings above."""
    return f"alphazero:net={net},simulations={iterations},{search},temperature={temperature}"


def trainings(name: str) -> dict[int, str]:
    """Return the networks NAME-SEED that are there, by seed."""
    return {seed: f"{name}-{seed}" for seed in SEEDS if (SHIPPED / f"{name}-{seed}.onnx").is_file()}


def experiment_4(bench: Workbench) -> Iterator[Part]:
    """Play the vanilla search against AlphaMCTS trained on 1,000 and on 5,000 games."""
    bouts = (
        _against_alpha(bench, "experiment-4a", 1000, "MCTS 5 s"),
        _against_alpha(bench, "experiment-4b", 5000, "AlphaMCTS(50)"),
    )
    yield from conduct(bench, bouts, bench.size["games"])
    yield _gain(bench, bouts)


def _against_alpha(bench: Workbench, name: str, games: int, scored_player: str) -> Bout:
    """Return one part of Experiment 4; `games` is the amount of training of the networks."""
    # None unless searches run by the clock; rollouts stand in for it.
    seconds = bench.seconds(5)
    # The vanilla search with fault B15 and without it.
    listed = vanilla(ROLLOUTS, True, seconds)
    sound = vanilla(ROLLOUTS, False, seconds)
    most = bench.size["trainings"]
    faithful = dict(list(trainings(LISTED_NETWORKS[games]).items())[:most])
    # The first corrected training had seed 0.
    corrected = dict(list({0: NETWORKS[games], **trainings(NETWORKS[games])}.items())[:most])
    readings = {
        training_of(FAITHFUL, seed): Reading(listed, alpha(net, ITERATIONS, LISTED, AS_PLAYED))
        for seed, net in faithful.items()
    }
    net = next(iter(faithful.values()), NETWORKS[games])
    if not faithful:
        readings["as listed, network without faults"] = Reading(
            listed, alpha(net, ITERATIONS, LISTED, AS_PLAYED)
        )
    # Without a verdict, so that a quarter of the games is enough.
    readings[CORRECTED_SEARCH] = Reading(sound, alpha(net, ITERATIONS, LISTED, AS_PLAYED), part=4)
    readings |= {
        training_of(CORRECTED, seed): Reading(sound, alpha(net, ITERATIONS, WITHOUT_FAULTS))
        for seed, net in corrected.items()
    }
    why = (
        f"B15, B17: {len(faithful)} networks of {games:,} games of training have the faults, "
        f"{len(corrected)} do not. {needed(len(faithful), len(corrected))}"
        f"{_arithmetic(faithful)}AlphaMCTS makes "
        f"{ITERATIONS:,} simulations per move (the thesis gives no number, this is the default of "
        f"its program); {describe_budget(ROLLOUTS, seconds)}"
    )
    # Trained on 1,000 games the agent is called AlphaMCTS(10).
    players = ("MCTS 5 s", f"AlphaMCTS({games // 100})")
    return Bout(
        name,
        players,
        scored_player,
        reported_score(name),
        readings,
        why,
        trained=True,
        points=TRAINED_POINTS,
    )


def needed(faithful: int, corrected: int) -> str:
    """Return which verdicts the trainings are too few for, as a sentence."""
    counts = {"the reported number": faithful, "the corrected program": corrected}
    without = [question for question, count in counts.items() if count < FEWEST_TRAININGS]
    if not without:
        return "The thesis has a single training. "
    return (
        f"The thesis has a single training; a verdict takes at least {FEWEST_TRAININGS} of ours, "
        f"so there is none on {' and '.join(without)}. "
    )


def _arithmetic(seeds: Iterable[int]) -> str:
    """Return a sentence about the self-play of trainings, if it was not that of the thesis."""
    if all(self_play_precision(FAITHFUL_NAME, seed) == "fp32" for seed in seeds):
        return ""
    return (
        "To save time, their self-play evaluated the network in 8-bit integers; learning was in "
        "full precision, as in the thesis. "
    )


def _gain(bench: Workbench, bouts: tuple[Bout, Bout]) -> Claim:
    """Compare how often AlphaMCTS wins after 5,000 and after 1,000 games of training."""
    played = play_bouts(bench, bouts, bench.size["games"])
    # By version: the shares of games that AlphaMCTS wins, after less and after more training.
    wins = {
        version: [
            won_shares(of_version(version, games), bout.players[1])
            for bout, games in zip(bouts, played, strict=True)
        ]
        for version in (FAITHFUL, CORRECTED)
    }
    before, after = reported_score("experiment-4a").lost, reported_score("experiment-4b").won

    def shown(version: str) -> Value:
        if not all(wins[version]):
            return ""
        less, more = ([100 * won for won in shares] for shares in wins[version])
        return rise(less, more)

    verdicts = {
        version: too_few(min(len(less), len(more)))
        if min(len(less), len(more)) < FEWEST_TRAININGS
        else larger_mean(
            [100 * won for won in more],
            [100 * won for won in less],
            TRAINED_POINTS,
            "points",
            trained=True,
        )
        for version, (less, more) in wins.items()
    }
    return Claim(
        "experiment-4-training",
        "AlphaMCTS wins more games against the same search after 5,000 games of training than "
        "after 1,000",
        f"{before} % and {after} % of 100 games",
        Source.TEXT,
        faithful=shown(FAITHFUL),
        corrected=shown(CORRECTED),
        reproduced=verdicts[FAITHFUL],
        true=verdicts[CORRECTED],
    )


def keeps_value(specs: tuple[str, ...], count: int, seed: int, number: int) -> dict[str, bool]:
    """Test whether one agent keeps the value of one of `count` solved positions.

    Numbers go through all positions of an agent first.
    """
    agent, place = divmod(number, count)
    positions, scores = solved_positions(count)
    rng = np.random.default_rng([seed, number])
    chosen = make(specs[agent]).decide(positions[place], Limit(), rng).column
    mistake, can_go_wrong = judged(chosen, scores[place])
    return {"mistake": mistake, "open": can_go_wrong}


def judged(chosen: int, scores: Mapping[int, int]) -> tuple[bool, bool]:
    """Return whether a column gives away a win or a draw, and whether any column would.

    `scores` are the exact ones of the legal columns, for the side to move.
    """
    values = {column: Result.of_score(score) for column, score in scores.items()}
    best = max(values.values())
    return values[chosen] < best, min(values.values()) < best


def differing(ones: Sequence[bool], others: Sequence[bool]) -> tuple[int, int]:
    """Return in how many places only the first is true, and in how many only the other."""
    places = list(zip(ones, others, strict=True))
    return sum(one and not other for one, other in places), sum(
        other and not one for one, other in places
    )


def temperature(bench: Workbench) -> Iterator[Part]:
    """Measure the mistakes that sampling moves adds, with Arya's search and with the corrected."""
    net = next(iter(trainings(LISTED_NETWORKS[5000]).values()), NETWORKS[5000])
    searches = {"as listed": LISTED, "corrected": WITHOUT_FAULTS}
    specs = tuple(
        alpha(net, ITERATIONS, search, sampling)
        for search in searches.values()
        for sampling in (AS_PLAYED, 0.0)
    )
    count = bench.size["positions"]
    answers = bench.repeat("mistakes", keeps_value, count * len(specs), specs, count, bench.seed)
    # Where all columns have one value, no move can be a mistake.
    mistakes = [
        [answer["mistake"] for answer in answers[begin : begin + count] if answer["open"]]
        for begin in range(0, len(answers), count)
    ]
    for place, version in enumerate(searches):
        sampled, best = mistakes[2 * place : 2 * place + 2]
        yield Claim(
            f"sampling-{version.replace(' ', '-')}",
            f"moves that give away a win or a draw, where that is possible, search {version}",
            "plays without exploration",
            Source.TEXT,
            faithful=share(sum(sampled), len(sampled)),
            corrected=share(sum(best), len(best)),
            why="B17: only the noise is switched off in matches. Moves are still sampled in "
            "proportion to visits to the power of 1 / 1.25, so an inferior move is played now and "
            f"then. {ITERATIONS:,} simulations per move, network {net}: {ONE_TRAINING}",
            labels={
                "faithful": f"sampled at temperature {AS_PLAYED}",
                "corrected": "the most visited column",
            },
        )
