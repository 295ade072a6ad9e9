"""The command line: one module per command, listed in `commands`.

The module of a command is imported when the command is called, so that `fourlab --help` answers
immediately. Worker processes import this module too, as part of the program's main module, and
must not load the parser.
"""

import io
import os
import sys

MAX_MESSAGE = 2000
"""Characters of an error message that are printed."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def main(arguments: list[str] | None = None, early_handler: object = None) -> "NoReturn":
    """Run the command line and exit.

    Exit codes: 0 success, 1 failure, 2 wrong input, 130 interrupted. `early_handler` is the handler
    of Ctrl-C that the entry point has set.
    """
    # Everything is imported inside the `try`, since Ctrl-C may come during an import.
    try:
        from fourlab.cli import interrupts

        interrupts.watch(early_handler)
        _run(arguments)
    except KeyboardInterrupt:
        _exit_interrupted()


def _run(arguments: list[str] | None) -> "NoReturn":
    """Run the command line; turn errors into one line and an exit code."""
    from fourlab.cli import interrupts
    from fourlab.compiled.announcing import announce_compilation
    from fourlab.errors import Damaged, UserError
    from fourlab.terminal import protect

    # Before anything can be printed, even an error.
    _make_streams_usable()
    protect()
    announce_compilation()
    try:
        from fourlab.cli.commands import parser

        # Without standalone mode, click raises errors instead of printing them and exiting.
        result = parser().main(arguments, prog_name="fourlab", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(result if isinstance(result, int) else 0)
    except UserError as error:
        _fail(str(error))
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        # Python flushes standard output once more when it exits, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Damaged as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is not None and error.errno in _wrong_names():
            _fail(f"cannot use {str(error.filename)!r}: {error.strerror}")
        # For example a full disk.
        print(f"fourlab: {error}", file=sys.stderr)
        os._exit(1)  # a normal exit would flush standard output and fail again
    except Exception as error:
        # Usage errors come from click or, depending on typer's version, from a copy of click
        # inside typer, so they cannot be caught by class. The same holds for Abort, into which
        # click turns Ctrl-C.
        if hasattr(error, "format_message"):
            _fail(_usage_error(error, sys.argv[1:] if arguments is None else arguments))
        if type(error).__name__ == "Abort" or interrupts.received():
            _exit_interrupted()
        from fourlab.agent import Forfeit

        # An external engine failed outside a match, where it would have lost the game.
        if isinstance(error, Forfeit):
            _fail(str(error), code=1)
        raise


def _wrong_names() -> "set[int]":
    """Return the codes of system errors that mean that the user named the wrong file."""
    import errno

    return {
        errno.EACCES,
        errno.EINVAL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOTDIR,
    }


def _usage_error(error: "Any", arguments: "list[str]") -> str:
    """Return the message of a usage error: what is wrong, an example, and where the help is."""
    # typer puts its own words before the sentence of a parser of ours.
    message = error.format_message().rpartition("Value error, ")[2]
    context = getattr(error, "ctx", None)
    if context is None:
        from fourlab.cli.commands import COMMANDS

        command = next((word for word in arguments if word in COMMANDS), None)
        return f"{message} (see {' '.join(filter(None, ('fourlab', command)))} --help)"
    if type(error).__name__ == "NoSuchOption":
        from fourlab.options import OTHER_WORDS

        flags = {flag for parameter in context.command.params for flag in parameter.opts}
        word = error.option_name.removeprefix("--").replace("-", "_")
        if meant := flags & {f"--{name}" for name in OTHER_WORDS.get(word, ())}:
            message = f"No such option: {error.option_name} (did you mean {min(meant)}?)"
    # What is missing, or too much, is easier to see in an example than to describe.
    help_text = context.command.help or ""
    _, _, examples = help_text.partition("Example")
    if message.startswith(("Missing", "Got unexpected")) and "fourlab " in examples:
        example = examples.partition("fourlab ")[2].partition("\n")[0]
        message = f"{message.rstrip('.')}. For example: fourlab {example}"
    return f"{message} (see {context.command_path} --help)"


def _make_streams_usable() -> None:
    """Replace missing standard streams, and escape characters that a stream cannot encode."""
    # A program without a console, such as pythonw on Windows, has None here.
    sys.stdin = sys.stdin or io.StringIO()
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    for stream, errors in (
        (sys.stdin, "replace"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def _fail(message: str, code: int = 2) -> "NoReturn":
    """Print the message as one line on standard error and exit."""
    line = " ".join(message.split())
    # A file can have a name or a setting of any length.
    if len(line) > MAX_MESSAGE:
        line = f"{line[:MAX_MESSAGE]}…"
    print(f"fourlab: {line}", file=sys.stderr)
    sys.exit(code)


def _exit_interrupted() -> "NoReturn":
    print("fourlab: interrupted", file=sys.stderr)
    sys.exit(130)
