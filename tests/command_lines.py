"""The commands of the program, and whether a line that a document shows is one of them."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

from fourlab.cli.commands import COMMANDS, load

Path = tuple[str, ...]
"""The words that call a command: ("train", "q")."""


def _leaves(command: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield path, command
    for name, subcommand in subcommands.items():
        if not subcommand.hidden:
            yield from _leaves(subcommand, (*path, name))


@cache
def commands() -> dict[Path, Any]:
    """Return every command that is not hidden; of a group, its subcommands."""
    names = [name for name, entry in COMMANDS.items() if not entry.hidden]
    return dict(leaf for name in names for leaf in _leaves(load(name), (name,)))


def parse(line: str) -> Path:
    """Parse a line that begins with fourlab, without running it; return the command's path."""
    typed = re.split(r" [<>|] | +# ", line)[0]  # the rest is the shell's
    program, *words = shlex.split(typed)
    assert program == "fourlab"
    ((path, command),) = (
        (path, command) for path, command in commands().items() if tuple(words[: len(path)]) == path
    )
    command.make_context("fourlab", words[len(path) :])
    return path


def options_of(words: list[str]) -> tuple[Path, set[str]]:
    """Return the command, or group of commands, that words begin with, and all its options."""
    # Old names and other spellings are hidden, and have the options of the usual one.
    if words[0] in COMMANDS:
        home = COMMANDS[words[0]].home
        words = [next(name for name in COMMANDS if COMMANDS[name].home == home), *words[1:]]
    for length in (2, 1):
        path = tuple(words[:length])
        members = [command for name, command in commands().items() if name[:length] == path]
        if members:
            flags = [
                flag
                for command in members
                for parameter in command.params
                for flag in (*parameter.opts, *parameter.secondary_opts)
            ]
            return path, {*flags, "-h", "--help"}
    return (), set()
