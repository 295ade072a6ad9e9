"""Agents in Python files of the user: `path/to/file.py:Name,option=value`.

The file is run in this process, as `python file.py` would be. So whoever takes a spec from a file
or from a stranger checks it first (`agents/programs.py`, `web/players.py`).
"""

import hashlib
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

from fourlab.agents.own_agent import in_one_line, is_agent
from fourlab.errors import UserError
from fourlab.files import read_bounded
from fourlab.options import perhaps

MAX_FILE = 16_000_000
"""Largest file in bytes; weights belong into files of their own."""
SYNTAX = "an agent of your own is written FILE.py:NAME or FILE.py:NAME,option=value"

_modules: dict[Path, tuple[tuple[int, int], types.ModuleType]] = {}
"""The files that have been run, as modules, with their time of change and size at that moment."""


def file_of(spec: str) -> str:
    """Return the file of a spec `file.py:Name,option=value`, "" if it is not of that form."""
    # C:\agents\bot.py has a colon of its own.
    start = 2 if spec[1:3] in (":\\", ":/") else 0
    colon = spec.find(":", start)
    file = (spec if colon < 0 else spec[:colon]).strip()
    return file if file.lower().endswith(".py") else ""


def split_name(spec: str) -> tuple[str, str]:
    """Split the spec of a file into `file.py:Name`, or `file.py`, and the text of its options."""
    file = file_of(spec)
    rest = spec.strip()[len(file) :].lstrip()[1:]
    name, _, options = rest.partition(",")
    if not name.strip():
        return file, options
    # The first word is an option if there is no name: file.py:depth=3.
    return (file, rest) if "=" in name else (f"{file}:{name.strip()}", options)


def load(name: str) -> Any:
    """Return what `file.py:Name` names: a function, a class or an object.

    Without a name, that is the agent of the file, the last one if there are several. Raises
    UserError if there is none.
    """
    file = file_of(name)
    attribute = name[len(file) + 1 :]
    module = _run(Path(file).expanduser())
    public = {key: value for key, value in vars(module).items() if not key.startswith("_")}
    if attribute:
        if attribute not in vars(module):
            listed = ", ".join(_agents(module))
            raise UserError(
                f"{file} has no {attribute!r}{perhaps(attribute, public)}; "
                f"{f'its agents are {listed}' if listed else 'it has no agent'}"
            )
        thing = vars(module)[attribute]
        if not is_agent(thing):
            raise UserError(
                f"{attribute} in {file} is not an agent: a function, or a class or object with a "
                "method decide"
            )
        return thing
    agents = _agents(module)
    if not agents:
        raise UserError(
            f"{file} has no agent: no function, and no class or object with a method decide"
        )
    return agents[list(agents)[-1]]


def title_of(name: str) -> str:
    """Return the short name of `path/file.py:Name`: the last part."""
    file = file_of(name)
    return name[len(file) + 1 :] or Path(file).name


def code_of(spec: str) -> str:
    """Return a short hash of the file that a spec names."""
    return hashlib.sha256(_read(Path(file_of(spec)).expanduser())).hexdigest()[:16]


def _agents(module: types.ModuleType) -> dict[str, Any]:
    """Return the agents that a file defines: those with `decide`, else its functions."""
    things = {
        name: thing
        for name, thing in vars(module).items()
        if not name.startswith("_")
        # What a file imports is not its own; objects may be of a class that it imports.
        and getattr(thing, "__module__", None) in (module.__name__, type(thing).__module__)
    }
    with_decide = {
        name: thing for name, thing in things.items() if callable(getattr(thing, "decide", None))
    }
    functions = {
        name: thing for name, thing in things.items() if isinstance(thing, types.FunctionType)
    }
    return with_decide or functions


def _read(file: Path) -> bytes:
    try:
        return read_bounded(file, MAX_FILE)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def _run(file: Path) -> types.ModuleType:
    """Return the module of a file; a file that has changed since is run again."""
    try:
        status = file.stat()
        path = file.resolve()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"cannot read {file}: {reason}") from None
    state = (status.st_mtime_ns, status.st_size)
    if path in _modules and _modules[path][0] == state:
        return _modules[path][1]
    source = _read(file)
    digest = hashlib.sha256(source).hexdigest()
    # A name that no module has; the digest makes objects of an older version different.
    module = types.ModuleType(f"fourlab_own_{path.stem}_{digest}")
    module.__file__ = str(path)
    module.__spec__ = importlib.util.spec_from_file_location(module.__name__, path)
    folder = str(path.parent)
    if folder not in sys.path:
        # Last, so that modules beside the file can be imported but replace none of ours.
        sys.path.append(folder)
    # Dataclasses look for the module of their class there.
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise UserError(f"{file} cannot be loaded: {_reason(error)}") from None
    _modules[path] = (state, module)
    return module


def _reason(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"line {error.lineno}: {error.msg}"
    return in_one_line(error)
