"""Whole numbers may be written as people say them: 10k, 2M, 1e6."""

import json
import subprocess
from collections.abc import Callable

import pytest

from fourlab.agents.q.settings import QSettings
from fourlab.arena.match import read_bounds
from fourlab.errors import UserError
from fourlab.options import changed, from_texts, read_assignment, whole_number

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("-3", -3),
        ("1_000", 1000),
        ("10k", 10_000),
        ("10K", 10_000),
        ("1.5k", 1500),
        ("2M", 2_000_000),
        ("2m", 2_000_000),
        ("1G", 10**9),
        ("1e6", 1_000_000),
        ("1E6", 1_000_000),
        ("2.5e3", 2500),
        ("1e2k", 100_000),
        (" 7 ", 7),
        ("3.0", 3),
    ],
)
def test_short_forms_are_read_exactly(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    "text",
    ["1.5", "1e-3", "0.0001k", "k", "", "ten", "1e999999999", "nan", "inf", "1kk", "9" * 5000],
)
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        whole_number(text)


def test_specs_limits_and_settings_accept_them() -> None:
    assert from_texts(QSettings, {"games": "10k"}, "test") == {"games": 10_000}
    assert read_bounds("nodes=2k, seconds=0.5") == {"nodes": 2000, "seconds": 0.5}
    for written in ("games=10k", "games=1e4", "games=10_000"):
        settings = changed(QSettings(), read_assignment(written), "test")
        assert settings.games == 10_000
        assert isinstance(settings.games, int)
    with pytest.raises(UserError, match=r"games must be a whole number .*, not 1\.5"):
        changed(QSettings(), read_assignment("games=1.5"), "test")


def test_options_and_arguments_of_commands_accept_them(fourlab: Run) -> None:
    counted = json.loads(fourlab("perft", "0.3e1", "--json").stdout)
    assert (counted["depth"], counted["count"]) == (3, 343)
    assert fourlab("stats", "wilson", "1k", "2k").stdout.startswith("1000 of 2000: 50.0 %")
    assert "games           6000" in fourlab("stats", "elo", "1k", "2k", "3k").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("match", "random", "rules", "--games", "1.5"), "--games must be a whole number"),
        (("perft", "1.5"), "DEPTH must be a whole number of at least 0, not '1.5'"),
        (("analyze", "44", "--simulations", "1.5"), "--simulations must be a whole number"),
        (("resume", "last", "--games", "0"), "--games must be a whole number of at least 1"),
        (("match", "mcts:simulations=1.5", "rules"), "simulations of agent 'mcts' must be a whole"),
    ],
)
def test_fractions_are_refused_by_name(fourlab: Run, words: tuple[str, ...], message: str) -> None:
    done = fourlab(*words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
