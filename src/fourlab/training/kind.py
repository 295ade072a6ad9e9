"""Kinds of training: settings, presets of them, and the job that trains.

Nothing here loads torch, so that the command line can describe a training at once.
"""

import importlib.util
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from fourlab.errors import UserError
from fourlab.jobs.executors import executor
from fourlab.jobs.job import Progress, Session
from fourlab.options import as_data, changed, options_of

if TYPE_CHECKING:
    from fourlab.jobs.run import Run
    from fourlab.reporting.curves import Curve
    from fourlab.training.loop import Trainee

S = TypeVar("S")


@dataclass(frozen=True)
class Training(Generic[S]):
    """A kind of training. `name` is the command's; the runs are of the kind `train-NAME`."""

    name: str
    settings: type[S]
    presets: Mapping[str, S]
    """Settings by name, the usual ones first. Those of reports are as they were meant."""
    module: str
    """The module whose function `trainee_of(settings)` makes what learns."""
    faithful: Mapping[str, S] = field(default_factory=dict)
    """The reports' settings as they were coded, with their faults."""
    help: str = ""
    """What the command says of itself."""
    needs: tuple[str, ...] = ("torch", "safetensors", "onnx")
    """Packages that are not part of the core."""
    in_parallel: bool = False
    """Whether it plays games with the session's workers: its trainee has a field `executor`."""
    complete: Callable[[S, Collection[str]], S] = lambda settings, given: settings
    """Fills in what follows from other settings; hears which were given."""
    identity: Callable[[S], dict[str, Any]] = lambda settings: {}
    """What makes a run another one beside its settings, such as the contents of files."""
    called: Callable[[S, str], str] | None = None
    """What a run of settings and a preset is called; else after the training and the preset."""

    @property
    def usual(self) -> str:
        """The preset that is meant if none is named."""
        return next(iter(self.presets))

    def preset(self, name: str, faithful: bool = False) -> S:
        """The settings of a preset."""
        if name not in self.presets:
            raise UserError(f"there is no preset {name!r}; presets are {', '.join(self.presets)}")
        if faithful and name not in self.faithful:
            raise UserError(f"{name} is no report's, so there is nothing to be faithful to")
        return self.faithful[name] if faithful else self.presets[name]

    def read(self, given: Mapping[str, Any]) -> S:
        """Read settings as TOML has them: `preset` and `faithful` choose, the others change."""
        values = dict(given)
        preset = values.pop("preset", None)
        faithful = self.is_faithful(values)
        values.pop("faithful", None)
        if preset is None and "faithful" in options_of(self.settings):
            values["faithful"] = faithful  # a setting like any other
            faithful = False
        base = self.preset(self.usual if preset is None else str(preset), faithful)
        settings = changed(base, values, f"training {self.name!r}")
        return self.complete(settings, set(given))

    def is_faithful(self, given: Mapping[str, Any]) -> bool:
        """Whether a report's settings are wanted as they were coded."""
        faithful = given.get("faithful", False)
        if faithful not in (False, True):  # which 0 and 1 equal
            raise UserError(f"faithful must be true or false, not {faithful!r}")
        return bool(faithful)

    def check_packages(self) -> None:
        """Say what to install where something is missing."""
        if missing := [name for name in self.needs if importlib.util.find_spec(name) is None]:
            raise UserError(f"training networks needs {', '.join(missing)}: pip install 'fourlab[train]'")

    def job(self, given: Mapping[str, Any]) -> "TrainingJob":
        """The job that trains with settings as `read` takes them."""
        settings = self.read(given)
        faults = "-faithful" if self.is_faithful(given) else ""
        preset = f"{given.get('preset', self.usual)}{faults}"
        named = self.called or (lambda settings, preset: f"{self.name}-{preset}")
        return TrainingJob(self, settings, named(settings, preset))

    def read_job(self, config: Mapping[str, Any]) -> "TrainingJob":
        """The job of a run's configuration."""
        known = options_of(self.settings)
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in config.items() if name in known}
        settings = self.settings(**values)
        for name, now in self.identity(settings).items():
            if name in config and config[name] != now:
                raise UserError(f"{name} have changed since the training began: were {config[name]}, are {now}")
        return TrainingJob(self, settings, f"train-{self.name}")


@dataclass(frozen=True)
class TrainingJob:
    """Train until the end, with checkpoints from which it goes on."""

    extent: ClassVar[frozenset[str]] = frozenset()

    training: Training[Any]
    settings: Any
    name: str

    @property
    def config(self) -> dict[str, Any]:
        """Every setting."""
        kind = f"train-{self.training.name}"
        return {"kind": kind, **as_data(self.settings), **self.training.identity(self.settings)}

    @cached_property
    def trainee(self) -> "Trainee":
        """What learns."""
        self.training.check_packages()
        trainee: Trainee = import_module(self.training.module).trainee_of(self.settings)
        return trainee

    def check(self) -> None:
        """Refuse settings with which nothing can be trained: missing packages, files or networks."""
        _ = self.trainee

    def extended(self, config: dict[str, Any]) -> "TrainingJob":
        """The same: schedules depend on the length of a training."""
        return self

    def work(self, run: "Run", session: Session) -> dict[str, Any] | None:
        """Train, and write the results and the report."""
        from fourlab.training.loop import train
        from fourlab.training.report import write_training_report

        trainee = self.trainee
        with self._executor(session):

            def tell(row: Mapping[str, Any]) -> None:
                words = latest_figures(row, trainee.curves)
                session.tell(Progress(trainee.done, trainee.total, trainee.unit, "training", words))

            results = train(run, trainee, lambda: session.stopped, tell, session.note)
            write_training_report(run, trainee, results)
        return results

    @contextmanager
    def _executor(self, session: Session) -> Iterator[None]:
        """Give it workers, which a stop does not reach: the piece in hand needs them to its end."""
        if not self.training.in_parallel:
            yield
            return
        conduct = session.conduct
        with closing(executor(conduct.executor or "threads", conduct.workers, conduct.address, staying=True)) as pool:
            self.trainee.executor = pool  # type: ignore[attr-defined]
            yield


def latest_figures(row: Mapping[str, Any], curves: "Iterable[Curve]") -> str:
    """The first number of each curve that a row of metrics has."""
    from fourlab.reporting.curves import number

    words = []
    for curve in curves:
        for name in curve.names:
            if (value := number(row, name)) is not None:
                words.append(f"{name} {value:.4g}")
                break
    return "  ".join(words)
