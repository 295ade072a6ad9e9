"""The adaptive level keeps a person near a score of 50 %."""

from pathlib import Path

import numpy as np
import pytest

from fourlab.agents.adaptive import FIRST, next_level, remember, remembered
from fourlab.agents.levels import LEVELS
from fourlab.arena.statistics import score_of
from fourlab.game.outcome import Result

GAMES = 4000


def play(strength: float, draws: float, games: int, seed: int) -> tuple[float, float]:
    """Let a person play whose Elo is `strength` above level 1; return mean level and score."""
    rng = np.random.default_rng(seed)
    level = FIRST
    points = 0.0
    passed = 0
    for _ in range(games):
        passed += level
        result = Result.DRAW
        if rng.random() >= draws:
            won = rng.random() < score_of(strength - 100 * (level - 1))
            result = Result.WIN if won else Result.LOSS
        points += (1 + result) / 2
        level = next_level(level, result)
    return passed / games, points / games


@pytest.mark.parametrize("draws", [0.0, 0.3])
@pytest.mark.parametrize("strength", [250, 450, 650])
def test_a_person_of_fixed_strength_scores_about_half(strength: float, draws: float) -> None:
    level, score = play(strength, draws, GAMES, seed=int(strength))
    assert score == pytest.approx(0.5, abs=0.03)
    assert level == pytest.approx(1 + strength / 100, abs=0.7)


def test_a_person_beyond_the_scale_plays_mostly_at_its_end() -> None:
    assert play(-400, 0, 500, seed=1)[0] < 1.2
    assert play(1400, 0, 500, seed=1)[0] > len(LEVELS) - 0.3


def test_the_level_rises_with_the_strength_of_the_person() -> None:
    levels = [play(strength, 0.05, 40, seed=int(strength))[0] for strength in (0, 400, 800)]
    assert levels == sorted(levels)


def test_a_win_leads_up_and_a_loss_down_within_the_levels() -> None:
    assert [next_level(5, result) for result in (Result.WIN, Result.DRAW, Result.LOSS)] == [6, 5, 4]
    assert next_level(len(LEVELS), Result.WIN) == len(LEVELS)
    assert next_level(1, Result.LOSS) == 1


def test_the_level_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert remembered() == FIRST
    remember(7)
    assert remembered() == 7
    file = tmp_path / "fourlab" / "adaptive.json"
    for content in ("", "[]", '{"level": 0}', '{"level": true}', '{"level": "9"}', '{"level": 99}'):
        file.write_text(content)
        assert remembered() == FIRST


def test_without_a_place_to_store_it_the_level_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fourlab").write_text("a file, not a folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    remember(7)
    assert remembered() == FIRST
