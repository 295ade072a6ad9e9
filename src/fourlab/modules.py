"""The sources of modules and of all that they import: what compiled code depends on, and what a bundle must contain."""

import contextlib
import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_IMPORTED = re.compile(rb"^(?:from|import) (fourlab[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE)


def closure(*modules: str, replaced: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Return the sources of modules and of all Fourlab modules they import at their top level, by name.

    The sources in `replaced` stand for the modules' own.
    """
    sources: dict[str, bytes] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        source = replaced[name] if replaced is not None and name in replaced else source_of(name)
        if source is None:
            continue
        sources[name] = source
        for imported, names in _IMPORTED.findall(source):
            package = imported.decode()
            waiting.append(package)
            # `from fourlab.compiled import mcts` imports a module, not a name of one.
            parts = re.findall(r"\w+", names.decode())
            waiting.extend(f"{package}.{part}" for part in parts)
    return sources


@cache
def source_of(module: str) -> bytes | None:
    """Return a module's source; None if there is no such module or it has no file."""
    loaded = sys.modules.get(module)
    with contextlib.suppress(OSError, TypeError, ImportError, AttributeError):
        if loaded is not None:
            return Path(inspect.getfile(loaded)).read_bytes()
        spec = find_spec(module)
        if spec is not None and spec.origin is not None:
            return Path(spec.origin).read_bytes()
    return None
