"""The document's learner: trained, examined, or replaced by a random player, on boards of five columns."""

from dataclasses import replace
from typing import Any

import numpy as np

from fourlab.agents.q.settings import QSettings, preset
from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import NEVER, Opposition, Progress, form_of, rule_of

ROWS = (2, 3, 4)
MC25: dict[str, Any] = {"against": ("bhat-mc25:c=2",)}
FAITHFUL_MC25: dict[str, Any] = {"against": ("bhat-mc25:c=2,faithful=1",), "passing": False}
"""With its fault B5; it has simulations, so it never passes."""
PUBLISHED_CODE: dict[str, Any] = {"epsilon_update": 0.0, "exam_exploring": False}
"""Other than the text, the published code does not raise epsilon and plays greedily after the training."""
Counts = tuple[int, int, int]
"""Games that the tree search won, that the learner won, and drawn."""


def settings_of(rows: int, faithful: bool, **changes: Any) -> QSettings:
    """The document's settings on a board of so many rows."""
    return replace(preset("bhat", faithful), board=f"5x{rows}x4", **changes)


def learn(settings: QSettings, seed: list[int]) -> tuple[QTable, Progress]:
    """Train until so many games are played, or won."""
    table, progress = QTable(form_of(settings)), Progress.new(settings.alpha, settings.epsilon, seed)
    wins = NEVER if settings.wins is None else settings.wins
    Opposition(settings.opponents, settings).play(table, rule_of(settings, learning=True), settings.games, wins, progress)
    return table, progress


def examine(settings: QSettings, table: QTable, epsilon: float, games: int, seed: list[int]) -> Counts:
    """Let the learner play its trainers without learning, with a chance of a random column."""
    progress = Progress.new(0.0, epsilon, seed)
    Opposition(settings.opponents, settings).play(table, rule_of(settings, learning=False), games, NEVER, progress)
    won, drawn, lost = (int(each) for each in progress.results)
    return lost, won, drawn


def random_player(settings: QSettings, games: int, seed: list[int]) -> Counts:
    """The same with a learner that knows nothing and plays any column."""
    return examine(settings, QTable(form_of(settings)), 1.0, games, seed)


def values_of(table: QTable) -> np.ndarray:
    """All values that a table has learned, float32[n]."""
    return table.entries()[1][:, 0]
