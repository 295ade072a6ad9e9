"""The form of an experiment: a report's claim, a way to test it, and the parts of the result."""

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
"""smoke checks that an experiment runs, quick takes minutes, full uses the report's own sizes."""


@dataclass(frozen=True)
class Finding:
    """One number from a report beside ours."""

    what: str
    """The quantity."""
    document: str
    """The reported value, in the report's own form; empty if the report has none."""
    faithful: str
    """Our value with the report's faults, with an interval if it depends on chance."""
    corrected: str = ""
    """Our value without the faults."""
    truth: str = ""
    """The exact value, where it is known."""
    agrees: bool | None = None
    """Whether the reported and the faithful value agree; None if they cannot be compared."""
    why: str = ""
    """The explanation of a difference: first the faults (B1 to B20) that cause it, if any."""

    @property
    def verdict(self) -> str:
        """The verdict as pages show it."""
        return {True: "agrees", False: "differs", None: "–"}[self.agrees]


@dataclass(frozen=True)
class Picture:
    """A figure and its data."""

    name: str
    """A short name for files."""
    caption: str
    draw: "Callable[[], Figure]"
    data: Table


@dataclass(frozen=True)
class Text:
    """Preformatted text, such as a printed game."""

    title: str
    lines: str


Part = Finding | Table | Picture | Text


@dataclass(frozen=True)
class Experiment:
    """One experiment of a report."""

    name: str
    """The report's number and a word or two: 001-table-5."""
    ids: tuple[str, ...]
    """The items of the reports' inventory that this experiment covers: D1-05."""
    title: str
    claim: str
    """What the report says."""
    sizes: Mapping[str, Mapping[str, Any]]
    """Numbers of games, runs, simulations, and so on, by scale."""
    conduct: "Callable[[Workbench], Iterator[Part]]"
    """Runs the experiment and yields the parts of its result."""
    seconds: tuple[float, float, float] = (1, 10, 100)
    """Approximate duration on two cores, by scale."""
    needs: tuple[tuple[str, str], ...] = ()
    """Required packages, with the extra that installs them: ("torch", "train")."""

    networks: tuple[str, ...] = ()
    """Shipped networks that the experiment plays with; an installed wheel may lack some."""

    @property
    def document(self) -> str:
        """The report's number, or `all` for experiments across reports."""
        return self.name[:3] if self.name[:3].isdecimal() else "all"

    def check(self) -> None:
        """Raise UserError if a required package or network is missing."""
        for package, extra in self.needs:
            if find_spec(package) is None:
                raise UserError(f"{self.name} needs {package}: pip install 'fourlab[{extra}]'")
        if self.networks:
            from fourlab.nets.evaluator import check_shipped

            for network in self.networks:
                check_shipped(network)
