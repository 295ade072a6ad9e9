"""Write a submission: its agents' modules as text, followed by `runtime.py`, which uses them."""

import ast
import base64
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fourlab.bridges.kaggle import runtime
from fourlab.modules import closure, source_of

HERE = "fourlab.bridges.kaggle"
ALWAYS = ("fourlab.agent", "fourlab.errors", "fourlab.game.position", "fourlab.game.rules")
"""Modules that `runtime.py` needs itself."""
STANDINS = {
    "fourlab.compiled._cache": f"{HERE}.standins.no_cache",
    "fourlab.nets.evaluator": f"{HERE}.standins.network",
    "fourlab.shipped": f"{HERE}.standins.files",
}
# The file carries both forms of these modules: see runtime.py.
PLAIN = {
    "fourlab.compiled._jit": "fourlab.compiled._plain",
    "fourlab.compiled.pattern_sums": f"{HERE}.standins.pattern_sums",
}
LINE = 100  # characters of packed data per line
QUOTES = "'''"


class Part(NamedTuple):
    """One agent of a submission, as `runtime.AGENTS` lists it."""

    module: str
    name: str
    options: dict[str, Any]
    role: str = runtime.SEARCH
    """What it is asked for: `runtime.BOOK`, `PROOF` or `SEARCH`."""


def bundle(header: str, parts: Sequence[Part], files: Mapping[str, bytes]) -> str:
    """Write a submission; `files` are by package and name, as `shipped.read` wants them."""
    replaced = {name: _source(standin).encode() for name, standin in STANDINS.items()}
    packed = {
        name: base64.b64encode(zlib.compress(data, 9)).decode() for name, data in files.items()
    }
    replaced["fourlab.shipped"] = _with(
        _source(STANDINS["fourlab.shipped"]), FILES=_mapping(packed)
    ).encode()
    sources = closure(*ALWAYS, *(part.module for part in parts), replaced=replaced)
    # Importing a module imports its packages, too, and their __init__ may import more.
    for name in list(sources):
        for package in _packages(name):
            sources.update(closure(package, replaced=replaced))
    modules = {name: source.decode() for name, source in sorted(sources.items())}
    plain = {name: _source(standin) for name, standin in PLAIN.items() if name in modules}
    agents = "[\n" + "".join(f"    {tuple(part)!r},\n" for part in parts) + "]"
    body = _with(
        _source(f"{HERE}.runtime"),
        # Two submissions in one process, as in a match between them, must not share modules.
        NAME=repr(f"connectx_{_digest([agents, *modules.values()])}"),
        AGENTS=agents,
        MODULES=_sources(modules),
        PLAIN=_sources(plain),
    )
    return _headed(header, body)


def _headed(header: str, body: str) -> str:
    """Put the header in the place of the docstring, which becomes a comment."""
    tree = ast.parse(body)
    end = tree.body[0].end_lineno
    about = ast.get_docstring(tree) or ""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in about.splitlines())
    rest = "\n".join(body.split("\n")[end:])
    return f'"""{header}"""\n\n{comment}{rest}\n'


def _packages(module: str) -> Iterator[str]:
    """Yield the packages that a module lies in."""
    parts = module.split(".")
    for length in range(1, len(parts)):
        yield ".".join(parts[:length])


def _source(module: str) -> str:
    source = source_of(module)
    assert source is not None
    return source.decode()


def _with(source: str, **values: str) -> str:
    """Give some names of a module other values, written as source."""
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):  # from the end, so that line numbers stay right
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name))
            ) if name in values:
                lines[node.lineno - 1 : node.end_lineno] = f"{name} = {values[name]}".splitlines()
    return "\n".join(lines)


def _sources(modules: Mapping[str, str]) -> str:
    """Write sources as raw strings, so that people can read them."""
    written = ["{"]
    for name, source in modules.items():
        assert QUOTES not in source, name
        written.append(f"    {name!r}: r{QUOTES}{source}{QUOTES},")
    return "\n".join([*written, "}"])


def _mapping(texts: Mapping[str, str]) -> str:
    """Write long texts in lines."""
    written = ["{"]
    for name, text in texts.items():
        written.append(f"    {name!r}: (")
        written += [
            f"        {text[start : start + LINE]!r}" for start in range(0, len(text), LINE)
        ]
        written.append("    ),")
    return "\n".join([*written, "}"])


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
