"""Commands that tests run inside their own process leave no trace in it."""

import logging
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import in_process
from tests.conftest import Result


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Run a function as if it were the command line's entry point."""

    def run(function: Callable[[], None], **options: Any) -> Result:
        monkeypatch.setattr(in_process, "main", lambda arguments: function())
        return in_process.run_in_process([], tmp_path, **options)

    return run


def state() -> list[object]:
    """Return everything that a command may change in its process."""
    return [
        os.getcwd(),
        dict(os.environ),
        (sys.stdin, sys.stdout, sys.stderr),
        [os.fstat(number) for number in range(3)],
        signal.getsignal(signal.SIGINT),
        signal.getsignal(signal.SIGTERM),
        list(logging.getLogger().handlers),
        logging.getLogger().level,
        list(warnings.filters),
        sys.getswitchinterval(),
        os._exit,
    ]


def test_everything_is_restored(command: Callable[..., Result], tmp_path: Path) -> None:
    from fourlab.compiled.announcing import announce_compilation

    def change_everything() -> None:
        assert Path.cwd() == tmp_path
        assert os.environ.pop("FOURLAB_POSITIONS") == "mine"
        os.chdir("/")
        os.environ["NEW"] = "1"
        sys.stdin = sys.stdout = sys.stderr
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        logging.getLogger().addHandler(logging.NullHandler())
        logging.getLogger().setLevel(logging.DEBUG)
        warnings.simplefilter("ignore")
        sys.setswitchinterval(0.1)
        announce_compilation()
        sys.exit(3)

    before = state()
    done = command(change_everything, environment={"FOURLAB_POSITIONS": "mine"})
    assert done.returncode == 3
    assert [str(item) for item in state()] == [str(item) for item in before]


def test_output_of_child_processes_is_captured_too(command: Callable[..., Result]) -> None:
    def write() -> None:
        print("one", input())
        print("error", file=sys.stderr)
        sys.stdout.flush()
        subprocess.run([sys.executable, "-S", "-c", "print('two')"], check=True)
        os.write(2, b"another\n")
        sys.exit(0)

    done = command(write, stdin="a\n")
    assert done.stdout == "one a\ntwo\n"
    assert done.stderr == "error\nanother\n"


def test_an_immediate_exit_ends_only_the_command(command: Callable[..., Result]) -> None:
    assert command(lambda: os._exit(1)).returncode == 1


def test_a_command_that_crashes_fails_the_test(command: Callable[..., Result]) -> None:
    before = sys.stdout
    with pytest.raises(ZeroDivisionError):
        command(lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    assert sys.stdout is before


def test_variables_that_are_read_at_the_start_are_refused(fourlab: Callable[..., Result]) -> None:
    with pytest.raises(AssertionError, match="PYTHONPATH needs fourlab_process"):
        fourlab("show", PYTHONPATH="x")


def test_a_command_prints_the_same_here_as_in_a_process(
    fourlab: Callable[..., Result],
    fourlab_process: Callable[..., Result],
) -> None:
    for arguments, stdin in (
        (("show", "4453"), ""),
        (("show", "44x"), ""),
        (("play", "--yellow", "human"), "4\nx\nquit\n"),
    ):
        here, there = (run(*arguments, stdin=stdin) for run in (fourlab, fourlab_process))
        assert (here.returncode, here.stdout, here.stderr) == (
            there.returncode,
            there.stdout,
            there.stderr,
        )
