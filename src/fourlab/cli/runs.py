"""`fourlab runs`: list runs, compare their settings, and delete them."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.analysis import overview
from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, print_json
from fourlab.errors import UserError
from fourlab.jobs.deletion import check_deletable, size_of
from fourlab.jobs.deletion import delete as delete_run
from fourlab.jobs.run import all_runs, find_run
from fourlab.terminal import in_one_line


def runs(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Compare these runs (default: list all)."),
    ] = None,
    delete: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="Delete this run; can be repeated. Asks first."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """List, compare or delete runs.

    The list shows the state and the result of every run. A comparison shows only the settings in
    which the runs differ, and their results. Only runs in the folder of runs can be deleted, and
    only if nobody works on them.

    Example: fourlab runs --delete last
    """
    if delete:
        if names:
            raise UserError("give runs to compare or runs to delete, not both")
        _delete(delete, home, yes, json)
        return
    if yes:
        raise UserError("--yes is for --delete")
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
            print(f"there are no runs in {home}; fourlab match mcts rules --games 20 makes one")


def _delete(names: list[str], home: Path, yes: bool, json: bool) -> None:
    """Delete runs; ask for each on a terminal, and need --yes elsewhere."""
    chosen = [find_run(home, name) for name in names]
    # All are checked before the first one is deleted.
    for run in chosen:
        check_deletable(run, home)
    can_ask = sys.stdin.isatty() and sys.stderr.isatty()
    if not yes and not can_ask:
        raise UserError(
            f"this would delete {', '.join(str(run.folder) for run in chosen)}; "
            "add --yes to delete without being asked"
        )
    deleted = []
    for run in chosen:
        if not yes:
            print(f"delete {run.folder} ({size_of(run)})? [y/N] ", end="", file=sys.stderr)
            sys.stderr.flush()
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                print(f"kept {run.folder}", file=sys.stderr)
                continue
        delete_run(run, home)
        deleted.append(str(run.folder))
        if not json:
            print(f"deleted {run.folder}")
    if json:
        print_json({"deleted": deleted})


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
