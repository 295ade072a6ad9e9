"""Runs as plain data, quickly told: how far they are, what came out, their games; the terminal and the web show this.

It may be asked every few seconds while a run goes on, so nothing here reads a whole file of games.
"""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fourlab.arena import tables
from fourlab.arena.store import Store, StoredGame, StoreError
from fourlab.arena.tables import Table
from fourlab.arena.tournament import read_config
from fourlab.errors import NotThere, UserError
from fourlab.jobs.run import Run, all_runs, settings_of
from fourlab.jobs.runner import PROGRESS_FILE
from fourlab.reporting.curves import number
from fourlab.training.loop import last_metrics, read_metrics

MOST_ROWS = 500
"""So many rows of metrics are enough for a curve."""
WRONG = (UserError, OSError, AttributeError, LookupError, TypeError, ValueError)
"""How a folder with strange files in it makes itself felt."""
EXPERIMENTS = "experiments"
"""The unit of runs of the documents' experiments."""
OF_A_GAME = ("number", "red", "yellow", "board", "start", "moves", "result", "cause", "detail", "plies")


def run_named(home: Path, name: str) -> Run:
    """The run of exactly this name; a name is compared with those that are there, and never made a path."""
    found = next((run for run in all_runs(home) if run.name == name), None)
    if found is None:
        raise NotThere(f"there is no run {name!r}")
    return found


def row(run: Run) -> dict[str, Any]:
    """One line about a run: name, kind, status (running, finished, stopped, damaged), progress, headline, created.

    `done` of `total` `unit` is the progress, None where it is not known. A damaged run tells in its headline what is wrong.
    """
    try:
        outcome = _outcome(run)
        done, total, unit = _progress(run, outcome)
        finished = outcome is not None and outcome.finished and (unit != EXPERIMENTS or done == total)
        return {
            "name": run.name,
            "kind": run.config.get("kind"),
            "status": "running" if run.is_locked else "finished" if finished else "stopped",
            "done": done,
            "total": total,
            "unit": unit,
            "headline": "" if outcome is None else outcome.headline,
            "created": run.manifest.get("created"),
        }
    except WRONG as error:
        return _damaged(run, error)


def detail(run: Run) -> dict[str, Any]:
    """All about a run but its games: its row, settings, tables, the names of its figures, metrics with curves.

    `games` is how many games there are to look at, None if the run plays none.
    """
    try:
        outcome = _outcome(run)
        about = {
            "settings": settings_of(run.config),
            "tables": [] if outcome is None else [asdict(each) for each in outcome.tables],
            "figures": sorted(file.stem for file in _figures(run)),
            "metrics": _metrics(run),
            "games": _end_of_games(run),
        }
        return _finite({**row(run), **about})
    except WRONG as error:
        nothing: dict[str, Any] = {"settings": {}, "tables": [], "figures": [], "metrics": None, "games": None}
        return {**_damaged(run, error), **nothing}


def compare(runs: Sequence[Run]) -> dict[str, Any]:
    """The settings that are not the same in all runs, with each run's value; None where it has none."""
    settings = [settings_of(run.config) for run in runs]
    names = sorted({name for each in settings for name in each})
    values = {name: [each.get(name) for each in settings] for name in names}
    differing = {name: found for name, found in values.items() if any(value != found[0] for value in found)}
    return _finite({"runs": [run.name for run in runs], "settings": differing})


def games(run: Run, offset: int = 0, limit: int = 50) -> dict[str, Any]:
    """The games from number `offset` on, at most `limit` numbers, and how many there are."""
    with _games_of(run) as store:
        found = list(store.games("number >= ? AND number < ?", offset, offset + limit))
        return {"total": store.end(), "games": [_of_game(each) for each in found]}


def game(run: Run, number: int) -> dict[str, Any]:
    """One game with what the agents thought and, where it has been solved, the score of every position for its side to move."""
    with _games_of(run) as store:
        found = store.game(number)
    if found is None:
        raise NotThere(f"{run.name} has no game {number}")
    return _finite({**_of_game(found), "thoughts": thoughts(found), "scores": found.exact_scores})


def thoughts(game: StoredGame) -> list[dict[str, Any]]:
    """What the agents told about each move of a game."""
    return [{"value": each.value, "visits": each.visits, "seconds": each.seconds} for each in game.record.thoughts]


def figure(run: Run, name: str) -> Path:
    """The file of a figure, one of those that are there."""
    found = next((file for file in _figures(run) if file.stem == name), None)
    if found is None:
        raise NotThere(f"{run.name} has no figure {name!r}")
    return found


@dataclass(frozen=True)
class _Outcome:
    """What results.json tells, in short."""

    finished: bool
    done: int | None
    """Games or experiments, None for trainings."""
    total: int | None
    headline: str
    tables: tuple[Table, ...]


def _outcome(run: Run) -> _Outcome | None:
    """What came out so far, if there is something; a file that was read before is not read again."""
    try:
        status = (run.folder / "results.json").stat()
    except FileNotFoundError:
        return None
    return _read_outcome(run.folder, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _read_outcome(folder: Path, changed_at: int, size: int) -> _Outcome | None:
    results = Run(folder).results
    if results is None:
        return None
    if "headline" in results:
        return _Outcome(True, None, None, results["headline"], (tables.of_training(results),))
    if "experiments" in results:
        return _of_experiments(results["experiments"])
    done, total = results["games"], results["of"]
    return _Outcome(done >= total, done, total, _headline(results), tuple(tables.of_games(results)))


def _of_experiments(found: dict[str, list[dict[str, Any]]]) -> _Outcome:
    """What the documents' experiments that are done have found: how often documents and runs agree."""
    verdicts = {name: [part["agrees"] for part in parts if part["kind"] == "finding"] for name, parts in found.items()}
    agree, differ = (sum(each.count(verdict) for each in verdicts.values()) for verdict in (True, False))
    headline = f"{len(found)} {'experiment' if len(found) == 1 else EXPERIMENTS}: {agree} agree, {differ} differ"
    rows = tuple((name, *(each.count(verdict) for verdict in (True, False, None))) for name, each in verdicts.items())
    head = ("experiment", "agrees", "differs", "without comparison")
    return _Outcome(True, len(found), len(found), headline, (Table("Findings beside the documents", head, rows),))


def _headline(results: dict[str, Any]) -> str:
    """The result in one line."""
    if results["ratings"] is not None:
        return ", ".join(f"{rating['agent']} {rating['elo']['text']}" for rating in results["ratings"][:3])
    (match,) = results["matches"]
    if match["score"] is None:
        return ""
    return f"{match['agents'][0]} scored {match['score']:.1%} against {match['agents'][1]}, Elo {match['elo']['text']}"


def _progress(run: Run, outcome: _Outcome | None) -> tuple[int | None, int | None, str | None]:
    """How much is done, of how much, of what."""
    if run.config.get("kind") in ("match", "tournament"):
        if outcome is not None and outcome.finished:
            return outcome.done, outcome.total, "games"
        total = len(read_config(run.config))
        if not run.games_file.exists():
            return 0, total, "games"
        with _games_of(run) as store:
            return store.progress(), total, "games"
    if run.config.get("kind") == "reproduce":
        known = 0 if outcome is None else outcome.done or 0
        found, begun = (len(list(run.folder.glob(f"work/*/{name}.json"))) for name in ("found", "begun"))
        asked = len(run.config.get("experiments", ()))
        return max(found, known), max(begun, known, asked), EXPERIMENTS
    if (about := _training(run)) is None:
        return _told(run)
    last = last_metrics(run)
    return 0 if last is None else last[about["unit"]], about["total"], about["unit"]


def _told(run: Run) -> tuple[int | None, int | None, str | None]:
    """The latest progress that a job has told, of whatever kind."""
    try:
        told = json.loads((run.folder / PROGRESS_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, None, None
    return told["done"], told["total"], told["unit"]


def _training(run: Run) -> dict[str, Any] | None:
    """What a training tells of itself."""
    try:
        about: dict[str, Any] = json.loads((run.folder / "training.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return about


def _metrics(run: Run) -> dict[str, Any] | None:
    """How a training went: some of its rows, and the curves of which they have numbers; nested ones as `rules.score`."""
    if (about := _training(run)) is None:
        return None
    rows = _thinned(read_metrics(run))
    curves = [
        curve for curve in about["curves"] if any(number(each, name) is not None for each in rows for name in curve["names"])
    ]
    return {"unit": about["unit"], "rows": rows, "curves": curves}


def _thinned(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows at even distances, the last one among them."""
    step = math.ceil(len(rows) / MOST_ROWS) or 1
    return rows[::-1][::step][::-1]


def _end_of_games(run: Run) -> int | None:
    if not run.games_file.exists():
        return None
    with _games_of(run) as store:
        return store.end()


@contextmanager
def _games_of(run: Run) -> Iterator[Store]:
    if not run.games_file.exists():
        raise NotThere(f"{run.name} has no games")
    try:
        with Store(run.games_file, read_only=True, check=False) as store:
            yield store
    except StoreError as error:
        raise UserError(_wrong(run, error)) from None


def _damaged(run: Run, error: Exception) -> dict[str, Any]:
    """The row of a run that cannot be read."""
    unknown = dict.fromkeys(("kind", "done", "total", "unit", "created"))
    return {"name": run.name, **unknown, "status": "damaged", "headline": _wrong(run, error)}


def _wrong(run: Run, error: Exception) -> str:
    """What is wrong, without telling where on this machine runs are kept."""
    told = str(error) if isinstance(error, UserError | OSError) else f"strange files: {error!r}"
    return told.replace(str(run.folder), run.name)


def _of_game(game: StoredGame) -> dict[str, Any]:
    return {name: getattr(game, name) for name in OF_A_GAME}


def _figures(run: Run) -> Iterator[Path]:
    return (run.folder / "figures").glob("*.svg")


def _finite(data: dict[str, Any]) -> dict[str, Any]:
    """The same with None for numbers that are not finite, which JSON does not have."""
    told: dict[str, Any] = json.loads(json.dumps(data), parse_constant=lambda name: None)
    return told
