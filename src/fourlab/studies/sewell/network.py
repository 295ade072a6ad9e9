"""SeWell's value network: its data, its training curve (Figure 1), and the effect of momentum."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from fourlab.agents.value.settings import TRAINING
from fourlab.jobs.run import Run
from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, SMALL, Axes, Figure, frame, panels
from fourlab.studies.claims import Answer, Claim, Counts, Estimate, Kind, Source, Verdict
from fourlab.studies.reported import reported
from fourlab.studies.sewell.curves import over_trainings
from fourlab.studies.trainings import train_in
from fourlab.studies.verdicts import larger_mean, same_mean, same_number
from fourlab.studies.workbench import Part, Picture, Table, Workbench
from fourlab.training.loop import read_metrics

EPOCHS = 10_000
PARTS = ("train", "test")
ERROR_MARGIN = 0.03
"""Margin of the errors at the end of Figure 1."""
GAP_MARGIN = 0.015
MOMENTUM_MARGIN = 0.01
WRONG_MARGIN = 40.0
"""Margin of the number of badly wrong positions."""
LEAST_NETWORKS = 3
"""The spread of trainings is part of every interval, so fewer networks give no verdict."""
ROWS = 67_557
SIZES = {"training": 54_045, "test": 13_512}
"""Positions for training and for testing."""
UCI = {"win": 44_473, "loss": 16_635, "draw": 6_449}
"""Results of the first player, as counted in the description of the data set."""
SHIPPED = {"signed": "sewell", "unit": "sewell-unit"}
"""Networks that ship with Fourlab, by their labels; trained with these settings for all epochs."""
RECORDED = 0.9
"""Share of the epochs that SeWell records."""
BADLY_WRONG = 0.9
"""Absolute error above which a prediction counts as badly wrong."""
REPORTED_WRONG = 87
Rows = Sequence[Mapping[str, Any]]
"""Metrics of a training, one row per recorded epoch."""


def train_network(folder: Path, settings: Mapping[str, Any]) -> Run:
    """Train a network in `folder`, and return its run, which contains value.onnx.

    `settings` are those in which the training differs from SeWell's preset.
    """
    return train_in(folder, TRAINING.job({"preset": "sewell", **settings}))


def _metrics(
    folder: Path, settings: Sequence[Mapping[str, Any]], number: int
) -> list[dict[str, Any]]:
    """Train a network with one of some settings; return its metrics, without the times."""
    rows = read_metrics(train_network(folder / f"training-{number}", settings[number]))
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def conduct(bench: Workbench) -> Iterator[Part]:
    """Count the data set, and train with momentum and without."""
    epochs = bench.size["epochs"]
    # Verdicts need all epochs and the spread of trainings.
    judged = epochs == EPOCHS and bench.size["networks"] >= LEAST_NETWORKS
    # SeWell's momentum is 0.9; the rest is equal. A seed also splits the positions anew.
    settings = tuple(
        {"momentum": momentum, "epochs": epochs, "seed": bench.seed + network}
        for momentum, networks in ((0.9, bench.size["networks"]), (0.0, bench.size["plain"]))
        for network in range(networks)
    )
    trained = bench.repeat("trainings", _metrics, len(settings), bench.folder.resolve(), settings)
    with_momentum = trained[: bench.size["networks"]]
    without = trained[bench.size["networks"] :]
    yield from _counts(bench)
    yield from _final_errors(with_momentum, epochs, judged)
    yield _momentum(with_momentum, without, judged)
    yield _axis(epochs)
    yield _badly_wrong(with_momentum, epochs, judged)
    short = "" if epochs == EPOCHS else f" Only {epochs:,} of SeWell's {EPOCHS:,} epochs."
    yield Picture(
        "figure-1",
        f"Figure 1: as reported, and ours on the same axes (shaded: all networks).{short}",
        lambda: _figure_1(with_momentum),
        _data({"with momentum": with_momentum}),
    )
    kinds = {"with momentum": with_momentum, **({"without": without} if without else {})}
    yield Picture(
        "figure-1-all-epochs",
        f"Figure 1 over all epochs, momentum 0.9{' and 0' if without else ''} (shaded: all "
        "networks). SeWell's axis counts recorded epochs, nine of ten; here the reported points "
        f"are at their epochs.{short}",
        lambda: _all_epochs(kinds),
        _data(kinds),
    )


def _counts(bench: Workbench) -> Iterator[Claim]:
    """Regenerate the data set and compare its counts with the published ones."""

    def count() -> dict[str, Any]:
        from fourlab.datasets import labels

        data = labels.uci8()
        return {
            "rows": len(data),
            **data.counts,
            "parts": [len(part) for part in labels.split(data)],
        }

    counts = bench.calculate("data", count)
    yield Claim(
        "data-rows",
        "rows of the data set",
        Estimate(ROWS, digits=0),
        Source.TEXT,
        faithful=Estimate(counts["rows"], digits=0),
        reproduced=same_number(ROWS, counts["rows"], 0),
        why="the data set is regenerated: positions after eight plies in which neither side can "
        "win at once, one of each pair of mirror images",
    )
    ours = {result: counts[result] for result in UCI}
    yield Claim(
        "data-results",
        "their results for the first player: win / loss / draw",
        "game theoretic value",
        Source.TEXT,
        faithful=Counts(ours),
        exact=Counts(UCI),
        true=Verdict(Answer.AGREES if ours == UCI else Answer.DIFFERS, "comparison"),
        why="the exact column has the counts of the data set's public description; ours are "
        "from our solver",
    )
    parts = dict(zip(SIZES, counts["parts"], strict=True))
    yield Claim(
        "data-split",
        "training / test positions",
        "80 % for training",
        Source.TEXT,
        faithful=Counts(parts),
        reproduced=Verdict(Answer.AGREES if parts == SIZES else Answer.DIFFERS, "comparison"),
        # The sizes of the parts are settings of our program.
        kind=Kind.DIAGNOSTIC,
    )


def _final_errors(networks: Sequence[Rows], epochs: int, judged: bool) -> Iterator[Claim]:
    """Compare the errors at the end of the training with those of Figure 1."""
    # A shorter training has nothing to compare with.
    is_full = epochs == EPOCHS
    ends = {part: float(reported("sewell-figure-1")[f"{part} error"][-1]) for part in PARTS}
    ours = {part: [rows[-1][f"{part}_mse"] for rows in networks] for part in PARTS}
    for part, words in zip(PARTS, ("training", "test"), strict=True):
        yield Claim(
            f"figure-1-{part}",
            f"error on the {words} set after {epochs:,} epochs",
            Estimate(ends[part]) if is_full else "",
            Source.FIGURE,
            over_trainings(ours[part]),
            reproduced=same_mean(ends[part], 1, ours[part], ERROR_MARGIN) if judged else None,
            statement="figure-1-error",
        )
    gaps = [test - train for train, test in zip(ours["train"], ours["test"], strict=True)]
    gap = ends["test"] - ends["train"]
    yield Claim(
        "figure-1-gap",
        "test error minus training error",
        Estimate(gap, note="did not diverge too much") if is_full else "did not diverge too much",
        Source.FIGURE,
        over_trainings(gaps),
        reproduced=same_mean(gap, 1, gaps, GAP_MARGIN) if judged else None,
    )


def _momentum(with_momentum: Sequence[Rows], without: Sequence[Rows], judged: bool) -> Claim:
    """Compare the test errors with momentum and without."""
    moved, plain = (
        [rows[-1]["test_mse"] for rows in networks] for networks in (with_momentum, without)
    )
    return Claim(
        "figure-1-momentum",
        "test error with momentum and without",
        "seemed to work better with momentum",
        Source.TEXT,
        faithful=over_trainings(moved),
        corrected=over_trainings(plain) if plain else "not trained at this scale",
        true=larger_mean(plain, moved, MOMENTUM_MARGIN) if judged and plain else None,
        why=momentum_why(moved, plain),
        labels={"faithful": "with momentum", "corrected": "without momentum"},
    )


def momentum_why(moved: Sequence[float], plain: Sequence[float]) -> str:
    """Explain the test errors with momentum and without, as far as both were measured."""
    words = "momentum 0.9 makes steps up to ten times as long"
    if not plain:
        return words
    lag = fmean(plain) - fmean(moved)
    if lag <= 0:
        return f"{words}, but after all epochs the error without it is not larger"
    return f"{words}; after all epochs the slower training without it is {lag:.3f} behind"


def _axis(epochs: int) -> Claim:
    recorded = sum(1 for epoch in range(EPOCHS) if epoch % 10)
    return Claim(
        "figure-1-axis",
        "epochs on the axis of Figure 1",
        Estimate(9_000, digits=0),
        Source.FIGURE,
        Estimate(recorded, digits=0),
        exact=Estimate(EPOCHS, digits=0, note="in the text"),
        reproduced=same_number(9_000, recorded, 0) if epochs == EPOCHS else None,
        true=same_number(9_000, EPOCHS, 0) if epochs == EPOCHS else None,
        why="the program records every epoch whose number is not a multiple of ten, probably "
        "meaning the opposite",
    )


def _badly_wrong(networks: Sequence[Rows], epochs: int, judged: bool) -> Claim:
    counts = [rows[-1]["badly_wrong"] for rows in networks]
    return Claim(
        "wrong-signed",
        f"positions wrong by more than {BADLY_WRONG} after {epochs:,} epochs, labels -1, 0, 1",
        Estimate(REPORTED_WRONG, n=ROWS, digits=0),
        Source.TEXT,
        faithful=over_trainings(counts, 0),
        reproduced=same_mean(REPORTED_WRONG, 1, counts, WRONG_MARGIN) if judged else None,
        why="B12: the count of 87 belongs to a network with labels 0, 1/2, 1, whose errors are "
        "half as large (see Figures 2 to 4), the curve of Figure 1 to labels -1, 0, 1",
    )


def _data(kinds: Mapping[str, Sequence[Rows]]) -> Table:
    """Tabulate the curves: one row per recorded epoch, two columns per network."""
    columns = {
        f"{part} error, {kind}, network {number}": [row[f"{part}_mse"] for row in rows]
        for kind, networks in kinds.items()
        for number, rows in enumerate(networks)
        for part in PARTS
    }
    epochs = [row["epochs"] for row in next(iter(kinds.values()))[0]]
    rows = (
        (epoch, *(round(values[place], 6) for values in columns.values()))
        for place, epoch in enumerate(epochs)
    )
    return Table("", ("epochs", *columns), tuple(rows))


def _figure_1(networks: Sequence[Rows]) -> Figure:
    figure, (left, right) = panels(9, 3.6, columns=2, sharey=True, sharex=True)
    columns = reported("sewell-figure-1")
    for place, part in enumerate(PARTS):
        left.plot(
            columns["recorded epoch"],
            columns[f"{part} error"],
            ("-", "--")[place],
            color=REPORTED_COLOUR,
            label=part,
        )
        # SeWell's axis numbers the recorded epochs, not the epochs.
        _shade(right, networks, part, place, part, RECORDED)
    left.set_title("as reported (read off, from 600 on)", fontsize="medium")
    right.set_title(
        f"ours, {len(networks)} {'network' if len(networks) == 1 else 'networks'}",
        fontsize="medium",
    )
    frame(left, SMALL, xlabel="recorded epochs", ylabel="mean squared error", ylim=(0.28, 0.84))
    frame(right, SMALL, xlabel="recorded epochs")
    return figure


def _all_epochs(kinds: Mapping[str, Sequence[Rows]]) -> Figure:
    figure, all_axes = panels(9, 3.6, columns=2, sharey=True, sharex=True)
    columns = reported("sewell-figure-1")
    for axes, part in zip(all_axes, PARTS, strict=True):
        for place, (kind, networks) in enumerate(kinds.items()):
            _shade(axes, networks, part, place, f"ours, {kind}", 1.0)
        axes.plot(
            columns["recorded epoch"] / RECORDED,
            columns[f"{part} error"],
            "x",
            color=REPORTED_COLOUR,
            markersize=4,
            label="as reported",
        )
        axes.set_title(f"{part} error", fontsize="medium")
        frame(axes, SMALL, xlabel="epochs", ylim=(0.28, 0.84))
    all_axes[0].set_ylabel("mean squared error")
    return figure


def _shade(
    axes: Axes, networks: Sequence[Rows], part: str, place: int, label: str, scale: float
) -> None:
    """Draw the mean error of networks, and shade between the smallest and the largest."""
    # float64[networks, rows]
    values = np.array([[row[f"{part}_mse"] for row in rows] for rows in networks])
    epochs = [scale * row["epochs"] for row in networks[0]]
    low, high = values.min(axis=0), values.max(axis=0)
    axes.fill_between(epochs, low, high, color=COLOURS[place], alpha=0.25, linewidth=0)
    axes.plot(epochs, values.mean(axis=0), color=COLOURS[place], label=label)
