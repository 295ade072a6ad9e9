"""Commands generated from settings: every setting is an option, and errors name its range."""

import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from fourlab.arena.match import MatchSettings
from fourlab.cli.train import TRAININGS, _command
from tests.conftest import Result


@pytest.mark.parametrize("name", TRAININGS)
def test_every_setting_is_an_option_that_changes_the_preset(name: str) -> None:
    options = inspect.signature(_command(TRAININGS[name])).parameters
    for field in fields(TRAININGS[name].settings):
        if field.name != "faithful":  # selects a variant of the preset
            assert options[field.name].default is None


@pytest.mark.parametrize("name", TRAININGS)
def test_settings_are_listed_with_range_and_help(name: str, fourlab: Callable[..., Result]) -> None:
    shown = fourlab("settings", name)
    assert shown.returncode == 0, shown.stderr
    for field in fields(TRAININGS[name].settings):
        assert f"\n{field.name} = " in shown.stdout
    data = json.loads(fourlab("settings", name, "--json").stdout)
    assert set(data["schema"]["properties"]) == {
        field.name for field in fields(TRAININGS[name].settings)
    }
    assert list(data["presets"]) == list(TRAININGS[name].presets)


def test_settings_shows_the_values_of_a_preset(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    bhat = fourlab("settings", "q", "--preset", "bhat").stdout
    assert "win = 2.0  (a number from -1e+30 to 1e+30)" in bhat
    assert "alpha_update = 0.5" in fourlab("settings", "q", "--preset", "bhat", "--faithful").stdout
    assert fourlab("settings").stdout.count("\n") == len(TRAININGS)
    done = fourlab("settings", "sarsa")
    assert (done.returncode, done.stderr.splitlines()) == (
        2,
        ["fourlab: there is no training 'sarsa'; trainings are alphazero, dqn, patterns, q, value"],
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--games", "0"], "--games must be a whole number from 1 to 100,000,000, not '0'"),
        (["--games", "many"], "--games must be a whole number from 1 to 100,000,000, not 'many'"),
        (["--grace", "-1"], "--grace must be a number from 0 to 86,400, not '-1'"),
        (["--starts", "never"], "--starts must be alternate or fixed, not 'never'"),
        (["--sprt-model", "x"], "--sprt-model must be normalized or logistic, not 'x'"),
    ],
)
def test_an_option_out_of_range_is_refused_in_one_line(
    arguments: list[str], why: str, fourlab: Callable[..., Result]
) -> None:
    done = fourlab("match", "random", "rules", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"fourlab: {why}\n"


def test_a_command_shows_defaults_of_settings_in_its_help(fourlab: Callable[..., Result]) -> None:
    words = " ".join(fourlab("match", "--help").stdout.split())
    for field in fields(MatchSettings):
        assert f"--{field.name.replace('_', '-')}" in words
    assert "[default: random:4]" in words


def test_a_training_takes_its_settings_from_a_file_then_from_options(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(
        'preset = "bhat"\nboard = "4x3x3"\ngames = 200\nblock = 100\nexam_games = 10\n'
    )
    command = [
        "train",
        "q",
        "--config",
        "mine.toml",
        "--set",
        'against=["random"]',
        "--games",
        "100",
        "--quiet",
    ]
    done = fourlab(*command, "--run", "one")
    assert done.returncode == 0, done.stderr
    config = json.loads((tmp_path / "one" / "manifest.json").read_text())["config"]
    assert (config["games"], config["against"], config["gamma"], config["board"]) == (
        100,
        ["random"],
        0.9,
        "4x3x3",
    )
