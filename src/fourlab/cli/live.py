"""A tournament as it is played on the terminal: progress, Ctrl-C, and what is left at the end."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from fourlab.arena.play import judge_games, play_tournament
from fourlab.arena.results import Results
from fourlab.arena.store import DamagedStore, Store, StoredGame
from fourlab.arena.summary import summarize
from fourlab.arena.tournament import Tournament
from fourlab.cli.options import may_be_terminal
from fourlab.jobs.executors import Executor, check, executor
from fourlab.jobs.run import Run

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

BLOCKS = 20
"""Without a terminal, so many lines tell of a run's progress."""
LINE_SECONDS = 5.0
"""Where nobody knows how much there is to do, there is a line so often."""


@dataclass(frozen=True)
class Conduct:
    """How a run is carried out; nothing of it changes what comes out."""

    workers: int
    executor: str = "local"
    address: str | None = None
    accuracy: bool = False
    quiet: bool = False

    def __post_init__(self) -> None:
        check(self.executor, self.workers, self.address)

    def note(self, text: str) -> None:
        """Tell something on the side."""
        if not self.quiet:
            print(f"note: {text}", file=sys.stderr)


def carry_out(run: Run, tournament: Tournament, conduct: Conduct) -> dict[str, Any]:
    """Play what is missing, judge it if wished, write the results and the report; returns the summary.

    Ctrl-C finishes the games in hand, a second one gives them up; either ends with the command that resumes the run.
    """
    from fourlab.agents.registry import make

    with run.locked():
        pool = executor(conduct.executor, conduct.workers, conduct.address)
        resume = _resume(run, conduct)
        try:
            with Store(run.games_file) as store, interruptible(pool, resume) as interrupted:
                with _progress(tournament, conduct.quiet) as told:
                    results = play_tournament(tournament, store, pool, make, told)
                if conduct.accuracy and not interrupted():
                    with _judging(conduct.quiet) as told_of_judging:
                        judge_games(store, pool, told_of_judging)
                summary = summarize(results, store)
                _write(run, tournament, summary, store)
                if interrupted():
                    print(f"stopped after {results.games} of {len(tournament)} games; go on with:", file=sys.stderr)
                    print(resume, file=sys.stderr)
                    raise typer.Exit(130)
        except DamagedStore:
            raise
        except OSError as error:  # the games' file, or any other; a full disk, say
            print(f"fourlab: {error}; what was stored is safe, go on with: {resume}", file=sys.stderr)
            raise typer.Exit(1) from None
    return summary


def _write(run: Run, tournament: Tournament, summary: dict[str, Any], store: Store) -> None:
    from fourlab.arena.report import write_report

    run.write("results.json", summary)
    write_report(run, tournament, summary, store)


def _resume(run: Run, conduct: Conduct) -> str:
    words = ["fourlab", "resume", str(run.folder), "--workers", str(conduct.workers)]
    words += ["--executor", conduct.executor] if conduct.executor != "local" else []
    words += ["--address", conduct.address] if conduct.address else []
    words += ["--accuracy"] if conduct.accuracy else []
    return shlex.join(words)


@contextmanager
def interruptible(pool: Executor, resume: str) -> Iterator[Callable[[], int]]:
    """Turn the first Ctrl-C (or a polite kill) into a stop and the second into an abort; says how often it was pressed.

    A third one leaves at once: what is stored is stored, and the workers die with us.
    """
    times = 0

    def pressed(number: int, frame: object) -> None:
        nonlocal times
        times += 1
        if times == 1:
            print("\nfinishing the games in hand; press Ctrl-C again to give them up", file=sys.stderr)
            pool.stop()
        elif times == 2:
            pool.abort()
        else:
            os.write(2, f"\nstopped; go on with:\n{resume}\n".encode())
            os._exit(130)

    before = {each: signal.signal(each, pressed) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: times
    finally:
        for each, handler in before.items():
            signal.signal(each, signal.SIG_IGN if times else handler)  # who is leaving is not to be hurried


@contextmanager
def _progress(tournament: Tournament, quiet: bool) -> Iterator[Callable[[Results, Sequence[StoredGame]], None]]:
    """A bar with the score so far below it, or a line now and then where there is no terminal."""
    pace = _Pace()
    if quiet:
        yield lambda results, games: None
        return
    if (console := _terminal()) is None:
        yield _block_lines(tournament, pace)
        return
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    bar, last = _bar(console, "playing"), 0.0
    task = bar.add_task("", total=len(tournament))
    with Live(bar, console=console, transient=True) as live:

        def told(results: Results, games: Sequence[StoredGame]) -> None:
            nonlocal last
            pace.count(results, games)
            if (now := time.monotonic()) - last > 0.25 or results.games == len(tournament):
                last = now
                bar.update(task, completed=results.games, description=f"{pace.rate:.1f} games/s")
                live.update(Group(bar, Text(standing(results))))

        yield told


@contextmanager
def stage_progress(title: str, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for work in several stages, each with a name; or a line now and then where there is no terminal."""
    last = 0.0

    def lines(what: str, done: int, of: int) -> None:
        nonlocal last
        if not quiet and (now := time.monotonic()) - last > LINE_SECONDS:
            last = now
            print(f"{title}: {what} {done}/{of}", file=sys.stderr, flush=True)

    if quiet or (console := _terminal()) is None:
        yield lines
        return
    with _bar(console, title) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, of: bar.update(task, completed=done, total=of, description=what)


class _Pace:
    """How quickly games come in, from the first ones on: starting processes does not count."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self.rate = 0.0
        self.before = 0
        """How many games there were when this began."""

    def count(self, results: Results, games: Sequence[StoredGame]) -> None:
        """Some games have come in."""
        now = time.monotonic()
        if self._first is None:
            self._first, self.before = (now, results.games), max(0, results.games - len(games))
        elif now > self._first[0]:
            self.rate = (results.games - self._first[1]) / (now - self._first[0])


def _block_lines(tournament: Tournament, pace: _Pace) -> Callable[[Results, Sequence[StoredGame]], None]:
    block = -1

    def told(results: Results, games: Sequence[StoredGame]) -> None:
        nonlocal block
        pace.count(results, games)
        if block < 0:
            block = BLOCKS * pace.before // len(tournament)
        if (now := BLOCKS * results.games // len(tournament)) > block:
            block = now
            left = f"  {(len(tournament) - results.games) / pace.rate:.0f} s left" if pace.rate else ""
            rate = f"  {pace.rate:.1f} games/s" if pace.rate else ""
            print(f"{results.games}/{len(tournament)} games{rate}{left}  {standing(results)}", file=sys.stderr, flush=True)

    return told


@contextmanager
def _judging(quiet: bool) -> Iterator[Callable[[int, int], None]]:
    block = 0

    def told(done: int, of: int) -> None:
        nonlocal block
        if not quiet and (now := BLOCKS * done // of) > block:
            block = now
            print(f"{done}/{of} games solved", file=sys.stderr, flush=True)

    if quiet or (console := _terminal()) is None:
        yield told
        return
    with _bar(console, "solving") as bar:
        task = bar.add_task("every position", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _terminal() -> "Console | None":
    """Standard error, if it is a terminal."""
    if not may_be_terminal(sys.stderr):
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None


def _bar(console: "Console", word: str) -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    parts = (TextColumn(word), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    return Progress(*parts, console=console, transient=True)


def standing(results: Results) -> str:
    """The score so far, in a few words."""
    if len(results.names) > 2:
        scores = {name: share.score for name in results.names if (share := results.share(name)).games}
        leaders = sorted(scores, key=lambda name: -(scores[name] or 0))[:3]
        return "  ".join(f"{name} {scores[name]:.1%}" for name in leaders)
    share = results.share(results.names[0])
    if not share.games:
        return ""
    tally = results.tally(*results.names)
    words = f"W {share.wins} D {share.draws} L {share.losses}  score {share.score:.1%}"
    words += f"  {tally.units} {tally.unit}s: Elo {tally.elo()}" if tally.elo().value is not None else ""
    if (verdict := results.verdict()) is not None and verdict.llr is not None:
        words += f"  LLR {verdict.llr:.2f} ({verdict.bounds[0]:.2f}, {verdict.bounds[1]:.2f})"
    return words
