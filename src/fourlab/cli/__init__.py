"""The terminal front door: one module per command, listed in `commands`.

A command's module is imported when it is called, so that `fourlab --help` answers at once.
"""

import io
import os
import sys
from typing import Annotated, NoReturn

import typer

import fourlab
from fourlab.cli.commands import SETTINGS, LazyGroup
from fourlab.errors import UserError

app = typer.Typer(
    name="fourlab",
    cls=LazyGroup,
    help="A Connect Four laboratory: play, analyse, compare, learn.",
    context_settings={"help_option_names": ["-h", "--help"]},
    **SETTINGS,
)


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
        from fourlab.agent import Forfeit

        if isinstance(error, Forfeit):  # an outside program that does not play, and no match to lose
            print(f"fourlab: {' '.join(str(error).split())}", file=sys.stderr)
            sys.exit(1)
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
