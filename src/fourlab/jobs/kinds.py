"""Every kind of job, and the way back from a run folder to its job."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from fourlab.errors import UserError
from fourlab.jobs.job import Job
from fourlab.jobs.run import Run

KINDS = {
    "book": "fourlab.solver.build:read_job",
    "chess": "fourlab.chess.job:read_job",
    "dataset": "fourlab.datasets.job:read_job",
    "match": "fourlab.arena.job:read_job",
    "reproduce": "fourlab.studies.job:read_job",
    "tournament": "fourlab.arena.job:read_job",
    "train-alphazero": "fourlab.agents.alphazero.settings:TRAINING.read_job",
    "train-dqn": "fourlab.agents.dqn.settings:TRAINING.read_job",
    "train-q": "fourlab.agents.q.settings:TRAINING.read_job",
    "train-value": "fourlab.agents.value.settings:TRAINING.read_job",
}
"""The kind of a run to the function that makes its job from the configuration.

By import string, since jobs are at the bottom and subjects above: listing runs loads no torch.
"""


def job_of(run: Run) -> Job:
    """The job that a run folder belongs to."""
    kind = run.config.get("kind")
    if kind not in KINDS:
        raise UserError(f"{run.folder} is a run of kind {kind!r}, which this version does not know")
    read: Callable[[Mapping[str, Any]], Job] = _imported(KINDS[kind])
    return read(run.config)


def _imported(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = import_module(module)
    for attribute in path.split("."):
        found = getattr(found, attribute)
    return found
