"""SeWell's value network: its data, its training curve (Figure 1), and the effect of momentum."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fourlab.agents.value.settings import TRAINING
from fourlab.jobs.run import Run
from fourlab.reporting.figures import COLOURS, SMALL, Axes, Figure, frame, panels
from fourlab.studies.trainings import train_in
from fourlab.studies.workbench import Finding, Part, Picture, Table, Workbench
from fourlab.training.loop import read_metrics

EPOCHS = 10_000
REPORTED = {"train": 0.31, "test": 0.35}
"""Mean squared errors at the end of the curves in Figure 1, read off."""
TOLERANCE = 0.03
MIN_EPOCHS = 1_000
"""Shorter trainings say nothing about momentum, which has to build up first."""
MARGIN = 0.01
"""Test errors closer than this, from one run each, say nothing about momentum."""
ROWS = 67_557
PARTS = (54_045, 13_512)
"""Positions for training and for testing."""
UCI = {"win": 44_473, "loss": 16_635, "draw": 6_449}
"""Results of the first player, as counted in the description of the data set."""
SHIPPED = {"signed": "sewell", "unit": "sewell-unit"}
"""Networks that ship with Fourlab, by their labels; trained with these settings for all epochs."""
RECORDED = 0.9
"""Share of the epochs that SeWell records."""
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
    yield from _counts(bench)
    epochs = bench.size["epochs"]
    # SeWell's momentum is 0.9; the rest is equal.
    settings = tuple(
        {"momentum": momentum, "epochs": epochs, "seed": bench.seed} for momentum in (0.9, 0.0)
    )
    with_momentum, without = bench.repeat(
        "trainings", _metrics, len(settings), bench.folder.resolve(), settings
    )
    yield from _final_errors(with_momentum[-1], epochs)
    yield _momentum(with_momentum, without)
    length = f"All {EPOCHS:,} epochs."
    if epochs != EPOCHS:
        length = f"Only {epochs:,} of SeWell's {EPOCHS:,} epochs."
    length += " Grey lines mark where SeWell's curves end."
    yield Picture(
        "figure-1",
        "Figure 1 as SeWell draws it: error during training, labels -1, 0, 1, momentum 0.9. The "
        f"axis counts recorded epochs, and nine out of ten are recorded. {length}",
        lambda: _figure_1(with_momentum),
        _data({"with momentum": with_momentum}),
    )
    kinds = {"with momentum": with_momentum, "without": without}
    yield Picture(
        "momentum",
        f"The same by epochs, with momentum 0.9 and without. {length}",
        lambda: _both(kinds),
        _data(kinds),
    )


def _counts(bench: Workbench) -> Iterator[Finding]:
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
    yield Finding(
        "rows of the regenerated data set",
        f"{ROWS:,}",
        f"{counts['rows']:,}",
        agrees=counts["rows"] == ROWS,
    )
    reported = ", ".join(f"{UCI[result]:,} {result}" for result in UCI)
    ours = ", ".join(f"{counts[result]:,} {result}" for result in UCI)
    yield Finding(
        "their exact results for the first player",
        reported,
        ours,
        exact=ours,
        agrees=reported == ours,
    )
    parts = tuple(counts["parts"])
    reported, ours = (" and ".join(f"{size:,}" for size in sizes) for sizes in (PARTS, parts))
    yield Finding("training and test positions", reported, ours, agrees=parts == PARTS)


def _final_errors(last: Mapping[str, Any], epochs: int) -> Iterator[Finding]:
    """Compare the final errors with Figure 1; for short trainings take the shipped network's."""
    from fourlab.nets.evaluator import load

    errors = last
    why = ""
    if epochs != EPOCHS:
        # The file of a shipped network keeps the metrics of its training.
        errors = load(SHIPPED["signed"]).network.about
        why = "the network that ships with Fourlab, trained with the same settings"
    for part, reported in REPORTED.items():
        ours = float(errors[f"{part}_mse"])
        yield Finding(
            f"{part} error after {EPOCHS:,} epochs",
            f"≈ {reported}",
            f"{ours:.3f}",
            agrees=abs(ours - reported) <= TOLERANCE,
            why=why,
        )


def _momentum(with_momentum: Rows, without: Rows) -> Finding:
    """Compare the errors with momentum and without, after as many epochs as were trained."""
    epochs = with_momentum[-1]["epochs"]
    # REPORTED has training first, then test.
    train, test = (with_momentum[-1][f"{part}_mse"] for part in REPORTED)
    plain_train, plain_test = (without[-1][f"{part}_mse"] for part in REPORTED)
    # A single run each has no spread, hence the two thresholds.
    conclusive = epochs >= MIN_EPOCHS and abs(test - plain_test) > MARGIN
    return Finding(
        f"error after {epochs:,} epochs, with momentum and without",
        "seemed better with momentum",
        f"{train:.3f} training, {test:.3f} test; without {plain_train:.3f}, {plain_test:.3f}",
        agrees=test < plain_test if conclusive else None,
        why="one run each: judged by the test error, and only if the difference exceeds "
        f"{MARGIN} after {MIN_EPOCHS:,} epochs",
    )


def _data(kinds: Mapping[str, Rows]) -> Table:
    """Tabulate the curves: one row per recorded epoch, two columns per kind."""
    names = ("train_mse", "test_mse")
    head = ("passes", *(f"{name}, {kind}" for kind in kinds for name in names))
    table = (
        (metrics[0]["epochs"], *(round(row[name], 6) for row in metrics for name in names))
        for metrics in zip(*kinds.values(), strict=True)
    )
    return Table("", head, tuple(table))


def _figure_1(rows: Rows) -> Figure:
    figure, (axes,) = panels(7, 3.6)
    for place, part in enumerate(REPORTED):
        values = [row[f"{part}_mse"] for row in rows]
        axes.plot(
            # SeWell's axis numbers the recorded epochs, not the epochs.
            [RECORDED * row["epochs"] for row in rows],
            values,
            color=COLOURS[place],
            label=f"{part} loss",
        )
    _frame(axes, "recorded epochs")
    return figure


def _both(kinds: Mapping[str, Rows]) -> Figure:
    figure, (axes,) = panels(7, 3.6)
    for place, (kind, rows) in enumerate(kinds.items()):
        for part, line in (("train", "-"), ("test", "--")):
            values = [row[f"{part}_mse"] for row in rows]
            axes.plot(
                [row["epochs"] for row in rows],
                values,
                line,
                color=COLOURS[place],
                label=f"{part}, {kind}",
            )
    _frame(axes, "epochs")
    return figure


def _frame(axes: Axes, label: str) -> None:
    """Add the ends of SeWell's curves, axis labels and a legend."""
    for (part, end), line in zip(REPORTED.items(), ("-", "--"), strict=True):
        name = f"{part}, SeWell after {EPOCHS:,} epochs: {end}"
        axes.axhline(end, color="#888888", linestyle=line, linewidth=0.9, label=name)
    frame(axes, SMALL, xlabel=label, ylabel="mean squared error")
