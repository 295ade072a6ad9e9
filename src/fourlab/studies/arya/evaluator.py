"""Arya's Figure 33: how many wins and blocks the network sees without search, by training games.

The verdict is on trainings of Arya's size, whose curves ship with their networks (`ship.py`). Small
trainings show by kind of examples what the faults change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.agents.alphazero.listed_play import simulations_of
from fourlab.agents.alphazero.settings import TRAINING
from fourlab.compiled.batches import open_columns
from fourlab.jobs.executors.threads import Threads
from fourlab.nets.evaluator import OnnxEvaluator, load
from fourlab.reporting.figures import COLOURS, MARKS, Figure, frame, panels
from fourlab.studies.arya.alpha import LISTED_NETWORKS, NETWORKS, SEEDS, trainings
from fourlab.studies.arya.bouts import TRAINED_POINTS, rise, too_few
from fourlab.studies.arya.lessons import VERSIONS
from fourlab.studies.arya.ship import FAITHFUL_NAME, manifest_of
from fourlab.studies.claims import Claim, Estimate, Kind, Source, Value, Verdict, share
from fourlab.studies.reported import reported
from fourlab.studies.trainings import train_in
from fourlab.studies.verdicts import FEWEST_TRAININGS, larger_mean, same_number
from fourlab.studies.workbench import Part, Picture, Table, Workbench
from fourlab.training.kind import TrainingJob
from fourlab.training.listed_examples import EXAMPLES, listed_accuracy
from fourlab.training.test_set import win_block_accuracy

KINDS = ("listed wins", "listed blocks", "wins", "blocks")
"""Two kinds made as in the thesis, whose "blocks" are wins (B17), and two from random games."""
WHY = (
    "B17: the listed blocks are in fact wins of the second player. That is not the only "
    "difference: the listed examples are the last positions of games between players that win and "
    "block, whereas the others come from random games, and any correct column counts in them. "
    "Trained without the faults, the search finds wins and blocks on the board and stops there, so "
    "the network need not learn them"
)
Curve = Sequence[Mapping[str, float]]
"""Accuracies by kind, one mapping per checkpoint."""


def accuracy(evaluator: OnnxEvaluator) -> dict[str, float]:
    """Return, by kind, the share of examples in which the policy's best column is correct."""

    def best_legal(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        logits = evaluator.heads(evaluator.planes(own, mask))["policy"]
        legal = open_columns(mask, evaluator.rules.geometry)
        # Full columns are excluded here, where any correct column counts.
        columns: np.ndarray = np.where(legal, logits, -np.inf).argmax(axis=1)
        return columns

    listed = listed_accuracy(evaluator)
    real = win_block_accuracy(best_legal, evaluator.rules)
    return {
        "listed wins": listed["wins"],
        "listed blocks": listed["blocks"],
        "wins": real["wins"],
        "blocks": real["blocks"],
    }


def _train(
    folder: Path, size: Mapping[str, Any], until: int, seed: int, number: int
) -> list[dict[str, float]]:
    """Train until `until` games are played, and return the accuracy.

    Numbers go through `VERSIONS` first, then through the seeds. The first segment, of
    `size["step"]` games, also returns the accuracy before training.
    """
    from fourlab.agents.alphazero.training import AlphaZeroTrainee  # loads torch

    training, version = divmod(number, len(VERSIONS))
    games = size["games"]
    settings = replace(
        TRAINING.preset("arya", faithful=version == 0),
        networks=(size["network"],),
        games=games + 1,  # never finished, so it does not run its own final evaluation
        exam_every=games,
        seed=seed + training,
    )
    job = TrainingJob(TRAINING, settings, "network")
    trainee = job.trainee
    assert isinstance(trainee, AlphaZeroTrainee)
    trainee.executor = Threads(1)  # the other version trains on the other processor
    # A new trainee has the untrained network; `train_in` then restores the last checkpoint.
    networks = [trainee.playing] if until == size["step"] else []
    train_in(folder / VERSIONS[version] / str(training), job, until)
    networks.append(trainee.playing)
    return [accuracy(OnnxEvaluator(network, "the network")) for network in networks]


def figure_33(bench: Workbench) -> Iterator[Part]:
    """Compare trainings as Arya's with his figure, and small ones with and without the faults."""
    yield from _settings()
    shipped = bench.calculate("shipped", _shipped)
    listed = listed_curves()
    yield _rising(listed, shipped)
    size = bench.size
    step = size["step"]
    games = size["games"]
    # The first point of each curve is the untrained network.
    marks = list(range(0, games + 1, step))
    folder = bench.folder.resolve() / "network"
    total = len(VERSIONS) * size["seeds"]
    # One piece of work per mark, so that accuracies are stored as the training goes on.
    results = [
        bench.repeat(f"accuracy-{mark}", _train, total, folder, size, mark, bench.seed)
        for mark in marks[1:]
    ]
    # By version: the curves of its trainings.
    curves: dict[str, list[Curve]] = {
        name: [
            [accuracies for result in results for accuracies in result[number]]
            for number in range(version, total, len(VERSIONS))
        ]
        for version, name in enumerate(VERSIONS)
    }
    for kind in KINDS:
        yield _small(kind, f"{games:,} games with a {size['network']} network", curves)
    yield Table(
        "The networks of Arya's size (128 filters, 8 blocks) that ship with Fourlab",
        ("network", *KINDS),
        tuple(
            (row["network"], *(str(share(*_counts(row[kind]))) for kind in KINDS))
            for row in shipped
        ),
    )
    yield Picture(
        "figure-33",
        "Accuracy by training games. Left: over all listed examples and on the axis of the thesis "
        "(B19), whose figure was not available; trainings of Arya's size where there are some, "
        "else small ones. Right: small trainings by kind of real examples, on the correct axis, "
        "as means.",
        lambda: _draw(listed, curves, marks, step),
        _data(listed, curves, marks, step),
    )


def _settings() -> Iterator[Part]:
    """Compare the settings of the training with those that the thesis lists in Figure 22."""
    preset = TRAINING.preset("arya", faithful=True)
    settings = asdict(preset)
    listed = {name: float(value[0]) for name, value in reported("arya-figure-22").items()}
    filters, blocks = map(int, settings["networks"][0].split("x"))
    ours = {
        "num_filters": filters,
        "num_residual_blocks": blocks,
        "exploration_constant": settings["c"],
        "selection_temperature": settings["temperature"],
        "dirichlet_alpha": settings["dirichlet_alpha"],
        "dirichlet_epsilon": settings["dirichlet_share"],
        "learning_rate": settings["rate"],
        "minibatch_size": settings["batch"],
        # The memory also has the mirror image of every position.
        "num_minibatches": 2 * settings["window"] / settings["batch"],
        "mcts_initial_iterations": settings["simulations"],
        "mcts_max_iterations": settings["simulations_end"],
        "mcts_search_increment": simulations_of(preset.simulations_games, preset)
        - simulations_of(0, preset),
    }
    equal = sum(ours[name] == listed[name] for name in ours)
    yield Claim(
        "figure-22",
        "hyperparameters of Figure 22, but for the numbers of epochs and games, that our training "
        "has",
        Estimate(len(ours), digits=0),
        Source.TEXT,
        faithful=Estimate(equal, digits=0),
        reproduced=same_number(len(ours), equal, 0),
        why="a check of our preset, which was made from this listing; it also has 1 epoch of 1 "
        "game, whereas the experiments had 10 and 50 epochs of 100",
        kind=Kind.DIAGNOSTIC,
        labels={"faithful": "ours"},
    )
    yield Table(
        "Figure 22: the hyperparameters",
        ("name", "thesis", "ours"),
        tuple((name, _plain(listed[name]), _plain(ours[name])) for name in ours),
    )


def _plain(number: float) -> float:
    """Return 128 for 128.0."""
    return int(number) if number == int(number) else number


def listed_curves() -> dict[int, dict[str, list[float]]]:
    """Return the curves of the trainings with Arya's program and settings, by seed."""
    manifests = {seed: manifest_of(FAITHFUL_NAME, seed) for seed in SEEDS}
    curves = {seed: manifest["accuracy"] for seed, manifest in manifests.items() if manifest}
    # A training that was not finished has a shorter curve.
    whole = max(NETWORKS)
    return {seed: curve for seed, curve in curves.items() if curve["games"][-1] >= whole}


def _overall(curve: Mapping[str, Sequence[float]]) -> list[float]:
    """Return the shares over all listed examples, of which half are wins and half blocks."""
    return [
        (won + blocked) / 2 for won, blocked in zip(curve["wins"], curve["blocks"], strict=True)
    ]


def _rising(
    listed: Mapping[int, Mapping[str, Sequence[float]]], shipped: Sequence[Mapping[str, Any]]
) -> Claim:
    """Compare the accuracy before and after the trainings of Arya's size."""
    before, after = ([_overall(curve)[end] for curve in listed.values()] for end in (0, -1))
    # The corrected networks have no untrained one beside them, so the first is that of 1,000 games.
    corrected = {
        games: [
            (row["wins"] + row["blocks"]) / 2
            for row in shipped
            if row["games"] == games and not row["faithful"]
        ]
        for games in NETWORKS
    }
    return Claim(
        "figure-33-rises",
        "accuracy over all examples, before and after the training",
        "rises",
        Source.TEXT,
        faithful=_both(before, after),
        corrected=_both(corrected[1000], corrected[5000]),
        reproduced=_rises(before, after),
        true=_rises(corrected[1000], corrected[5000]),
        why=WHY,
        labels={
            "faithful": "listed examples, before and after 5,000 games",
            "corrected": "real ones, trained without faults, after 1,000 and 5,000 games",
        },
    )


def _both(before: Sequence[float], after: Sequence[float]) -> Value:
    """Return the rise of the mean accuracy of trainings, with both means."""
    if not before or not after:
        return ""
    return rise([100 * share for share in before], [100 * share for share in after])


def _rises(before: Sequence[float], after: Sequence[float]) -> Verdict:
    if min(len(before), len(after)) < FEWEST_TRAININGS:
        return too_few(min(len(before), len(after)))
    return larger_mean(
        [100 * share for share in after],
        [100 * share for share in before],
        TRAINED_POINTS,
        "points",
        trained=True,
    )


def _small(kind: str, trained: str, curves: Mapping[str, Sequence[Curve]]) -> Claim:
    """Return the accuracy of small trainings on one kind of examples, without a verdict."""
    values = {
        name: _both([curve[0][kind] for curve in ones], [curve[-1][kind] for curve in ones])
        for name, ones in curves.items()
    }
    return Claim(
        f"figure-33-small-{kind.replace(' ', '-')}",
        f"accuracy on {kind}, before training and after {trained}",
        "",
        Source.OURS,
        faithful=values["faithful"],
        corrected=values["corrected"],
        why="smaller than Arya's training, therefore without a verdict",
    )


def _data(
    listed: Mapping[int, Mapping[str, Sequence[float]]],
    curves: Mapping[str, Sequence[Curve]],
    marks: Sequence[int],
    step: int,
) -> Table:
    rows: list[tuple[object, ...]] = [
        ("faithful, Arya's size", seed, games, "", *accuracies, "", "")
        for seed, curve in listed.items()
        for games, *accuracies in zip(
            *(curve[key] for key in ("games", "wins", "blocks")), strict=True
        )
    ]
    rows += [
        (f"{name}, small", number, mark, round(drawn), *curve[place].values())
        for name, ones in curves.items()
        for number, curve in enumerate(ones)
        for place, (mark, drawn) in enumerate(zip(marks, _axis_as_drawn(marks, step), strict=True))
    ]
    head = ("training", "seed", "games", "games as drawn", *KINDS)
    return Table("accuracy", head, tuple(rows))


def _counts(accuracy: float) -> tuple[int, int]:
    """Return the number of correct answers and the number of examples."""
    return round(EXAMPLES * accuracy), EXAMPLES


def _shipped() -> list[dict[str, Any]]:
    """Return the accuracies of all networks of Arya's size that are there."""
    rows = []
    for faithful, names in ((False, NETWORKS), (True, LISTED_NETWORKS)):
        for games, name in names.items():
            own = [] if faithful else [name]
            rows += [
                {"network": net, "games": games, "faithful": faithful, **accuracy(load(net))}
                for net in (*own, *trainings(name).values())
            ]
    return rows


def _axis_as_drawn(marks: Sequence[int], step: int) -> list[float]:
    """Return the x values of Arya's figure, which counts 101 games for every 100 (B19).

    They are spaced evenly from 0 to (step + 1) times the number of points.
    """
    return [place * (step + 1) * len(marks) / (len(marks) - 1) for place in range(len(marks))]


def _draw(
    listed: Mapping[int, Mapping[str, Sequence[float]]],
    curves: Mapping[str, Sequence[Curve]],
    marks: Sequence[int],
    step: int,
) -> Figure:
    figure, (drawn, kinds) = panels(9.5, 3.4, columns=2)
    for place, (seed, large) in enumerate(listed.items()):
        points = range(len(large["games"]))
        axis = _axis_as_drawn(points, 100)
        shares = [100 * share for share in _overall(large)]
        drawn.plot(axis, shares, color=COLOURS[place], label=f"faithful, seed {seed}")
    for place, (name, ones) in enumerate(curves.items()):
        # float[trainings, marks] by kind, in per cent.
        shares_by_kind = {
            kind: 100 * np.array([[point[kind] for point in curve] for curve in ones])
            for kind in KINDS
        }
        style: dict[str, Any] = {"color": COLOURS[place], "marker": MARKS[place], "markersize": 3}
        if not listed:
            overall = (shares_by_kind["listed wins"] + shares_by_kind["listed blocks"]) / 2
            axis = _axis_as_drawn(marks, step)
            drawn.plot(axis, overall.mean(axis=0), label=f"{name}, small", **style)
        for line, kind in zip(("-", "--"), ("wins", "blocks"), strict=True):
            values = shares_by_kind[kind]
            kinds.plot(marks, values.mean(axis=0), line, label=f"{name}: {kind}", **style)
            low, high = values.min(axis=0), values.max(axis=0)
            kinds.fill_between(marks, low, high, color=COLOURS[place], alpha=0.15, linewidth=0)
    for axes, title in ((drawn, "as drawn"), (kinds, "wins and real blocks")):
        axes.set_title(title, fontsize="medium")
        frame(axes, {"fontsize": "x-small"}, xlabel="number of games", ylabel="accuracy, %")
    return figure
