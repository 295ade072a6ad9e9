"""What a run found, as Python gets it: data, words, and where the run is."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fourlab.jobs.run import Run


@dataclass(frozen=True)
class RunResult:
    """The results of a run; `run` is its folder, with the report and all data."""

    run: Path
    """The run folder. The same call with `run=` this folder resumes or extends the run."""
    data: dict[str, Any] = field(repr=False)
    """Everything that results.json has."""

    def to_dict(self) -> dict[str, Any]:
        """Return the run folder and the results as JSON data, as commands print with --json."""
        return {"run": str(self.run), **self.data}

    @property
    def report(self) -> Path:
        """The report, an HTML page."""
        return self.folder.report_file

    @cached_property
    def folder(self) -> Run:
        """The run folder with its configuration and manifest."""
        return Run(self.run)
