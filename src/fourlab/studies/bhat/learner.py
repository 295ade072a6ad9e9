"""Bhat's Q-learner on boards of five columns: training it, evaluating it, and a random stand-in."""

from dataclasses import replace
from typing import Any

from fourlab.agents.q.settings import QSettings, preset
from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import NEVER, Opponents, Progress, form_of, rule_of
from fourlab.studies.reported import reported

ROWS = (2, 3, 4)
PARAMETERS = ("epsilon", "alpha", "gamma")
PRINTED = {
    int(rows): tuple(float(reported("bhat-table-7")[name][place]) for name in PARAMETERS)
    for place, rows in enumerate(reported("bhat-table-7")["rows"])
}
"""By rows: epsilon, alpha and gamma in Tables 7 and 8."""
MC25: dict[str, Any] = {"against": ("bhat-mc25:c=2",)}
FAITHFUL_MC25: dict[str, Any] = {"against": ("bhat-mc25:c=2,faithful=1",), "passing": False}
"""With fault B5. Only MC0 passes, and MC25 has simulations."""
PUBLISHED_CODE: dict[str, Any] = {"epsilon_update": 0.0, "exam_exploring": False}
"""Unlike the text, the published code does not raise epsilon and plays greedily after training."""
Counts = tuple[int, int, int]
"""Games won by the tree search, games won by the learner, and draws."""


def settings_of(rows: int, faithful: bool, **changes: Any) -> QSettings:
    """Return the report's settings for a board with this many rows."""
    return replace(preset("bhat", faithful), board=f"5x{rows}x4", **changes)


def learn(settings: QSettings, seed: list[int]) -> tuple[QTable, Progress]:
    """Train until the settings' number of games is played or of wins is reached."""
    # Empty: a position that is not in the table has the settings' initial value.
    table = QTable(form_of(settings))
    progress = Progress.new(settings.alpha, settings.epsilon, seed)
    # The report trains to a number of wins, the corrected learner for a number of games.
    wins = NEVER if settings.wins is None else settings.wins
    Opponents(settings.opponents, settings).play(
        table, rule_of(settings, learning=True), settings.games, wins, progress
    )
    return table, progress


def evaluate(
    settings: QSettings, table: QTable, epsilon: float, games: int, seed: list[int]
) -> Counts:
    """Play the training opponents without learning, exploring with probability `epsilon`."""
    # Alpha is 0, so even an update would change nothing.
    progress = Progress.new(0.0, epsilon, seed)
    Opponents(settings.opponents, settings).play(
        table, rule_of(settings, learning=False), games, NEVER, progress
    )
    # Progress counts from the learner's point of view, Counts from its opponent's.
    won, drawn, lost = (int(count) for count in progress.results)
    return lost, won, drawn


def random_player(settings: QSettings, games: int, seed: list[int]) -> Counts:
    """Let a player that always moves at random take the learner's place."""
    return evaluate(settings, QTable(form_of(settings)), 1.0, games, seed)
