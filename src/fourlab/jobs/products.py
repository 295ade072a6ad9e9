"""Products of runs: files outside the run folder, at a path that its manifest names.

A run folder may come from somebody else, and its manifest could name any file of the user's. So a
resumed run writes only to a file that was named by the user: now, or when work on the run began
here, which is recorded in a folder of the user's own (XDG_STATE_HOME or ~/.local/state).
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.jobs.job import Job, Producing
from fourlab.parsing import read_json


def with_product(job: Job, folder: Path, file: Path | None) -> Job:
    """Return the job of a run folder, with `file` as its product if that is not None.

    Raises UserError if the job would write to a file that only the folder names.
    """
    if file is not None:
        if not isinstance(job, Producing):
            raise UserError(f"{folder} makes no file outside its folder")
        return job.with_product(file)
    if not isinstance(job, Producing) or job.product is None:
        return job
    if _recorded(folder) != str(job.product.resolve()):
        raise UserError(
            f"the file {job.product} is named by {folder}, not by you: fourlab resume {folder} "
            "--output FILE says where to write instead"
        )
    return job


def record_product(job: Job, folder: Path) -> None:
    """Record where a job writes its product, so that the run can be resumed without naming it."""
    record = _record_of(folder)
    if record is None or not isinstance(job, Producing) or job.product is None:
        return
    content = {"run": os.path.realpath(folder), "file": str(job.product.resolve())}
    with suppress(OSError, UserError):  # no such place: the next `resume` asks for the file
        record.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(record, (json.dumps(content) + "\n").encode())


def _recorded(folder: Path) -> str | None:
    """Return the recorded product of a run, None if there is none."""
    record = _record_of(folder)
    with suppress(UserError):
        content = None if record is None else read_json(record)
        if isinstance(content, dict) and content.get("run") == os.path.realpath(folder):
            return str(content.get("file"))
    return None


def _record_of(folder: Path) -> Path | None:
    """Return the file of a run's record; None if the user has no home folder."""
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError:
        return None
    # One file per run: processes that begin runs at the same time do not disturb each other.
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    return state / "fourlab" / "products" / f"{name}.json"
