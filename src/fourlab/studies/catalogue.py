"""The catalogue of all experiments and the names by which users select them."""

import difflib
import itertools
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

    A name is `all`, the full name of an experiment, or a report by author or number. A report
    means all its experiments, unless some of them follow it: `bhat table-5`, `001 table-5`.
    """
    catalogue = all_experiments()
    selected = set[str]()
    number = ""  # of the report that was named last
    for name, following in itertools.zip_longest(names, names[1:]):
        named = {name, f"{number}-{name}"} & catalogue.keys()
        if name == "all":
            selected.update(catalogue)
        elif name in SOURCES or name in AUTHOR_OF:
            number = SOURCES[name].number if name in SOURCES else name
            report = {full for full in catalogue if full.startswith(f"{number}-")}
            if report.isdisjoint({following, f"{number}-{following}"}):
                selected |= report
        elif named:
            selected |= named
        else:
            items = [full.removeprefix(f"{number}-") for full in catalogue]
            known = [*catalogue, *SOURCES, *AUTHOR_OF, *items]
            near = dict.fromkeys(difflib.get_close_matches(name, known, cutoff=0.5))
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise UserError(f"there is no experiment {name!r}; {hint}fourlab study list shows all")
    return [experiment for full, experiment in catalogue.items() if full in selected]


def title_of(experiment: Experiment) -> str:
    """Return the words that select an experiment on the command line: `bhat table-5`."""
    author = AUTHOR_OF.get(experiment.document)
    if author is None:
        return experiment.name
    return f"{author} {experiment.name.removeprefix(f'{experiment.document}-')}"
