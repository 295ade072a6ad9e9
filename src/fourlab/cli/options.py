"""Arguments and options that several commands share, and how results are printed."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from fourlab.agent import Limit
    from fourlab.game.position_file import Line

T = TypeVar("T")

PositionArgument = Annotated[str, typer.Argument(metavar="POSITION", help="Moves (4453), a name, or any notation.")]
BoardOption = Annotated[
    str | None, typer.Option("--board", metavar="7x6x4", help="COLUMNSxROWSxINAROW; default 7x6x4 or what the position says.")
]
StartOption = Annotated[str, typer.Option("--start", metavar="POSITION", help="Where to start: moves, a name, any notation.")]
AnyCountsOption = Annotated[bool, typer.Option("--any-counts", help="Allow any numbers of discs (hand-made boards).")]
SecondsOption = Annotated[float | None, typer.Option("--seconds", help="Think at most so long about one position.")]
SimulationsOption = Annotated[int | None, typer.Option("--simulations", help="Think at most so many simulations.")]
NodesOption = Annotated[int | None, typer.Option("--nodes", help="Think at most so many nodes.")]
DepthOption = Annotated[int | None, typer.Option("--depth", help="Look at most so many discs ahead.")]
ThreadsOption = Annotated[int, typer.Option("--threads", min=1, help="Solve with so many threads.")]
MemoryOption = Annotated[float, typer.Option("--memory", metavar="MEGABYTES", help="The most memory for the solver's table.")]
NoBookOption = Annotated[bool, typer.Option("--no-book", help="Do not look into the opening book.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]

WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="How many workers; default one for each processor.")]
ExecutorOption = Annotated[
    str | None, typer.Option("--executor", help="Where the work is done: local (processes), threads or ray.")
]
AddressOption = Annotated[str | None, typer.Option("--address", help="The Ray cluster; default one on this machine.")]
AccuracyOption = Annotated[bool, typer.Option("--accuracy", help="Solve every position and count mistakes.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="No progress.")]
HomeOption = Annotated[Path, typer.Option("--runs", envvar="FOURLAB_RUNS", metavar="DIR", help="Where run folders live.")]
RunOption = Annotated[Path | None, typer.Option("--run", metavar="DIR", help="The run folder itself, whatever its name.")]
DEFAULT_HOME = Path("runs")


@dataclass(frozen=True)
class LimitOptions:
    """How long an agent may think about one position."""

    seconds: SecondsOption = None
    simulations: SimulationsOption = None
    nodes: NodesOption = None
    depth: DepthOption = None

    def limit(self) -> "Limit":
        """The limit that the options mean."""
        from fourlab.agent import Limit

        return Limit(seconds=self.seconds, simulations=self.simulations, nodes=self.nodes, depth=self.depth)


def positions_of(file: Path, board: str | None, any_counts: bool = False) -> "Iterator[Line]":
    """The positions of a file, or of standard input if it is called -."""
    from fourlab.game.position_file import read_position_file, read_positions

    if str(file) == "-":
        return read_positions(sys.stdin, "standard input", board, not any_counts)
    return read_position_file(file, board, not any_counts)


def print_json(value: Any) -> None:
    """Print the value as JSON, readable and stable."""
    import json

    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def may_be_terminal(stream: IO[str]) -> bool:
    """Whether rich, which is slow to load, might find a terminal there.

    It looks at the stream, and at variables by which users ask for colours.
    """
    return stream.isatty() or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))


def progress(things: Sequence[T], what: str) -> Iterable[T]:
    """Go through the things with a progress bar on standard error, if anybody is there to see it."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(things, what, console=console, transient=True, disable=not console.is_terminal)
