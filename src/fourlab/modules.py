"""The sources of modules and of everything they import.

Compiled code depends on them, and a bundle must contain them.
"""

import contextlib
import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_IMPORTED = re.compile(
    rb"^(?:from|import) (fourlab[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE
)


def closure(*modules: str, replaced: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Return the sources of modules and of all Fourlab modules that they import, by name.

    Only imports at the top level of a module count. Sources in `replaced` are used instead of the
    modules' own.
    """
    sources: dict[str, bytes] = {}
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name in sources:
            continue
        source = replaced[name] if replaced is not None and name in replaced else source_of(name)
        if source is None:
            continue
        sources[name] = source
        for imported, names in _IMPORTED.findall(source):
            package = imported.decode()
            pending.append(package)
            # `from fourlab.compiled import lines` imports a module, so try every name as one.
            parts = re.findall(r"\w+", names.decode())
            pending.extend(f"{package}.{part}" for part in parts)
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
