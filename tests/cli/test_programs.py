"""Programs that a file names run only with --allow-programs; typed ones run."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab import UserError
from fourlab.jobs.job import Conduct, Session
from fourlab.jobs.run import Run
from fourlab.jobs.runner import resume
from fourlab.jobs.seal import SEAL_FILE
from tests.cli.interrupted import resume_arguments, stopped_by_ctrl_c

Command = Callable[..., subprocess.CompletedProcess[str]]

PROGRAM = """
import pathlib
pathlib.Path({witness!r}).touch()
def agent(observation, configuration):
    return observation.board.index(0)
"""


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    """A file that exists once the program of a test has run."""
    file = tmp_path / "witness"
    (tmp_path / "main.py").write_text(PROGRAM.format(witness=str(file)))
    return file


@pytest.fixture
def engine(witness: Path, tmp_path: Path) -> str:
    """The spec of an engine that leaves the witness."""
    code = f"import pathlib; pathlib.Path({str(witness)!r}).touch()"
    (tmp_path / "engine.py").write_text(code)
    return f'engine:cmd="{shlex.quote(sys.executable)} engine.py"'


def plant(folder: Path, spec: str) -> None:
    """Replace the first agent in a run folder, as somebody who sends one could."""
    (folder / SEAL_FILE).unlink()
    for file in ("manifest.json", "config.toml"):
        text = (folder / file).read_text()
        quoted = json.dumps(spec)
        text = text.replace('"spec": "random"', f'"spec": {quoted}')
        text = text.replace('spec = "random"', f"spec = {quoted}")
        (folder / file).write_text(text)
    assert spec.partition(":")[0] in (folder / "manifest.json").read_text()


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def refused(done: subprocess.CompletedProcess[str], program: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fourlab: ")
    assert f"names the program {program!r}; add --allow-programs" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_foreign_run_is_not_resumed_unasked(
    fourlab: Command, small_match: Path, witness: Path
) -> None:
    plant(small_match, "kaggle:file=main.py")
    before = contents(small_match)
    refused(fourlab("resume", "last", "--games", "4", "--workers", "1"), "main.py")
    refused(fourlab("resume", "last"), "main.py")
    assert not witness.exists()
    assert contents(small_match) == before
    with pytest.raises(UserError, match=r"names the program 'main\.py'"):
        resume(Run(small_match), Session(Conduct(workers=1)))
    assert not witness.exists()


def test_with_the_option_it_is_resumed(fourlab: Command, small_match: Path, witness: Path) -> None:
    plant(small_match, "kaggle:file=main.py")
    done = fourlab(
        *("resume", "last", "--games", "4", "--workers", "1", "--quiet", "--allow-programs")
    )
    assert done.returncode == 0, done.stderr
    assert witness.exists()


def test_a_game_is_not_played_again_by_a_program_unasked(
    fourlab: Command, small_match: Path, engine: str, witness: Path
) -> None:
    plant(small_match, engine)
    done = fourlab("games", "last", "0", "--again")
    assert done.returncode == 2
    assert "names the program" in done.stderr
    assert not witness.exists()
    assert fourlab("games", "last", "0", "--again", "--allow-programs").returncode == 1
    assert witness.exists()


def test_a_tournament_file_with_a_program_needs_the_option(
    fourlab: Command, tmp_path: Path, witness: Path
) -> None:
    file = tmp_path / "t.toml"
    file.write_text('rounds = 1\nagents = ["random", {spec = "kaggle:agent=main.py", name = "x"}]')
    command = ("tournament", "t.toml", "--workers", "1", "--quiet")
    refused(fourlab(*command), "main.py")
    assert not witness.exists()
    assert not (tmp_path / "runs").exists()
    assert fourlab(*command, "--allow-programs").returncode == 0
    assert witness.exists()


def test_a_tournament_file_with_a_cluster_needs_the_option(
    fourlab: Command, tmp_path: Path
) -> None:
    file = tmp_path / "t.toml"
    file.write_text('agents = ["random", "rules"]\nexecutor = "ray"\naddress = "ray://far.away:1"')
    done = fourlab("tournament", "t.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "t.toml names the cluster 'ray://far.away:1'; use --address, or add" in done.stderr


def test_a_settings_file_with_a_program_needs_the_option(
    fourlab: Command, tmp_path: Path, witness: Path
) -> None:
    (tmp_path / "s.toml").write_text('against = ["self", "kaggle:file=main.py"]\n')
    for training in ("q", "dqn"):
        command = ("train", training, "--config", "s.toml", "--board", "4x4x3")
        refused(fourlab(*command), "main.py")
    assert not witness.exists()
    # What is typed replaces the file's setting, so no program is left in it.
    command = ("train", "q", "--config", "s.toml", "--target", "best")
    done = fourlab(*command, "--set", 'against=["nobody"]')
    assert "there is no agent 'nobody'" in done.stderr


def test_typed_programs_run_and_a_run_that_exists_is_continued(
    fourlab: Command, tmp_path: Path, witness: Path
) -> None:
    command = ("match", "kaggle:file=main.py", "random", "--workers", "1", "--quiet")
    assert fourlab(*command, "--games", "2").returncode == 0
    assert witness.exists()
    witness.unlink()
    assert fourlab(*command, "--games", "4").returncode == 0
    assert witness.exists()


def test_a_match_does_not_take_agents_from_a_run_that_it_finds(
    fourlab: Command, small_match: Path, witness: Path
) -> None:
    plant(small_match, "kaggle:file=main.py")
    done = fourlab("match", "random", "rules", "--games", "4", "--run", str(small_match))
    assert done.returncode == 2
    assert "was begun with agents.0.spec = kaggle:file=main.py, not random" in done.stderr
    assert not witness.exists()


def test_the_resume_command_of_a_run_with_programs_has_the_option(
    fourlab: Command, tmp_path: Path, witness: Path
) -> None:
    command = ["match", "kaggle:file=main.py", "random", "--games", "4", "--workers", "1"]
    printed = stopped_by_ctrl_c(tmp_path, [*command, "--run", "stopped"], "event", 2)
    arguments = resume_arguments(printed)
    assert arguments == ["resume", "stopped", "--workers", "1", "--allow-programs"]
    assert fourlab(*arguments, "--quiet").returncode == 0
