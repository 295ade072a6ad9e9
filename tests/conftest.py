"""Settings for all tests."""

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


GROUPS = {
    "browser": "tests/browser/",
    "ray": "tests/arena/test_executors.py",
    "kaggle": "tests/interop/kaggle/test_environment.py",
    "kernels used": "tests/agents/test_kernels.py",
}
"""Tests that share an expensive set-up (a browser and its server, a cluster) run in one worker."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Put a test into its group."""
    for group, path in GROUPS.items():
        if item.nodeid.startswith(path):
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the groups, so that no worker is left with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
