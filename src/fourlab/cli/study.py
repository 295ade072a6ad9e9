"""`fourlab study`: reproduce the experiments of the five reports."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.generated import with_settings
from fourlab.cli.options import print_json
from fourlab.cli.running import Running, Workers, print_results
from fourlab.errors import UserError
from fourlab.studies.catalogue import SCALES, Experiment, chosen, items_by, title_of

if TYPE_CHECKING:
    from fourlab.studies.job import StudyJob


ScaleOption = Annotated[
    str,
    typer.Option(help="smoke (seconds, a test), quick (minutes) or full (the reports' sizes)."),
]
TimeOption = Annotated[
    bool,
    typer.Option(
        "--time",
        help="Limit Arya's searches by the thesis's seconds per move, not by simulations.",
    ),
]
StudySeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed", min=0, help="Random seed (default 0; verify draws a new one and prints it)."
    ),
]
PublishOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Publish these experiments here: Markdown, figures and data."),
]
BudgetOption = Annotated[
    float,
    typer.Option(
        min=1,
        max=86_400,
        help="Verify only what is estimated to fit into this time; longer experiments are never "
        "drawn.",
    ),
]


@with_settings
def study(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="AUTHOR [ITEM]…",
            help="Reports and items, `all`; `list`, `verify [DIR]` or `pages DIR`.",
        ),
    ],
    workers: Workers,
    running: Running,
    scale: ScaleOption = "quick",
    time: TimeOption = False,
    seed: StudySeedOption = None,
    publish: PublishOption = None,
    budget_seconds: BudgetOption = 900,
) -> None:
    """Reproduce the experiments of five student reports.

    A report is named by its author, vannucci-abril, bhat, gao, sewell or arya; an experiment, table
    or figure by both, `bhat table-5`. `fourlab study list` lists them all, `fourlab study list
    bhat` those of one report. Every experiment compares the reported numbers with ours, with the
    report's faults and without them, and gives verdicts, figures and data; the run's report.html
    shows everything. The same command again resumes stopped work.

    `fourlab study verify DIR` runs a random tenth of the published claims again and compares every
    value; its exit code is 1 if one differs. `fourlab study pages DIR` writes published pages again
    from their data. Names of older versions, such as 001-table-5, still work.

    Example: fourlab study bhat table-5 --scale quick
    """
    if "list" in names:
        _list(chosen([name for name in names if name != "list"] or ["all"]), running.json)
    elif names[0] == "pages":
        _write_pages(names[1:], running.json)
    elif names[0] == "verify":
        from fourlab.cli.study_verify import verify

        verify(names[1:], seed, budget_seconds, workers, running)
    elif scale not in SCALES:
        raise UserError(f"a scale is {', '.join(SCALES)}, not {scale!r}")
    else:
        # Loads the agents and NumPy, which a list does not need.
        from fourlab.studies.job import StudyJob

        # Checked before any work: a bad name must not show after hours.
        experiments = tuple(experiment.name for experiment in chosen(names))
        job = StudyJob(experiments, scale, seed or 0, time)
        _work(job, workers, running, publish, names)


def _work(
    job: "StudyJob",
    workers: Workers,
    running: Running,
    publish: Path | None,
    names: list[str],
) -> None:
    """Run experiments, publish them if that is wanted, and print what was found.

    `names` are the words of the command: what they name is described.
    """
    from fourlab.studies import publish as publishing

    if publish is not None:
        publishing.check_target(publish)
    run, results = running.desk(workers).work(job)
    if publish is not None:
        publishing.publish(run, publish, job.experiments)
    if not running.json:
        # Leave out the experiments of earlier commands, which the run may also have.
        results["experiments"] = {name: results["experiments"][name] for name in job.experiments}
    print_results(run, results, running.json)
    if not running.json:
        from fourlab.studies.findings import of_items

        for line in of_items(run, results, names):
            print(line)


def _write_pages(folders: list[str], json: bool) -> None:
    """Write the pages of published reports again, from their data."""
    from fourlab.studies.publish import reports_in, write_pages

    if len(folders) != 1:
        raise UserError("fourlab study pages takes one folder of published reports")
    folder = Path(folders[0])
    if not reports_in(folder):
        raise UserError(f"{folder} has no published reports")
    written = write_pages(folder)
    if json:
        print_json({"folder": str(folder), "reports": written})
    else:
        print(f"{folder}: pages of {', '.join(written)}, and their index")


def _list(experiments: list[Experiment], json: bool) -> None:
    """Print the experiments with their claims and their cost at every scale."""
    if json:
        print_json(
            [
                {
                    "name": experiment.name,
                    "document": experiment.document,
                    "study": title_of(experiment),
                    "ids": experiment.ids,
                    "title": experiment.title,
                    "claim": experiment.claim,
                    "seconds": dict(zip(SCALES, experiment.seconds, strict=True)),
                    "needs": [package for package, _ in experiment.needs],
                    "items": items_by(experiment),
                }
                for experiment in experiments
            ]
        )
        return
    for experiment in experiments:
        costs = ", ".join(
            f"{scale} {_duration(seconds)}"
            for scale, seconds in zip(SCALES, experiment.seconds, strict=True)
        )
        needs = "".join(f"; needs {package}" for package, _ in experiment.needs)
        print(f"{title_of(experiment)}  {experiment.title} ({costs}{needs})")
        print(f"    {experiment.claim}")
        if items := items_by(experiment):
            print(f"    also as {', '.join(items)}")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    # From 100 minutes on in hours.
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
