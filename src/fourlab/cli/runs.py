"""`fourlab runs`: the runs there are, and what makes them differ."""

from typing import Annotated, Any

import typer

from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, print_json


def runs(
    names: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="Compare these; default all, listed.")] = None,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """List runs with what came out, or compare some: only the settings in which they differ, and the results."""
    from fourlab.analysis.overview import compare, row
    from fourlab.jobs.run import all_runs, find_run

    chosen = [find_run(home, name) for name in names] if names else all_runs(home)
    rows = [row(run) for run in chosen]
    if json:
        listed = [{**each, "results": run.results} for each, run in zip(rows, chosen, strict=True)]
        print_json({"settings": compare(chosen)["settings"], "runs": listed} if names else listed)
    elif names:
        _print_compared(rows, compare(chosen)["settings"])
    else:
        for each in rows:
            print(f"{each['name']}  {_state(each)}  {each['headline']}")
        if not rows:
            print(f"there are no runs in {home}")


def _print_compared(rows: list[dict[str, Any]], differing: dict[str, list[Any]]) -> None:
    width = max([len(name) for name in differing] + [6])
    for i, each in enumerate(rows):
        print(f"[{i + 1}] {each['name']}: {_state(each)}, {each['headline']}")
    print(f"{'':{width}}  " + "  ".join(f"{f'[{i + 1}]':24}" for i in range(len(rows))).rstrip())
    for name, values in differing.items():
        print(f"{name:{width}}  " + "  ".join(f"{'-' if value is None else str(value):24}" for value in values).rstrip())
    if not differing:
        print("the settings are the same")


def _state(row: dict[str, Any]) -> str:
    """How far a run is: `finished` needs no numbers but those of games, which may be worth knowing."""
    progress = "" if row["done"] is None else f"  {row['done']} of {row['total']} {row['unit']}"
    return f"{row['status']}{progress}"
