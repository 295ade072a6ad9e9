"""Trainings as parts of experiments, stopped and resumed like those of `fourlab train`."""

import math
from pathlib import Path

from fourlab.jobs.run import Run
from fourlab.jobs.runner import begin
from fourlab.training.kind import TrainingJob
from fourlab.training.loop import train

ONE_TRAINING = "one trained network plays; another training may do otherwise, so no verdict"
"""Why a comparison has none: a single training cannot decide what networks of its kind do."""


def train_in(folder: Path, job: TrainingJob, until: float = math.inf) -> Run:
    """Train in a run folder until `until` units are done, and return the run.

    A training that was stopped, killed or left at an earlier mark resumes from its last
    checkpoint. Calling this again for the same mark changes nothing.
    """
    run = begin(job, folder.parent, folder)
    # No lock: the run of the whole study is locked already.
    train(run, job.trainee, lambda: job.trainee.done >= until)
    return run
