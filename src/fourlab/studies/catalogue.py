"""All experiments, by name."""

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
MODULES = {**{source.number: author.replace("-", "_") for author, source in SOURCES.items()}, "all": "league"}
"""Where each report's experiments are, below `fourlab.studies`."""


@cache
def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the reports."""
    found = [each for module in MODULES.values() for each in import_module(f"fourlab.studies.{module}").EXPERIMENTS]
    return {each.name: each for each in found}


def chosen(names: list[str]) -> list[Experiment]:
    """Return the experiments that names mean: an author, perhaps with items, or an experiment's own name, or `all`."""
    known, found = all_experiments(), {}
    for name in _whole_names(names):
        meant = [each for each in known.values() if name in ("all", each.name, each.document)]
        if not meant:
            near = difflib.get_close_matches(name, [*known, *DOCUMENTS, *SOURCES], n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UserError(f"there is no experiment {name!r}; {hint}fourlab study list shows all")
        found.update({each.name: each for each in meant})
    return [each for each in known.values() if each.name in found]


def _whole_names(names: list[str]) -> list[str]:
    """Put an author's number before the items that follow: bhat table-5 is 001-table-5."""
    whole: list[str] = []
    number, items = "", list[str]()
    for name in [*names, None]:  # None ends the last author's items
        if name not in SOURCES and number and f"{number}-{name}" in all_experiments():
            items.append(f"{number}-{name}")
            continue
        if number:  # an author without items means all of theirs
            whole += items or [number]
        number, items = (SOURCES[name].number if name in SOURCES else ""), []
        if name is not None and not number:
            whole.append(name)
    return whole


def title_of(experiment: Experiment) -> str:
    """Return the words by which `fourlab study` takes an experiment: bhat table-5."""
    author = AUTHOR_OF.get(experiment.document)
    return experiment.name if author is None else f"{author} {experiment.name.removeprefix(f'{experiment.document}-')}"
