"""Options under the names that earlier versions gave them: specs, settings files, run folders."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourlab.agents import registry
from fourlab.agents.q.settings import TRAINING as Q
from fourlab.chess.job import ChessJob
from fourlab.chess.match import ChessMatch
from fourlab.chess.players import player
from fourlab.cli.train import TRAININGS
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC
from fourlab.jobs.job import Event, Session
from fourlab.jobs.renamed import RENAMED
from fourlab.jobs.run import Run
from fourlab.jobs.runner import begin, resume, work
from fourlab.jobs.seal import seal
from fourlab.options import aliases_of, as_data, options_of
from fourlab.web import players
from tests.in_process import run_in_process

SPECS = [
    ("mcts:tie=last", "mcts:ties=last"),
    ("mcts:final_tie=random", "mcts:final_ties=random"),
    ("mcts:solver=0", "mcts:proofs=0"),
    ("mcts:memory=3", "mcts:memory_mb=3"),
    ("guided:solver=0", "guided:proofs=0"),
    ("alphazero:proving=0", "alphazero:proofs=0"),
    ("minimax:tie=random", "minimax:ties=random"),
    ("perfect:choice=random", "perfect:ties=random"),
    ("perfect:megabytes=2", "perfect:memory_mb=2"),
    ("q:tie=random", "q:ties=random"),
    ("engine:cmd=true,megabytes=9", "engine:cmd=true,memory_mb=9"),
    ("kaggle:megabytes=9", "kaggle:memory_mb=9"),
    ("openspiel-mcts:solve=0", "openspiel-mcts:proofs=0"),
    # An old name overrides the value of a preset, too.
    ("bhat-mc40:tie=first", "bhat-mc40:ties=first"),
    ("arya-minimax:tie=random", "arya-minimax:ties=random"),
]


@pytest.mark.parametrize(("old", "new"), SPECS)
def test_an_old_name_makes_an_equal_agent(old: str, new: str) -> None:
    values = as_data(registry.make(old))
    assert values == as_data(registry.make(new))
    # The last option differs from its default, so the old name was not just ignored.
    *_, name = registry.parse_spec(new)[1]
    option = {option.name: option for option in registry.options_of(old.split(":")[0])}[name]
    assert values[name] != option.default


def test_every_alias_of_an_agent_is_tested_here() -> None:
    tested = {(registry.parse_spec(old)[0], alias) for old, _ in SPECS for alias in _options(old)}
    for name in registry.AGENTS:
        for alias in aliases_of(registry.options_of(name)):
            assert (name, alias) in tested


def _options(spec: str) -> dict[str, str]:
    return registry.parse_spec(spec)[1]


def test_a_spec_may_not_give_an_option_under_both_names() -> None:
    for make in (registry.make, lambda spec: players.make(spec, CLASSIC, 8)):
        with pytest.raises(UserError, match="'proofs' of agent 'mcts' is given twice"):
            make("mcts:solver=0,proofs=1")


def test_strangers_may_use_old_names_of_public_options_only() -> None:
    for old, new in (("mcts:solver=0,tie=last", "mcts:proofs=0,ties=last"),):
        assert players.make(old, CLASSIC, 8) == players.make(new, CLASSIC, 8)
    for spec in ("mcts:memory=3", "perfect:megabytes=3"):
        with pytest.raises(UserError, match="cannot be set here"):
            players.spec_of(spec)


def test_runs_are_read_under_the_current_names() -> None:
    declared = {
        f"train-{name}": aliases
        for name, training in TRAININGS.items()
        if (aliases := aliases_of(options_of(training.settings).values()))
    }
    assert declared == RENAMED


@pytest.fixture
def old_run(tmp_path: Path) -> Run:
    """A Q-learning that was stopped after its first block, in the files of an earlier version."""
    job = Q.job({**TINY, "ties": "first", "memory_mb": 5.0})
    run = begin(job, tmp_path / "runs")
    session = Session()

    def stop(event: Event) -> None:
        session.stop()

    session.subscribe(stop)
    assert work(job, run, session) is None
    for name in ("manifest.json", "config.toml"):
        file = run.folder / name
        text = file.read_text().replace("memory_mb", "memory").replace("ties", "tie")
        file.write_text(text)
    seal(run.folder)
    return Run(run.folder)


TINY: dict[str, Any] = {"board": "4x3x3", "games": 300, "block": 100, "exam_games": 0}


def test_a_run_of_an_earlier_version_is_found_again_and_keeps_its_identity(old_run: Run) -> None:
    for spelling in ({"ties": "first", "memory_mb": 5.0}, {"tie": "first", "memory": 5.0}):
        assert begin(Q.job({**TINY, **spelling}), old_run.folder.parent).folder == old_run.folder
    with pytest.raises(UserError, match="begun with ties = first, not random"):
        begin(Q.job({**TINY, "memory_mb": 5.0}), old_run.folder.parent, old_run.folder)


def test_a_run_of_an_earlier_version_is_resumed_with_its_settings(
    old_run: Run, tmp_path: Path
) -> None:
    assert resume(old_run) is not None
    job = Q.job({**TINY, "ties": "first", "memory_mb": 5.0})
    whole = begin(job, tmp_path / "whole")
    assert work(job, whole) is not None
    assert (old_run.folder / "table.q").read_bytes() == (whole.folder / "table.q").read_bytes()
    # The files stay as they were written.
    manifest = json.loads((old_run.folder / "manifest.json").read_text())
    assert manifest["config"]["tie"] == "first"


def test_planes_of_discs_keep_their_name_in_files() -> None:
    """Networks and runs call them stones."""
    for name in ("alphazero", "dqn", "value"):
        read = TRAININGS[name].read
        assert read({"features": "discs"}) == read({"features": "stones"})
        assert as_data(read({"features": "discs"}))["features"] == "stones"


def test_commands_and_settings_files_accept_old_names(tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text('tie = "first"\nmemory = 5.0\n')
    fixed = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    for spelling in (
        ["--ties=first", "--memory-mb=5"],
        ["--tie=first", "--memory=5"],
        ["--set=tie=first", "--set=memory=5.0"],
        ["--config=old.toml"],
        # What is typed overrides the file under either name.
        ["--config=old.toml", "--set=ties=random", "--tie=first"],
    ):
        completed = run_in_process(["train", "q", *fixed, *spelling], tmp_path)
        assert completed.returncode == 0, completed.stderr
    assert len(list((tmp_path / "runs").iterdir())) == 1
    usage = run_in_process(["train", "q", "--help"], tmp_path).stdout
    assert "--ties" in usage
    assert "--tie " not in usage


def test_the_old_name_of_aryas_player_stays_valid_in_runs() -> None:
    assert player("document") is player("arya")
    old = ChessMatch(("document", "random"), 2)
    # A run keeps the name that it was begun with, so that the same command finds it again.
    assert ChessJob(old).config["players"] == ["document", "random"]


@pytest.mark.parametrize("name", ["manifest.json", "config.toml"])
def test_a_run_may_not_have_a_setting_under_both_names(old_run: Run, name: str) -> None:
    file = old_run.folder / name
    old, both = {
        "manifest.json": ('"memory":', '"memory_mb": 9.0, "memory":'),
        "config.toml": ("memory =", "memory_mb = 9.0\nmemory ="),
    }[name]
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, both))
    before = {path: path.read_bytes() for path in old_run.folder.rglob("*") if path.is_file()}
    refused = run_in_process(["resume", str(old_run.folder)], old_run.folder)
    assert refused.returncode == 2
    assert "has memory_mb twice, as memory and memory_mb" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert before == {path: path.read_bytes() for path in before}
    listed = run_in_process(["runs", "--runs", str(old_run.folder.parent)], old_run.folder)
    assert listed.returncode == 0


def test_set_may_not_give_a_setting_under_both_names(tmp_path: Path) -> None:
    refused = run_in_process(
        ["train", "q", "--set", "memory=64", "--set", "memory_mb=128"], tmp_path
    )
    assert refused.returncode == 2
    assert refused.stderr == (
        "fourlab: option 'memory_mb' of --set is given twice, as memory and memory_mb\n"
    )
