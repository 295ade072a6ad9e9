"""Settings for all tests."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from tests.in_process import run_in_process
from tests.strategies import examples

os.environ["FOURLAB_POSITIONS"] = os.devnull  # ignore the developer's own named positions

# Waiting for the disk tests nothing: only a power cut loses what a process has written. Tests of
# the order of writes count the calls.
os.fsync = lambda handle: None

# A shell starts background jobs with Ctrl-C ignored, and child processes inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "fourlab",
    examples(100),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fourlab")

pytest_plugins = ["tests.missing_parts", "tests.promises", "tests.quick"]

Result = subprocess.CompletedProcess[str]


@pytest.fixture(autouse=True, scope="session")
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the products of runs (`fourlab.jobs.products`) out of the developer's records."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


ROOT = Path(__file__).parents[1]


@pytest.fixture
def fourlab(tmp_path: Path) -> Callable[..., Result]:
    """Run a command in an empty folder, inside this process, which saves seconds.

    tests/cli/test_processes.py runs every command in a separate process.
    """

    def run(*arguments: str, stdin: str = "", **environment: str) -> Result:
        return run_in_process(arguments, tmp_path, stdin, environment)

    return run


@pytest.fixture
def fourlab_process(tmp_path: Path) -> Callable[..., Result]:
    """Run a command in an empty folder, in a separate process."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Result:
        return subprocess.run(
            [sys.executable, "-m", "fourlab", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
        )

    return run


SLOW = (
    "tests/browser/",
    "tests/contract/test_jobs.py",
    "tests/bridges/kaggle/",
    "tests/jobs/test_ray.py",
    "tests/test_docs.py",
    "tests/cli/test_re",  # reproduce, resume, review
    "tests/jobs/test_executors.py",
    "tests/compiled/test_jit.py",
    "tests/web/",
    "tests/safety/",
    "tests/cli/test_processes.py",
    "tests/arena/",
    "tests/solver/",
    "tests/training/",
    "tests/studies/",
    "tests/agents/",
)
"""Slow files, which run first, since a slow one at the end would delay everything. `make test`
distributes whole files to its workers, so that tests share a set-up (a server, a training)."""
TOGETHER = ("tests/browser/", "tests/bridges/kaggle/")
"""Folders that a single worker runs, since all of their files share something expensive: a browser
with a server, Kaggle's package."""


class FilesAndFolders(LoadFileScheduling):
    """Distributes whole files, and some whole folders."""

    def _split_scope(self, nodeid: str) -> str:
        folder = next((folder for folder in TOGETHER if nodeid.startswith(folder)), None)
        return folder or super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesAndFolders | None:
    """Keep some folders together where files are."""
    return FilesAndFolders(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """Exclude everything imported so far from garbage collections, which saves time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow files first."""

    def rank(item: pytest.Item) -> int:
        ranks = [rank for rank, path in enumerate(SLOW) if item.nodeid.startswith(path)]
        return ranks[0] if ranks else len(SLOW)

    items.sort(key=rank)
