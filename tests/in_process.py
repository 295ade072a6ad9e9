"""Run a `fourlab` command inside this process, as if it ran in a separate one.

Starting Python, Numba and the kernels takes longer than most commands do, so tests call the entry
point of the command line here. All process state that a command may change is restored afterwards.
"""

import logging
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

from fourlab.cli import main

READ_AT_START = ("FOURLAB_CACHE_DIR", "NUMBA_", "PYTHON", "OMP_", "MKL_")
"""Variables that are read only once, at start-up; tests that set them need a real process."""


def run_in_process(
    arguments: Sequence[str],
    folder: Path,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `fourlab` with arguments in a folder; return the exit code and output.

    An exception that would end a real process with a traceback is not caught.
    """
    environment = environment or {}
    for name in environment:
        assert not name.startswith(READ_AT_START), f"{name} needs fourlab_process"
    with ExitStack() as stack:
        outputs = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
        answers = stack.enter_context(tempfile.TemporaryFile())
        answers.write(stdin.encode())
        answers.seek(0)
        with _everything_restored(), _streams(answers, *outputs):
            os.environ.update(environment)
            os.chdir(folder)
            code = _exit_code(arguments)
        written = [_text(file) for file in outputs]
    return subprocess.CompletedProcess(["fourlab", *arguments], code, *written)


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        main(list(arguments))
    except SystemExit as ended:
        assert isinstance(ended.code, int)
        return ended.code


def _text(file: Any) -> str:
    file.seek(0)
    text: str = file.read().decode()
    return text.replace("\r\n", "\n")


@contextmanager
def _streams(*files: Any) -> Iterator[None]:
    """Redirect the standard streams to files, for child processes too."""
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(number) for number in range(3)]
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before
        for number, copy in enumerate(kept):
            os.dup2(copy, number)
            os.close(copy)


def _leave(code: int) -> NoReturn:
    """Replace os._exit, which would end the tests."""
    raise SystemExit(code)


@contextmanager
def _everything_restored() -> Iterator[None]:
    """Restore process state that a command may change and not clean up itself."""
    folder = Path.cwd()
    environment = dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    root = logging.getLogger()
    log_handlers = list(root.handlers)
    level = root.level
    switch_interval = sys.getswitchinterval()
    torch = sys.modules.get("torch")
    threads = 0 if torch is None else torch.get_num_threads()
    deterministic = torch is not None and torch.are_deterministic_algorithms_enabled()
    leave = os._exit
    os._exit = _leave  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            yield
    finally:
        os._exit = leave
        if torch is not None:
            torch.set_num_threads(threads)
            torch.use_deterministic_algorithms(deterministic)
        sys.setswitchinterval(switch_interval)
        root.handlers[:] = log_handlers
        root.setLevel(level)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
