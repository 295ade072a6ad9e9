"""`fourlab open`: open the report of a run in the browser."""

import sys
import webbrowser
from typing import Annotated

import typer

from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, print_json
from fourlab.errors import UserError
from fourlab.jobs.run import find_run
from fourlab.web.browser import has_display


def open_report(
    name: Annotated[
        str,
        typer.Argument(metavar="RUN", help="Run folder, its name or a part of it, or last."),
    ] = "last",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it, or only print where it is.")
    ] = True,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """Open the report of a run in the browser.

    Prints the path of the report. Without a display, that is all it does.

    Example: fourlab open last
    """
    run = find_run(home, name)
    if not run.report_file.is_file():
        if run.results is None:
            raise UserError(
                f"{run.folder} has no report yet; fourlab resume {run.folder} finishes the run"
            )
        raise UserError(f"a {run.config['kind']} has no report; its files are in {run.folder}")
    report = run.report_file.resolve()
    is_open = browser and has_display() and webbrowser.open(report.as_uri())
    if json:
        print_json({"report": str(report), "opened": is_open})
        return
    print(report)
    if browser and not is_open:
        print("note: no browser could be opened here", file=sys.stderr)
