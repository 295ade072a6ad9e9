"""The terminal front door: one module per command, listed in `commands`.

A command's module is imported when it is called, so that `fourlab --help` answers at once. Worker
processes import this module too, because it is in the program's main module, and need no parser.
"""

import io
import os
import sys
from typing import NoReturn

from fourlab.cli.compiling import announce_compilation
from fourlab.errors import UserError


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line: 0 all is well, 1 the program failed, 2 the input is wrong, 130 interrupted."""
    _make_streams_usable()
    announce_compilation()
    try:
        from fourlab.cli.commands import parser

        result = parser().main(arguments, prog_name="fourlab", standalone_mode=False)
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


def __getattr__(name: str) -> object:
    """`app`, the command line as typer knows it."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fourlab.cli.commands import app

    return app


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
