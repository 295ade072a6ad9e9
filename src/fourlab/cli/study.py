"""`fourlab study`: the experiments of the five reports, run again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.cli.generated import with_settings
from fourlab.cli.options import SeedOption, print_json
from fourlab.cli.running import Running, Workers
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.jobs.run import Run
    from fourlab.studies.experiment import Experiment


@with_settings
def study(
    names: Annotated[
        list[str],
        typer.Argument(metavar="AUTHOR [ITEM]…", help="vannucci-abril, bhat, gao, sewell or arya; `all`, or `list`."),
    ],
    workers: Workers,
    running: Running,
    scale: Annotated[
        str, typer.Option(help="smoke: seconds, only whether it runs; quick: minutes; full: the reports' own sizes.")
    ] = "quick",
    time: Annotated[
        bool,
        typer.Option("--time", help="Give Arya's searches the seconds per move of the thesis, not simulations in their place."),
    ] = False,
    seed: SeedOption = 0,
    publish: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Copy the reports as Markdown with figures and data there.")
    ] = None,
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
        _list(chosen([name for name in names if name != "list"] or ["all"]), running.json)
        return
    if scale not in SCALES:
        raise UserError(f"a scale is {', '.join(SCALES)}, not {scale!r}")
    from fourlab.studies.job import StudyJob
    from fourlab.studies.report import check_target
    from fourlab.studies.report import publish as publish_reports

    experiments = chosen(names)
    if publish is not None:
        check_target(publish)
    job = StudyJob(tuple(each.name for each in experiments), scale, seed, time)
    run, results = running.desk(workers).work(job)
    if publish is not None:
        publish_reports(run, publish)
    print_findings(run, results, [each.name for each in experiments], running.json)


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


def print_findings(run: "Run", results: dict[str, Any], names: list[str], json: bool) -> None:
    """Say how often reports and our runs agree."""
    if json:
        print_json({"run": str(run.folder), **results})
        return
    for name in names:
        verdicts = [part["agrees"] for part in results["experiments"][name] if part["kind"] == "finding"]
        counted = f"{verdicts.count(True)} agree, {verdicts.count(False)} differ, {verdicts.count(None)} without comparison"
        print(f"{name}: {counted}")
    print(f"report: {run.report_file}")
