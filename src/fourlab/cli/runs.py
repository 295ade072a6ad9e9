"""`fourlab runs`: list runs and compare their settings."""

from typing import Annotated, Any

import typer

from fourlab.analysis import overview
from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, print_json
from fourlab.cli.terminal import in_one_line
from fourlab.jobs.run import all_runs, find_run


def runs(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Compare these runs (default: list all)."),
    ] = None,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """List runs, or compare some of them.

    The list shows the state and the result of every run. A comparison shows only the settings in
    which the runs differ, and their results.
    """
    chosen = [find_run(home, name) for name in names] if names else all_runs(home)
    rows = [overview.row(run) for run in chosen]
    # Settings are read only to compare: a list also shows runs whose files are damaged.
    differing = overview.compare(chosen)["settings"] if names else {}
    if json:
        # A damaged run may have a link to somewhere else in the place of its results.
        listed = [
            {**summary, "results": None if summary["status"] == "damaged" else run.results}
            for summary, run in zip(rows, chosen, strict=True)
        ]
        print_json({"settings": differing, "runs": listed} if names else listed)
        return
    rows = in_one_line(rows)
    if names:
        _print_comparison(rows, in_one_line(differing))
    else:
        for summary in rows:
            print(f"{summary['name']}  {_state(summary)}  {summary['headline']}")
        if not rows:
            print(f"there are no runs in {home}")


def _print_comparison(rows: list[dict[str, Any]], differing: dict[str, list[Any]]) -> None:
    """Print the runs with numbers, then a table of the settings that differ."""
    for i, row in enumerate(rows):
        print(f"[{i + 1}] {row['name']}: {_state(row)}, {row['headline']}")
    # Runs have long names, so their columns are headed by the numbers of the list above.
    width = max([len(name) for name in differing] + [6])
    numbers = "  ".join(f"{f'[{i + 1}]':24}" for i in range(len(rows)))
    print(f"{'':{width}}  {numbers}".rstrip())
    for name, values in differing.items():
        cells = "  ".join(f"{'-' if value is None else str(value):24}" for value in values)
        print(f"{name:{width}}  {cells}".rstrip())
    if not differing:
        print("the settings are the same")


def _state(row: dict[str, Any]) -> str:
    """Return the status of a run, with its progress where that is counted."""
    progress = "" if row["done"] is None else f"  {row['done']} of {row['total']} {row['unit']}"
    return f"{row['status']}{progress}"
