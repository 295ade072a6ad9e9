"""A training loop that can be stopped or killed at any moment and resumed with the same results.

The folder of a training run holds, besides the usual files:

    training.json           the unit of progress, the total, and the curves to draw
    metrics.jsonl           one row per piece of work
    tensorboard/            the same for TensorBoard, if that is installed
    checkpoints/000042/     the complete state after piece 42; the last four are kept

Work is done in pieces, such as an epoch or a batch of games. Resuming means to load the newest
undamaged checkpoint, drop the metrics that came after it, and do the next piece. A trainee must
depend only on its settings and its saved state, so that a run that was interrupted a hundred times
ends with the same bytes as one that never was.
"""

import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from fourlab.errors import UserError
from fourlab.files import digest, open_to_append, read_bounded, require_regular
from fourlab.jobs.executors import Executor
from fourlab.jobs.run import Run
from fourlab.parsing import (
    MAX_DESCRIPTION_BYTES,
    MAX_METRICS_BYTES,
    parse_description,
    parse_json,
    read_json_lines,
)
from fourlab.reporting.curves import Curve
from fourlab.training.tensorboard import Events

# What torch and NumPy raise for a checkpoint with correct checksums that is of another training.
UNFIT = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
CHECKPOINTS_KEPT = 4
MAX_ROW_BYTES = 1 << 20
"""No row of metrics is longer."""
CHECKPOINT_SECONDS = 60.0
"""Usual time between checkpoints; one is also written when the training stops or ends."""


class Trainee(Protocol):
    """Something that learns, one piece of work after another."""

    unit: str
    """What `done` counts: games, epochs, steps."""
    curves: tuple[Curve, ...]
    checkpoint_seconds: float
    """Time between checkpoints, usually CHECKPOINT_SECONDS; 0 for one after every piece."""

    @property
    def done(self) -> int:
        """The amount of work done, in units."""
        ...

    @property
    def total(self) -> int:
        """The amount of work in all, in units."""
        ...

    @property
    def finished(self) -> bool:
        """Whether no work is left."""
        ...

    def advance(self) -> dict[str, Any]:
        """Do the next piece of work; returns its metrics, with `done` under the unit's name."""
        ...

    def save(self, folder: Path) -> None:
        """Write the complete state into an empty folder."""
        ...

    def load(self, folder: Path) -> None:
        """Restore the state that `save` has written."""
        ...

    def finish(self, run: Run) -> dict[str, Any]:
        """Write the product into the run folder.

        Returns the results; their `headline` is one line for people.
        """
        ...


@runtime_checkable
class ParallelTrainee(Trainee, Protocol):
    """A trainee that plays games on workers, as those of trainings with `in_parallel` must."""

    executor: Executor
    """Set by the job before the first piece of work."""


def train(
    run: Run,
    trainee: Trainee,
    stopped: Callable[[], bool] = lambda: False,
    on_row: Callable[[dict[str, Any]], None] = lambda row: None,
    on_note: Callable[[str], None] = lambda text: None,
    checkpoint_seconds: float | None = None,
) -> dict[str, Any] | None:
    """Train until the trainee is finished or `stopped()` is true.

    Returns the results, or None if the training was stopped. `on_row` is called with every row of
    metrics, and when a run is resumed first with its last row; `on_note` is called with warnings.
    `checkpoint_seconds` overrides the trainee's own.
    """
    if checkpoint_seconds is None:
        checkpoint_seconds = trainee.checkpoint_seconds
    # `seconds` is the training time of all sessions together.
    piece, seconds = _restore(run, trainee, on_note)
    advance, finish = (_checked(work, run, piece) for work in (trainee.advance, trainee.finish))
    rows = _truncate_metrics(run, piece)
    curves = [asdict(curve) for curve in trainee.curves]
    about = {"unit": trainee.unit, "total": trainee.total, "curves": curves}
    run.write("training.json", about)
    if rows:
        on_row(rows[-1])
    # A finished training may have been killed before its results were written.
    if trainee.finished and (results := _usable_results(run)) is not None:
        return results
    saved_at = time.monotonic()
    saved_piece = piece
    with (
        open_to_append(run.folder / "metrics.jsonl") as metrics,
        closing(Events(run.folder / "tensorboard")) as events,
    ):
        while not trainee.finished and not stopped():
            started_at = time.perf_counter()
            row = advance()
            seconds += time.perf_counter() - started_at
            piece += 1
            row = {"piece": piece, **row, "seconds": round(seconds, 3)}
            metrics.write(json.dumps(row) + "\n")
            metrics.flush()
            events.write(row, trainee.done)
            on_row(row)
            if time.monotonic() - saved_at >= checkpoint_seconds:
                # Metrics reach the disk first: a checkpoint without them cannot be resumed.
                os.fsync(metrics.fileno())
                _checkpoint(run, trainee, piece, seconds)
                saved_at = time.monotonic()
                saved_piece = piece
        os.fsync(metrics.fileno())
    if saved_piece != piece:
        _checkpoint(run, trainee, piece, seconds)
    if not trainee.finished:
        return None
    results = {**finish(run), trainee.unit: trainee.done, "seconds": round(seconds, 3)}
    run.write("results.json", results)
    return results


def _checked(work: Callable[..., dict[str, Any]], run: Run, restored: int) -> Callable[..., Any]:
    """Return the function with UserError for what it raises because of the checkpoint's state.

    A checkpoint from somebody else can have correct checksums and values that only the next piece
    of work cannot use. Callers from Python see the cause.
    """

    def checked(*arguments: Any) -> dict[str, Any]:
        try:
            return work(*arguments)
        except UserError:
            raise
        except UNFIT as error:
            if restored == 0:
                raise  # nothing was loaded: this is a fault of the training
            reason = " ".join(repr(error).split())[:200]
            raise UserError(
                f"{run.folder} cannot be resumed from checkpoint {restored}, "
                f"or there is a fault in the training: {reason}"
            ) from error

    return checked


def _usable_results(run: Run) -> dict[str, Any] | None:
    """Return the results if they can be shown; else they are written again."""
    results: Any = run.results
    if not isinstance(results, dict) or not isinstance(results.get("headline"), str):
        return None
    lines = results.get("lines", [])
    is_text = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return results if is_text else None


def read_metrics(run: Run) -> list[dict[str, Any]]:
    """Return every complete row of metrics; a crash may have cut the last line short."""
    file = run.folder / "metrics.jsonl"
    try:
        return read_json_lines(file, MAX_METRICS_BYTES)
    except UserError as error:
        raise UserError(f"{file} is damaged: {error}") from None


def _row(line: bytes) -> dict[str, Any]:
    row = parse_json(line.decode(), "a row")
    if not isinstance(row, dict):
        raise UserError("a row is not an object")
    return row


def last_metrics(run: Run) -> dict[str, Any] | None:
    """Return the last complete row of metrics without reading the whole file."""
    file = run.folder / "metrics.jsonl"
    require_regular(file)
    try:
        with file.open("rb") as stream:
            # From the end, since lists of runs read only the last row of many files.
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - MAX_ROW_BYTES))
            # What follows the last newline is empty or was cut short by a crash.
            lines = stream.read().split(b"\n")[:-1]
        return _row(lines[-1]) if lines else None
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise UserError(f"{file} is damaged: {error}") from None


def _truncate_metrics(run: Run, piece: int) -> list[dict[str, Any]]:
    """Remove the rows after `piece`, whose work will be done again; returns the remaining ones."""
    rows = read_metrics(run)
    for number, row in enumerate(rows, 1):
        # Rows are written in order, one per piece; those after the checkpoint may be any number.
        if row.get("piece") != number or isinstance(row["piece"], bool):
            raise UserError(f"{run.folder / 'metrics.jsonl'} is damaged: row {number} is another")
    kept = rows[:piece]
    if len(kept) < piece:
        raise UserError(
            f"{run.folder / 'metrics.jsonl'} has only {len(kept)} of the {piece} rows "
            "that belong to the checkpoint"
        )
    run.write("metrics.jsonl", "".join(json.dumps(row) + "\n" for row in kept))
    _sync(run.folder)
    return kept


def _checkpoint(run: Run, trainee: Trainee, piece: int, seconds: float) -> None:
    """Write a checkpoint atomically, and delete the oldest ones."""
    home = run.folder / "checkpoints"
    # Written under a hidden name, flushed and then renamed: a checkpoint is complete or absent.
    target = home / f"{piece:06d}"
    temporary = home / f".{piece:06d}"
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        trainee.save(temporary)
        files = {file.name: digest(file) for file in sorted(temporary.iterdir())}
        about = {"piece": piece, "seconds": seconds, "sha256": files}
        (temporary / "checkpoint.json").write_text(json.dumps(about, indent=2))
        # The data before the name: a rename may otherwise reach the disk first.
        for file in temporary.iterdir():
            _sync(file)
        if target.exists():  # a damaged one that was not loaded
            shutil.rmtree(target)
        os.replace(temporary, target)
        _sync(home)  # the new name is data of the parent folder
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    # Six digits with leading zeros: sorting by name sorts by piece.
    for old in sorted(_checkpoints(run))[:-CHECKPOINTS_KEPT]:
        shutil.rmtree(old)


def _restore(run: Run, trainee: Trainee, on_note: Callable[[str], None]) -> tuple[int, float]:
    """Load the newest undamaged checkpoint.

    Returns its piece and the seconds of training until then, or zeros if there is none.
    """
    checkpoints = sorted(_checkpoints(run), reverse=True)
    for folder in checkpoints:
        try:
            piece, seconds, damaged = _read_checkpoint(folder)
        except (OSError, *UNFIT):
            damaged = ["checkpoint.json"]
        if damaged:
            on_note(f"the checkpoint {folder} is damaged ({damaged[0]}); trying the one before")
            continue
        try:
            trainee.load(folder)
        except UserError:
            raise
        except UNFIT as error:
            reason = str(error).partition("\n")[0][:200]
            raise UserError(f"{folder} is no checkpoint of this training: {reason}") from None
        return piece, seconds
    if checkpoints:
        raise UserError(
            f"every checkpoint in {run.folder / 'checkpoints'} is damaged; "
            "remove that folder to start again"
        )
    return 0, 0.0


def _read_checkpoint(folder: Path) -> tuple[int, float, list[str]]:
    """Return a checkpoint's piece, its seconds, and the files that are not as they were."""
    data = read_bounded(folder / "checkpoint.json", MAX_DESCRIPTION_BYTES, follow_links=False)
    about = parse_description(data)
    # The folder may come from somebody else: links are not followed, names do not leave it, and
    # only what has a checksum is there to be read.
    files = {file.name: file for file in folder.iterdir() if file.name != "checkpoint.json"}
    damaged = sorted(files.keys() ^ about["sha256"].keys())
    damaged += [name for name, file in files.items() if file.is_symlink() or not file.is_file()]
    if not damaged:
        # The checksums also notice files that the disk has lost or cut short.
        damaged = [name for name, file in files.items() if digest(file) != about["sha256"][name]]
    piece, seconds = about["piece"], float(about["seconds"])
    if type(piece) is not int or piece < 1 or not 0 <= seconds < math.inf:
        raise ValueError("no such piece of work")
    return piece, seconds, damaged


def _checkpoints(run: Run) -> Iterator[Path]:
    home = run.folder / "checkpoints"
    if home.is_symlink():
        raise UserError(f"{home} is a link, which is not followed")
    if home.exists() and not home.is_dir():
        raise UserError(f"{home} is not a folder")
    return (folder for folder in home.glob("[0-9]*") if folder.is_dir() and not folder.is_symlink())


def _sync(path: Path) -> None:
    """Flush a file, or a folder's list of names, to the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot flush folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
