"""The kinds of jobs, and the way back from a run folder to its job."""

from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from fourlab.errors import UserError
from fourlab.jobs.job import Job
from fourlab.jobs.links import refuse_links
from fourlab.jobs.products import with_product
from fourlab.jobs.run import Run

KINDS = {
    "book": "fourlab.solver.build:read_job",
    "chess": "fourlab.chess.job:read_job",
    "dataset": "fourlab.datasets.job:read_job",
    "match": "fourlab.arena.job:read_job",
    "replies": "fourlab.bridges.kaggle.replies_job:read_job",
    "reproduce": "fourlab.studies.job:read_job",
    "tournament": "fourlab.arena.job:read_job",
    "train-alphazero": "fourlab.agents.alphazero.settings:TRAINING.read_job",
    "train-dqn": "fourlab.agents.dqn.settings:TRAINING.read_job",
    "train-patterns": "fourlab.agents.patterns.settings:TRAINING.read_job",
    "train-q": "fourlab.agents.q.settings:TRAINING.read_job",
    "train-value": "fourlab.agents.value.settings:TRAINING.read_job",
}
"""The function that makes a job from its configuration, by kind, as MODULE:ATTRIBUTE.

These are strings because this package is below the packages that define the jobs. They also
keep the list of runs fast: it imports no torch.
"""


def job_of(run: Run, allow_programs: bool = False, product: Path | None = None) -> Job:
    """Return the job of a run folder, which may come from somebody else.

    Raises UserError if the folder names programs that are not allowed, has links to elsewhere, or
    names a product that the user did not. `product` is the file to write instead.
    """
    refuse_links(run.folder)
    kind = run.config.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UserError(f"{run.folder} is a run of kind {kind!r}, which this version does not know")
    # The registry of agents is above this layer.
    refuse_programs = import_module("fourlab.agents.programs").refuse_programs
    refuse_programs(run.config, run.folder, allow_programs)
    module, _, attribute = KINDS[kind].partition(":")
    read_job: Callable[[Mapping[str, Any]], Job] = attrgetter(attribute)(import_module(module))
    try:
        job = read_job(run.config)
    except UserError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The configuration is not one that this version writes.
        raise UserError(
            f"the configuration of {run.folder} is not one that Fourlab writes "
            f"({type(error).__name__}: {error})"
        ) from None
    return with_product(job, run.folder, product)
