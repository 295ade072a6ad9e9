"""Pages of the site that are no Markdown in the repository: notebooks, folders and source files."""

import ast
import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LANGUAGES = {".py": "python", ".c": "c", ".mjs": "javascript", ".js": "javascript"}
UNLISTED = "---\nsearch:\n  exclude: true\n---\n\n"
"""Front matter of a page that the search does not list."""
FENCE = "`" * 8
"""Longer than any fence inside the code that it encloses."""


def source_page(name: str, file: Path) -> str:
    """Return a page that shows a file."""
    language = LANGUAGES.get(file.suffix, "text")
    text = file.read_text(encoding="utf-8")
    return f"{UNLISTED}# `{name}`\n\n{FENCE}{language}\n{text}{FENCE}\n"


def folder_page(name: str, folder: Path) -> str:
    """Return a page that lists a folder, with the first line of every module's docstring."""
    lines = [
        f"- `{child.name}{'/' if child.is_dir() else ''}`{_about(child)}"
        for child in sorted(folder.iterdir())
        if not child.name.startswith((".", "__"))
    ]
    return f"{UNLISTED}# `{name}/`\n\n" + "\n".join(lines) + "\n"


def _about(file: Path) -> str:
    module = file / "__init__.py" if file.is_dir() else file
    if module.suffix != ".py" or not module.exists():
        return ""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    line = docstring.partition("\n")[0].replace("<", "&lt;")
    return f": {line}" if line else ""


def notebook_page(file: Path) -> str:
    """Return a notebook as Markdown, with the outputs that are stored in it."""
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    parts = [part for cell in cells for part in _cell(cell)]
    # After the heading, which the first cell has.
    parts.insert(1, f'<a href="{file.name}" download>Download this notebook</a>')
    return "\n\n".join(parts) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        # A heading is a part of its own, so that something can be put after it.
        heading, _, rest = source.partition("\n") if source.startswith("#") else ("", "", source)
        yield from (part.strip() for part in (heading, rest) if part.strip())
    elif cell["cell_type"] == "code":
        yield f"{FENCE}python\n{source}\n{FENCE}"
        for output in cell["outputs"]:
            yield _output(output)


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _plain("".join(output["text"]))
    data = {kind: "".join(content) for kind, content in output["data"].items()}
    if "text/html" in data:
        # An empty line could end the block of HTML.
        shown = re.sub(r"\n\s*\n", "\n", data["text/html"])
        return f'<div class="notebook-output">\n{shown}\n</div>'
    if "image/svg+xml" in data:
        # As a picture, so that its style sheet and its anchors are its own.
        encoded = base64.b64encode(data["image/svg+xml"].encode()).decode()
        return f'<img alt="{_alt(data)}" src="data:image/svg+xml;base64,{encoded}">'
    return _plain(data["text/plain"])


def _alt(data: dict[str, str]) -> str:
    """Return the text of an output, which describes its picture to those who do not see it."""
    text = " ".join(data.get("text/plain", "").split())
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def _plain(text: str) -> str:
    return f"{FENCE}text\n{text.rstrip()}\n{FENCE}"
