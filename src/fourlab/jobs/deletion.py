"""Delete run folders: only those in the folder of runs, and never one that is worked on."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from fourlab.errors import UserError
from fourlab.jobs.links import refuse_links
from fourlab.jobs.run import Run


@dataclass(frozen=True)
class Size:
    """What a run folder holds."""

    files: int
    bytes: int

    def __str__(self) -> str:
        plural = "" if self.files == 1 else "s"
        return f"{self.files} file{plural}, {self.bytes / 1e6:,.1f} MB"


def size_of(run: Run) -> Size:
    """Count the files of a run and their bytes."""
    files = [file for file in run.folder.rglob("*") if file.is_file()]
    return Size(len(files), sum(file.stat().st_size for file in files))


def check_deletable(run: Run, home: Path) -> None:
    """Raise UserError unless the run lies in `home`, has no links and nobody works on it."""
    # A folder elsewhere, or a link to one, is not ours to delete.
    if run.folder.is_symlink() or run.folder.resolve().parent != home.resolve():
        raise UserError(f"{run.folder} is not in {home}; delete it by hand if it is yours")
    refuse_links(run.folder)
    _ = run.manifest  # raises UserError if this is no run
    if run.is_locked:
        raise UserError(f"another process is working on {run.folder}; stop it first")


def delete(run: Run, home: Path) -> None:
    """Delete a run folder; files that the run wrote elsewhere, such as a book, are kept."""
    check_deletable(run, home)
    # Under the lock, so that nobody begins to work on it meanwhile. Without its manifest a folder
    # is no run, so an interrupted deletion does not leave half of one.
    with run.locked():
        (run.folder / "manifest.json").unlink()
    shutil.rmtree(run.folder)
