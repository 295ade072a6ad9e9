"""`fourlab runs`: the runs there are, and what makes them differ."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, print_json
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.lab.run import Run


def runs(
    names: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="Compare these; default all, listed.")] = None,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """List runs with what came out, or compare some: only the settings in which they differ, and the results."""
    from fourlab.lab.run import all_runs, find_run

    if not names:
        listed = [_as_data(run) for run in all_runs(home)]
        if json:
            print_json(listed)
        elif not listed:
            print(f"there are no runs in {home}")
        for each in listed if not json else ():
            print(f"{each['run']}  {each['games']}  {each['headline']}")
        return
    chosen = [find_run(home, name) for name in names]
    differing = _differing(chosen)
    if json:
        print_json({"settings": differing, "runs": [_as_data(run) for run in chosen]})
        return
    width = max([len(name) for name in differing] + [6])
    for i, run in enumerate(chosen):
        print(f"[{i + 1}] {run.name}: {_as_data(run)['games']}, {_as_data(run)['headline']}")
    print(f"{'':{width}}  " + "  ".join(f"{f'[{i + 1}]':24}" for i in range(len(chosen))).rstrip())
    for name, values in differing.items():
        print(f"{name:{width}}  " + "  ".join(f"{'-' if value is None else str(value):24}" for value in values).rstrip())
    if not differing:
        print("the settings are the same")


def _differing(chosen: list["Run"]) -> dict[str, list[Any]]:
    """The settings that are not the same in all runs, with each run's value."""
    from fourlab.lab.run import settings_of

    settings = [settings_of(run.config) for run in chosen]
    names = sorted({name for each in settings for name in each})
    values = {name: [each.get(name) for each in settings] for name in names}
    return {name: found for name, found in values.items() if any(value != found[0] for value in found)}


def _as_data(run: "Run") -> dict[str, Any]:
    try:
        results = run.results
        return {**_of_results(run, results), "results": results}
    except (UserError, LookupError, TypeError, ValueError) as error:
        return {"run": run.name, "kind": None, "games": "damaged", "headline": str(error), "results": None}


def _of_results(run: "Run", results: dict[str, Any] | None) -> dict[str, Any]:
    if results is None:
        return {"run": run.name, "kind": run.config.get("kind"), "games": "not finished", "headline": ""}
    if "headline" in results:
        return {"run": run.name, "kind": run.config.get("kind"), "games": "trained", "headline": results["headline"]}
    state = f"{results['games']} of {results['of']} games"
    return {"run": run.name, "kind": run.config.get("kind"), "games": state, "headline": _headline(results)}


def _headline(results: dict[str, Any]) -> str:
    """The result in one line."""
    if results["ratings"] is not None:
        return ", ".join(f"{rating['agent']} {rating['elo']['text']}" for rating in results["ratings"][:3])
    (match,) = results["matches"]
    if match["score"] is None:
        return ""
    return f"{match['agents'][0]} scored {match['score']:.1%} against {match['agents'][1]}, Elo {match['elo']['text']}"
