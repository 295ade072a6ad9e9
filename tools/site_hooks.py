"""What MkDocs lacks to show the pages as GitHub does. `mkdocs.yml` names this file.

Links lead from the pages to files outside docs/, which work on GitHub. On the site, the Markdown
files of the root become pages in `project/`, and other linked files pages in `project/source/`
that show their text; links are rewritten to match. A link to anything else fails the build.
"""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROOT_PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
"""Files of the root that are always pages of the site, since they are in its navigation."""
ICON = ROOT / "src" / "fourlab" / "web" / "static" / "icon.svg"
LANGUAGES = {".py": "python", ".c": "c", ".mjs": "javascript", ".js": "javascript"}
CODE = re.compile(r"^( *)(```+).*?^\1\2 *$|(`+)(?!`).+?(?<!`)\3(?!`)", re.DOTALL | re.MULTILINE)
"""Fenced blocks and code in backticks, in which nothing is a link."""
LINK = re.compile(
    r"(?P<before>\]\(|^\[[^\]\n]+\]:\s*)(?P<path>[^)\s#]+)(?P<anchor>#[^)\s]*)?", re.MULTILINE
)


def on_files(files: Any, config: Any) -> Any:
    """Add the files outside docs/ that the site shows as pages."""
    linked = {name for page in DOCS.rglob("*.md") for name in _linked(page)}
    for name in sorted(linked | set(ROOT_PAGES)):
        text = _text_of(ROOT / name)
        content = text if _is_root_page(name) else _source_page(name, text)
        files.append(File.generated(config, _page_of(name), content=content))
    files.append(File.generated(config, "pictures/logo.svg", abs_src_path=str(ICON)))
    return files


def _text_of(path: Path) -> str:
    """Return the text of a file, or the names in a folder."""
    if path.is_file():
        return path.read_text(encoding="utf-8")
    names = (entry.name + "/" * entry.is_dir() for entry in path.iterdir())
    return "\n".join(sorted(name for name in names if not name.startswith(("_", "."))))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Rewrite links, and adapt what GitHub reads differently."""
    home = page.file.src_uri
    if home.startswith("project/source/"):
        return markdown
    if home == "index.md":  # the page is a list of the pages itself
        page.meta["hide"] = ["navigation"]
    names = {_page_of(name): name for name in ROOT_PAGES}
    source = ROOT / names[home] if home in names else DOCS / home
    pieces = []
    end = 0
    for code in CODE.finditer(markdown):
        pieces += [_rewritten(markdown[end : code.start()], source, home), _highlighted(code[0])]
        end = code.end()
    pieces.append(_rewritten(markdown[end:], source, home))
    return "".join(pieces)


def _rewritten(text: str, source: Path, home: str) -> str:
    """Return prose with links as the site needs them; `home` is where it has the page."""

    def replace(match: re.Match[str]) -> str:
        path = match["path"]
        if re.match(r"[a-z]+:", path):
            return match[0]
        target = _page_of(_repository_name(source, path))
        relative = posixpath.relpath(target, posixpath.dirname(home) or ".")
        return f"{match['before']}{relative}{match['anchor'] or ''}"

    text = LINK.sub(replace, text).replace("<details>", '<details markdown="1">')
    # On GitHub a list may follow a line of text without an empty line between them.
    return re.sub(r"^((?![\s|>#]|[-*] |\d+\. ).+\n)(?=- )", r"\1\n", text, flags=re.MULTILINE)


def _highlighted(code: str) -> str:
    """Return a block of code, with a session in Python marked as one."""
    return re.sub(r"\A```python\n(?=>>>)", "```pycon\n", code)


def _linked(page: Path) -> Iterator[str]:
    """Yield the files outside docs/ that a page links to."""
    prose = CODE.sub("", page.read_text(encoding="utf-8"))
    for match in LINK.finditer(prose):
        if not re.match(r"[a-z]+:", match["path"]):
            name = _repository_name(page, match["path"])
            if not name.startswith("docs/"):
                yield name


def _repository_name(source: Path, path: str) -> str:
    """Return the path, from the root of the repository, of what a page links to."""
    file = Path(os.path.normpath(source.parent / path))
    if not file.exists() or not file.is_relative_to(ROOT):
        raise PluginError(f"{source.relative_to(ROOT)} links to {path}, which is not there")
    return file.relative_to(ROOT).as_posix()


def _is_root_page(name: str) -> bool:
    return "/" not in name and name.endswith(".md")


def _page_of(name: str) -> str:
    """Return where the site has a file of the repository."""
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    if _is_root_page(name):
        return f"project/{name.lower()}"
    return f"project/source/{name}.md"


def _source_page(name: str, text: str) -> str:
    """Return a page that shows a file, and that the search does not list."""
    language = LANGUAGES.get(Path(name).suffix, "text")
    fence = "`" * 8
    return f"---\nsearch:\n  exclude: true\n---\n\n# `{name}`\n\n{fence}{language}\n{text}{fence}\n"
