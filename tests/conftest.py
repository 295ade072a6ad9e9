"""Settings for all tests."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.in_process import run_in_process
from tests.strategies import examples

os.environ["FOURLAB_POSITIONS"] = os.devnull  # the developer's own names must not decide a test

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background; the programs tested are to hear Ctrl-C
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
ROOT = Path(__file__).parents[1]


@pytest.fixture
def fourlab(tmp_path: Path) -> Callable[..., Result]:
    """Run a command in an empty folder, inside this process: a real process costs seconds.

    tests/cli/test_processes.py runs every command in a process of its own.
    """

    def run(*arguments: str, stdin: str = "", **environment: str) -> Result:
        return run_in_process(arguments, tmp_path, stdin, environment)

    return run


@pytest.fixture
def fourlab_process(tmp_path: Path) -> Callable[..., Result]:
    """Run the real command in a process of its own, in an empty folder."""

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


LONG = (
    "tests/browser/",
    "tests/jobs/test_ray.py",
    "tests/jobs/test_executors.py",
    "tests/cli/test_re",  # reproduce, resume, review
    "tests/test_docs.py",
    "tests/compiled/test_jit.py",
    "tests/bridges/kaggle/",
    "tests/web/",
    "tests/cli/test_processes.py",
    "tests/arena/",
    "tests/solver/",
    "tests/training/",
    "tests/studies/",
    "tests/agents/",
)
"""Files that take long. `make test` gives whole files to its workers, so that a set-up (a browser,
a server, a cluster) is shared by the tests of a file; with these first, none is left at the end."""


def pytest_collection_finish() -> None:
    """Leave all that the test modules have imported out of later garbage collections."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long."""

    def place(item: pytest.Item) -> int:
        places = [place for place, path in enumerate(LONG) if item.nodeid.startswith(path)]
        return places[0] if places else len(LONG)

    items.sort(key=place)
