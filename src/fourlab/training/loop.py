"""Training that can be stopped at any moment and goes on as if nothing had happened.

A training run's folder holds, beside what every run has:

    training.json           what is counted, how much there is to do, and which curves tell how it goes
    metrics.jsonl           one line per piece of work
    tensorboard/            the same for TensorBoard, if that is installed
    checkpoints/000042/     all that is needed to go on after piece 42; the last four are kept

Work is done in pieces. Going on means: load the newest whole checkpoint, forget the metrics that came after it, do the
next piece. Whatever a trainee does must depend on its settings and its saved state alone, so that a run that was stopped a
hundred times ends with the same bytes as one that never was.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from fourlab.errors import UserError
from fourlab.files import digest
from fourlab.jobs.run import Run
from fourlab.reporting.curves import Curve
from fourlab.training.tensorboard import Events

KEPT = 4
"""So many checkpoints are kept."""
MOST_ROW_BYTES = 1 << 20
CHECKPOINT_SECONDS = 60.0
"""A checkpoint is written when the last is so old, when the training is stopped and when it is finished."""


class Trainee(Protocol):
    """Something that learns, piece by piece."""

    unit: str
    """What `done` counts: games, epochs, steps."""
    curves: tuple[Curve, ...]

    @property
    def done(self) -> int:
        """How much is done."""
        ...

    @property
    def total(self) -> int:
        """How much there is to do."""
        ...

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        ...

    def advance(self) -> dict[str, Any]:
        """Do the next piece of work; returns its row of metrics, with `done` under the unit's name."""
        ...

    def save(self, folder: Path) -> None:
        """Write all that `load` needs into an empty folder."""
        ...

    def load(self, folder: Path) -> None:
        """Become what was saved."""
        ...

    def finish(self, run: Run) -> dict[str, Any]:
        """Write what came of it into the run's folder; returns the results, `headline` among them: one line for people."""
        ...


def train(
    run: Run,
    trainee: Trainee,
    stopped: Callable[[], bool] = lambda: False,
    told: Callable[[dict[str, Any]], None] = lambda row: None,
    noted: Callable[[str], None] = lambda text: None,
    checkpoint_seconds: float | None = None,
) -> dict[str, Any] | None:
    """Train until it is finished or somebody says stop; returns the results, or None if it was stopped before the end.

    `told` hears every row of metrics, and first, when the run goes on, the last row of before; `noted` hears of trouble. A
    trainee whose pieces are dear may say how old a checkpoint gets, by an attribute of that name.
    """
    if checkpoint_seconds is None:
        checkpoint_seconds = getattr(trainee, "checkpoint_seconds", CHECKPOINT_SECONDS)
    piece, seconds = _restore(run, trainee, noted)
    rows = _keep_metrics(run, piece)
    run.write(
        "training.json", {"unit": trainee.unit, "total": trainee.total, "curves": [asdict(each) for each in trainee.curves]}
    )
    if rows:
        told(rows[-1])
    if trainee.finished and run.results is not None:
        return run.results
    saved_at, saved = time.monotonic(), piece
    with (
        (run.folder / "metrics.jsonl").open("a", encoding="utf-8") as metrics,
        closing(Events(run.folder / "tensorboard")) as events,
    ):
        while not trainee.finished and not stopped():
            begun = time.perf_counter()
            row = trainee.advance()
            seconds += time.perf_counter() - begun
            piece += 1
            row = {"piece": piece, **row, "seconds": round(seconds, 3)}
            metrics.write(json.dumps(row) + "\n")
            metrics.flush()
            events.write(row, trainee.done)
            rows.append(row)
            told(row)
            if time.monotonic() - saved_at >= checkpoint_seconds:
                os.fsync(metrics.fileno())  # a checkpoint without its rows could not be gone on from
                _checkpoint(run, trainee, piece, seconds)
                saved_at, saved = time.monotonic(), piece
        os.fsync(metrics.fileno())
    if saved != piece:
        _checkpoint(run, trainee, piece, seconds)
    if not trainee.finished:
        return None
    results = {**trainee.finish(run), trainee.unit: trainee.done, "seconds": round(seconds, 3)}
    run.write("results.json", results)
    return results


def read_metrics(run: Run) -> list[dict[str, Any]]:
    """Every whole row of metrics; a last line cut short by a crash does not count."""
    file = run.folder / "metrics.jsonl"
    if not file.exists():
        return []
    data = file.read_bytes()
    try:
        rows: list[dict[str, Any]] = [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
    except ValueError as error:
        raise UserError(f"{file} is damaged: {error}") from None
    return rows


def last_metrics(run: Run) -> dict[str, Any] | None:
    """The last whole row of metrics, found without reading them all."""
    file = run.folder / "metrics.jsonl"
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - MOST_ROW_BYTES))
            lines = stream.read().split(b"\n")[:-1]
        return json.loads(lines[-1]) if lines else None
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise UserError(f"{file} is damaged: {error}") from None


def _keep_metrics(run: Run, piece: int) -> list[dict[str, Any]]:
    """The rows up to a piece; what came later will be done again, so it is cut off."""
    rows = read_metrics(run)
    try:
        kept = [row for row in rows if row["piece"] <= piece]
    except (KeyError, TypeError) as error:
        raise UserError(f"{run.folder / 'metrics.jsonl'} is damaged: {error}") from None
    if len(kept) < piece:
        raise UserError(f"{run.folder / 'metrics.jsonl'} lacks rows of what is in the checkpoint")
    run.write("metrics.jsonl", "".join(json.dumps(row) + "\n" for row in kept))
    _sync(run.folder)
    return kept


def _checkpoint(run: Run, trainee: Trainee, piece: int, seconds: float) -> None:
    """Write a checkpoint beside the others, whole or not at all, and drop the oldest."""
    home = run.folder / "checkpoints"
    new, place = home / f".{piece:06d}", home / f"{piece:06d}"
    try:
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        trainee.save(new)
        files = {file.name: digest(file) for file in sorted(new.iterdir())}
        (new / "checkpoint.json").write_text(json.dumps({"piece": piece, "seconds": seconds, "sha256": files}, indent=2))
        for file in new.iterdir():
            _sync(file)
        if place.exists():  # a damaged one that was not loaded
            shutil.rmtree(place)
        os.replace(new, place)
        _sync(home)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    for old in sorted(_checkpoints(run))[:-KEPT]:
        shutil.rmtree(old)


def _restore(run: Run, trainee: Trainee, noted: Callable[[str], None]) -> tuple[int, float]:
    """Load the newest whole checkpoint; returns its piece and seconds, or zeros if there is none."""
    found = sorted(_checkpoints(run), reverse=True)
    for folder in found:
        try:
            about = json.loads((folder / "checkpoint.json").read_text())
            damaged = [name for name, before in about["sha256"].items() if digest(folder / name) != before]
            piece, seconds = int(about["piece"]), float(about["seconds"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            damaged = ["checkpoint.json"]
        if damaged:
            noted(f"the checkpoint {folder} is damaged ({damaged[0]}); trying the one before")
            continue
        trainee.load(folder)
        return piece, seconds
    if found:
        raise UserError(f"every checkpoint in {run.folder / 'checkpoints'} is damaged; remove that folder to begin anew")
    return 0, 0.0


def _checkpoints(run: Run) -> Iterator[Path]:
    return (folder for folder in (run.folder / "checkpoints").glob("[0-9]*") if folder.is_dir())


def _sync(path: Path) -> None:
    """Make sure that a file or a folder's list of names has reached the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows has no such thing for folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
