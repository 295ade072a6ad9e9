"""Programs that specs name: those that come from files run only if the user allows it.

What a user types is run. A tournament file, a settings file or a run folder may come from somebody
else, so whoever makes agents from it calls `refuse_programs` first. Which agents run programs is
declared in the registry; agents of other packages do not count, since the user installed them.
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from fourlab.agents.own_files import file_of
from fourlab.agents.registry import AGENTS, parse_spec
from fourlab.errors import UserError

OPTION = "--allow-programs"
"""The option of commands with which users allow programs that are named in files."""
_RUNNERS = re.compile(
    rf"(?<![\w-])({'|'.join(name for name, entry in AGENTS.items() if entry.programs)})\s*:"
    r"|(?i:\.py)(?![\w.-])"
)
"""The name of an agent that can run programs, at the beginning of its options, or a Python file."""


def refuse_programs(data: Any, source: object, allowed: bool = False) -> None:
    """Raise UserError if a spec in `data` names a program, unless that is allowed.

    `data` is what was read from `source`, a file or folder: texts, lists and tables.
    """
    program = None if allowed else next(programs_in(data), None)
    if program is not None:
        raise UserError(
            f"{source} names the program {program!r}; add {OPTION} if you trust it "
            "(in Python: allow_programs=True)"
        )


def programs_in(data: Any) -> Iterator[str]:
    """Yield the programs that are named by specs anywhere in texts, lists and tables."""
    if isinstance(data, str):
        yield from _programs_of(data)
    elif isinstance(data, Mapping):
        for key, value in data.items():
            if key != "name":  # a label, by default the spec itself
                yield from programs_in(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from programs_in(value)


def _programs_of(text: str) -> list[str]:
    """Return the programs that a spec names, also in specs that are values of its options."""
    if file := file_of(text):
        return [file]
    if not _RUNNERS.search(text):
        return []
    try:
        name, options = parse_spec(text)
    except UserError:
        return [text]  # it contains such a spec in a form that is not understood here
    if name in AGENTS and (patterns := AGENTS[name].programs):
        return [
            value
            for option, value in options.items()
            if any(fnmatchcase(f"{option}={value}", pattern) for pattern in patterns)
        ]
    if any(_RUNNERS.search(value) for value in options.values()):
        return [program for value in options.values() for program in _programs_of(value)]
    return [text]
