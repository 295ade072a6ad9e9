"""A job on the terminal: progress, Ctrl-C, and the command that resumes it. The same for every kind."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from fourlab.cli.options import may_be_terminal
from fourlab.errors import Damaged, UserError
from fourlab.jobs.job import Conduct, Event, Job, Note, Progress, Session
from fourlab.jobs.runner import begin, work

if TYPE_CHECKING:
    from rich.console import Console

    from fourlab.jobs.run import Run

LINE_SECONDS = 10.0
"""Without a terminal, a line tells of the progress at least so often while there is some …"""
BLOCKS = 20
"""… and whenever another twentieth of the work is done."""
SPEED_SECONDS = 3600.0
"""The time left is estimated from the speed over at most this long: one step may take minutes."""


@dataclass(frozen=True)
class Desk:
    """How a command works on a job: where runs are, where the work is done, and what is shown."""

    home: Path = Path("runs")
    folder: Path | None = None
    """The run's own folder, if the user names one."""
    name: str | None = None
    conduct: Conduct | None = None
    quiet: bool = False
    resume_options: tuple[str, ...] = ()
    """Options that the resume command needs beside the folder."""

    def note(self, text: str) -> None:
        """Tell something on the side."""
        if not self.quiet:
            print(f"note: {text}", file=sys.stderr)

    def work(self, job: Job) -> "tuple[Run, dict[str, Any]]":
        """Begin or resume a job and do what is missing; returns its run and its results.

        Ctrl-C finishes what is in hand; the command then ends with exit code 130 and the command
        that resumes the run.
        """
        run = begin(job, self.home, self.folder, self.name, self.note)
        return run, self.work_on(job, run)

    def work_on(self, job: Job, run: "Run") -> dict[str, Any]:
        """Do what is missing of a run."""
        resume = shlex.join(["fourlab", "resume", str(run.folder), *self.resume_options])
        session = Session(self.conduct)
        try:
            with _interruptible(session, resume), _shown(session, self.quiet):
                results = work(job, run, session)
        except MemoryError as error:
            raise UserError(f"there is not enough memory for this; choose smaller settings ({error})") from None
        except Damaged:
            raise
        except OSError as error:  # a full disk, say
            print(f"fourlab: {error}; what was saved is safe, resume with: {resume}", file=sys.stderr)
            raise typer.Exit(1) from None
        if results is None:
            _stop(session, resume)
        return results


def _stop(session: Session, resume: str) -> NoReturn:
    where = ""
    if (last := session.last) is not None and last.total is not None:
        where = f" after {last.done:,} of {last.total:,} {last.unit}"
    print(f"stopped{where}; resume with:\n{resume}", file=sys.stderr)
    raise typer.Exit(130)


@contextmanager
def _interruptible(session: Session, resume: str) -> Iterator[None]:
    """Ctrl-C (or a polite kill) finishes what is in hand, a second gives it up, a third leaves at once.

    What is stored is stored, and workers die with us.
    """
    times = 0

    def say(text: str) -> None:
        os.write(2, f"\n{text}\n".encode())  # print may not be called while it is at work already

    def pressed(number: int, frame: object) -> None:
        nonlocal times
        times += 1
        if times == 1:
            session.stop()
            say("finishing what is in hand; press Ctrl-C again to give it up")
        elif times == 2 and session.can_abort:
            session.abort()
            say("giving up what is in hand; press Ctrl-C again to leave at once")
        else:
            say(f"stopped; what was saved is safe, resume with:\n{resume}")
            os._exit(130)

    before = {each: signal.signal(each, pressed) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            # Who is leaving is not to be hurried.
            signal.signal(each, signal.SIG_IGN if times else handler)


def conduct_of(workers: int | None, executor: str | None, address: str | None) -> tuple[Conduct, tuple[str, ...]]:
    """Where work is done as the options say, and the same options for the resume command."""
    given = {"--workers": workers, "--executor": executor, "--address": address}
    options = tuple(word for name, value in given.items() if value is not None for word in (name, str(value)))
    usual = Conduct()
    return Conduct(workers or usual.workers, executor, address), options


# --- progress -----------------------------------------------------------------------------------


@contextmanager
def _shown(session: Session, quiet: bool) -> Iterator[None]:
    """Show a session's events: a bar on a terminal, else a line now and then."""
    if quiet:
        session.listen(_only_notes)
        yield
    elif (console := terminal()) is None:
        session.listen(_Lines())
        yield
    else:
        with _bar(console) as hear:
            session.listen(hear)
            yield


def terminal() -> "Console | None":
    """Standard error, if it is a terminal."""
    if not may_be_terminal(sys.stderr):
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None


def _only_notes(event: Event) -> None:
    if isinstance(event, Note):
        print(f"note: {event.text}", file=sys.stderr)


class _Speed:
    """Units per second since the first event: what was done before a resume does not count."""

    def __init__(self) -> None:
        self._first: tuple[float, Progress] | None = None

    def of(self, event: Progress) -> float:
        """The speed now, 0 while it is not known."""
        now = time.monotonic()
        if self._first is None or (self._first[1].stage, self._first[1].unit) != (event.stage, event.unit):
            self._first = (now, event)
        since, first = self._first
        return (event.done - first.done) / (now - since) if now > since else 0.0


class _Lines:
    """Lines for logs."""

    def __init__(self) -> None:
        self._speed = _Speed()
        self._last = time.monotonic()
        self._shown: tuple[str, int] | None = None
        """The stage and the block of the last line, or of the first event."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, Note):
            _only_notes(event)
            return
        speed = self._speed.of(event)
        now = time.monotonic()
        place = (event.stage, BLOCKS * event.done // event.total if event.total else 0)
        is_new = self._shown is None or self._shown[0] != event.stage
        if is_new and event.done == event.total:
            self._shown = place  # there is nothing left to do
            return
        if place == self._shown and now - self._last < LINE_SECONDS:
            return
        self._shown = place
        self._last = now
        print(line(event, speed), file=sys.stderr, flush=True)


def line(event: Progress, speed: float) -> str:
    """Progress in one line."""
    done = f"{event.done}/{event.total}" if event.total is not None else str(event.done)
    words = [event.stage, f"{done} {event.unit}".strip()] if event.stage not in ("", "playing") else [f"{done} {event.unit}"]
    if speed > 0:
        words.append(f"{speed:.1f} {event.unit}/s" if speed >= 0.1 else f"{1 / speed:.0f} s each")
        if event.total is not None and event.total > event.done:
            words.append(f"{_duration((event.total - event.done) / speed)} left")
    return "  ".join([*words, *([event.text] if event.text else [])])


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@contextmanager
def _bar(console: "Console") -> Iterator[Callable[[Event], None]]:
    """A bar with the latest figures below it."""
    from rich.console import Group
    from rich.live import Live
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Progress as Bar,
    )
    from rich.text import Text

    parts = (
        TextColumn("{task.fields[stage]}"),
        BarColumn(20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        TimeRemainingColumn(),
    )
    bar = Bar(*parts, console=console, transient=True, speed_estimate_period=SPEED_SECONDS)
    task = bar.add_task("", total=None, stage="", unit="")
    shown: list[str] = []

    with Live(bar, console=console, transient=True) as live:

        def hear(event: Event) -> None:
            nonlocal task
            if isinstance(event, Note):
                console.print(f"note: {event.text}", highlight=False)
                return
            if shown != [event.stage, event.unit]:  # another stage has another speed
                bar.remove_task(task)
                task = bar.add_task("", total=event.total, completed=event.done, stage=event.stage, unit=event.unit)
                shown[:] = [event.stage, event.unit]
            bar.update(task, completed=event.done, total=event.total)
            live.update(Group(bar, Text(event.text)) if event.text else bar)

        yield hear
