"""The table of commands: where each one is defined, and its one-line help.

The module of a command is imported when the command is called; `fourlab --help` needs only this
table.
"""

from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from fourlab.cli.interrupts import started
from fourlab.errors import UserError
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
    """Whether `fourlab --help` leaves it out: an old name, or another spelling."""


# Listed by `fourlab --help` in this order.
GROUPS = {
    "Play and analyse": {
        "play": Entry("play:play", "Play a game in the terminal."),
        "web": Entry("web:web", "Serve the web page and the REST API."),
        "show": Entry("show:show", "Draw a position and print it in every notation."),
        "analyze": Entry("analyze:analyze", "Evaluate every column with the solver and an agent."),
        "review": Entry("review:review", "Review a game move by move and find its mistakes."),
        "solve": Entry("solve:solve", "Print the exact scores of positions."),
        "chess": Entry("chess:app", "Play chess with the same tree search."),
    },
    "Compare agents": {
        "match": Entry("match:match", "Play a match between two agents."),
        "tournament": Entry("tournament:tournament", "Play a round robin between agents."),
        "accuracy": Entry("accuracy:accuracy", "Count the mistakes of agents in solved positions."),
        "study": Entry("study:study", "Reproduce the experiments of five student reports."),
        "stats": Entry("stats:app", "Compute confidence intervals, Elo and SPRTs."),
    },
    "Train and build": {
        "train": Entry("train:app", "Train agents that learn."),
        "settings": Entry("settings:settings", "Show the settings and presets of a training."),
        "dataset": Entry("dataset:app", "Generate positions with exact results."),
        "book": Entry("book:app", "Build, describe and check opening books."),
        "qtable": Entry("qtable:app", "Describe, cut, import and export Q-tables."),
    },
    "Look at runs": {
        "runs": Entry("runs:runs", "List, compare or delete runs."),
        "open": Entry("open_report:open_report", "Open the report of a run in the browser."),
        "games": Entry("games:games", "List, show, replay or export the games of a run."),
        "resume": Entry("resume:resume", "Resume a run that was stopped or killed."),
        "verify": Entry("verify:verify", "Check a run for damage, and repair its games."),
    },
    "Connect to other programs": {
        "engine": Entry("engine:app", "Serve agents as engines, and check other engines."),
        "export": Entry("export:app", "Export agents to other platforms."),
    },
    "Find out more": {
        "help": Entry("help:help_on", "Show the help of a command."),
        "agents": Entry("agents:agents", "List the agents and their options."),
        "positions": Entry("positions:positions", "List the named positions."),
        "perft": Entry("perft:perft", "Count the move sequences of a given length."),
        "bench": Entry("bench:bench", "Measure the speed of the kernels on this machine."),
        "warmup": Entry("warmup:warmup", "Compile kernels ahead of time."),
        "completion": Entry("completion:completion", "Print a script for the shell's completion."),
    },
}
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}
# The name before "study"; run folders still have this kind.
COMMANDS["reproduce"] = COMMANDS["study"]._replace(hidden=True)
COMMANDS["analyse"] = COMMANDS["analyze"]._replace(hidden=True)


class Group(TyperGroup):
    """A group of commands: without one it prints its help, and it cuts off no description."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; without any, print the help instead of an error."""
        if not args and not ctx.resilient_parsing:
            print(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands, each with its whole first line."""
        self._write_section(formatter, "Commands", list(self.commands))

    def _write_section(self, formatter: Any, title: str, names: list[str], width: int = 0) -> None:
        rows = [
            (f"{name:{width}}", first_line(command.help or ""))
            for name in names
            if not (command := self.commands[name]).hidden
        ]
        with formatter.section(title):
            formatter.write_dl(rows)


def first_line(help_text: str) -> str:
    """Return the first paragraph of a help text in one line."""
    return " ".join(help_text.partition("\n\n")[0].split())


class LazyGroup(Group):
    """A command group that imports only the command that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Placeholders are enough for the list of commands and for suggestions after a typo.
        for name, entry in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=entry.help, hidden=entry.hidden)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by subject."""
        width = max(map(len, COMMANDS))
        for title, names in GROUPS.items():
            self._write_section(formatter, title, list(names), width)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Resolve a command: import it now if it is one of those that are imported on use."""
        if args[0] not in COMMANDS and (advice := _advice(args)):
            raise UserError(advice)
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMMANDS:
            command = load(name)
        started()
        return name, command, rest


def _advice(words: list[str]) -> str:
    """Return which command is meant by words that begin with an agent or a position."""
    # Not needed for commands, whose names are in the table.
    from fourlab.agents.registry import is_own, names, parse_spec
    from fourlab.game.position import Position

    first = words[0]
    if first.startswith("-"):
        return ""
    with suppress(UserError):
        if is_own(first) or parse_spec(first)[0] in names():
            # `mcts vs rules`
            others = [word for word in words[1:] if word not in ("vs", "vs.", "against")]
            opponent = others[0] if others else "rules"
            return (
                f"{first} is an agent, not a command; fourlab play {first} plays against it, "
                f"fourlab match {first} {opponent} compares it with another"
            )
    with suppress(UserError):
        Position(first)
        return (
            f"{first} is a position, not a command; fourlab show {first} draws it, "
            f"fourlab analyze {first} evaluates it"
        )
    return ""


def load(name: str) -> Any:
    """Import a command and build its parser."""
    module, _, attribute = COMMANDS[name].home.partition(":")
    command = getattr(import_module(f"fourlab.cli.{module}"), attribute)
    from fourlab.cli.numbers import accept_short_numbers

    # typer builds parsers only for whole applications, so the command gets one of its own.
    single = typer.Typer(**SETTINGS)
    if isinstance(command, typer.Typer):
        for subcommand in command.registered_commands:
            accept_short_numbers(subcommand.callback)
        single.add_typer(command, name=name, cls=Group)
    else:
        accept_short_numbers(command)
        single.command(name)(command)
    return typer.main.get_group(single).commands[name]


app = typer.Typer(
    name="fourlab",
    cls=LazyGroup,
    help="A Connect Four laboratory: play, analyse, compare, learn.",
    epilog="fourlab help COMMAND explains a command.",
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
