"""Find or create the run of a job, lock it, and do what is missing.

    run = begin(job, Path("runs"))
    results = work(job, run, Session(on_event=print))

`work` returns None if the session was stopped; the same call resumes the run.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fourlab.errors import Damaged, UserError
from fourlab.jobs.job import Event, Extendable, Job, Progress, Session
from fourlab.jobs.kinds import job_of
from fourlab.jobs.links import refuse_links
from fourlab.jobs.products import record_product
from fourlab.jobs.run import Run, open_run
from fourlab.jobs.seal import is_sealed, refuse_damage, seal, unseal

PROGRESS_FILE = "progress.json"
"""The latest progress of a run, for other processes."""
WRITE_SECONDS = 1.0
"""The progress file is written at most this often."""


def begin(
    job: Job,
    home: Path,
    folder: Path | None = None,
    name: str | None = None,
    on_note: Callable[[str], None] = lambda text: None,
) -> Run:
    """Find or create the run of a job.

    `on_note` is called with a line for every run of the same name whose configuration differs.
    """
    job.check()
    return open_run(home, name or job.name, job.config, folder, on_note, job.extent)


def work(job: Job, run: Run, session: Session | None = None) -> dict[str, Any] | None:
    """Do what is missing of a job; returns the results, or None if the session was stopped.

    If the run was extended further than `job` asks for, the larger extent is completed: nothing
    that exists is thrown away.

    Raises UserError if a file that the job would read was damaged since work on the run ended, or
    if the folder has links that lead out of it.
    """
    session = session or Session()
    # Before anything is read or written, also if the folder was found by its configuration.
    refuse_links(run.folder)
    with run.locked():
        refuse_damage(run.folder)
        record_product(job, run.folder)
        is_to_be_sealed = is_sealed(run.folder)
        unseal(run.folder)
        extended = job.extended(run.config)
        requested = job.games if isinstance(job, Extendable) else None
        existing = extended.games if isinstance(extended, Extendable) else None
        if existing != requested:
            session.note(
                f"the run has {existing} games already, more than the {requested} asked for"
            )
        run.extend(extended.config, job.extent)
        in_the_way = None
        writer = _ProgressWriter(run)
        session.subscribe(writer.on_event)
        try:
            results = extended.work(run, session)
            is_to_be_sealed = True
            return results
        except Damaged:
            raise  # a run that had no seal gets none: it would vouch for the damage
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            is_to_be_sealed = True
            # Such as a file that is called figures.
            in_the_way = _in_the_way(Path(error.filename or run.folder))
            kind, needed = ("folder", "file") if in_the_way.is_dir() else ("file", "folder")
            raise UserError(
                f"{in_the_way} is in the way: it is a {kind}, and a {needed} is needed"
            ) from None
        except BaseException:
            is_to_be_sealed = True
            raise
        finally:
            # The lock is held until the workers have ended and the last progress is written.
            session.close()
            session.unsubscribe(writer.on_event)
            writer.write()
            if is_to_be_sealed:
                with suppress(OSError, UserError):  # on a full disk; games have their own hashes
                    # What is in the way is no part of the run: it may be removed.
                    seal(run.folder, without=in_the_way)


def _in_the_way(path: Path) -> Path:
    """Return what keeps a file or folder from being made: itself, or what it would be in."""
    return next(place for place in (path, *path.parents) if place.exists())


def resume(
    run: Run,
    session: Session | None = None,
    allow_programs: bool = False,
    product: Path | None = None,
) -> dict[str, Any] | None:
    """Resume a run; returns its results, immediately if it is complete.

    Raises UserError if the run folder names programs, unless they are allowed, or a file outside it
    that was not named on this machine; `product` is the file to write instead.
    """
    job = job_of(run, allow_programs, product)
    run.check(job.extent)
    return work(job, run, session)


class _ProgressWriter:
    """Writes the latest progress event to the run folder."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._latest: Progress | None = None
        self._written_at = 0.0

    def on_event(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._latest = event
            if time.monotonic() - self._written_at >= WRITE_SECONDS:
                self.write()

    def write(self) -> None:
        if self._latest is not None:
            self._written_at = time.monotonic()
            self._run.write(PROGRESS_FILE, asdict(self._latest))
