"""The results of a training, as Python gets them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fourlab import display
from fourlab.arena.tables import of_training
from fourlab.errors import UserError
from fourlab.jobs.result import RunResult
from fourlab.parsing import read_json
from fourlab.reporting.curves import Curve, number
from fourlab.terminal import in_one_line
from fourlab.training.loop import read_metrics

if TYPE_CHECKING:
    from fourlab.reporting.figures import Figure


@dataclass(frozen=True, repr=False)
class TrainingResult(RunResult):
    """A finished training: its product plays, its metrics show how it learned."""

    spec: str = field(default="")
    """The spec of the trained agent, for `make`, matches and every command."""

    @property
    def headline(self) -> str:
        """The result in one line."""
        return str(self.data["headline"])

    def __str__(self) -> str:
        data = in_one_line(self.data)
        return "\n".join([data["headline"], *data.get("lines", ())])

    def __repr__(self) -> str:
        return f"<TrainingResult {self.spec}: {self.headline}>"

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """One row per piece of work."""
        return read_metrics(self.folder)

    def to_pandas(self) -> display.DataFrame:
        """Return the metrics, one row per piece of work; nested ones are named `rules.score`."""
        return display.data_frame(dict(_flat(row)) for row in self.metrics)

    def plot(self) -> "Figure":
        """Draw the metrics against progress, as a matplotlib figure."""
        from fourlab.reporting.figures import in_notebooks, require, training

        require("plot()")
        about = read_json(self.run / "training.json")
        rows = self.metrics
        all_curves = (
            Curve(data["label"], tuple(data["names"]), data["logarithmic"])
            for data in about["curves"]
        )
        curves = [
            curve
            for curve in all_curves
            if any(number(row, name) is not None for row in rows for name in curve.names)
        ]
        if not curves:
            raise UserError(f"{self.run} has no metrics to draw")
        return in_notebooks(training(rows, about["unit"], curves))

    def _repr_html_(self) -> str:
        table = of_training(self.data)
        return "".join(
            [
                display.paragraph(self.headline),
                display.table(table.head, table.rows),
                display.paragraph(f"agent: {self.spec}"),
            ]
        )


def _flat(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
