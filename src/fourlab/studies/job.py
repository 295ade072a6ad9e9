"""Experiments of the reports as a job: one run folder per scale and seed, experiment by experiment."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.experiment import Experiment
from fourlab.studies.report import check_work, found_by, keep, lacks_figures, write_reports
from fourlab.studies.workbench import Stopped, Workbench


@dataclass(frozen=True)
class StudyJob:
    """Run experiments again."""

    extent: ClassVar[frozenset[str]] = frozenset({"experiments"})

    experiments: tuple[str, ...]
    """What is to be done now, by name."""
    scale: str
    seed: int = 0
    by_clock: bool = False
    """Whether Arya's searches get the thesis's seconds per move."""
    recorded: tuple[str, ...] = ()
    """What the run was asked for before; resuming it does all of that."""
    resumed: bool = False
    """Whether everything that the run has begun is to be done, too."""

    @property
    def name(self) -> str:
        """The scale."""
        return f"reproduce-{self.scale}"

    @property
    def config(self) -> dict[str, Any]:
        """The experiments are not part of a run's identity."""
        config: dict[str, Any] = {"kind": "reproduce", "scale": self.scale, "seed": self.seed}
        if self.by_clock:
            config["time"] = True
        wanted = {*self.recorded, *self.experiments}
        return {**config, "experiments": [name for name in all_experiments() if name in wanted]}

    def check(self) -> None:
        """Refuse experiments whose packages are missing."""
        for name in self.experiments:
            all_experiments()[name].check()

    def extended(self, config: dict[str, Any]) -> "StudyJob":
        """The same work; what was asked for before stays on record."""
        return replace(self, recorded=tuple(config.get("experiments", ())))

    def chosen(self, run: Run) -> list[Experiment]:
        """Return the experiments to be done, in the order of the catalogue."""
        wanted = set(self.experiments)
        if self.resumed:  # runs of older versions do not say what they were asked for; what they began does
            wanted |= {file.parent.name for file in run.folder.glob("work/*/begun.json")}
        return [experiment for name, experiment in all_experiments().items() if name in wanted]

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Do the experiments that are not done, and write the reports."""
        chosen = self.chosen(run)
        for each in chosen:
            check_work(run, each)
        finished = False
        executor = session.executor(staying=True)
        with suppress(Stopped):
            for number, each in enumerate(chosen):
                if session.stopped:
                    raise Stopped
                if found_by(run, each.name) is not None and not lacks_figures(run, each.name):
                    continue
                title = f"{each.name} ({number + 1}/{len(chosen)})"

                def tell(what: str, done: int, of: int, title: str = title) -> None:
                    session.tell(Progress(done, of, what, title))

                bench = Workbench(
                    run.folder / "work" / each.name,
                    self.scale,
                    each.sizes[self.scale],
                    self.seed,
                    executor,
                    tell,
                    self.by_clock,
                )
                keep(run, each, list(each.conduct(bench)))
            finished = True
        results = write_reports(run)
        return results if finished else None


def read_job(config: Mapping[str, Any]) -> StudyJob:
    """The job of a run's configuration: every experiment that the run was ever asked for."""
    names = tuple(config.get("experiments", ()))
    return StudyJob(names, config["scale"], config["seed"], bool(config.get("time", False)), resumed=True)
