"""Document 004's experiments."""

from fourlab.experiments.document_004 import alpha, chess, evaluator, matches, speed
from fourlab.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    *matches.EXPERIMENTS,
    *alpha.EXPERIMENTS,
    *evaluator.EXPERIMENTS,
    *speed.EXPERIMENTS,
    *chess.EXPERIMENTS,
)
