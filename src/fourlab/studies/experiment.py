"""What an experiment is: a value that says what a document claims and how to find out, and what it finds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fourlab.arena.tables import Table
from fourlab.errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fourlab.studies.workbench import Workbench

SCALES = ("smoke", "quick", "full")
"""smoke: does it run at all; quick: minutes; full: the document's own sizes."""


@dataclass(frozen=True)
class Finding:
    """One number of a document beside ours."""

    what: str
    document: str
    """As the document has it; empty where it has none."""
    faithful: str
    """Ours, with the document's own faults; with its interval where chance plays a part."""
    corrected: str = ""
    """Ours, without them."""
    truth: str = ""
    """What is exactly so, where that is known."""
    agrees: bool | None = None
    """Whether the document's number and our faithful one agree; None where there is nothing to compare."""
    why: str = ""
    """Why not, or what explains the difference between faithful and corrected: the number of the fault, B1 to B20, first."""

    @property
    def verdict(self) -> str:
        """For people."""
        return {True: "agrees", False: "differs", None: "–"}[self.agrees]


@dataclass(frozen=True)
class Picture:
    """A figure with the numbers it shows."""

    name: str
    """A short name for files."""
    caption: str
    draw: "Callable[[], Figure]"
    data: Table


@dataclass(frozen=True)
class Text:
    """Something to be read as it stands: a game that was played, printed lines."""

    title: str
    lines: str


Part = Finding | Table | Picture | Text


@dataclass(frozen=True)
class Experiment:
    """One experiment of a document."""

    name: str
    """The document's number and a word or two: 001-table-5."""
    ids: tuple[str, ...]
    """What it covers of the list of all that the documents contain: D1-05."""
    title: str
    claim: str
    """What the document says came out."""
    sizes: Mapping[str, Mapping[str, Any]]
    """By scale: how many games, runs, simulations."""
    conduct: "Callable[[Workbench], Iterator[Part]]"
    """Does it, and tells what was found."""
    seconds: tuple[float, float, float] = (1, 10, 100)
    """About how long it takes on two cores, by scale."""
    needs: tuple[tuple[str, str], ...] = ()
    """Packages it cannot do without, each with the extra that brings it: ("torch", "train")."""

    networks: tuple[str, ...] = ()
    """Shipped networks it plays with; an installed wheel does not contain all of them."""

    @property
    def document(self) -> str:
        """The document's number; `all` for what belongs to none of them alone."""
        return self.name[:3] if self.name[:3].isdecimal() else "all"

    def check(self) -> None:
        """Refuse to begin without what it needs."""
        for package, extra in self.needs:
            if find_spec(package) is None:
                raise UserError(f"{self.name} needs {package}: pip install 'fourlab[{extra}]'")
        if self.networks:
            from fourlab.nets.evaluator import check_shipped

            for network in self.networks:
                check_shipped(network)
