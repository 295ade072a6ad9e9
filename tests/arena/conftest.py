"""A finished run of eight games, and copies of it that tests may damage."""

import shutil
from pathlib import Path

import pytest

from fourlab.arena.job import TournamentJob
from fourlab.jobs.run import Run
from fourlab.jobs.runner import begin, work
from tests.arena.eight_games import TOURNAMENT, session


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    home = tmp_path_factory.mktemp("runs")
    job = TournamentJob(TOURNAMENT)
    run = begin(job, home)
    assert work(job, run, session()) is not None
    return run


@pytest.fixture
def run(finished: Run, tmp_path: Path) -> Run:
    folder = tmp_path / finished.name
    shutil.copytree(finished.folder, folder)
    return Run(folder)
