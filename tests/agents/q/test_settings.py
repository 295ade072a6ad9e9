"""Settings of Q-learning: presets, ranges of agents and checks."""

import re
from dataclasses import replace

import pytest

from fourlab import UserError
from fourlab.agents.q.settings import FAITHFUL, PRESETS, QSettings, expand, preset


def test_a_range_of_agents_is_expanded() -> None:
    assert expand("bhat-mc{8..11}:c=2") == [
        "bhat-mc8:c=2",
        "bhat-mc9:c=2",
        "bhat-mc10:c=2",
        "bhat-mc11:c=2",
    ]
    assert expand("rules") == ["rules"]
    for wrong in ("mc{1..}", "mc{3..1}", "mc{1-3}", "mc{0..1000}"):
        with pytest.raises(UserError, match="a range"):
            expand(wrong)


def test_presets_are_those_of_the_reports() -> None:
    bhat, text = preset("bhat"), preset("bhat", faithful=True)
    assert (bhat.win, bhat.draw, bhat.loss, bhat.initial, bhat.seat) == (2, 0.5, -2, 1, "second")
    assert (bhat.alpha_update, text.alpha_update) == (1, 0.5)
    assert (text.epsilon_update, text.passing, text.wins) == (0.01, True, 10_000)
    assert len(bhat.opponents) == 26
    arya = preset("arya", faithful=True)
    assert (arya.alpha, arya.gamma, arya.epsilon, arya.epsilon_decay, arya.games) == (
        0.01,
        0.99,
        0.1,
        0.9995,
        3_000_000,
    )
    assert (arya.form, arya.board, arya.epsilon_least) == ("state-action", "7x6x4", 0)
    assert preset("arya").epsilon_least == 0.1
    assert set(FAITHFUL) < set(PRESETS)


def test_only_presets_of_reports_can_be_faithful() -> None:
    with pytest.raises(UserError, match="nothing to be faithful to"):
        preset("self-play", faithful=True)
    with pytest.raises(
        UserError, match="there is no preset 'bhatt'; presets are self-play, bhat, arya"
    ):
        preset("bhatt")


def test_evaluations_use_the_training_opponents_or_a_random_player() -> None:
    assert QSettings().exam_opponents == ("random",)
    assert replace(QSettings(target="best"), against=("self", "rules")).exam_opponents == ("rules",)
    assert QSettings(exam_against=("bhat-mc{1..2}",)).exam_opponents == ("bhat-mc1", "bhat-mc2")


@pytest.mark.parametrize(
    ("changed", "seats"),
    [
        ({}, ("first", "second")),
        ({"target": "best", "against": ("random",)}, ("first", "second")),
        ({"target": "best", "against": ("random",), "seat": "first"}, ("first",)),
        ({"target": "best", "against": ("random", "self"), "seat": "first"}, ("first", "second")),
    ],
)
def test_the_learner_is_trained_in_the_seats_it_plays(
    changed: dict[str, object], seats: tuple[str, ...]
) -> None:
    assert QSettings(**changed).seats == seats  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"board": "5"}, "a board is written"),
        ({"alpha": 1.5}, "alpha must be a number from 0 to 1, not 1.5"),
        ({"gamma": float("nan")}, "gamma must be a number"),
        ({"epsilon_update": -0.1}, "epsilon_update must be a number from 0 to 1"),
        ({"games": 0}, "games must be a whole number from 1 to"),
        ({"wins": 0}, "wins must be a whole number from 1 to"),
        ({"form": "afterthought"}, "form must be afterstate or state-action, not 'afterthought'"),
        ({"ties": "last"}, "ties must be first or random"),
        ({"win": -1.0}, "a win must be worth more than a loss"),
        ({"against": ()}, "against needs at least one opponent"),
        ({"exam_against": ("self",)}, "exam_against must name other agents, not self"),
        ({"draw": 0.5}, "the target negamax needs self-play with zero-sum rewards"),
        ({"against": ("random",)}, "the target negamax needs self-play"),
        ({"against": ("random",)}, "for anything else use --target best"),
        ({"win": 1e39, "loss": -1e39}, "win must be a number from -1e+30 to 1e+30, not 1e+39"),
        ({"initial": -1e31}, "initial must be a number from -1e+30"),
        ({"memory_mb": -1.0}, "memory_mb must be a number from 0 to"),
    ],
)
def test_inconsistent_settings_are_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        QSettings(**changed)  # type: ignore[arg-type]
