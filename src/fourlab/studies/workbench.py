"""Where an experiment is done: games, repetitions and calculations that are remembered, so that stopped work goes on."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourlab.agents.registry import make
from fourlab.arena.play import play_tournament
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.tournament import Tournament
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.record import Cause
from fourlab.jobs.executors import Executor, Lost

SAVE_SECONDS = 5.0


class Stopped(Exception):
    """The work was stopped before it was done; what is done is remembered."""


@dataclass(frozen=True)
class _Repetition:
    """Work of an executor."""

    what: Callable[[int], Any]

    def prepare(self) -> None:
        """Nothing has to be got ready."""

    def __call__(self, number: int, watch: Any) -> Any:
        """Do it once."""
        return self.what(number)


@dataclass(frozen=True)
class Workbench:
    """A place for one experiment at one scale. Everything done here has a name, and is done once."""

    folder: Path
    scale: str
    size: Mapping[str, Any]
    """How many games, runs, simulations: the experiment's own words."""
    seed: int
    executor: Executor
    told: Callable[[str, int, int], None] = lambda what, done, of: None
    """Hears how much of what is done."""
    by_clock: bool = False
    """Whether searches that the documents gave seconds get seconds, and not the simulations that stand for them."""

    def seconds(self, documents: float) -> float | None:
        """The document's seconds a move, if they are asked for."""
        return documents if self.by_clock else None

    def calculate(self, name: str, what: Callable[[], Any]) -> Any:
        """A result that JSON can hold."""
        file = self.folder / f"{name}.json"
        if not file.exists():
            self.told(name, 0, 1)
            self._write(file, what())
            self.told(name, 1, 1)
        return read_json(file)

    def repeat(self, name: str, what: Callable[[int], Any], times: int) -> list[Any]:
        """The results of calls with 0, 1, 2, …, made anywhere in any order. `what` is a function of a module, or such a value."""
        file = self.folder / f"{name}.json"
        found: dict[str, Any] = read_json(file, dict) if file.exists() else {}
        missing = [number for number in range(times) if str(number) not in found]
        saved = time.monotonic()
        if missing:
            self.told(name, len(found), times)
            for batch in self.executor.map(_Repetition(what), missing):
                for number, result in batch:
                    if isinstance(result, Lost):
                        raise UserError(f"{name} failed: {result.why}")
                    found[str(number)] = result
                self.told(name, len(found), times)
                if time.monotonic() - saved > SAVE_SECONDS:
                    self._write(file, found)
                    saved = time.monotonic()
            self._write(file, found)
            if len(found) < times:
                raise Stopped
        found = json.loads(json.dumps(found))  # as it will be read the next time
        return [found[str(number)] for number in range(times)]

    def play(self, name: str, tournament: Tournament, thoughts: bool = False) -> list[StoredGame]:
        """The games of a tournament; `thoughts` with what the agents thought."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with Store(self.folder / f"{name}.sqlite") as store:
            if len(store.finished()) < len(tournament):
                self.told(name, len(store.finished()), len(tournament))
                results = play_tournament(
                    tournament, store, self.executor, make, lambda results, games: self.told(name, results.games, len(tournament))
                )
                if results.games < len(tournament):
                    raise Stopped
            return whole(name, list(store.games(thoughts=thoughts)))

    def _write(self, file: Path, value: Any) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(value).encode())


def read_json(file: Path, kind: type = object) -> Any:
    """What was written down of work that is remembered; whoever finds it damaged is told what to do."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    else:
        if isinstance(found, kind):
            return found
    raise UserError(f"{file} is damaged; remove it and give the command again")


def whole(name: str, games: list[StoredGame]) -> list[StoredGame]:
    """Games that all came to a regular end; a crash is no result."""
    for game in games:
        if game.cause != Cause.NORMAL.value:
            raise UserError(
                f"game {game.number} of {name}, {game.red} against {game.yellow}, ended by {game.cause}: {game.detail}"
            )
    return games
