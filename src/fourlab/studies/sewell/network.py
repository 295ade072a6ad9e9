"""Document 003's value network: the data, the training and its curve (Figure 1), with and without momentum."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPOCHS = 10_000
REPORTED = {"train": 0.31, "test": 0.35}
"""Where the curves of Figure 1 end, read off."""
TOLERANCE = 0.03
ENOUGH = 1_000
"""With fewer passes there is nothing to compare: momentum has to gather first."""
MARGIN = 0.01
"""Test errors of one run each that lie no further apart tell nothing of momentum."""
ROWS, TRAINING, TEST = 67_557, 54_045, 13_512
UCI = {"win": 44_473, "loss": 16_635, "draw": 6_449}
"""What the data set's own description counts."""
SHIPPED = {"signed": "sewell", "unit": "sewell-unit"}
"""The networks that come with Fourlab, trained by the same settings for all 10,000 passes, by their labels."""


NOTED = 0.9
"""The share of passes that the document notes."""
Rows = Sequence[Mapping[str, Any]]
"""The metrics of a training."""


@dataclass(frozen=True)
class Trainings:
    """Trainings by their numbers, in run folders of their own, so that one that was stopped goes on."""

    folder: Path
    settings: tuple[Mapping[str, Any], ...]
    """What each changes of the document's."""

    def __call__(self, number: int) -> list[dict[str, Any]]:
        """The metrics of the whole training."""
        from fourlab.agents.value.settings import TRAINING
        from fourlab.agents.value.training import trainee_of
        from fourlab.jobs.runner import begin
        from fourlab.training.loop import read_metrics, train

        job = TRAINING.job({"preset": "sewell", **self.settings[number]})
        run = begin(job, self.folder, self.place(number))
        train(run, trainee_of(job.settings))
        return [{name: value for name, value in row.items() if name != "seconds"} for row in read_metrics(run)]

    def place(self, number: int) -> Path:
        """Where a training is kept, its network as value.onnx."""
        return self.folder / f"training-{number}"


def conduct(bench: Workbench) -> Iterator[Part]:
    """The data set's counts, the curves, and where they end."""
    yield from _counts(bench)
    epochs = bench.size["epochs"]
    settings = tuple({"momentum": momentum, "epochs": epochs, "seed": bench.seed} for momentum in (0.9, 0.0))
    trained = bench.repeat("trainings", Trainings(bench.folder.resolve(), settings), len(settings))
    with_momentum, without = trained
    yield from _ends(with_momentum[-1], epochs)
    yield _momentum(with_momentum, without)
    passes = f"All {EPOCHS:,} passes." if epochs == EPOCHS else f"Only {epochs:,} of the document's {EPOCHS:,} passes."
    passes += " Grey is where the document's curves end."
    yield Picture(
        "figure-1",
        "Figure 1 as the document draws it: the error while learning, labels -1, 0, 1, with momentum 0.9. Its axis counts notes,"
        f" and it notes nine passes of ten. {passes}",
        lambda: _figure_1(with_momentum),
        _data({"with momentum": with_momentum}),
    )
    kinds = {"with momentum": with_momentum, "without": without}
    told = f"The same by passes over the training positions, with momentum 0.9 and without. {passes}"
    yield Picture("momentum", told, lambda: _both(kinds), _data(kinds))


def _counts(bench: Workbench) -> Iterator[Finding]:
    """The data set made anew: how many positions of which result."""

    def count() -> dict[str, Any]:
        from fourlab.datasets import labels

        data = labels.uci8()
        return {"rows": len(data), **data.counts, "parts": [len(part) for part in labels.split(data)]}

    found = bench.calculate("data", count)
    yield Finding("rows of the data set, made anew", f"{ROWS:,}", f"{found['rows']:,}", agrees=found["rows"] == ROWS)
    told, ours = (", ".join(f"{counts[name]:,} {name}" for name in UCI) for counts in (UCI, found))
    yield Finding("their exact results for the first player", told, ours, truth=ours, agrees=told == ours)
    parts = f"{found['parts'][0]:,} and {found['parts'][1]:,}"
    yield Finding("to train with and to test", f"{TRAINING:,} and {TEST:,}", parts, agrees=found["parts"] == [TRAINING, TEST])


def _ends(last: Mapping[str, Any], epochs: int) -> Iterator[Finding]:
    """Figure 1's ends beside ours; a short training is completed by the network that comes with Fourlab."""
    from fourlab.nets.evaluator import load

    told = "the network that comes with Fourlab, trained by the same settings"
    about, why = (last, "") if epochs == EPOCHS else (load(SHIPPED["signed"]).network.about, told)
    for part, reported in REPORTED.items():
        ours = float(about[f"{part}_mse"])
        agrees = abs(ours - reported) <= TOLERANCE
        yield Finding(f"{part} error after {EPOCHS:,} passes", f"≈ {reported}", f"{ours:.3f}", agrees=agrees, why=why)


def _momentum(with_momentum: Rows, without: Rows) -> Finding:
    one, other = ([row[f"{part}_mse"] for part in REPORTED] for row in (with_momentum[-1], without[-1]))
    told = with_momentum[-1]["epochs"] >= ENOUGH and abs(one[1] - other[1]) > MARGIN
    return Finding(
        f"error after {with_momentum[-1]['epochs']:,} passes, with momentum and without",
        "seemed better with momentum",
        f"{one[0]:.3f} training, {one[1]:.3f} test; without {other[0]:.3f}, {other[1]:.3f}",
        agrees=one[1] < other[1] if told else None,
        why=f"one run each: judged by the test error, and only if it differs by more than {MARGIN} after {ENOUGH:,} passes",
    )


def _data(kinds: Mapping[str, Rows]) -> Table:
    names = ("train_mse", "test_mse")
    head = ("passes", *(f"{name}, {kind}" for kind in kinds for name in names))
    rows = (
        (together[0]["epochs"], *(round(row[name], 6) for row in together for name in names))
        for together in zip(*kinds.values(), strict=True)
    )
    return Table("", head, tuple(rows))


def _figure_1(rows: Rows) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    for place, part in enumerate(REPORTED):
        values = [row[f"{part}_mse"] for row in rows]
        axes.plot([NOTED * row["epochs"] for row in rows], values, color=COLOURS[place], label=f"{part} loss")
    _frame(axes, "iterations noted")
    return figure


def _both(kinds: Mapping[str, Rows]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    for place, (kind, rows) in enumerate(kinds.items()):
        for part, line in (("train", "-"), ("test", "--")):
            values = [row[f"{part}_mse"] for row in rows]
            axes.plot([row["epochs"] for row in rows], values, line, color=COLOURS[place], label=f"{part}, {kind}")
    _frame(axes, "passes over the training positions")
    return figure


def _frame(axes: "Axes", counted: str) -> None:
    for (part, end), line in zip(REPORTED.items(), ("-", "--"), strict=True):
        label = f"{part}, document after {EPOCHS:,} passes: {end}"
        axes.axhline(end, color="#888888", linestyle=line, linewidth=0.9, label=label)
    axes.set_xlabel(counted)
    axes.set_ylabel("mean squared error")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
