"""The catalogue of all experiments and the names by which users select them."""

import difflib
from functools import cache
from importlib import import_module

from fourlab.errors import UserError
from fourlab.sources import AUTHOR_OF, SOURCES
from fourlab.studies.experiment import Experiment

DOCUMENTS = {
    **{source.number: f"{source.authors}: {source.about}" for source in SOURCES.values()},
    "all": "All agents of the reports, and ours",
}
"""The title of each report's page, by the report's number."""
FOLDERS = {**AUTHOR_OF, "all": "league"}
"""The folder of each report's pages, by the report's number."""
MODULES = {
    **{source.number: author.replace("-", "_") for author, source in SOURCES.items()},
    "all": "league",
}
"""The module below `fourlab.studies` that holds each report's experiments."""


@cache
def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the reports."""
    modules = [import_module(f"fourlab.studies.{module}") for module in MODULES.values()]
    return {experiment.name: experiment for module in modules for experiment in module.EXPERIMENTS}


def chosen(names: list[str]) -> list[Experiment]:
    """Return the selected experiments in catalogue order, without duplicates.

    A name is `all`, an author (optionally followed by items, as in `bhat table-5`), a report's
    number, or the full name of an experiment.
    """
    catalogue = all_experiments()
    selected = set[str]()
    for name in _full_names(names):
        matches = [
            experiment.name
            for experiment in catalogue.values()
            if name in ("all", experiment.name, experiment.document)
        ]
        if not matches:
            options = [*catalogue, *DOCUMENTS, *SOURCES]
            near = difflib.get_close_matches(name, options, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UserError(f"there is no experiment {name!r}; {hint}fourlab study list shows all")
        selected.update(matches)
    return [experiment for experiment in catalogue.values() if experiment.name in selected]


def _full_names(names: list[str]) -> list[str]:
    """Replace authors and their items by numbers: `bhat table-5` becomes `001-table-5`."""
    full: list[str] = []
    number = ""  # of the latest author
    items = list[str]()  # that follow the latest author
    for name in [*names, None]:  # None ends the last author's items
        if name not in SOURCES and number and f"{number}-{name}" in all_experiments():
            items.append(f"{number}-{name}")
            continue
        if number:  # an author without items means all of that author's experiments
            full += items or [number]
        number = SOURCES[name].number if name in SOURCES else ""
        items = []
        if name is not None and not number:
            full.append(name)
    return full


def title_of(experiment: Experiment) -> str:
    """Return the words that select an experiment on the command line: `bhat table-5`."""
    author = AUTHOR_OF.get(experiment.document)
    if author is None:
        return experiment.name
    return f"{author} {experiment.name.removeprefix(f'{experiment.document}-')}"
