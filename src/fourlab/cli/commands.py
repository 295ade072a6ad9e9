"""Every command by name: where it is defined and what it does in one line.

A command's module is imported when the command is called. `fourlab --help` needs only this table.
"""

from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from fourlab.version import __version__

SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


class Entry(NamedTuple):
    """A command that has not been imported."""

    home: str
    """Module in `fourlab.cli` and the function or `Typer` in it."""
    help: str
    """First paragraph of the command's own help; a test compares the two."""


# fmt: off
COMMANDS = {
    "play": Entry("play:play", "Play a game here: type a column, or back, hint, quit."),
    "web": Entry(
        "web:web",
        "Serve the page: play, analyse, look into searches, review games, watch agents, see "
        "runs. Ctrl-C ends it.",
    ),
    "show": Entry(
        "show:show",
        "Draw a position, say who moves or who won, and write it in every notation.",
    ),
    "analyze": Entry(
        "analyze:analyze",
        "Say what every column is worth: the exact truth from the solver, and beside it what an"
        " agent thinks.",
    ),
    "review": Entry(
        "review:review",
        "Say what every position of a game was worth, which moves were best and which were "
        "mistakes, and how well each side played.",
    ),
    "solve": Entry(
        "solve:solve",
        "Print every position's moves, exact score, nodes searched and microseconds.",
    ),
    "accuracy": Entry(
        "accuracy:accuracy",
        "Count mistakes against the exact truth: columns of a lower class (win, draw, loss) "
        "than the best one.",
    ),
    "match": Entry(
        "match:match",
        "Let two agents play each other and say who is stronger, and how sure that is.",
    ),
    "tournament": Entry(
        "tournament:tournament",
        "Let every agent of a file play every other; the table has Bradley-Terry ratings with "
        "intervals.",
    ),
    "resume": Entry(
        "resume:resume",
        "Go on with a run that was stopped or killed, of whatever kind; a complete one shows its"
        " results.",
    ),
    "study": Entry(
        "study:study",
        "Run the experiments of five student reports again, beside the exact values.",
    ),
    "reproduce": Entry(
        "study:study",
        "Run the experiments of five student reports again, beside the exact values.",
    ),
    "games": Entry(
        "games:games",
        "List the games of a run, show or replay one, or export them all. A run that is still "
        "being played can be read, too.",
    ),
    "runs": Entry(
        "runs:runs",
        "List runs with what came out, or compare some: only the settings in which they differ,"
        " and the results.",
    ),
    "agents": Entry("agents:agents", "List the agents with their options."),
    "positions": Entry(
        "positions:positions",
        "List the named positions; a name can be given wherever a position can.",
    ),
    "perft": Entry(
        "perft:perft",
        "Count the ways to play exactly DEPTH discs, by first column; ended games are not "
        "continued.",
    ),
    "bench": Entry(
        "bench:bench",
        "Measure the kernels on this machine, each as a ratio to plain Python in the same run.",
    ),
    "warmup": Entry("warmup:warmup", "Compile kernels now, so that no later command waits."),
    "book": Entry("book:app", "Opening books: the exact scores of all positions up to some ply."),
    "chess": Entry("chess:app", "Chess, by the same tree search."),
    "dataset": Entry("dataset:app", "Data sets: positions with their exact results."),
    "qtable": Entry("qtable:app", "Tables of learned values (fourlab train q makes them)."),
    "stats": Entry("stats:app", "Calculators: how much do these results say?"),
    "engine": Entry(
        "engine:app",
        "Engines: our agents for other programs, and other programs examined.",
    ),
    "export": Entry("export:app", "Our agents for other places."),
    "train": Entry(
        "train:app",
        "Train agents that learn; every training can be stopped and resumed.",
    ),
    "settings": Entry(
        "settings:settings",
        "Show the settings of a training with defaults, ranges, units and help, and its presets.",
    ),
}
"""In the order in which `fourlab --help` lists them."""
# fmt: on


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and imports the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Stand-ins: enough for the list of commands and for suggestions after a typing error.
        for name, entry in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=entry.help)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Put the command in the place of its stand-in."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in COMMANDS else command, rest


def load(name: str) -> Any:
    """Import a command and build its parser."""
    module, _, attribute = COMMANDS[name].home.partition(":")
    command = getattr(import_module(f"fourlab.cli.{module}"), attribute)
    alone = typer.Typer(**SETTINGS)
    if isinstance(command, typer.Typer):
        alone.add_typer(command, name=name)
    else:
        alone.command(name)(command)
    return typer.main.get_group(alone).commands[name]


app = typer.Typer(
    name="fourlab",
    cls=LazyGroup,
    help="A Connect Four laboratory: play, analyse, compare, learn.",
    context_settings={"help_option_names": ["-h", "--help"]},
    **SETTINGS,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fourlab {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """A Connect Four laboratory: play, analyse, compare, learn.

    Positions are written as moves (4453), a name (fourlab positions) or any other notation; boards as
    COLUMNSxROWSxINAROW; agents as specs such as rules or rules:otherwise=random (fourlab agents).
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


def parser() -> Any:
    """The whole command line as one click command."""
    return typer.main.get_command(app)
