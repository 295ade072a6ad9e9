"""SeWell's Experiment 3: Experiment 1 with the value network playing the learner's rollouts.

SeWell's listing takes the last child of an unordered set instead of the network's best (B10), so
the network has no influence, and the program as coded is that of Experiment 1. The arms below
change one thing at a time: who chooses in rollouts, and what the choice knows of finished games.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from fourlab.reporting.figures import COLOURS, MARKS, REPORTED_COLOUR, SMALL, Figure, frame, panels
from fourlab.studies.claims import COUNTS, RESULTS, Claim, Estimate, Source, Verdict, share
from fourlab.studies.reported import reported
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.curves import Runs, over_trainings
from fourlab.studies.sewell.experiment_1 import GAMES, ITERATIONS_MARGIN, LEAST_RUNS
from fourlab.studies.sewell.learner import NETWORKS, TreeTraining, by_network, train_all
from fourlab.studies.verdicts import LEAST_ERROR, larger_mean, may_happen, same_mean
from fourlab.studies.workbench import Part, Picture, Table, Workbench

RANDOM = "random"
LOOK = "random, with the look"
NETWORK = "network"
BLIND = "network, blind to ends"
HALF = "network, ε = 0.5"
BOTH = "network, with the look"
FIXED = "fixed preferences"
ARMS: dict[str, dict[str, Any]] = {
    RANDOM: {},
    LOOK: {"looks": True},
    NETWORK: {"nets": NETWORKS},
    BOTH: {"nets": NETWORKS, "looks": True},
    HALF: {"nets": NETWORKS, "epsilon": 0.5},
    BLIND: {"nets": NETWORKS, "blind": True},
    FIXED: {"fixed": True},
}
"""Who plays the learner's side in rollouts, with probability 1 - ε; ε is 0.25 if not stated."""
INDEPENDENT = {
    RANDOM: (0.70, 0.64, 0.81),
    LOOK: (0.86, 0.80, 0.90),
    NETWORK: (0.73, 0.68, 0.80),
    BOTH: (0.87, 0.84, 0.90),
}
"""Average results of an independent program, 500 games each: mean, smallest and largest run."""
AVERAGE_MARGIN = 0.1
"""Margin of the average result: two games of forty."""
EARLIER_MARGIN = 5.0
"""Margin of mean iterations; SeWell's runs are 5 and 9 apart from Experiment 1."""
CODED = (
    "B10: as coded, the best value is never remembered, so rollouts take the last child of a set, "
    "that is, any child. Corrected, they take the network's best"
)

ONE_CHANGE = (
    "the columns are before and after one change. The look, which is ours and not SeWell's, "
    "replaces the network's opinion of a finished game by its result; the network without the look "
    "is SeWell's program with B10 corrected, which asks the network about the learner's own discs "
    "on finished boards, too. A won board has no reply and so one disc more of the learner, which "
    "may raise its value; the blind network gets the value of the position before instead. Fixed "
    "preferences are a random number for every position that stays the same: rollouts repeat "
    "themselves as with a network, but nothing is known about any position. The ablation measures "
    "the same change by real games afterwards. Random rollouts are the program of Experiment 1, "
    "and these runs are the first ones there. Runs with networks take three trained ones in turn, "
    "and the mean over the runs of a network is one observation"
)
NOTICED = 0.05
"""A larger difference of average results from the independent program's is pointed out."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Run all arms, and compare them one change at a time."""
    trainings = {
        # Arms are independent: each has a seed of its own. The first arm is the program of
        # Experiment 1 and has its seed, so that its runs are the same.
        arm: TreeTraining(bench.seed + 1_000_003 * place, bench.size["games"], **settings)
        for place, (arm, settings) in enumerate(ARMS.items())
    }
    arms = train_all(bench, trainings)
    judged = bench.size["games"] == GAMES and bench.size["runs"] >= LEAST_RUNS
    yield from _reported(arms, judged)
    yield from _one_change(arms, judged)
    yield _beside_independent(arms)
    yield Picture(
        "one-change-at-a-time",
        "What the network adds and what a look at finished games adds: means over runs, or over "
        "three networks where one plays, with 95 % intervals, and every run. SeWell's runs are the "
        "crosses on the right; as coded, all of them had random rollouts.",
        lambda: _draw_arms(arms),
        _arms_table(arms),
    )
    yield Picture(
        "guided-rollouts",
        "The learning curves: mean of the runs, and 90 % of them shaded.",
        lambda: _draw_curves(arms),
        curves.data(arms),
    )
    yield curves.table("All runs", arms)


def _reported(arms: Mapping[str, Runs], judged: bool) -> Iterator[Claim]:
    """Compare the two runs that the text reports."""
    numbers = reported("sewell-experiment-3")
    coded = curves.iterations(arms[RANDOM])
    for epsilon, reached in zip(
        numbers["epsilon"], numbers["iterations before all games are won"], strict=True
    ):
        arm = HALF if epsilon == 0.5 else NETWORK
        network = units(arm, curves.iterations(arms[arm]))
        yield Claim(
            f"experiment-3-iterations-{100 * epsilon:.0f}",
            f"iterations before all games are won, ε = {epsilon:g}",
            Estimate(float(reached), digits=0),
            Source.TEXT,
            faithful=curves.mean_iterations(arms[RANDOM]),
            corrected=over_units(arm, network, 1, COUNTS),
            reproduced=same_mean(reached, 1, coded, ITERATIONS_MARGIN) if judged else None,
            true=_larger(coded, network, EARLIER_MARGIN, judged),
            why=f'{CODED}. "True" asks whether the network needs fewer iterations than random '
            "rollouts do",
            statement="experiment-3-iterations",
        )
    # Three runs of one program: the first without, the others with a network that has no influence.
    triples = list(zip(coded[0::3], coded[1::3], coded[2::3], strict=False))
    falling = sum(first > second > third for first, second, third in triples)
    if triples:
        yield Claim(
            "experiment-3-order",
            "three runs as coded that need fewer iterations each time",
            "yes: 17, 12, 8",
            Source.TEXT,
            faithful=share(falling, len(triples)),
            exact=Estimate(100 / 6, unit="%", digits=1, note="if no two are equal"),
            reproduced=may_happen(falling, len(triples)) if judged else None,
            why="the improvement rests on one run of each kind, and three runs of the same program "
            "come in this order once in six times",
        )


def _one_change(arms: Mapping[str, Runs], judged: bool) -> Iterator[Claim]:
    """Compare the average result of all games between arms that differ in one thing."""
    averages = {arm: units(arm, curves.mean_results(runs)) for arm, runs in arms.items()}
    for name, quantity, before, after, statement in (
        ("network", "the network, without the look, raises", RANDOM, NETWORK, "improved results"),
        ("network-look", "the network, with the look, raises", LOOK, BOTH, ""),
        ("look", "the look, without the network, raises", RANDOM, LOOK, ""),
        ("look-network", "the look, with the network, raises", NETWORK, BOTH, ""),
        ("blind", "the network, blind to finished games, raises", RANDOM, BLIND, ""),
        ("fixed", "fixed preferences, which know nothing, raise", RANDOM, FIXED, ""),
        ("knowledge", "the network in place of fixed preferences raises", FIXED, NETWORK, ""),
        (
            "epsilon",
            "with the network, ε = 0.25 instead of 0.5 raises",
            HALF,
            NETWORK,
            "even further improvement",
        ),
    ):
        yield Claim(
            f"experiment-3-{name}",
            f"{quantity} the average result of games along kept replies, before and after",
            statement,
            Source.TEXT,
            faithful=over_units(before, averages[before], 2, RESULTS),
            corrected=over_units(after, averages[after], 2, RESULTS),
            true=_larger(averages[after], averages[before], AVERAGE_MARGIN, judged),
            why=f"{ONE_CHANGE}. {beside_independent(arms)}",
            labels={"faithful": f"before: {before}", "corrected": f"after: {after}"},
        )


def beside_independent(arms: Mapping[str, Runs]) -> str:
    """Compare the average results with those of the independent program, in words."""
    ours = {arm: fmean(curves.mean_results(arms[arm])) for arm in INDEPENDENT}
    listed = ", ".join(
        f"{mean:.2f} ({arm}; ours {ours[arm]:.2f})" for arm, (mean, _, _) in INDEPENDENT.items()
    )
    text = f"An independent program has average results of {listed}"
    far = [arm for arm, (mean, _, _) in INDEPENDENT.items() if abs(ours[arm] - mean) > NOTICED]
    if not far:
        return f"{text}; no mean differs by more than {NOTICED:g}"
    named = "; ".join(far)
    return f"{text}. Why there is a difference of more than {NOTICED:g} ({named}) is not known"


def units(arm: str, values: Sequence[float]) -> list[float]:
    """Return the independent observations: runs, or means of the runs of each network."""
    if "nets" not in ARMS[arm]:
        return list(values)
    return [fmean(own) for own in by_network(values)]


def over_units(
    arm: str, values: Sequence[float], digits: int, within: tuple[float, float]
) -> Estimate:
    """Return the mean of the `units` of an arm, with a note if these are networks."""
    mean = over_trainings(values, digits, within=within)
    return mean if "nets" not in ARMS[arm] or mean.note else replace(mean, note="networks")


def _beside_independent(arms: Mapping[str, Runs]) -> Table:
    """Tabulate the average results beside those of a program that was written independently."""
    rows = []
    for arm, (mean, least, most) in INDEPENDENT.items():
        ours = curves.mean_results(arms[arm])
        rows.append(
            (
                *(arm, len(ours), f"{fmean(ours):.2f}", f"{min(ours):.2f} to {max(ours):.2f}"),
                *(f"{mean:.2f}", f"{least:.2f} to {most:.2f}"),
            )
        )
    head = (
        *("rollouts", "runs", "average result", "runs from"),
        *("independent program", "its runs from"),
    )
    return Table("Average results beside those of an independent program", head, tuple(rows))


def _larger(
    ones: Sequence[float], others: Sequence[float], margin: float, judged: bool
) -> Verdict | None:
    """Test whether the first mean is larger, over trainings of trees or of networks."""
    if not judged:
        return None
    return larger_mean(ones, others, margin, trained=True, least_error=LEAST_ERROR / 100)


def _arms_table(arms: Mapping[str, Runs]) -> Table:
    """Tabulate the numbers of the figure: one row per arm."""
    rows = []
    for arm, runs in arms.items():
        average = over_units(arm, units(arm, curves.mean_results(runs)), 3, RESULTS)
        reached = over_units(arm, units(arm, curves.iterations(runs)), 3, COUNTS)
        numbers = (average.value, average.low, average.high)
        others = (reached.value, reached.low, reached.high)
        cells = ("" if number is None else round(number, 4) for number in numbers + others)
        rows.append((arm, len(runs), *cells))
    head = (
        *("rollouts", "runs", "average result", "average low", "average high"),
        *("iterations", "iterations low", "iterations high"),
    )
    return Table("", head, tuple(rows))


def _draw_arms(arms: Mapping[str, Runs]) -> Figure:
    figure, (left, right) = panels(9.5, 3.6, columns=2, sharey=True)
    places = range(len(arms) - 1, -1, -1)  # the first arm on top
    for axes, measure in ((left, curves.mean_results), (right, curves.iterations)):
        within = RESULTS if axes is left else COUNTS
        for place, number, (arm, runs) in zip(places, range(len(arms)), arms.items(), strict=True):
            values = measure(runs)
            mean = over_units(arm, units(arm, values), 3, within)
            low, high = (mean.value if end is None else end for end in (mean.low, mean.high))
            axes.plot(values, [place] * len(values), "|", color=COLOURS[number], alpha=0.5)
            axes.errorbar(
                mean.value,
                place,
                xerr=[[mean.value - low], [high - mean.value]],
                fmt=MARKS[number],
                color=COLOURS[number],
                capsize=4,
            )
        frame(axes)
    numbers = reported("sewell-experiment-3")["iterations before all games are won"]
    first = curves.won_from(curves.reported_curve())
    # SeWell's three runs: without the network, with ε = 0.5, with ε = 0.25.
    shown = [places[list(arms).index(arm)] for arm in (RANDOM, HALF, NETWORK)]
    crosses: dict[str, Any] = {"color": REPORTED_COLOUR, "markersize": 8}
    right.plot([first, *numbers], shown, "x", label="as reported", **crosses)
    left.set_yticks(list(places), list(arms))
    left.set_ylim(-0.6, len(arms) - 0.4)
    left.set_xlabel("average result of all games")
    right.set_xlabel("iterations before all games are won")
    right.legend(**SMALL)
    return figure


def _draw_curves(arms: Mapping[str, Runs]) -> Figure:
    shown = (RANDOM, LOOK, NETWORK, BOTH)
    figure, all_axes = panels(9.5, 5.6, columns=2, rows=2, sharey=True, sharex=True)
    for place, (axes, arm) in enumerate(zip(all_axes, shown, strict=True)):
        curves.shade(axes, arms[arm], place, arm)
        if place:
            mean = curves.mean_curve(arms[RANDOM])
            axes.plot(mean, "--", color=COLOURS[0], linewidth=1, label=RANDOM)
        axes.set_title(f"{arm} ({len(arms[arm])} runs)", fontsize="medium")
        labels = {**curves.AXES, "xlabel": curves.AXES["xlabel"] if place > 1 else ""}
        frame(axes, {**SMALL, "loc": "lower right"}, **labels)
        if place % 2 == 0:
            axes.set_ylabel(curves.AVERAGE)
    return figure
