"""Work on a job in the terminal: progress, Ctrl-C, and the command that resumes the run."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from fourlab.agents.programs import OPTION, programs_in
from fourlab.errors import Damaged, UserError
from fourlab.jobs.job import Conduct, Job, Session
from fourlab.jobs.runner import begin, work
from fourlab.jobs.stopping import interruptible
from fourlab.reporting.progress import shown
from fourlab.terminal import one_line, visible

if TYPE_CHECKING:
    from fourlab.cli.running import Running
    from fourlab.jobs.run import Run


@dataclass(frozen=True)
class Desk:
    """Where and how a command works on a job."""

    running: "Running"
    conduct: Conduct
    resume_options: tuple[str, ...]
    """Options that the resume command needs besides the folder."""

    def note(self, text: str) -> None:
        """Print a remark to standard error, unless quiet."""
        if not self.running.quiet:
            print(f"note: {one_line(text)}", file=sys.stderr)

    def work(self, job: Job) -> "tuple[Run, dict[str, Any]]":
        """Begin or resume a job; return its run and its results.

        Ctrl-C finishes the items in progress; the command then prints the command that resumes the
        run and exits with code 130.
        """
        options = self.running
        run = begin(job, options.home, options.run, options.name, self.note)
        return run, self.work_on(job, run)

    def work_on(self, job: Job, run: "Run") -> dict[str, Any]:
        """Do the missing work of a run; return its results."""
        options = [*self.resume_options]
        if next(programs_in(job.config), None) is not None:
            options.append(OPTION)  # the next command reads them from the run folder
        resume = shlex.join(["fourlab", "resume", str(run.folder), *options])
        session = Session(self.conduct)
        try:
            with attended(session, resume, self.running.quiet):
                results = work(job, run, session)
        except MemoryError as error:
            raise UserError(
                f"there is not enough memory for this; choose smaller settings ({error})"
            ) from None
        except Damaged:
            raise  # also an OSError, but resuming does not help
        except OSError as error:  # for example a full disk
            print(
                f"fourlab: {error}; what was saved is safe, resume with: {resume}", file=sys.stderr
            )
            raise typer.Exit(1) from None
        if results is None:
            exit_stopped(session, resume)
        return results


@contextmanager
def attended(session: Session, resume: str, quiet: bool) -> Iterator[None]:
    """Show the progress of a session, and let Ctrl-C stop it; `resume` is the command for later."""

    def give_up() -> None:
        text = f"stopped; what was saved is safe, resume with:\n{resume}"
        os.write(2, f"\n{visible(text)}\n".encode())  # print is not reentrant here
        os._exit(130)  # 128 + SIGINT; sys.exit would wait for threads and workers

    signals = (signal.SIGINT, signal.SIGTERM)
    with interruptible(session, give_up, signals, is_ending=True), shown(session, quiet):
        yield


def exit_stopped(session: Session, resume: str) -> NoReturn:
    """Print how far the job came and how to resume it, and exit."""
    # Jobs of unknown length report no total.
    progress = ""
    if (last := session.last) is not None and last.total is not None:
        progress = f" after {last.done:,} of {last.total:,} {last.unit}"
    print(f"stopped{progress}; resume with:\n{resume}", file=sys.stderr)
    raise typer.Exit(130)
