"""Runs as plain data for the terminal and the web: progress, results, games.

The web page polls this every few seconds while a run is working, so nothing here reads a whole file
of games.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
from fourlab.jobs.links import refuse_links
from fourlab.jobs.run import Run, all_runs, settings_of
from fourlab.jobs.runner import PROGRESS_FILE
from fourlab.parsing import read_json
from fourlab.reporting.curves import number
from fourlab.training.loop import last_metrics, read_metrics

# A chart on the page is about 500 pixels wide.
MOST_ROWS = 500
"""Longer metrics are thinned to at most this many rows, enough for a curve."""
READ_ERRORS = (
    *(UserError, OSError, ArithmeticError),
    *(AttributeError, LookupError, TypeError, ValueError),
)
"""What reading a run folder raises if its files are missing or have unexpected contents."""
POSSIBLE = "possible"
"""The answer where all that was tested is whether something may happen at all."""
MAY_HAPPEN = "may happen"
"""How the name of such a test begins."""
UNTESTED = "not tested"
NO_VERDICT = "no verdict"
"""The answer of a test that cannot be made."""
ANSWERS = ("agrees", POSSIBLE, "differs", "cannot tell", UNTESTED)
"""What a study can say about the numbers of a report."""
EXPERIMENTS = "experiments"
"""The unit of progress of `fourlab reproduce`."""
GAME_FIELDS = (
    "number",
    "red",
    "yellow",
    "board",
    "start",
    "moves",
    "result",
    "cause",
    "detail",
    "plies",
)
"""The fields of a stored game that a list of games shows."""


def run_named(home: Path, name: str) -> Run:
    """Return the run of exactly this name; raise NotThere if there is none.

    The name comes from a request, so it is compared with existing names and never made a path.
    """
    for run in all_runs(home):
        if run.name == name:
            return run
    raise NotThere(f"there is no run {name!r}")


def row(run: Run) -> dict[str, Any]:
    """Return the data of one line in the list of runs.

    `status` is running, finished, stopped or damaged. The progress is `done` of `total` `unit`,
    None where it is unknown. The headline of a damaged run says what is wrong.
    """
    try:
        refuse_links(run.folder)
        outcome = _outcome(run)
        done, total, unit = _progress(run, outcome)
        # A study writes its results after every experiment, so results alone do not end it.
        finished = (
            outcome is not None and outcome.finished and (unit != EXPERIMENTS or done == total)
        )
        status = "finished" if finished else "stopped"
        return {
            "name": run.name,
            "kind": run.config.get("kind"),
            # A process that works on a run holds its lock, which the system releases if it dies.
            "status": "running" if run.is_locked else status,
            "done": done,
            "total": total,
            "unit": unit,
            "headline": "" if outcome is None else outcome.headline,
            "created": run.manifest.get("created"),
        }
    except READ_ERRORS as error:
        return _damaged(run, error)


def detail(run: Run) -> dict[str, Any]:
    """Return everything about a run except its games.

    That is its row, settings, tables, the names of its figures, and metrics with curves. `games` is
    the number of games that can be viewed, None if the run plays none.
    """
    try:
        outcome = _outcome(run)
        contents = {
            "settings": settings_of(run.config),
            "tables": [] if outcome is None else [asdict(table) for table in outcome.tables],
            "figures": sorted(file.stem for file in _figures(run)),
            "metrics": _metrics(run),
            "games": _number_of_games(run),
        }
        return _finite({**row(run), **contents})
    except READ_ERRORS as error:
        nothing: dict[str, Any] = {
            "settings": {},
            "tables": [],
            "figures": [],
            "metrics": None,
            "games": None,
        }
        return {**_damaged(run, error), **nothing}


def compare(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the settings that differ between runs, with every run's value.

    The value is None where a run does not have the setting.
    """
    settings = [settings_of(run.config) for run in runs]
    differing = {}
    for name in sorted(set().union(*settings)):
        values = [of_run.get(name) for of_run in settings]
        if any(value != values[0] for value in values):
            differing[name] = values
    return _finite({"runs": [run.name for run in runs], "settings": differing})


def games(run: Run, offset: int = 0, limit: int = 50) -> dict[str, Any]:
    """Return the games with numbers from `offset` to below `offset + limit`, and the total."""
    with _open_games(run) as store:
        # Numbers and not SQL's OFFSET, which would step over all earlier rows. Numbers can be
        # missing while games are being played, so a page may be shorter than `limit`.
        page = list(store.games("number >= ? AND number < ?", offset, offset + limit))
        return {"total": store.end(), "games": [_game_fields(game) for game in page]}


def game(run: Run, number: int) -> dict[str, Any]:
    """Return one game with the agents' thoughts and, if it is solved, exact scores.

    The scores are those of every position, from its side to move's point of view.
    """
    with _open_games(run) as store:
        stored = store.game(number)
    if stored is None:
        raise NotThere(f"{run.name} has no game {number}")
    return _finite(
        {**_game_fields(stored), "thoughts": thoughts(stored), "scores": stored.exact_scores}
    )


def thoughts(game: StoredGame) -> list[dict[str, Any]]:
    """Return the value, visits and seconds that the agents reported for each move of a game."""
    return [asdict(thought) for thought in game.record.thoughts]


def figure(run: Run, name: str) -> Path:
    """Return the file of a figure; like a run's name, `name` is only compared."""
    for file in _figures(run):
        if file.stem == name:
            return file
    raise NotThere(f"{run.name} has no figure {name!r}")


@dataclass(frozen=True)
class _Outcome:
    """A short form of results.json."""

    finished: bool
    done: int | None
    """Games or experiments; None for training runs."""
    total: int | None
    headline: str
    tables: tuple[Table, ...]


def _outcome(run: Run) -> _Outcome | None:
    """Return the results so far, None if there are none; an unchanged file is read only once."""
    try:
        status = (run.folder / "results.json").stat()
    except FileNotFoundError:
        return None
    return _read_outcome(run.folder, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _read_outcome(folder: Path, changed_at: int, size: int) -> _Outcome | None:
    """Read results.json; `changed_at` and `size` are there to invalidate the cache."""
    results = Run(folder).results
    if results is None:
        return None
    # Results do not name the kind of their run; each kind has an entry that no other has.
    if "headline" in results:
        return _Outcome(True, None, None, results["headline"], (tables.of_training(results),))
    if "experiments" in results:
        return _study_outcome(results["experiments"])
    done, total = results["games"], results["of"]
    return _Outcome(done >= total, done, total, _headline(results), tuple(tables.of_games(results)))


def count_answers(parts: Sequence[Mapping[str, Any]], question: str = "reproduced") -> Counter[str]:
    """Count the answers of an experiment to one of the questions `reproduced` and `true`.

    `parts` are those of the experiment in results.json. Only what the report claims counts, and one
    statement of several rows counts once: it differs if one tested row does, and agrees only if all
    do, and none has NO_VERDICT. It is POSSIBLE if the rows agree and one of them says only that. A
    statement without a test counts as UNTESTED.
    """
    statements: dict[str, list[str]] = {}
    for part in parts:
        # Earlier versions do not store whose claim it is.
        made_as = part.get("made_as", "claim") if part.get("reported") else "diagnostic"
        if part["kind"] != "claim" or made_as != "claim":
            continue
        rows = statements.setdefault(part.get("statement") or part["name"], [])
        if (verdict := part[question]) is not None:
            rows.append(_answer_of(verdict))
    return Counter(map(_answer_of_rows, statements.values()))


def _answer_of(verdict: Mapping[str, Any]) -> str:
    """Return the answer of one row."""
    answer = str(verdict["answer"])
    is_possible = answer == "agrees" and verdict.get("test", "").startswith(MAY_HAPPEN)
    return POSSIBLE if is_possible else answer


def _answer_of_rows(rows: Sequence[str]) -> str:
    """Return the answer to a statement from those of its rows."""
    agrees, possible, differs, cannot_tell, _ = ANSWERS
    if set(rows) <= {NO_VERDICT}:
        return UNTESTED
    if differs in rows:
        return differs
    if set(rows) <= {agrees, possible}:
        return possible if possible in rows else agrees
    return cannot_tell


def _study_outcome(experiments: dict[str, list[dict[str, Any]]]) -> _Outcome:
    """Return how often finished experiments reproduce the numbers of the reports."""
    rows = []
    totals: Counter[str] = Counter()
    for name, parts in experiments.items():
        answers = count_answers(parts)
        totals += answers
        rows.append((name, *(answers[answer] for answer in ANSWERS)))
    number = len(experiments)
    noun = "experiment" if number == 1 else EXPERIMENTS
    counts = f"{totals['agrees']} agree, {totals[POSSIBLE]} possible, {totals['differs']} differ"
    headline = f"{number} {noun}: {counts}"
    table = Table("Claims compared with the reports", ("experiment", *ANSWERS), tuple(rows))
    return _Outcome(True, number, number, headline, (table,))


def _headline(results: dict[str, Any]) -> str:
    """Return the result of a match or tournament in one line."""
    # Ratings are computed for three agents or more; the table is sorted, so these are the best.
    if results["ratings"] is not None:
        return ", ".join(
            f"{rating['agent']} {rating['elo']['text']}" for rating in results["ratings"][:3]
        )
    (match,) = results["matches"]
    if match["score"] is None:
        return ""
    one, other = match["agents"]
    return f"{one} scored {match['score']:.1%} against {other}, Elo {match['elo']['text']}"


def _progress(run: Run, outcome: _Outcome | None) -> tuple[int | None, int | None, str | None]:
    """Return the progress of a run: done, total and unit."""
    if run.config.get("kind") in ("match", "tournament"):
        if outcome is not None and outcome.finished:
            return outcome.done, outcome.total, "games"
        total = len(read_config(run.config))
        if not run.games_file.exists():
            return 0, total, "games"
        with _open_games(run) as store:
            if (outside := store.number_outside(total)) is not None:
                raise UserError(f"{run.name} has a game {outside}, but is of {total} games")
            return store.progress(), total, "games"
    if run.config.get("kind") == "reproduce":
        # Older versions did not record which experiments were requested; their work folders show
        # what was begun. Counts never fall below those of the results.
        reported = 0 if outcome is None else outcome.done or 0
        done = len(list(run.folder.glob("work/*/found.json")))
        begun = len(list(run.folder.glob("work/*/begun.json")))
        configured = len(run.config.get("experiments", ()))
        return max(done, reported), max(begun, reported, configured), EXPERIMENTS
    training = _read_json(run.folder / "training.json")
    if training is not None:
        last = last_metrics(run)
        unit = training["unit"]
        return 0 if last is None else last[unit], training["total"], unit
    # A job of any other kind: the last progress event it emitted.
    progress = _read_json(run.folder / PROGRESS_FILE)
    if progress is None:
        return None, None, None
    return progress["done"], progress["total"], progress["unit"]


def _read_json(file: Path) -> dict[str, Any] | None:
    """Return the contents of a JSON file, None if it does not exist."""
    if not file.exists():
        return None
    data: dict[str, Any] = read_json(file)
    return data


def _metrics(run: Run) -> dict[str, Any] | None:
    """Return a training run's metrics, thinned, and the curves that have at least one number.

    A curve names metrics by path: `rules.score` is the entry `score` of the entry `rules`.
    """
    training = _read_json(run.folder / "training.json")
    if training is None:
        return None
    rows = _thinned(read_metrics(run))
    curves = [
        curve
        for curve in training["curves"]
        if any(number(metrics, name) is not None for metrics in rows for name in curve["names"])
    ]
    return {"unit": training["unit"], "rows": rows, "curves": curves}


def _thinned(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return at most MOST_ROWS rows at equal distances, always with the last one."""
    step = math.ceil(len(rows) / MOST_ROWS) or 1
    # Steps count from the end, because the last row is the one that matters.
    return rows[::-1][::step][::-1]


def _number_of_games(run: Run) -> int | None:
    if not run.games_file.exists():
        return None
    with _open_games(run) as store:
        return store.end()


@contextmanager
def _open_games(run: Run) -> Iterator[Store]:
    """Open the games of a run for reading, without the check of the whole file."""
    if not run.games_file.exists():
        raise NotThere(f"{run.name} has no games")
    try:
        with Store(run.games_file, read_only=True, check=False) as store:
            yield store
    except StoreError as error:
        raise UserError(_message(run, error)) from None


def _damaged(run: Run, error: Exception) -> dict[str, Any]:
    """Return the row of a run that cannot be read."""
    unknown = dict.fromkeys(("kind", "done", "total", "unit", "created"))
    return {"name": run.name, **unknown, "status": "damaged", "headline": _message(run, error)}


def _message(run: Run, error: Exception) -> str:
    """Return what is wrong, without revealing the path of the run folder."""
    # Other errors come from reading unexpected contents and are not written for people.
    is_readable = isinstance(error, UserError | OSError)
    message = str(error) if is_readable else f"unexpected contents: {error!r}"
    return message.replace(str(run.folder), run.name)


def _game_fields(game: StoredGame) -> dict[str, Any]:
    return {name: getattr(game, name) for name in GAME_FIELDS}


def _figures(run: Run) -> Iterator[Path]:
    return (run.folder / "figures").glob("*.svg")


def _finite(data: dict[str, Any]) -> dict[str, Any]:
    """Replace numbers that are not finite, which JSON does not have, by None."""
    # Python writes NaN and Infinity, which browsers refuse to read; parse_constant sees only those.
    finite: dict[str, Any] = json.loads(json.dumps(data), parse_constant=lambda name: None)
    return finite
