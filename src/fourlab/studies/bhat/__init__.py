"""Bhat's experiments: MC40 against MC200 on a 5x6 board, and Q-learning against MC25 and MC_n."""

from fourlab.studies.bhat import demos, exploration, schedules, table_5, table_8
from fourlab.studies.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    table_5.EXPERIMENT,
    exploration.EXPERIMENT,
    schedules.EXPERIMENT,
    table_8.EXPERIMENT,
    demos.EXPERIMENT,
)
