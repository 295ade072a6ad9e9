"""`fourlab study verify`: run a tenth of the published results again and compare."""

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fourlab.cli.options import print_json
from fourlab.cli.working import attended, exit_stopped
from fourlab.errors import UserError
from fourlab.jobs.job import Session
from fourlab.studies.catalogue import all_experiments, title_of
from fourlab.terminal import one_line

if TYPE_CHECKING:
    from fourlab.cli.running import Running, Workers
    from fourlab.studies.verify import Difference, Plan

FOLDER = Path("docs") / "experiments"
"""The published reports of a checkout."""
SHOWN = 20
"""Differences that are printed one by one."""


def verify(
    folders: list[str], seed: int | None, budget: float, workers: "Workers", running: "Running"
) -> None:
    """Run a random tenth of the published claims again; exit with 1 if a value differs."""
    from fourlab.studies.verify import as_data, draw, samples_in

    if len(folders) > 1:
        raise UserError("fourlab study verify takes one folder of published reports, or a run")
    folder = Path(folders[0]) if folders else FOLDER
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder} of published reports")
    if seed is None:
        seed = time.time_ns() % 1_000_000
    plan = draw(samples_in(folder), seed, budget)
    if not plan.samples:
        reasons = "; ".join(
            f"{title_of(all_experiments()[name])} {why}" for name, why in plan.left_out.items()
        )
        raise UserError(f"nothing of {folder} can be verified: {reasons or 'it has no claims'}")
    if not running.json:
        _print_plan(plan, folder, seed)
    again = f"fourlab study verify {folder} --seed {seed} --budget-seconds {budget:g}"
    differing = _rerun(plan, Session(running.desk(workers).conduct), again, running.quiet)
    if running.json:
        print_json(as_data(plan, differing, seed))
    else:
        _print(plan, differing)
    if differing:
        raise typer.Exit(1)


def _rerun(plan: "Plan", session: Session, again: str, quiet: bool) -> "list[Difference]":
    """Run the drawn experiments in a temporary folder; `again` is the command that repeats it."""
    from fourlab.studies.verify import rerun
    from fourlab.studies.workbench import Stopped

    differing: list[Difference] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            with attended(session, again, quiet):
                for number, sample in enumerate(plan.samples, 1):
                    title = f"{title_of(sample.experiment)} ({number}/{len(plan.samples)})"
                    differing += rerun(sample, Path(folder), session, title)
        except Stopped:
            exit_stopped(session, again)
        finally:
            session.close()
    return differing


def _print_plan(plan: "Plan", folder: Path, seed: int) -> None:
    number = len(plan.samples)
    noun = "experiment" if number == 1 else "experiments"
    print(
        f"{folder}: {plan.covered} of {plan.cells} claims in {number} {noun}, drawn with "
        f"--seed {seed}"
    )
    for name, why in plan.left_out.items():
        print(f"left out: {title_of(all_experiments()[name])} ({one_line(why)})")


def _print(plan: "Plan", differing: "list[Difference]") -> None:
    from fourlab.studies.verify import SHARE

    for difference in differing[:SHOWN]:
        print(one_line(str(difference)))
    if len(differing) > SHOWN:
        print(f"and {len(differing) - SHOWN} more values (--json lists them all)")
    names = {(one.experiment, one.claim) for one in differing}
    tables = sum(name.endswith(".csv") for _, name in names)
    claims = len(names) - tables
    if plan.covered < SHARE * plan.cells:
        print("fewer than a tenth of the claims fit; raise --budget-seconds")
    if tables:
        print(f"{tables} {'table differs' if tables == 1 else 'tables differ'}")
    print(f"{claims} of {plan.covered} claims differ" if claims else f"{plan.covered} claims agree")
