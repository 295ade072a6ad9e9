"""The progress of a job as people see it: a bar on a terminal, lines in a log.

Commands and the functions of `fourlab.api` show it alike.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fourlab.jobs.job import Event, Note, Progress, Session
from fourlab.terminal import console, may_be_terminal, one_line

if TYPE_CHECKING:
    from rich.console import Console

# Without a terminal, a line of progress is printed when another twentieth of the work is done,
# and at least every ten seconds while there are events.
LINE_SECONDS = 10.0
BLOCKS = 20
WIDE = 90
"""Columns of a terminal on which a stage, the bar, counts and times fit in one line."""
SPEED_SECONDS = 3600.0
"""The remaining time is estimated from the speed of the last hour: one step may take minutes."""


@contextmanager
def shown(session: Session, quiet: bool, lines: bool = True) -> Iterator[None]:
    """Show the events of a session: as a bar on a terminal, otherwise as occasional lines.

    Without `lines`, only remarks are printed where there is no terminal.
    """
    if quiet:
        session.subscribe(print_note)
        yield
    # Not a terminal: a log file or a pipe, in which a bar would leave a line for every update.
    elif (screen := terminal()) is None:
        session.subscribe(_Lines() if lines else print_note)
        yield
    else:
        with _bar(screen) as on_event:
            session.subscribe(on_event)
            yield


def terminal() -> "Console | None":
    """Return a console on standard error, or None if that is not a terminal."""
    # rich decides, but it is slow to import, so most pipes are excluded before.
    if not may_be_terminal(sys.stderr):
        return None
    screen = console(stderr=True)
    return screen if screen.is_terminal else None


def print_note(event: Event) -> None:
    """Print a remark to standard error; ignore progress."""
    if isinstance(event, Note):
        print(f"note: {one_line(event.text)}", file=sys.stderr)


class _Speed:
    """Measures units per second since the first event of a stage.

    What was done before a resume does not count.
    """

    def __init__(self) -> None:
        self._first: tuple[float, Progress] | None = None
        """Time and content of the first event."""

    def of(self, event: Progress) -> float:
        """Return the current speed, 0 as long as it is unknown."""
        now = time.monotonic()
        if self._first is None or not _is_same_stage(self._first[1], event):
            self._first = (now, event)
        since, first = self._first
        # In units per second; two events can have the same time on a coarse clock.
        return (event.done - first.done) / (now - since) if now > since else 0.0


def _is_same_stage(one: Progress, other: Progress) -> bool:
    return (one.stage, one.unit) == (other.stage, other.unit)


class _Lines:
    """Prints progress as lines, for logs."""

    def __init__(self) -> None:
        self._speed = _Speed()
        self._last = time.monotonic()
        """Time of the last line."""
        self._shown: tuple[str, int] | None = None
        """Stage and block of the last line, or of the first event."""

    def __call__(self, event: Event) -> None:
        if isinstance(event, Note):
            print_note(event)
            return
        speed = self._speed.of(event)
        now = time.monotonic()
        # Which twentieth of the work this is; a total may be unknown, or 0.
        block = BLOCKS * event.done // event.total if event.total else 0
        is_new_stage = self._shown is None or self._shown[0] != event.stage
        # A resumed run passes through stages that it finished earlier.
        if is_new_stage and event.done == event.total:
            self._shown = (event.stage, block)  # complete from the start: nothing to show
            return
        if self._shown == (event.stage, block) and now - self._last < LINE_SECONDS:
            return
        self._shown = (event.stage, block)
        self._last = now
        print(line(event, speed), file=sys.stderr, flush=True)


def line(event: Progress, speed: float) -> str:
    """Return progress as one line: stage, count, speed, remaining time and figures."""
    done = f"{event.done}/{event.total}" if event.total is not None else str(event.done)
    words = [f"{done} {event.unit}".strip()]
    # Most jobs play games; only other stages need a name.
    if event.stage not in ("", "playing"):
        words.insert(0, event.stage)
    if speed > 0:
        # Slow work is easier to read as seconds per unit.
        words.append(f"{speed:.1f} {event.unit}/s" if speed >= 0.1 else f"{1 / speed:.0f} s each")
        if event.total is not None and event.total > event.done:
            words.append(f"{_duration((event.total - event.done) / speed)} left")
    if event.text:
        words.append(one_line(event.text))
    return "  ".join(words)


def _duration(seconds: float) -> str:
    # 100 seconds, 100 minutes, then hours: two digits say enough.
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@contextmanager
def _bar(screen: "Console") -> Iterator[Callable[[Event], None]]:
    """Show a progress bar with the latest figures below it; yield its event handler."""
    from rich import progress as rich_progress
    from rich.console import Group
    from rich.live import Live
    from rich.table import Column
    from rich.text import Text

    # On a narrow terminal the stage goes below, so that the bar and the counts have room.
    is_narrow = screen.width < WIDE
    stage = [] if is_narrow else [rich_progress.TextColumn("{task.fields[stage]}")]
    width = 10 if is_narrow else 20
    bar = rich_progress.Progress(
        *stage,
        rich_progress.BarColumn(width, table_column=Column(min_width=width)),
        rich_progress.MofNCompleteColumn(table_column=Column(no_wrap=True)),
        rich_progress.TextColumn("{task.fields[unit]}"),
        rich_progress.TimeRemainingColumn(),
        console=screen,
        transient=True,
        speed_estimate_period=SPEED_SECONDS,
    )
    task = bar.add_task("", total=None, stage="", unit="")
    shown: Progress | None = None

    with Live(bar, console=screen, transient=True) as live:

        def on_event(event: Event) -> None:
            nonlocal task, shown
            if isinstance(event, Note):
                screen.print(f"note: {one_line(event.text)}")
                return
            # Each stage is a task of its own, because it has its own speed.
            if shown is None or not _is_same_stage(shown, event):
                bar.remove_task(task)
                task = bar.add_task(
                    "", total=event.total, completed=event.done, stage=event.stage, unit=event.unit
                )
            shown = event
            bar.update(task, completed=event.done, total=event.total)
            words = [event.stage if is_narrow else "", event.text]
            below = "  ".join(one_line(text) for text in words if text)
            live.update(Group(bar, Text(below)) if below else bar)

        yield on_event
