"""The catalogue of all experiments and the names by which users select them."""

import difflib
import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fourlab.errors import UserError
from fourlab.sources import AUTHOR_OF, SOURCES

if TYPE_CHECKING:
    from fourlab.studies.workbench import Part, Workbench

SCALES = ("smoke", "quick", "full")
"""smoke checks that an experiment runs, quick takes minutes, full uses the report's own sizes."""
NO_PICTURE = "none"
"""The picture of an item that has none: a description, or a listing."""
OTHER_WORDS = ("all", "list", "verify", "pages")
"""What `fourlab study` takes in place of names."""
MOST_HINTS = 2
"""How many similar names are suggested for an unknown one."""
DOCUMENTS = {
    **{source.number: f"{source.authors}: {source.about}" for source in SOURCES.values()},
    "all": "All agents of the reports, and ours",
}
"""The title of each report's page, by the report's number."""
FOLDERS = {**AUTHOR_OF, "all": "league"}
"""The folder of each report's pages, by the report's number."""


@dataclass(frozen=True)
class Experiment:
    """One experiment of a report."""

    name: str
    """The report's number and a word or two: 001-table-5."""
    ids: Sequence[str]
    """The items of the reports' inventory that this experiment covers: D1-05."""
    title: str
    claim: str
    """What the report says."""
    sizes: Mapping[str, Mapping[str, Any]]
    """Numbers of games, runs, simulations, and so on, by scale."""
    function: str
    """What runs the experiment, below `fourlab.studies`: bhat.table_5:table_5."""
    seconds: Sequence[float]
    """Approximate duration on two cores, by scale."""
    needs: Sequence[tuple[str, str]] = ()
    """Required packages, with the extra that installs them: ("torch", "train")."""
    networks: Sequence[str] = ()
    """Shipped networks that the experiment plays with; an installed wheel may lack some."""
    clock: bool = False
    """Whether claims depend on measured times, so that the same seed gives other values."""
    changed: str = ""
    """What was decided only after numbers had been seen; the page says so."""
    quick: str = ""
    """Why quick scale is published although full scale exists: a clause."""

    @property
    def document(self) -> str:
        """The report's number, or `all` for experiments across reports."""
        # Names begin with the report's number, except that of the league.
        return self.name[:3] if self.name[:3].isdecimal() else "all"

    def conduct(self, bench: "Workbench") -> "Iterator[Part]":
        """Run the experiment and yield the parts of its result."""
        # Imported only now: listing experiments does not load what they play with.
        module, function = self.function.split(":")
        parts: Iterator[Part] = getattr(import_module(f"fourlab.studies.{module}"), function)(bench)
        return parts

    def check(self) -> None:
        """Raise UserError if a required package or network is missing."""
        for package, extra in self.needs:
            # `find_spec` does not import the package, which may take seconds.
            if find_spec(package) is None:
                raise UserError(f"{title_of(self)} needs {package}: pip install 'fourlab[{extra}]'")
        if self.networks:
            from fourlab.nets.evaluator import check_shipped

            for network in self.networks:
                check_shipped(network)


@dataclass(frozen=True)
class Item:
    """A numbered table or figure of a report, or another thing that it shows."""

    name: str
    """What commands take: figure-44."""
    title: str
    """What the report calls it, and a few words: "Figure 44: minimax against Q-learning"."""
    experiment: str
    """The full name of the experiment that repeats it: 004-experiments-1-2."""
    sentence: str
    """What it shows, whatever the numbers are."""
    picture: str = ""
    """The name of its picture, if that is not the item's own; NO_PICTURE if it has none."""
    figures: Sequence[tuple[int, int]] = ()
    """Figures without an entry of their own that it stands for: first and last numbers."""
    missing: Sequence[int] = ()
    """Numbers of figures that the report skips."""
    outcome: str = ""
    """What came of it, in words that take `expects` for granted."""
    expects: Sequence[str] = ()
    """Verdicts without which there is no outcome: "table-1-best.true holds"."""

    @property
    def names(self) -> set[str]:
        """All names that commands take for it."""
        others = {
            f"figure-{number}" for first, last in self.figures for number in range(first, last + 1)
        }
        return {self.name} | others


@cache
def statement_titles(author: str) -> Mapping[str, str]:
    """Return what pages call the statements of a report, where that is not their quantity."""
    text = files("fourlab.studies").joinpath("statements.toml").read_text(encoding="utf-8")
    titles: dict[str, str] = tomllib.loads(text).get(author, {})
    return titles


@cache
def items_of(author: str) -> tuple[Item, ...]:
    """Return the index of a report's tables and figures, in the report's order."""
    text = files("fourlab.studies").joinpath("items.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text).get(author, {})
    return tuple(Item(name, **entry) for name, entry in entries.items())


def items_named(names: Sequence[str]) -> list[Item]:
    """Return the tables and figures among the words of a command: `arya figure-44`."""
    items: list[Item] = []
    author = ""
    for name in names:
        if name in SOURCES or name in AUTHOR_OF:
            author = AUTHOR_OF.get(name, name)
        elif author:
            items += [item for item in items_of(author) if name in item.names]
    return items


def items_by(experiment: Experiment) -> list[str]:
    """Return the names of the tables and figures that an experiment repeats, besides its own."""
    author = AUTHOR_OF.get(experiment.document, "")
    names = [item.name for item in items_of(author) if item.experiment == experiment.name]
    return [name for name in names if experiment.name != f"{experiment.document}-{name}"]


@cache
def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the reports."""
    text = files("fourlab.studies").joinpath("experiments.toml").read_text(encoding="utf-8")
    return {name: Experiment(name, **entry) for name, entry in tomllib.loads(text).items()}


def chosen(names: list[str]) -> list[Experiment]:
    """Return the selected experiments in catalogue order, without duplicates.

    A name is `all`, the full name of an experiment, or a report by author or number. A report
    means all its experiments, unless some of them follow it, or tables and figures of the report:
    `bhat table-5`, `001 table-5`, `arya figure-44`.
    """
    catalogue = all_experiments()
    items = {number: items_of(author) for number, author in AUTHOR_OF.items()}
    selected = set[str]()
    number = ""  # of the report that was named last
    for name, following in itertools.zip_longest(names, names[1:]):
        named = {name, f"{number}-{name}"} & catalogue.keys()
        # A table or figure of the report stands for the experiment that repeats it.
        named |= {item.experiment for item in items.get(number, ()) if name in item.names}
        if name == "all":
            selected.update(catalogue)
        elif name in SOURCES or name in AUTHOR_OF:
            number = SOURCES[name].number if name in SOURCES else name
            report = {full for full in catalogue if full.startswith(f"{number}-")}
            own = {name for item in items[number] for name in item.names}
            if report.isdisjoint({following, f"{number}-{following}"}) and following not in own:
                # No item of this report follows, so the report itself is meant.
                selected |= report
        elif named:
            selected |= named
        else:
            own_items = items.get(number, ())
            if name in {f"figure-{figure}" for item in own_items for figure in item.missing}:
                raise UserError(f"{SOURCES[AUTHOR_OF[number]].authors}'s report has no {name}")
            hint = _hint(name, number, following or "")
            raise UserError(f"there is no experiment {name!r}; {hint}fourlab study list shows all")
    return [experiment for full, experiment in catalogue.items() if full in selected]


def _hint(name: str, number: str, following: str) -> str:
    """Return what an unknown name may mean.

    `number` is that of the report named before, if any; `following` is the next word.
    """
    name = name.lower()
    titles: dict[str, list[str]] = {}
    for report, author in AUTHOR_OF.items():
        own = [full for full in all_experiments() if full.startswith(f"{report}-")]
        within = [full.removeprefix(f"{report}-") for full in own]
        shown = [item for entry in items_of(author) for item in sorted(entry.names)]
        for item in dict.fromkeys([*within, *shown]):
            titles.setdefault(item, []).append(f"{author} {item}")
    # Two words for one: figure 44.
    joined = f"{name}-{following}"
    if joined in titles:
        name = joined
    near: list[str] = []
    if number:
        own = [item for item, named in titles.items() if f"{AUTHOR_OF[number]} {item}" in named]
        if name in own:
            return f"did you mean {AUTHOR_OF[number]} {name}? "
        near = [
            f"{AUTHOR_OF[number]} {item}"
            for item in difflib.get_close_matches(name, own, cutoff=0.5)
        ]
    # The name of something in other reports, or without its author.
    near += titles.get(name, [])
    if not near:
        options = [*all_experiments(), *SOURCES, *AUTHOR_OF, *titles, *OTHER_WORDS]
        close = difflib.get_close_matches(name, options, n=2, cutoff=0.5)
        if name in options:
            close = [name]
        # A dictionary drops duplicates and keeps the order, best first.
        near = list(dict.fromkeys(title for one in close for title in titles.get(one, [one])))
        near = near[:MOST_HINTS]
    return f"did you mean {' or '.join(near)}? " if near else ""


def title_of(experiment: Experiment) -> str:
    """Return the words that select an experiment on the command line: `bhat table-5`."""
    author = AUTHOR_OF.get(experiment.document)
    if author is None:
        return experiment.name
    return f"{author} {experiment.name.removeprefix(f'{experiment.document}-')}"
