"""Document 004's experiments."""

from fourlab.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
