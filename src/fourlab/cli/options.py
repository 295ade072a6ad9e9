"""Arguments and options that several commands share, and how results are printed."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from fourlab.agent import Limit
from fourlab.game.position import Position, unfinished
from fourlab.game.position_file import Line, read_position_file, read_positions
from fourlab.terminal import console

T = TypeVar("T")

# One name and one help text for one idea, in every command. Defaults are with the commands.
PositionArgument = Annotated[
    str, typer.Argument(metavar="POSITION", help="Moves (4453), a name, or any notation.")
]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Run folder, its name or a part of it, or last.")
]
BoardOption = Annotated[
    str | None,
    typer.Option(
        "--board",
        metavar="7x6x4",
        help="COLUMNSxROWSxINAROW (default 7x6x4, or the board of the position).",
    ),
]
StartOption = Annotated[
    str,
    typer.Option(
        "--start", metavar="POSITION", help="Starting position: moves, a name, any notation."
    ),
]
AnyCountsOption = Annotated[
    bool, typer.Option("--any-counts", help="Accept boards with impossible numbers of discs.")
]
SecondsOption = Annotated[
    float | None, typer.Option("--seconds", help="Time limit per position, in seconds.")
]
SimulationsOption = Annotated[
    int | None, typer.Option("--simulations", help="Maximum number of simulations per position.")
]
NodesOption = Annotated[
    int | None, typer.Option("--nodes", help="Maximum number of nodes per position.")
]
DepthOption = Annotated[int | None, typer.Option("--depth", help="Maximum search depth, in plies.")]
ThreadsOption = Annotated[
    int, typer.Option("--threads", min=1, help="Number of threads of the solver.")
]
MemoryOption = Annotated[
    float,
    typer.Option(
        "--memory-mb",
        "--memory",
        metavar="MB",
        help="Maximum size of the transposition table (--memory is the old name).",
    ),
]
NoBookOption = Annotated[bool, typer.Option("--no-book", help="Do not use the opening book.")]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Random seed; the same seed gives the same result.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]

WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Number of workers (default one per processor)."),
]
ExecutorOption = Annotated[
    str | None,
    typer.Option("--executor", help="Where workers run: local (processes), threads or ray."),
]
AddressOption = Annotated[
    str | None,
    typer.Option("--address", help="Address of a Ray cluster (default one on this machine)."),
]
AccuracyOption = Annotated[
    bool, typer.Option("--accuracy", help="Solve every position and count mistakes.")
]
AllowProgramsOption = Annotated[
    bool,
    typer.Option("--allow-programs", help="Run programs that are named in files."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Do not show progress.")]
HomeOption = Annotated[
    Path,
    typer.Option(
        "--runs", envvar="FOURLAB_RUNS", metavar="DIR", help="Folder that contains the runs."
    ),
]
RunOption = Annotated[
    Path | None,
    typer.Option("--run", metavar="DIR", help="Use exactly this run folder."),
]
# Relative to the working directory; FOURLAB_RUNS and --runs change it.
DEFAULT_HOME = Path("runs")


@dataclass(frozen=True)
class LimitOptions:
    """The options that limit an agent's search of one position."""

    seconds: SecondsOption = None
    simulations: SimulationsOption = None
    nodes: NodesOption = None
    depth: DepthOption = None

    def limit(self) -> Limit:
        """Return the options as a limit."""
        return Limit(self.seconds, self.simulations, self.nodes, self.depth)


def unfinished_position(text: str, board: str | None, any_counts: bool) -> Position:
    """Read a position; raise UserError if its game is over."""
    return unfinished(Position(text, board, check_counts=not any_counts))


def positions_of(file: Path, board: str | None, any_counts: bool = False) -> Iterator[Line]:
    """Read the positions of a file, or of standard input if `file` is "-"."""
    # Both are generators: a long file, or a pipe that is still being written, is read line by line.
    if str(file) == "-":
        return read_positions(sys.stdin, "standard input", board, not any_counts)
    return read_position_file(file, board, not any_counts)


def as_arguments(options: Mapping[str, object]) -> list[str]:
    """Return options as words of a command, for example to resume; leave out those of None."""
    given = [(name, str(value)) for name, value in options.items() if value is not None]
    return [word for pair in given for word in pair]


def print_json(value: Any) -> None:
    """Print the value as indented JSON."""
    # Imported here, because commands name their --json option `json`.
    import json

    # `default` writes what JSON does not have, such as paths and fractions, as text.
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def print_facts(facts: Mapping[str, object], json: bool) -> None:
    """Print named values: one per line, or as JSON."""
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        print(f"{name}: {value}")


def progress(items: Sequence[T], description: str) -> Iterable[T]:
    """Iterate over the items with a progress bar on standard error if that is a terminal."""
    from rich.progress import track

    # On standard error, so that the output of the command can be piped.
    screen = console(stderr=True)
    is_hidden = not screen.is_terminal
    return track(items, description, console=screen, transient=True, disable=is_hidden)
