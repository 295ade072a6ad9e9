"""The table of commands: where each one is defined, and its one-line help.

The module of a command is imported when the command is called; `fourlab --help` needs only this
table.
"""

from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from fourlab.cli.interrupts import started
from fourlab.version import __version__

# rich is slow to import, and its boxes are hard to read in logs and by screen readers.
SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


class Entry(NamedTuple):
    """A command that has not been imported."""

    home: str
    """Module in `fourlab.cli` and the function or `Typer` in it, as "module:attribute"."""
    help: str
    """The first paragraph of the command's own help; a test compares the two."""
    hidden: bool = False
    """Whether `fourlab --help` leaves it out: an old name."""


_STUDY = Entry("study:study", "Reproduce the experiments of five student reports.")

# Listed by `fourlab --help` in this order.
COMMANDS = {
    "play": Entry("play:play", "Play a game in the terminal."),
    "web": Entry("web:web", "Serve the web page and the REST API."),
    "show": Entry("show:show", "Draw a position and print it in every notation."),
    "analyze": Entry("analyze:analyze", "Evaluate every column with the solver and an agent."),
    "review": Entry("review:review", "Review a game move by move and find its mistakes."),
    "solve": Entry("solve:solve", "Print the exact scores of positions."),
    "accuracy": Entry("accuracy:accuracy", "Count the mistakes of agents in solved positions."),
    "match": Entry("match:match", "Play a match between two agents."),
    "tournament": Entry("tournament:tournament", "Play a round robin between agents."),
    "resume": Entry("resume:resume", "Resume a run that was stopped or killed."),
    "verify": Entry("verify:verify", "Check a run for damage, and repair its games."),
    "study": _STUDY,
    # The name before "study"; run folders still have this kind.
    "reproduce": _STUDY._replace(hidden=True),
    "games": Entry("games:games", "List, show, replay or export the games of a run."),
    "runs": Entry("runs:runs", "List runs, or compare some of them."),
    "agents": Entry("agents:agents", "List the agents and their options."),
    "positions": Entry("positions:positions", "List the named positions."),
    "perft": Entry("perft:perft", "Count the move sequences of a given length."),
    "bench": Entry("bench:bench", "Measure the speed of the kernels on this machine."),
    "warmup": Entry("warmup:warmup", "Compile kernels ahead of time."),
    "book": Entry("book:app", "Build, describe and check opening books."),
    "chess": Entry("chess:app", "Play chess with the same tree search."),
    "dataset": Entry("dataset:app", "Generate positions with exact results."),
    "qtable": Entry("qtable:app", "Describe, cut, import and export Q-tables."),
    "stats": Entry("stats:app", "Compute confidence intervals, Elo and SPRTs."),
    "engine": Entry("engine:app", "Serve agents as engines, and check other engines."),
    "export": Entry("export:app", "Export agents to other platforms."),
    "train": Entry("train:app", "Train agents that learn."),
    "settings": Entry("settings:settings", "Show the settings and presets of a training."),
}


class LazyGroup(TyperGroup):
    """A command group that imports only the command that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Placeholders are enough for the list of commands and for suggestions after a typo.
        for name, entry in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=entry.help, hidden=entry.hidden)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Resolve a command: import it now if it is one of those that are imported on use."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMMANDS:
            command = load(name)
        started()
        return name, command, rest


def load(name: str) -> Any:
    """Import a command and build its parser."""
    module, _, attribute = COMMANDS[name].home.partition(":")
    command = getattr(import_module(f"fourlab.cli.{module}"), attribute)
    # typer builds parsers only for whole applications, so the command gets one of its own.
    single = typer.Typer(**SETTINGS)
    if isinstance(command, typer.Typer):
        single.add_typer(command, name=name)
    else:
        single.command(name)(command)
    return typer.main.get_group(single).commands[name]


app = typer.Typer(
    name="fourlab",
    cls=LazyGroup,
    help="A Connect Four laboratory: play, analyse, compare, learn.",
    context_settings={"help_option_names": ["-h", "--help"]},
    **SETTINGS,
)


def _print_version(is_set: bool) -> None:
    if is_set:
        print(f"fourlab {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """A Connect Four laboratory: play, analyse, compare, learn.

    Positions are written as moves (4453), as a name (fourlab positions) or in any other notation;
    boards as COLUMNSxROWSxINAROW; agents as specs such as rules or rules:otherwise=random
    (fourlab agents).
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


def parser() -> Any:
    """Return the whole command line as one click command."""
    return typer.main.get_command(app)
