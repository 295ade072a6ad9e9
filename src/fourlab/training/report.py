"""The report of a training run: results, curves, last metrics and configuration on one page."""

from functools import partial
from html import escape
from typing import Any

from fourlab.arena import tables
from fourlab.jobs.run import Run
from fourlab.reporting import figures
from fourlab.reporting.curves import number
from fourlab.reporting.page import how_it_was_made, inline_figures, page, table
from fourlab.training.loop import Trainee, read_metrics


def write_training_report(run: Run, trainee: Trainee, results: dict[str, Any] | None) -> None:
    """Write report.html and, if matplotlib is installed, figures/training.svg.

    `results` is None if the training is not finished.
    """
    rows = read_metrics(run)
    parts = [f"<h1>{escape(run.name)}</h1>", *_outcome(trainee, results)]
    curves = [
        curve
        for curve in trainee.curves
        if any(number(row, name) is not None for row in rows for name in curve.names)
    ]
    if curves:
        draw = partial(figures.training, rows, trainee.unit, curves)
        parts += inline_figures(run.folder / "figures", [("training", draw)]).values()
    if rows:
        last = tables.named_values("The last row of metrics", rows[-1])
        parts += [f"<h2>{last.title}</h2>", table(last.head, last.rows)]
    run.write("report.html", page(run.name, [*parts, *how_it_was_made(run)]))


def _outcome(trainee: Trainee, results: dict[str, Any] | None) -> list[str]:
    if results is None:
        progress = f"{trainee.done:,} of {trainee.total:,} {escape(trainee.unit)}"
        return [f'<p class="lead">Stopped after {progress}.</p>']
    outcome = tables.of_training(results)
    lead = f'<p class="lead">{escape(results["headline"])}</p>'
    return [lead, table(outcome.head, outcome.rows)]
