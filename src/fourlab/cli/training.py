"""A training as it goes on the terminal: progress, Ctrl-C, and what is left at the end."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fourlab.cli.options import print_json
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.jobs.run import Run
    from fourlab.training.loop import Trainee

LINES_SECONDS = 10.0
"""Without a terminal, a line tells of the progress so often."""
SPEED_SECONDS = 3600.0
"""What is left is told from the speed of so long a time, for a piece of work may take minutes."""


def require_torch() -> None:
    """Say what to install where something that training networks needs is missing."""
    from importlib.util import find_spec

    if missing := [name for name in ("torch", "safetensors", "onnx") if find_spec(name) is None]:
        raise UserError(f"training networks needs {', '.join(missing)}: pip install 'fourlab[train]'")


def begin(
    name: str,
    config: Mapping[str, Any],
    trainee: "Trainee",
    run: Path | None,
    home: Path,
    quiet: bool,
    json: bool,
) -> None:
    """Find or begin the run of a configuration and carry it out."""
    from fourlab.jobs.run import open_run

    def told(text: str) -> None:
        if not quiet:
            print(f"note: {text}", file=sys.stderr)

    carry_out(open_run(home, name, config, run, told), trainee, quiet, json)


def refuse_another(folder: Path | None, config: Mapping[str, Any]) -> None:
    """Refuse a folder that holds a run of another configuration, before anything dear is made for it."""
    from fourlab.jobs.run import Run, refuse_changes

    if folder is not None and (folder / "manifest.json").exists():
        refuse_changes(Run(folder), config)


def carry_out(run: "Run", trainee: "Trainee", quiet: bool, json: bool) -> None:
    """Train, write the report, and print what came out; Ctrl-C finishes the piece in hand and prints how to go on."""
    from fourlab.training.loop import train
    from fourlab.training.report import write_training_report

    resume = shlex.join(["fourlab", "resume", str(run.folder)])
    try:
        with run.locked(), _interruptible() as interrupted:
            with _progress(trainee, quiet) as told:
                results = train(run, trainee, interrupted, told, lambda text: print(f"note: {text}", file=sys.stderr))
            write_training_report(run, trainee, results)
    except MemoryError as error:
        raise UserError(f"there is not enough memory for this; choose smaller settings ({error})") from None
    except OSError as error:  # a full disk, say
        print(f"fourlab: {error}; what was saved is safe, go on with: {resume}", file=sys.stderr)
        raise typer.Exit(1) from None
    if results is None:
        print(f"stopped after {trainee.done:,} of {trainee.total:,} {trainee.unit}; go on with:", file=sys.stderr)
        print(resume, file=sys.stderr)
        raise typer.Exit(130)
    if json:
        print_json({"run": str(run.folder), **results})
    else:
        print(results["headline"])
        for line in results.get("lines", ()):
            print(line)
        print(f"report: {run.report_file}")


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C (or a polite kill) into a stop; a second one leaves at once, losing what is not yet saved."""
    times = 0

    def pressed(number: int, frame: object) -> None:
        nonlocal times
        times += 1
        if times > 1:  # not by an exception: it would wait for the workers' games
            print("left at once; what was saved is safe", file=sys.stderr, flush=True)
            os._exit(130)
        print("\nfinishing the piece in hand; press Ctrl-C again to leave at once", file=sys.stderr)

    before = {each: signal.signal(each, pressed) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: times > 0
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def _progress(trainee: "Trainee", quiet: bool) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A bar with the latest metrics, or a line now and then where there is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet:
        yield lambda row: None
        return
    if not console.is_terminal:
        last, left = 0.0, _Left()

        def line(row: dict[str, Any]) -> None:
            nonlocal last
            now = time.monotonic()
            rest = left.told(now, trainee.done, trainee.total)
            if now - last >= LINES_SECONDS or trainee.finished:
                last = now
                words = f"{trainee.done:,}/{trainee.total:,} {trainee.unit}  {rest}{_words(row, trainee)}"
                print(words, file=sys.stderr, flush=True)

        yield line
        return
    parts = (TextColumn("training"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*parts, console=console, transient=True, speed_estimate_period=SPEED_SECONDS) as bar:
        task = bar.add_task("", total=trainee.total, completed=trainee.done)
        yield lambda row: bar.update(task, completed=trainee.done, total=trainee.total, description=_words(row, trainee))


class _Left:
    """How long it will take, told from what was done since the first row that was heard, which may be of before a resume."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None

    def told(self, now: float, done: int, total: int) -> str:
        """The time that is left in words; none where it is not known yet or there is nothing left."""
        self._first = self._first or (now, done)
        seconds, more = now - self._first[0], done - self._first[1]
        if more <= 0 or done >= total:
            return ""
        return f"{timedelta(seconds=round((total - done) * seconds / more))} left  "


def _words(row: Mapping[str, Any], trainee: "Trainee") -> str:
    """The first number of each curve that the row has."""
    from fourlab.reporting.curves import number

    told = []
    for curve in trainee.curves:
        found = next(((name, value) for name in curve.names if (value := number(row, name)) is not None), None)
        if found is not None:
            told.append(f"{found[0]} {found[1]:.4g}")
    return "  ".join(told)
