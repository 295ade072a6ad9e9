"""Runs that several tests read: made once per session, copied for every test."""

import shutil
from pathlib import Path

import pytest

from tests.in_process import run_in_process


@pytest.fixture(scope="session")
def _match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("match")
    command = ("match", "random", "rules", "--games", "2", "--workers", "1", "--quiet")
    done = run_in_process(command, folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture
def small_match(_match: Path, tmp_path: Path) -> Path:
    """The only run in the folder, a match of two games between random and rules."""
    shutil.copytree(_match, tmp_path, dirs_exist_ok=True)
    (run,) = (tmp_path / "runs").iterdir()
    return run
