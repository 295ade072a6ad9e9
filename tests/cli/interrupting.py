"""Run `fourlab` and send it a signal at a defined point, so that no test depends on timing.

    python interrupting.py POINT COUNT SIGNAL ARGUMENTS...

The signal is sent to the whole process group, as by a terminal, when the point is reached for the
COUNTth time. If COUNT is 0 no signal is sent, and the last line on standard error is the number of
times.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

Reached = Callable[[], None]


def piece(reached: Reached) -> None:
    """A piece of a training is finished and in its metrics."""
    from fourlab.training import loop as training

    train = training.train

    def watched(run: Any, trainee: Any, stopped: Any, on_row: Any, *rest: Any) -> Any:
        def report(row: dict[str, Any]) -> None:
            on_row(row)
            reached()

        return train(run, trainee, stopped, report, *rest)

    training.train = watched


def evaluation(reached: Reached) -> None:
    """A network has evaluated positions, in any thread."""
    from fourlab.nets.evaluator import OnnxEvaluator

    _call_after(OnnxEvaluator, "evaluate", reached)


def journal_line(reached: Reached) -> None:
    """A line is written to the journal of solved positions; the first is its header."""
    from fourlab.solver import many

    _call_after(many, "_append", reached)


def experiment(reached: Reached) -> None:
    """An experiment of `reproduce` begins."""
    from fourlab.studies.workbench import Workbench

    _call_after(Workbench, "__init__", reached)


def progress(reached: Reached) -> None:
    """An experiment of `reproduce` has reported progress: a piece of its work begins or is done."""
    from fourlab.studies.workbench import Workbench

    begin = Workbench.__init__

    def watched(bench: Any, *arguments: Any, **options: Any) -> None:
        begin(bench, *arguments, **options)
        report = bench.on_progress

        def on_progress(*words: Any) -> None:
            report(*words)
            reached()

        object.__setattr__(bench, "on_progress", on_progress)

    Workbench.__init__ = watched  # type: ignore[method-assign]


def event(reached: Reached) -> None:
    """A job has emitted an event."""
    from fourlab.jobs.job import Session

    _call_after(Session, "emit", reached)


def moment(reached: Reached) -> None:
    """A job has emitted an event, or is about to open, rename or remove a file of its run."""
    event(reached)
    operations = ("open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "sqlite3.connect")

    def on_operation(name: str, arguments: tuple[Any, ...]) -> None:
        # The tests name the folders of their runs FOLDER/run.
        if name in operations and "/run/" in f"{arguments[0]}/":
            reached()

    sys.addaudithook(on_operation)


def clock(reached: Reached) -> None:
    """A hundredth of a second has passed since the first event of a job, COUNT times."""
    from fourlab.jobs.job import Session

    started = threading.Event()
    _call_after(Session, "emit", started.set)

    def tick() -> None:
        started.wait()
        while True:
            time.sleep(0.01)
            reached()

    threading.Thread(target=tick, daemon=True).start()


def worker_start(reached: Reached) -> None:
    """A worker process has been started and is not ready yet."""
    _call_after(BaseProcess, "start", reached)


def _call_after(owner: Any, name: str, reached: Reached) -> None:
    """Call `reached` after every call of a function or method."""
    function = getattr(owner, name)

    def watched(*arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        reached()
        return result

    setattr(owner, name, watched)


def leave_out_torch_compiler() -> None:
    """Stand in for torch's compiler, which optimisers import but nobody here uses.

    It takes longer to import than torch itself. The commands that tests run without a signal import
    it as it is.
    """
    compiler = ModuleType("torch._dynamo")
    compiler.disable = lambda function, *_, **__: function  # type: ignore[attr-defined]
    compiler.graph_break = lambda: None  # type: ignore[attr-defined]
    inductor = ModuleType("torch._inductor")
    inductor.config = ModuleType("torch._inductor.config")  # type: ignore[attr-defined]
    for module in (compiler, inductor, inductor.config):
        sys.modules[module.__name__] = module


def main() -> None:
    """Watch for the point, then run the command."""
    leave_out_torch_compiler()
    point, count, number, *arguments = sys.argv[1:]
    times = 0

    def reached() -> None:
        nonlocal times
        times += 1
        if times == int(count):
            os.killpg(os.getpgrp(), signal.Signals[number])

    globals()[point](reached)
    from fourlab.cli import main as fourlab

    try:
        fourlab(arguments)
    finally:
        if int(count) == 0:
            print(times, file=sys.stderr)


if __name__ == "__main__":
    main()
