"""Replications as a job: one run folder per scale and seed, one experiment after another."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from fourlab.errors import UserError
from fourlab.jobs.executors import Executor
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run
from fourlab.studies.catalogue import SCALES, Experiment, all_experiments, title_of
from fourlab.studies.forest import with_picture
from fourlab.studies.made import MADE
from fourlab.studies.report import (
    BEGUN,
    FOUND,
    check_work,
    lacks_figures,
    load_parts,
    save_parts,
    write_reports,
)
from fourlab.studies.workbench import Part, Stopped, Workbench, without_verdicts

UNFIT = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What an experiment raises if its stored work is of other types than it writes."""


@dataclass(frozen=True)
class StudyJob:
    """Run experiments of the reports again."""

    extent: ClassVar[frozenset[str]] = frozenset({"experiments"})

    experiments: tuple[str, ...]
    """The names of the experiments to run now."""
    scale: str
    seed: int = 0
    by_clock: bool = False
    """Whether Arya's searches get the thesis's seconds per move."""
    recorded: tuple[str, ...] = ()
    """The experiments that earlier commands requested; resuming the run does them all."""
    resumed: bool = False
    """Whether to finish every experiment that the run has begun as well."""

    @property
    def name(self) -> str:
        """The name of the run, with its scale."""
        return f"reproduce-{self.scale}"

    @property
    def config(self) -> dict[str, Any]:
        """The configuration; the list of experiments is not part of a run's identity."""
        # The kind keeps the command's old name, so that old run folders are found again.
        config: dict[str, Any] = {"kind": "reproduce", "scale": self.scale, "seed": self.seed}
        if self.by_clock:
            config["time"] = True
        # Sorted by the catalogue: the order in which they were asked for does not matter.
        requested = {*self.recorded, *self.experiments}
        return {**config, "experiments": [name for name in all_experiments() if name in requested]}

    def check(self) -> None:
        """Raise UserError if an experiment lacks a package or a network."""
        for name in self.experiments:
            all_experiments()[name].check()

    def extended(self, config: dict[str, Any]) -> "StudyJob":
        """Return the same job with the experiments of an earlier configuration on record."""
        return replace(self, recorded=tuple(config.get("experiments", ())))

    def chosen(self, run: Run) -> list[Experiment]:
        """Return the experiments to run, in catalogue order."""
        requested = set(self.experiments)
        if self.resumed:
            # Older versions did not record the requested experiments, but their work folders
            # show which ones were begun.
            requested |= {file.parent.name for file in run.folder.glob(f"work/*/{BEGUN}")}
        return [experiment for name, experiment in all_experiments().items() if name in requested]

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Run the unfinished experiments and write the reports; None if the job was stopped."""
        chosen = self.chosen(run)
        for experiment in chosen:
            # All are checked before the first begins: a conflict shows at once, not after hours.
            check_work(run, experiment)
        finished = False
        # One pool for all experiments: worker processes are slow to start.
        executor = session.executor(keep_alive=True)
        with suppress(Stopped):
            for number, experiment in enumerate(chosen, 1):
                if session.stopped:
                    raise Stopped
                name = experiment.name
                # Figures that an earlier run could not draw are drawn from its stored work.
                if load_parts(run, name) is not None and not lacks_figures(run, name):
                    continue
                title = f"{title_of(experiment)} ({number}/{len(chosen)})"
                self._complete(run, experiment, executor, progress_of(session, title))
            finished = True
        # A stopped job still gets pages, with the experiments that are complete.
        results = write_reports(run)
        return results if finished else None

    def _complete(
        self,
        run: Run,
        experiment: Experiment,
        executor: Executor,
        on_progress: Callable[[str, int, int, str], None],
    ) -> None:
        """Run an experiment and store its parts, with the program that computed its numbers."""
        folder = run.folder / "work" / experiment.name
        # Without stored numbers there is nothing that could only be judged again.
        is_new = not has_numbers(folder)
        computed = set[str]()

        def watched(piece: str, done: int, total: int, unit: str) -> None:
            # A workbench reports what it computes, not what it reads.
            computed.add(piece)
            on_progress(piece, done, total, unit)

        bench = Workbench(
            folder,
            self.scale,
            experiment.sizes[self.scale],
            self.seed,
            executor,
            watched,
            self.by_clock,
        )
        parts = _conduct(experiment, bench)
        save_parts(run, experiment, parts, worked=is_new or bool(computed))


def has_numbers(folder: Path) -> bool:
    """Return whether an experiment's work folder has more than what this module writes there."""
    return any(file.name not in (BEGUN, FOUND, MADE) for file in folder.glob("*"))


def progress_of(session: Session, title: str) -> Callable[[str, int, int, str], None]:
    """Return what a workbench calls to report its progress as events of a session."""

    def on_progress(piece: str, done: int, total: int, unit: str) -> None:
        # Each piece is a stage of its own, since its speed is that of its own units.
        session.emit(Progress(done, total, unit, f"{title}: {piece.replace('-', ' ')}"))

    return on_progress


def conduct(experiment: Experiment, bench: Workbench) -> list[Part]:
    """Run an experiment and return its parts, a picture among them; no verdicts at smoke scale."""
    parts = with_picture(experiment.title, list(experiment.conduct(bench)))
    # At smoke scale, which checks that experiments run, a verdict would mislead.
    return [without_verdicts(part) for part in parts] if bench.scale == "smoke" else parts


def _conduct(experiment: Experiment, bench: Workbench) -> list[Part]:
    """Run an experiment; raise UserError if it cannot use the work that an earlier session left."""
    began_before = any(file.name != BEGUN for file in bench.folder.glob("*"))
    try:
        return conduct(experiment, bench)
    except (UserError, Stopped):
        raise
    except UNFIT as error:
        # Without earlier work this is a fault of the experiment, which must be seen.
        if not began_before:
            raise
        raise UserError(
            f"{experiment.name} cannot use its earlier work in {bench.folder} ({error!r:.100}); "
            "remove that folder and give the command again"
        ) from None


def read_job(config: Mapping[str, Any]) -> StudyJob:
    """Return the job of a run's configuration, with every experiment ever requested from it."""
    experiments = config.get("experiments", [])
    if not isinstance(experiments, list) or not all(isinstance(name, str) for name in experiments):
        raise UserError(f"experiments must be a list of names, not {experiments!r:.60}")
    for name in experiments:
        if name not in all_experiments():
            raise UserError(f"there is no experiment {name!r:.60}")
    scale, seed = config["scale"], config["seed"]
    if scale not in SCALES:
        raise UserError(f"there is no scale {scale!r:.60}; scales are {', '.join(SCALES)}")
    if type(seed) is not int or seed < 0:
        raise UserError(f"a seed is a whole number of at least 0, not {seed!r:.60}")
    return StudyJob(
        tuple(experiments),
        scale,
        seed,
        by_clock=bool(config.get("time", False)),
        resumed=True,
    )
