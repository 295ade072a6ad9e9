"""What an experiment works with, and the parts of its result.

A `Workbench` stores games and results by name, so that work can resume. An experiment is a function
of a workbench that yields claims, tables, pictures and texts.
"""

import json
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fourlab import parsing
from fourlab.agents.registry import make
from fourlab.arena.play import play_tournament
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.tables import Table as Table
from fourlab.arena.tournament import Tournament
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.record import Cause
from fourlab.jobs.executors import Executor, Lost
from fourlab.reporting.figures import Figure
from fourlab.studies.claims import Claim

SAVE_SECONDS = 5.0
"""The interval between writes of partial results."""


@dataclass(frozen=True)
class Picture:
    """A figure and its data."""

    name: str
    """A short name for files."""
    caption: str
    draw: Callable[[], Figure]
    data: Table


@dataclass(frozen=True)
class Text:
    """Preformatted text, such as a printed game."""

    title: str
    lines: str


Part = Claim | Table | Picture | Text


def without_verdicts(part: Part) -> Part:
    """Return a part with its values only."""
    if isinstance(part, Claim):
        return replace(part, reproduced=None, true=None)
    return part


class Stopped(Exception):
    """Raised when work is stopped before it is complete; finished parts are stored."""


@dataclass(frozen=True)
class _Failed:
    """Takes the place of a result: the function raised an error."""

    why: str


@dataclass(frozen=True)
class _Repetition:
    """Adapts a function of a number to an executor's work."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def prepare(self) -> None:
        """Do nothing: there is nothing to load."""

    def __call__(self, number: int, watch: Any) -> Any:
        """Call the function once; an error becomes a result.

        In a worker process it would end the process with a traceback, and be tried again.
        """
        try:
            return self.function(*self.arguments, number)
        except Stopped:
            raise
        except Exception as error:
            return _Failed(_cause(error))


@dataclass(frozen=True)
class Workbench:
    """Run the work of one experiment at one scale; every named piece is computed only once."""

    folder: Path
    scale: str
    size: Mapping[str, Any]
    """Numbers of games, runs, simulations, and so on, by the experiment's own names."""
    seed: int
    executor: Executor
    on_progress: Callable[[str, int, int, str], None] = lambda piece, done, total, unit: None
    """Called with the name of a piece of work, how much of it is done, the total and its unit."""
    by_clock: bool = False
    """Whether searches with a time limit in the reports get that time, not simulations instead."""

    def seconds(self, reported: float) -> float | None:
        """Return the reported seconds per move if searches run by the clock, else None."""
        return reported if self.by_clock else None

    def calculate(self, name: str, function: Callable[[], Any]) -> Any:
        """Return the function's result, which JSON must be able to represent."""
        file = self.folder / f"{name}.json"
        if not file.exists():
            self.on_progress(name, 0, 1, "calculations")
            self._write(file, function())
            self.on_progress(name, 1, 1, "calculations")
        return read_json(file)

    def repeat(
        self, name: str, function: Callable[..., Any], times: int, *arguments: Any
    ) -> list[Any]:
        """Return the results of `function(*arguments, number)` for numbers from 0 to `times` - 1.

        The executor may call it in any order and in other processes, so `function` must be
        picklable: a module's function or an instance of a module's class. To be repeatable, its
        result must follow from its arguments, which therefore include a seed.
        """
        file = self.folder / f"{name}.json"
        # Keys are numbers as text: JSON has no others.
        results: dict[str, Any] = read_json(file, dict) if file.exists() else {}
        missing = [number for number in range(times) if str(number) not in results]
        saved = time.monotonic()
        if missing:
            self.on_progress(name, len(results), times, "repetitions")
            for batch in self.executor.map(_Repetition(function, arguments), missing):
                for number, result in batch:
                    if isinstance(result, Lost | _Failed):
                        self._write(file, results)
                        raise UserError(f"{name} failed: {result.why}")
                    results[str(number)] = result
                self.on_progress(name, len(results), times, "repetitions")
                # Writing the whole file after every result would cost time in the square of their
                # number.
                if time.monotonic() - saved > SAVE_SECONDS:
                    self._write(file, results)
                    saved = time.monotonic()
            self._write(file, results)
            # The executor ends its map early only if it was stopped.
            if len(results) < times:
                raise Stopped
        # A resumed run reads the results from JSON, where tuples are lists and keys are text.
        results = json.loads(json.dumps(results))
        return [results[str(number)] for number in range(times)]

    def play(self, name: str, tournament: Tournament, thoughts: bool = False) -> list[StoredGame]:
        """Return the games of a tournament, with the agents' evaluations if `thoughts`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        total = len(tournament)
        with Store(self.folder / f"{name}.sqlite") as store:
            # Games are a function of their numbers, so only the missing ones are played.
            if len(store.finished()) < total:
                self.on_progress(name, len(store.finished()), total, "games")
                results = play_tournament(
                    tournament,
                    store,
                    self.executor,
                    make,
                    lambda results, games: self.on_progress(name, results.games, total, "games"),
                )
                if results.games < total:
                    raise Stopped
            return completed(name, list(store.games(thoughts=thoughts)))

    def _write(self, file: Path, value: Any) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(value).encode())


def _cause(error: Exception) -> str:
    """Return an error as one line; if it is a fault of the program, with its place."""
    if isinstance(error, UserError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{error!r:.200} in {Path(place.filename).name}, line {place.lineno}"


def read_json(file: Path, kind: type = object) -> Any:
    """Return the content of a work file; raise UserError if it is damaged or not a `kind`."""
    with suppress(UserError):
        content = parsing.read_json(file, parsing.MAX_WORK_BYTES, parsing.MAX_WORK_VALUES)
        if isinstance(content, kind):
            return content
    raise UserError(f"{file} is damaged; remove it and give the command again")


def completed(name: str, games: list[StoredGame]) -> list[StoredGame]:
    """Return the games, or raise UserError if one ended irregularly: a crash is not a result."""
    for game in games:
        if game.cause != Cause.NORMAL.value:
            raise UserError(
                f"game {game.number} of {name}, {game.red} against {game.yellow}, "
                f"ended by {game.cause}: {game.detail}"
            )
    return games
