"""Arya's Figure 33: how many wins and blocks the network sees without search, by training games."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.agents.alphazero.settings import TRAINING
from fourlab.compiled.batches import open_columns
from fourlab.jobs.executors.threads import Threads
from fourlab.nets.evaluator import OnnxEvaluator, load
from fourlab.reporting.figures import COLOURS, MARKS, Figure, frame, panels
from fourlab.studies.arya.alpha import NETWORKS
from fourlab.studies.arya.lessons import VERSIONS
from fourlab.studies.compare import falls, share
from fourlab.studies.trainings import train_in
from fourlab.studies.workbench import Finding, Part, Picture, Table, Workbench
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
    """Train version `number` of `VERSIONS` until `until` games are played; return its accuracy.

    The first segment, of `size["step"]` games, also returns the accuracy before training.
    """
    from fourlab.agents.alphazero.training import AlphaZeroTrainee  # loads torch

    games = size["games"]
    settings = replace(
        TRAINING.preset("arya", faithful=number == 0),
        networks=(size["network"],),
        games=games + 1,  # never finished, so it does not run its own final evaluation
        exam_every=games,
        seed=seed,
    )
    job = TrainingJob(TRAINING, settings, "network")
    trainee = job.trainee
    assert isinstance(trainee, AlphaZeroTrainee)
    trainee.executor = Threads(1)  # the other version trains on the other processor
    # A new trainee has the untrained network; `train_in` then restores the last checkpoint.
    networks = [trainee.playing] if until == size["step"] else []
    train_in(folder / VERSIONS[number], job, until)
    networks.append(trainee.playing)
    return [accuracy(OnnxEvaluator(network, "the network")) for network in networks]


def figure_33(bench: Workbench) -> Iterator[Part]:
    """Train as Arya did, with the faults and without, and evaluate at regular intervals."""
    size = bench.size
    step = size["step"]
    games = size["games"]
    # The first point of each curve is the untrained network.
    marks = list(range(0, games + 1, step))
    folder = bench.folder.resolve() / "network"
    # One piece of work per mark, so that accuracies are stored as the training goes on.
    results = [
        bench.repeat(f"accuracy-{mark}", _train, len(VERSIONS), folder, size, mark, bench.seed)
        for mark in marks[1:]
    ]
    curves: dict[str, Curve] = {
        name: [accuracies for result in results for accuracies in result[version]]
        for version, name in enumerate(VERSIONS)
    }
    for kind in KINDS:
        trained = f"after {games:,} games with a {size['network']} network"
        yield _finding(kind, trained, curves)
    rows = [
        (shipped["network"], *(share(*_counts(shipped[kind])) for kind in KINDS))
        for shipped in bench.calculate("shipped", _shipped)
    ]
    yield Table(
        "The networks of Arya's size (128 filters, 8 blocks) that ship with Fourlab, "
        "trained without the faults",
        ("network", *KINDS),
        tuple(rows),
    )
    data = [
        (name, mark, round(drawn), *curve[place].values())
        for name, curve in curves.items()
        for place, (mark, drawn) in enumerate(zip(marks, _axis_as_drawn(marks, step), strict=True))
    ]
    yield Picture(
        "figure-33",
        "Accuracy by training games. Left: as in the thesis, over all listed examples and on its "
        "axis (B19). Right: by kind, on the correct axis.",
        lambda: _draw(curves, marks, step),
        Table("accuracy", ("training", "games", "games as drawn", *KINDS), tuple(data)),
    )


def _finding(kind: str, trained: str, curves: Mapping[str, Curve]) -> Finding:
    """Compare the accuracy on one kind of examples before and after training."""
    # Pairs (correct, EXAMPLES).
    before = {name: _counts(curve[0][kind]) for name, curve in curves.items()}
    after = {name: _counts(curve[-1][kind]) for name, curve in curves.items()}
    faithful, corrected = (f"{share(*before[name])} to {share(*after[name])}" for name in VERSIONS)
    is_listed = kind.startswith("listed")
    return Finding(
        f"accuracy on {kind}, before training and {trained}",
        "rises" if is_listed else "",
        faithful,
        corrected,
        # Accuracy rises from before to after if it falls from after to before.
        agrees=falls(*after["faithful"], *before["faithful"]) if is_listed else None,
        why=WHY,
    )


def _counts(accuracy: float) -> tuple[int, int]:
    """Return the number of correct answers and the number of examples."""
    return round(EXAMPLES * accuracy), EXAMPLES


def _shipped() -> list[dict[str, Any]]:
    return [{"network": net, **accuracy(load(net))} for net in dict.fromkeys(NETWORKS.values())]


def _axis_as_drawn(marks: Sequence[int], step: int) -> list[float]:
    """Return the x values of Arya's figure, which counts 101 games for every 100 (B19).

    They are spaced evenly from 0 to (step + 1) times the number of points.
    """
    return [place * (step + 1) * len(marks) / (len(marks) - 1) for place in range(len(marks))]


def _draw(curves: Mapping[str, Curve], marks: Sequence[int], step: int) -> Figure:
    figure, (drawn, kinds) = panels(9.5, 3.4, columns=2)
    for place, (name, curve) in enumerate(curves.items()):
        # Both kinds have equally many examples, so the mean in percent is 50 times the sum.
        overall = [50 * (point["listed wins"] + point["listed blocks"]) for point in curve]
        style: dict[str, Any] = {"color": COLOURS[place], "marker": MARKS[place], "markersize": 3}
        drawn.plot(_axis_as_drawn(marks, step), overall, label=name, **style)
        for line, kind in zip(("-", "--"), ("wins", "blocks"), strict=True):
            shares = [100 * point[kind] for point in curve]
            kinds.plot(marks, shares, line, label=f"{name}: {kind}", **style)
    for axes, title in ((drawn, "as drawn"), (kinds, "wins and real blocks")):
        axes.set_title(title, fontsize="medium")
        frame(axes, {"fontsize": "x-small"}, xlabel="number of games", ylabel="accuracy, %")
    return figure
