"""Replication of the experiments in Arya's thesis."""

from fourlab.studies.arya import alpha, chess, evaluator, matches, speed
from fourlab.studies.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    *matches.EXPERIMENTS,
    *alpha.EXPERIMENTS,
    *evaluator.EXPERIMENTS,
    *speed.EXPERIMENTS,
    *chess.EXPERIMENTS,
)
