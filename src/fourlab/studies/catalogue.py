"""All experiments, by name."""

import difflib
from functools import cache
from importlib import import_module

from fourlab.errors import UserError
from fourlab.studies.experiment import Experiment

DOCUMENTS = {
    "000": "Vannucci and Abril: tree search against a random opponent, from a given position",
    "001": "Bhat: MC40, MC200 and Q-learning with afterstates on small boards",
    "002": "Gao: tree search against a random opponent, from the empty board",
    "003": "SeWell: tree search on ConnectX with a value network",
    "004": "Arya: tree search, minimax, Q-learning and AlphaMCTS",
    "all": "All agents of the documents, and ours",
}
MODULES = {
    "000": "vannucci_abril",
    "001": "bhat",
    "002": "gao",
    "003": "sewell",
    "004": "arya",
    "all": "league",
}
"""Where each report's experiments are, below `fourlab.studies`."""


@cache
def all_experiments() -> dict[str, Experiment]:
    """In the order of the documents."""
    found = [each for module in MODULES.values() for each in import_module(f"fourlab.studies.{module}").EXPERIMENTS]
    return {each.name: each for each in found}


def chosen(names: list[str]) -> list[Experiment]:
    """The experiments that names mean: their own, a document's number, or `all`."""
    known, found = all_experiments(), {}
    for name in names:
        meant = [each for each in known.values() if name in ("all", each.name, each.document)]
        if not meant:
            near = difflib.get_close_matches(name, [*known, *DOCUMENTS], n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UserError(f"there is no experiment {name!r}; {hint}fourlab reproduce list shows all")
        found.update({each.name: each for each in meant})
    return [each for each in known.values() if each.name in found]
