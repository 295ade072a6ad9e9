"""The terminal front door: one module per command, all gathered here.

Commands import what they need when they run, so that `fourlab --help` answers at once.
"""

import io
import os
import sys
from typing import Annotated, NoReturn

import typer

import fourlab
from fourlab.agent import Forfeit
from fourlab.cli import (
    accuracy,
    agents,
    analyze,
    bench,
    book,
    chess,
    dataset,
    engine,
    export,
    games,
    match,
    perft,
    play,
    positions,
    qtable,
    reproduce,
    review,
    runs,
    show,
    solve,
    stats,
    tournament,
    train,
    warmup,
    web,
)
from fourlab.errors import UserError

app = typer.Typer(
    name="fourlab",
    help="A Connect Four laboratory: play, analyse, compare, learn.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("play")(play.play)
app.command("web")(web.web)
app.command("show")(show.show)
app.command("analyze")(analyze.analyze)
app.command("review")(review.review)
app.command("solve")(solve.solve)
app.command("accuracy")(accuracy.accuracy)
app.add_typer(book.app, name="book")
app.add_typer(chess.app, name="chess")
app.add_typer(dataset.app, name="dataset")
app.add_typer(qtable.app, name="qtable")
app.add_typer(stats.app, name="stats")
app.add_typer(engine.app, name="engine")
app.add_typer(export.app, name="export")
app.command("match")(match.match)
app.command("tournament")(tournament.tournament)
app.add_typer(train.app, name="train")
app.command("resume")(tournament.resume)
app.command("reproduce")(reproduce.reproduce)
app.command("games")(games.games)
app.command("runs")(runs.runs)
app.command("agents")(agents.agents)
app.command("positions")(positions.positions)
app.command("perft")(perft.perft)
app.command("bench")(bench.bench)
app.command("warmup")(warmup.warmup)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fourlab {fourlab.__version__}")
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


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line: 0 all is well, 1 the program failed, 2 the input is wrong, 130 interrupted."""
    _make_streams_usable()
    try:
        result = typer.main.get_command(app).main(arguments, prog_name="fourlab", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(result if isinstance(result, int) else 0)
    except UserError as error:
        _fail(str(error))
    except Forfeit as error:  # an outside program that does not play, where there is no match to lose
        print(f"fourlab: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # the reader, say `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a full disk, say
        print(f"fourlab: {error}", file=sys.stderr)
        os._exit(1)  # a normal exit would try to write the rest again
    except Exception as error:
        # Errors of usage come from click or, depending on typer's version, from a copy of click inside typer, and so
        # does Abort, which is what it makes of Ctrl-C.
        if hasattr(error, "format_message"):
            _fail(f"{error.format_message()} (see fourlab --help)")
        if type(error).__name__ == "Abort":
            print("\nfourlab: interrupted", file=sys.stderr)
            sys.exit(130)
        raise


def _make_streams_usable() -> None:
    """Standard streams can be missing, or unable to hold a letter: neither is worth a traceback."""
    sys.stdin = sys.stdin or io.StringIO()
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def _fail(message: str) -> NoReturn:
    print(f"fourlab: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2)
