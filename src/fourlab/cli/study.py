"""`fourlab study`: the experiments of the five reports, run again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import (
    DEFAULT_HOME,
    AddressOption,
    ExecutorOption,
    HomeOption,
    JsonOption,
    QuietOption,
    RunOption,
    SeedOption,
    WorkersOption,
    print_json,
)
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.studies.experiment import Experiment


def study(
    names: Annotated[
        list[str],
        typer.Argument(metavar="AUTHOR [ITEM]…", help="vannucci-abril, bhat, gao, sewell or arya; `all`, or `list`."),
    ],
    scale: Annotated[
        str, typer.Option(help="smoke: seconds, only whether it runs; quick: minutes; full: the reports' own sizes.")
    ] = "quick",
    time: Annotated[
        bool,
        typer.Option("--time", help="Give Arya's searches the seconds per move of the thesis, not simulations in their place."),
    ] = False,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    executor: ExecutorOption = "local",
    address: AddressOption = None,
    publish: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Copy the reports as Markdown with figures and data there.")
    ] = None,
    run: RunOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Run the experiments of five student reports again, beside the exact values.

    `fourlab study list` shows them, `fourlab study list bhat` those of one report. Each ends with the reported numbers
    beside ours, with the report's faults and without, a verdict, figures and data; report.html of the run shows
    everything. The same command again resumes stopped work. The numbers of older versions work too: 001-table-5.

    Example: fourlab study bhat table-5 --scale quick
    """
    from fourlab.studies.catalogue import chosen
    from fourlab.studies.experiment import SCALES

    if "list" in names:
        _list(chosen([name for name in names if name != "list"] or ["all"]), json)
        return
    if scale not in SCALES:
        raise UserError(f"a scale is {', '.join(SCALES)}, not {scale!r}")
    _carry_out(chosen(names), scale, time, seed, workers, executor, address, publish, run, home, quiet, json)


def _list(experiments: "list[Experiment]", json: bool) -> None:
    from fourlab.studies.catalogue import title_of
    from fourlab.studies.experiment import SCALES

    if json:
        print_json(
            [
                {
                    "name": each.name,
                    "document": each.document,
                    "study": title_of(each),
                    "ids": each.ids,
                    "title": each.title,
                    "claim": each.claim,
                    "seconds": dict(zip(SCALES, each.seconds, strict=True)),
                    "needs": [package for package, _ in each.needs],
                }
                for each in experiments
            ]
        )
        return
    for each in experiments:
        cost = ", ".join(f"{scale} {_duration(seconds)}" for scale, seconds in zip(SCALES, each.seconds, strict=True))
        needs = "".join(f"; needs {package}" for package, _ in each.needs)
        print(f"{title_of(each)}  {each.title} ({', '.join(each.ids)}; {cost}{needs})\n    {each.claim}")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"


def _carry_out(
    experiments: "list[Experiment]",
    scale: str,
    by_clock: bool,
    seed: int,
    workers: int | None,
    executor: str,
    address: str | None,
    publish_to: Path | None,
    folder: Path | None,
    home: Path,
    quiet: bool,
    json: bool,
) -> None:
    import os
    import sys
    from contextlib import closing

    from fourlab.cli.live import interruptible, stage_progress
    from fourlab.jobs.executors import executor as executor_of
    from fourlab.jobs.run import open_run
    from fourlab.studies.report import check_target, check_work, found_by, keep, lacks_figures, publish, write_reports
    from fourlab.studies.workbench import Stopped, Workbench

    for each in experiments:
        each.check()
    if publish_to is not None:
        check_target(publish_to)
    pool = executor_of(executor, workers or os.cpu_count() or 1, address, staying=True)
    config = {"kind": "reproduce", "scale": scale, "seed": seed, **({"time": True} if by_clock else {})}
    run = open_run(home, f"reproduce-{scale}", config, folder)
    again = f"the same command again resumes (run {run.folder})"
    with run.locked(), closing(pool), interruptible(pool, again) as interrupted:
        for each in experiments:
            check_work(run, each)
        try:
            for number, each in enumerate(experiments):
                if interrupted():
                    raise Stopped
                if found_by(run, each.name) is None or lacks_figures(run, each.name):
                    with stage_progress(f"{each.name} ({number + 1}/{len(experiments)})", quiet) as told:
                        bench = Workbench(run.folder / "work" / each.name, scale, each.sizes[scale], seed, pool, told, by_clock)
                        keep(run, each, list(each.conduct(bench)))
        except Stopped:
            write_reports(run)
            print(f"stopped; {again}", file=sys.stderr)
            raise typer.Exit(130) from None
        results = write_reports(run)
        if publish_to is not None:
            publish(run, publish_to)
    if json:
        print_json({"run": str(run.folder), **results})
        return
    for each in experiments:
        verdicts = [part["agrees"] for part in results["experiments"][each.name] if part["kind"] == "finding"]
        counted = f"{verdicts.count(True)} agree, {verdicts.count(False)} differ, {verdicts.count(None)} without comparison"
        print(f"{each.name}: {counted}")
    print(f"report: {run.report_file}")
