"""Run a random part of published experiments again, and compare their claims and tables."""

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fourlab.errors import UserError
from fourlab.jobs.job import Session
from fourlab.jobs.run import Run
from fourlab.studies import made
from fourlab.studies.catalogue import SCALES, Experiment, all_experiments, title_of
from fourlab.studies.job import conduct, progress_of
from fourlab.studies.made import Made
from fourlab.studies.parts import Parts, stored
from fourlab.studies.publish import reports_in
from fourlab.studies.report import all_parts
from fourlab.studies.workbench import Stopped, Workbench

SHARE = 0.1
"""The part of the claims that is verified."""
TOLERANCE = 1e-9
"""Relative difference up to which numbers are equal: processors round sums differently."""
COMPARED = {
    *("value", "low", "high", "n", "sd", "counts"),
    *("answer", "p", "power", "difference"),
}
"""What is compared of a value or a verdict; the rest are words around it."""
BY_CLOCK = re.compile(r"\bseconds?\b|\bms\b")
"""Columns of tables that hold measured times, which differ from run to run."""
VERSIONS = ("reported", "faithful", "corrected", "exact", "reproduced", "true")


@dataclass(frozen=True)
class Sample:
    """A published experiment with its claims, and how they were made."""

    experiment: Experiment
    parts: Parts
    made: Made

    @property
    def cells(self) -> int:
        """The number of claims."""
        return len(_cells(self.parts))

    @property
    def seconds(self) -> float:
        """How long it takes on two cores, approximately."""
        return self.experiment.seconds[SCALES.index(self.made.scale)]


@dataclass(frozen=True)
class Plan:
    """What is verified, what is left out, and why."""

    samples: Sequence[Sample]
    left_out: Mapping[str, str]
    """The reason, by the name of the experiment."""
    cells: int
    """Claims of the folder that do not depend on the clock."""

    @property
    def covered(self) -> int:
        """Claims that are verified."""
        return sum(sample.cells for sample in self.samples)


@dataclass(frozen=True)
class Difference:
    """A value that came out differently."""

    experiment: str
    claim: str
    """Its name; the name of the file for a table."""
    field: str
    """The version and the name of the value: faithful.value; row and column of a table."""
    published: Any
    """None if it was not published."""
    ours: Any
    """None if the experiment gives no such value now."""

    def __str__(self) -> str:
        title = title_of(all_experiments()[self.experiment])
        return (
            f"{title}: {self.claim}: {self.field} is {_shown(self.ours)}, "
            f"published {_shown(self.published)}"
        )


def samples_in(folder: Path) -> list[Sample]:
    """Return the experiments of a folder of published reports, or of a run."""
    catalogue = all_experiments()
    if (folder / "work").is_dir() and (folder / "manifest.json").exists():
        run = Run(folder)
        return [
            Sample(catalogue[name], parts, made.of_experiment(run, catalogue[name]))
            for name, parts in all_parts(run).items()
        ]
    samples = [
        Sample(catalogue[name], parts, report.made[name])
        for report in reports_in(folder)
        for name, parts in report.parts.items()
    ]
    if not samples:
        raise UserError(f"{folder} has no published reports (fourlab study … --publish {folder})")
    return samples


def draw(samples: Sequence[Sample], seed: int, budget: float) -> Plan:
    """Draw experiments at random until they have a tenth of the claims.

    Those that depend on the clock cannot be repeated; `budget` limits the seconds of all others
    together, as the catalogue estimates them.
    """
    left_out: dict[str, str] = {}
    repeatable = []
    for sample in samples:
        if sample.experiment.clock or sample.made.by_clock:
            left_out[sample.experiment.name] = "depends on the clock"
        elif sample.cells:
            repeatable.append(sample)
    cells = sum(sample.cells for sample in repeatable)
    drawn: list[Sample] = []
    random.Random(seed).shuffle(repeatable)
    for sample in repeatable:
        if sum(one.cells for one in drawn) >= SHARE * cells:
            break
        left = budget - sum(one.seconds for one in drawn)
        if sample.seconds > left:
            left_out[sample.experiment.name] = (
                f"takes about {sample.seconds:,.0f} s, and {left:,.0f} s are left"
            )
            continue
        try:
            sample.experiment.check()
        except UserError as error:
            left_out[sample.experiment.name] = str(error)
            continue
        drawn.append(sample)
    return Plan(drawn, left_out, cells)


def rerun(sample: Sample, folder: Path, session: Session, title: str) -> list[Difference]:
    """Run an experiment again in an empty folder, and return the values that differ.

    Raises Stopped if the session is stopped.
    """
    experiment, how = sample.experiment, sample.made
    bench = Workbench(
        folder / experiment.name,
        how.scale,
        experiment.sizes[how.scale],
        how.seed,
        session.executor(keep_alive=True),
        progress_of(session, title),
        how.by_clock,
    )
    parts = [stored(experiment, part) for part in conduct(experiment, bench)]
    if session.stopped:
        raise Stopped
    # Through JSON, as the published ones.
    return list(differences(experiment.name, sample.parts, json.loads(json.dumps(parts))))


def differences(name: str, published: Parts, ours: Parts) -> Iterator[Difference]:
    """Compare the claims and tables of one experiment value for value."""
    before, now = _cells(published) | _tables(published), _cells(ours) | _tables(ours)
    for claim in dict.fromkeys([*before, *now]):
        old, new = before.get(claim, {}), now.get(claim, {})
        for field in dict.fromkeys([*old, *new]):
            if not _is_same(old.get(field), new.get(field)):
                yield Difference(name, claim, field, old.get(field), new.get(field))


def as_data(plan: Plan, differing: Sequence[Difference], seed: int) -> dict[str, Any]:
    """Return a verification as JSON data."""
    return {
        "seed": seed,
        "claims": plan.cells,
        "verified": plan.covered,
        "experiments": [sample.experiment.name for sample in plan.samples],
        "left_out": dict(plan.left_out),
        "differences": [asdict(one) for one in differing],
    }


def _cells(parts: Parts) -> dict[str, dict[str, Any]]:
    """Return the compared values of each claim, by its name."""
    cells: dict[str, dict[str, Any]] = {}
    for part in parts:
        if part["kind"] == "claim":
            cells[part["name"]] = {
                field: value
                for version in VERSIONS
                for field, value in _leaves(version, part[version])
            }
    return cells


def _tables(parts: Parts) -> dict[str, dict[str, Any]]:
    """Return the cells of each table, by the name of its file, except for measured times."""
    return {
        part["file"]: {
            f"{head} in row {number}": cell
            for number, row in enumerate(part["rows"], 1)
            for head, cell in zip(part["head"], row, strict=True)
            if not BY_CLOCK.search(head)
        }
        for part in parts
        if part["kind"] == "table"
    }


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the compared values of a version of a claim with their names."""
    if not isinstance(value, Mapping):
        # A statement, or None where there is no verdict.
        if value not in (None, ""):
            yield name, value
        return
    for field in value:
        if field not in COMPARED:
            continue
        if isinstance(value[field], Mapping):
            yield from ((f"{name}.{outcome}", count) for outcome, count in value[field].items())
        elif value[field] is not None:
            yield f"{name}.{field}", value[field]


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(one == other)


def _shown(value: Any) -> str:
    return "missing" if value is None else str(value)
