"""Work on jobs from Python: where their runs are, progress, Ctrl-C and resuming."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from fourlab.errors import UserError
from fourlab.jobs.job import Conduct, Event, Job, Note, Progress, Session
from fourlab.jobs.runner import begin, work
from fourlab.jobs.stopping import interruptible
from fourlab.options import perhaps
from fourlab.reporting.progress import print_note, shown


class RunOptions(TypedDict, total=False):
    """Keywords of every function that makes a run; they have no influence on the results."""

    run: str | PathLike[str] | None
    """Use exactly this run folder."""
    runs: str | PathLike[str]
    """The folder that contains the runs: by default FOURLAB_RUNS, or else `runs`."""
    name: str | None
    """The name of a new run."""
    workers: int | None
    """Number of workers; by default one per processor."""
    executor: str | None
    """Where workers run: local (processes), threads or ray."""
    address: str | None
    """The address of a Ray cluster."""
    on_progress: Callable[[Progress], None] | None
    """Called with the progress from time to time, in place of the bar on a terminal."""
    quiet: bool
    """Show no progress."""


def divided(
    function: str, keywords: Mapping[str, Any], settings: set[str], named: Iterable[str] = ()
) -> tuple[dict[str, Any], RunOptions]:
    """Divide the keywords of a call into its settings and the options of its run.

    Raises UserError for a keyword that is neither. `named` are the function's own parameters.
    """
    names = [*settings, *RunOptions.__annotations__]
    for name in keywords:
        if name not in names:
            choices = sorted({*names, *named})
            listed = f"its settings are {', '.join(choices)}"
            raise UserError(
                f"{function}() has no setting {name!r}{perhaps(name, choices)}; {listed}"
            )
    own = {name: value for name, value in keywords.items() if name in settings}
    options: Any = {name: value for name, value in keywords.items() if name not in settings}
    return own, options


def work_on(
    job: Job, options: RunOptions, notes: Iterable[str] = ()
) -> tuple[Path, dict[str, Any]]:
    """Begin or resume a job; return the folder of its run, and its results.

    `notes` are remarks for the user.

    Ctrl-C finishes the items in progress and then raises KeyboardInterrupt; the same call resumes.
    """
    quiet = options.get("quiet", False)
    folder = options.get("run")
    number = options.get("workers")
    conduct = Conduct(
        Conduct().workers if number is None else number,
        options.get("executor"),
        options.get("address"),
    )
    session = Session(conduct)
    home = Path(options.get("runs") or os.environ.get("FOURLAB_RUNS") or "runs")

    def note(text: str) -> None:
        if not quiet:
            print_note(Note(text))

    for text in notes:
        note(text)
    run = begin(job, home, None if folder is None else Path(folder), options.get("name"), note)
    on_progress = options.get("on_progress")

    def forward(event: Event) -> None:
        if on_progress is not None and isinstance(event, Progress):
            on_progress(event)

    def give_up() -> None:
        raise KeyboardInterrupt

    session.subscribe(forward)
    # Without a bar, in a notebook or a log, only remarks are printed.
    with (
        interruptible(session, give_up),
        shown(session, quiet or on_progress is not None, lines=False),
    ):
        results = work(job, run, session)
    if results is None:
        raise KeyboardInterrupt(f"stopped; the same call resumes the run {run.folder}")
    # As if read from results.json: the same whether the run was resumed or not.
    return run.folder, json.loads(json.dumps(results, default=str))
