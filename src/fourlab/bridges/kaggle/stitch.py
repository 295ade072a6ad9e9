"""One file of several modules: imports on top, settings filled in, nothing of Fourlab needed any more."""

import ast
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

TEMPLATES = "fourlab.bridges.kaggle.templates"
LINE = 120


def stitch(template: str, settings: Mapping[str, Any], header: str) -> str:
    """The source of a submission: a template with the modules it imports, each after those that it needs."""
    imports: set[str] = set()
    bodies = [_body(name, settings, imports) for name in _needed(template)]
    first = f'"""{header}"""\n\n' + "".join(f"{line}\n" for line in sorted(imports, key=lambda line: (line.split()[1], line)))
    return re.sub(r"  # type: ignore\[.*\]$", "", "\n\n".join([first, *bodies]), flags=re.MULTILINE)


def _needed(template: str) -> list[str]:
    """The modules of a submission, those that others import first."""
    found: list[str] = []
    for node in ast.parse(_source(template)).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{TEMPLATES}."):
            found += [name for name in _needed(node.module.rpartition(".")[2]) if name not in found]
    return [*found, template]


def _body(name: str, settings: Mapping[str, Any], imports: set[str]) -> str:
    """A module without its imports, which are put with the others, and with its docstring as a comment."""
    source = _source(name)
    tree, lines = ast.parse(source), source.splitlines()
    about = ast.get_docstring(tree) or ""
    for node in reversed(tree.body):  # from the end, so that the numbers of the lines stay right
        assert node.end_lineno is not None
        place = slice(node.lineno - 1, node.end_lineno)
        if node is tree.body[0]:
            lines[place] = [f"# {line}".rstrip() for line in about.splitlines()]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(TEMPLATES)):
                imports.update(_single(node))
            del lines[place]
        elif (target := _setting(node)) in settings:
            lines[place] = _assignment(str(target), settings[str(target)])
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip() + "\n"


def _single(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """An import as lines of one name each, so that several modules may import the same."""
    for name in node.names:
        yield f"import {name.name}" if isinstance(node, ast.Import) else f"from {node.module} import {name.name}"


def _setting(node: ast.stmt) -> str | None:
    """The name in capitals that a statement sets."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None


def _assignment(name: str, value: Any) -> list[str]:
    """A setting in source, a long text in lines."""
    if not isinstance(value, str) or len(value) < LINE:
        return [f"{name} = {value!r}"]
    return [f"{name} = (", *(f'    "{value[start : start + LINE]}"' for start in range(0, len(value), LINE)), ")"]


def _source(name: str) -> str:
    return (files(TEMPLATES) / f"{name}.py").read_text(encoding="utf-8")
