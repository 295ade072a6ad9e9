"""The results of a study, as Python gets them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourlab import display
from fourlab.errors import UserError
from fourlab.jobs.result import RunResult
from fourlab.studies import findings
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.claims import Claim
from fourlab.studies.forest import draw, numbers_of
from fourlab.studies.parts import claims_of
from fourlab.studies.report import home_of
from fourlab.terminal import in_one_line

if TYPE_CHECKING:
    from fourlab.reporting.figures import Figure


@dataclass(frozen=True, repr=False)
class StudyResult(RunResult):
    """Claims of a report beside our values, with verdicts."""

    def __str__(self) -> str:
        return "\n".join(findings.in_words(in_one_line(self.data)))

    def __repr__(self) -> str:
        return f"<StudyResult {'; '.join(map(findings.title, self.data['experiments']))}>"

    @property
    def claims(self) -> dict[str, list[Claim]]:
        """The claims of every experiment, by its title."""
        return {
            findings.title(name): claims_of(parts)
            for name, parts in self.data["experiments"].items()
        }

    @property
    def figures(self) -> list[Path]:
        """The SVG files of the experiments' figures; none without matplotlib."""
        files = []
        for name, parts in self.data["experiments"].items():
            folder = home_of(self.folder, all_experiments()[name].document) / "figures"
            files += [folder / f"{part['file']}.svg" for part in parts if part["kind"] == "picture"]
        return [file for file in files if file.exists()]

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "experiment": title,
                "claim": claim.quantity,
                **{version: _labelled(claim, version) for version in claim.versions()},
                **{question: str(verdict) for question, verdict in claim.verdicts().items()},
            }
            for title, claims in self.claims.items()
            for claim in claims
        ]

    def to_pandas(self) -> display.DataFrame:
        """Return one row per claim: reported and our values, and the verdicts."""
        return display.data_frame(self._rows())

    def plot(self) -> "Figure":
        """Draw the claims that are shares with their intervals, as a matplotlib figure."""
        from fourlab.reporting.figures import in_notebooks, require

        require("plot()")
        claims = [
            claim for group in self.claims.values() for claim in group if numbers_of(claim, "%")
        ]
        if not claims:
            raise UserError("no claim of this study is a share; see `figures`, its SVG files")
        return in_notebooks(draw(claims))

    def _repr_html_(self) -> str:
        head = ("experiment", "claim", "reported", "faithful", "corrected", "exact", "reproduced")
        rows = [tuple(row.get(name, "") for name in head) for row in self._rows()]
        return display.preformatted(self) + display.table(head, rows)


def _labelled(claim: Claim, version: str) -> str:
    """Return a value, with what it is where the name of its column says something else."""
    value = str(claim.versions()[version])
    return f"{claim.labels[version]}: {value}" if version in claim.labels else value
