"""The one way to work on a job: find or begin its run, lock it, do what is missing.

    run = begin(job, Path("runs"))
    results = work(job, run, Session(tell=print))

`work` returns None if the session was stopped; the same call goes on from there.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fourlab.jobs.job import Event, Job, Progress, Session
from fourlab.jobs.kinds import job_of
from fourlab.jobs.run import Run, open_run

PROGRESS_FILE = "progress.json"
"""The latest progress of a run, for those who watch from another process."""
WRITE_SECONDS = 1.0


def begin(
    job: Job,
    home: Path,
    folder: Path | None = None,
    name: str | None = None,
    note: Callable[[str], None] | None = None,
) -> Run:
    """Find the run of a job, or begin it; `note` hears of runs of the same name that differ."""
    job.check()
    return open_run(home, name or job.name, job.config, folder, note, job.extent)


def work(job: Job, run: Run, session: Session | None = None) -> dict[str, Any] | None:
    """Do what is missing of a job; returns the results, or None if the session was stopped.

    A run that was asked for more before does that, too: nothing that exists is thrown away.
    """
    session = session or Session()
    with run.locked():
        asked, job = job, job.extended(run.config)
        for name in job.extent:
            before, now = asked.config.get(name), job.config.get(name)
            if isinstance(now, int) and before != now:
                session.note(f"the run has {name} = {now} already, more than the {before} asked for")
        run.extend(job.config, job.extent)
        writer = _ProgressWriter(run)
        session.listen(writer.hear)
        try:
            return job.work(run, session)
        finally:
            session.close()
            session.ignore(writer.hear)
            writer.write()


def resume(run: Run, session: Session | None = None) -> dict[str, Any] | None:
    """Go on with a run; one that is complete tells its results again."""
    job = job_of(run)
    run.check(job.extent)
    return work(job, run, session)


class _ProgressWriter:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._latest: Progress | None = None
        self._written_at = 0.0

    def hear(self, event: Event) -> None:
        if isinstance(event, Progress):
            self._latest = event
            if time.monotonic() - self._written_at >= WRITE_SECONDS:
                self.write()

    def write(self) -> None:
        if self._latest is None:
            return
        self._written_at = time.monotonic()
        event = self._latest
        told = {
            "done": event.done,
            "total": event.total,
            "unit": event.unit,
            "stage": event.stage,
            "text": event.text,
        }
        self._run.write(PROGRESS_FILE, told)
