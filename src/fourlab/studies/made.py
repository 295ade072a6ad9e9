"""How the results of an experiment were made: scale, seed, commit, date, versions."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.jobs.run import Run, environment
from fourlab.studies.catalogue import SCALES, Experiment, title_of
from fourlab.studies.workbench import read_json

HOUR = 3600.0
"""Time on two cores for the experiments of a report at full scale; the rest is at quick scale."""
MADE = "made.json"
"""The file in an experiment's work folder that says when and by which program it was done."""


@dataclass(frozen=True)
class Made:
    """How the results of one experiment were made."""

    scale: str
    seed: int
    by_clock: bool = False
    """Whether Arya's searches had the thesis's seconds per move."""
    created: str = ""
    """When they were complete, as ISO 8601; empty on the pages of a run, which is not published."""
    commit: str | None = None
    """The commit of the source; None outside a checkout."""
    machine: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of Python and packages."""
    judged: str = ""
    """When verdicts and words were written again from the stored numbers; empty if never."""
    judged_commit: str | None = None
    """The commit that did so."""
    why_not_full: str = ""
    """Why the scale is not full, as a clause; empty at full scale."""

    @property
    def day(self) -> str:
        """The date of `created`."""
        return self.created[:10]

    @property
    def judged_by(self) -> str:
        """The commit and the date of `judged`; empty if the run itself gave the verdicts."""
        return f"{self.judged_commit or '–'}, {self.judged[:10]}" if self.judged else ""

    def command(self, experiment: Experiment) -> str:
        """Return the command that makes the same results."""
        seed = f" --seed {self.seed}" if self.seed else ""
        clock = " --time" if self.by_clock else ""
        return f"fourlab study {title_of(experiment)} --scale {self.scale}{seed}{clock}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data, from which `from_json` restores this."""
        return asdict(self)


def of_run(run: Run) -> Made:
    """Return what all experiments of a run have in common."""
    config = run.config
    return Made(config["scale"], config["seed"], bool(config.get("time", False)))


def record(run: Run, name: str, worked: bool = True) -> None:
    """Put on record when and by which program an experiment of a run was completed.

    `worked` tells whether anything was computed. If not, the numbers are those of an earlier
    program, which stays on record; this one has only judged them again.
    """
    file = run.folder / "work" / name / MADE
    now = environment()
    if file.exists() and not worked:
        before = read_json(file, dict)
        program = ("commit", "versions")
        if all(before.get(name) == now[name] for name in program):
            return
        now = {**before, "judged": now["created"], "judged_commit": now["commit"]}
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps(now).encode())


def of_experiment(run: Run, experiment: Experiment) -> Made:
    """Return how an experiment of a run was made."""
    file = run.folder / "work" / experiment.name / MADE
    # Older versions recorded only how the run began.
    made = read_json(file, dict) if file.exists() else run.manifest
    common = of_run(run)
    return from_json(
        {
            **common.as_json(),
            **{name: made.get(name) for name in ("created", "commit", "machine", "versions")},
            "judged": made.get("judged", ""),
            "judged_commit": made.get("judged_commit"),
            "why_not_full": why_not_full(experiment, common.scale),
        }
    )


def why_not_full(experiment: Experiment, scale: str) -> str:
    """Return why results are not of full scale, as a clause; empty if they are."""
    if scale == "full" or experiment.sizes[scale] == experiment.sizes["full"]:
        return ""
    duration = in_words(experiment.seconds[SCALES.index("full")])
    if scale == "quick" and experiment.quick:
        return f"{experiment.quick} (full scale: {duration})"
    return f"full scale takes {duration} and was not run"


def in_words(seconds: float) -> str:
    """Return an approximate duration: "about 12 minutes", "about 3 hours"."""
    # Minutes up to an hour and a half: "about 1 hour" could be less than an hour.
    if seconds < 1.5 * HOUR:
        return f"about {_counted(seconds / 60, 'minute')}"
    return f"about {_counted(seconds / HOUR, 'hour')}"


def _counted(number: float, noun: str) -> str:
    """Return a number, at least 1, with its noun: 1 hour, 2 hours."""
    whole = max(1, round(number))
    return f"{whole} {noun}" if whole == 1 else f"{whole} {noun}s"


def from_json(stored: Any) -> Made:
    """Return what `as_json` wrote; raise UserError if it is something else."""
    try:
        made = Made(**stored)
        texts = [made.scale, made.created, made.machine, made.why_not_full, made.commit or ""]
        texts += [made.judged, made.judged_commit or ""]
        texts += [*made.versions, *made.versions.values()]
        is_sound = made.scale in SCALES and type(made.seed) is int and made.seed >= 0
    except (AttributeError, TypeError):
        is_sound = False
    if not is_sound or not all(isinstance(text, str) for text in texts):
        raise UserError("it does not say how an experiment was made")
    return made
