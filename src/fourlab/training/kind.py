"""Kinds of training: their settings, presets and jobs.

Nothing here imports torch, so that the command line can describe a training at once.
"""

import importlib.util
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from fourlab.errors import UserError
from fourlab.jobs.executors import make_executor
from fourlab.jobs.job import Progress, Session
from fourlab.options import as_data, changed, options_of, renamed

if TYPE_CHECKING:
    from fourlab.jobs.run import Run
    from fourlab.reporting.curves import Curve
    from fourlab.training.loop import Trainee

S = TypeVar("S")


@dataclass(frozen=True)
class Training(Generic[S]):
    """A kind of training: the command `fourlab train NAME`, with runs of kind `train-NAME`."""

    name: str
    settings: type[S]
    presets: Mapping[str, S]
    """Settings by name, the default first. Those of reports are as their authors intended."""
    module: str
    """The module whose function `trainee_of(settings)` returns the trainee."""
    faithful: Mapping[str, S] = field(default_factory=dict)
    """The settings of reports as they were coded, with their faults."""
    help: str = ""
    """The help text of the command."""
    needs: tuple[str, ...] = ("torch", "safetensors", "onnx")
    """Required packages that are not part of the core."""
    in_parallel: bool = False
    """Whether it plays games on the session's workers; its trainee is then a `ParallelTrainee`."""
    complete: Callable[[S, Collection[str]], S] = lambda settings, given: settings
    """Fills in settings that follow from others; the second argument names the explicit ones."""
    identity: Callable[[S], dict[str, Any]] = lambda settings: {}
    """What identifies a run apart from its settings, such as the checksums of files."""
    product: str = ""
    """The option of the trained agent's spec, OPTION=FILE in the run folder; by default
    net=NAME.onnx."""
    run_name: Callable[[S, str], str] | None = None
    """The name of a run from its settings and preset; by default `NAME-PRESET`."""

    @property
    def default_preset(self) -> str:
        """The preset to use if none is named."""
        return next(iter(self.presets))

    def spec(self, folder: Path) -> str:
        """Return the spec of the agent that a finished run in this folder has trained."""
        option, _, file = (self.product or f"net={self.name}.onnx").partition("=")
        path = str(folder / file)
        # A comma would end the option.
        return f'{self.name}:{option}="{path}"' if "," in path else f"{self.name}:{option}={path}"

    def preset(self, name: str, faithful: bool = False) -> S:
        """Return the settings of a preset."""
        if name not in self.presets:
            raise UserError(f"there is no preset {name!r}; presets are {', '.join(self.presets)}")
        if faithful and name not in self.faithful:
            raise UserError(f"{name} is not from a report, so there is nothing to be faithful to")
        return self.faithful[name] if faithful else self.presets[name]

    def read(self, given: Mapping[str, Any]) -> S:
        """Read settings from TOML data: `preset` and `faithful` choose, the others override."""
        owner = f"training {self.name!r}"
        given = renamed(options_of(self.settings).values(), given, owner)
        values = dict(given)
        preset = values.pop("preset", None)
        faithful = self.is_faithful(values)
        values.pop("faithful", None)
        if preset is None and "faithful" in options_of(self.settings):
            # Without a preset, `faithful` is an ordinary setting of some trainings.
            values["faithful"] = faithful
            faithful = False
        base = self.preset(self.default_preset if preset is None else str(preset), faithful)
        settings = changed(base, values, owner)
        return self.complete(settings, set(given))

    def is_faithful(self, given: Mapping[str, Any]) -> bool:
        """Return whether the settings of a report are wanted as they were coded."""
        faithful = given.get("faithful", False)
        if faithful not in (False, True):  # 0 and 1 are accepted, being equal to them
            raise UserError(f"faithful must be true or false, not {faithful!r}")
        return bool(faithful)

    def check_packages(self) -> None:
        """Raise UserError naming missing packages and how to install them."""
        missing = [name for name in self.needs if importlib.util.find_spec(name) is None]
        if missing:
            raise UserError(
                f"training networks needs {', '.join(missing)}: pip install 'fourlab[train]'"
            )

    def job(self, given: Mapping[str, Any]) -> "TrainingJob":
        """Return the job for settings as `read` takes them."""
        settings = self.read(given)
        preset = str(given.get("preset", self.default_preset))
        if self.is_faithful(given):
            preset += "-faithful"
        if self.run_name is not None:
            return TrainingJob(self, settings, self.run_name(settings, preset))
        return TrainingJob(self, settings, f"{self.name}-{preset}")

    def read_job(self, config: Mapping[str, Any]) -> "TrainingJob":
        """Return the job of a run's configuration."""
        options = options_of(self.settings)
        config = renamed(options.values(), config, f"training {self.name!r}")
        # JSON has lists where settings have tuples; the other keys are `kind` and the identity.
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in config.items()
            if name in options
        }
        settings = self.settings(**values)
        for name, now in self.identity(settings).items():
            if name in config and config[name] != now:
                raise UserError(
                    f"{name} have changed since the training began: were {config[name]}, are {now}"
                )
        return TrainingJob(self, settings, f"train-{self.name}")


@dataclass(frozen=True)
class TrainingJob:
    """A training run, which resumes from its checkpoints."""

    extent: ClassVar[frozenset[str]] = frozenset()

    training: Training[Any]
    settings: Any
    name: str

    @property
    def config(self) -> dict[str, Any]:
        """The kind and every setting."""
        kind = f"train-{self.training.name}"
        return {"kind": kind, **as_data(self.settings), **self.training.identity(self.settings)}

    @cached_property
    def trainee(self) -> "Trainee":
        """The object that learns."""
        self.training.check_packages()
        trainee: Trainee = import_module(self.training.module).trainee_of(self.settings)
        return trainee

    def check(self) -> None:
        """Raise UserError if packages, files or networks are missing."""
        _ = self.trainee

    def extended(self, config: dict[str, Any]) -> "TrainingJob":
        """Return the job itself: schedules depend on the length, so it cannot be extended."""
        return self

    def work(self, run: "Run", session: Session) -> dict[str, Any] | None:
        """Train, and write the results and the report."""
        from fourlab.training.loop import train
        from fourlab.training.report import write_training_report

        trainee = self.trainee

        def on_row(row: Mapping[str, Any]) -> None:
            figures = latest_figures(row, trainee.curves)
            session.emit(Progress(trainee.done, trainee.total, trainee.unit, "training", figures))

        with self._executor(session):
            results = train(run, trainee, lambda: session.stopped, on_row, session.note)
            write_training_report(run, trainee, results)
        return results

    @contextmanager
    def _executor(self, session: Session) -> Iterator[None]:
        """Give the trainee an executor for the duration of the block.

        It is not registered with the session, so a stop does not reach it: the current piece of
        work needs its workers to the end.
        """
        if not self.training.in_parallel:
            yield
            return
        from fourlab.training.loop import ParallelTrainee

        conduct = session.conduct
        # Threads by default: self-play is compiled code, which releases the interpreter lock.
        name = conduct.executor or "threads"
        with closing(
            make_executor(name, conduct.workers, conduct.address, keep_alive=True)
        ) as executor:
            trainee = self.trainee
            assert isinstance(trainee, ParallelTrainee)
            trainee.executor = executor
            yield


def latest_figures(row: Mapping[str, Any], curves: "Iterable[Curve]") -> str:
    """Return, as text, the first number of every curve that a row of metrics contains."""
    from fourlab.reporting.curves import number

    figures = []
    for curve in curves:
        for name in curve.names:
            if (value := number(row, name)) is not None:
                figures.append(f"{name} {value:.4g}")
                break
    return "  ".join(figures)
