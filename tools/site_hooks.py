"""What MkDocs lacks to show the pages as GitHub does. `mkdocs.yml` names this file.

Links lead from the pages to files outside docs/, which work on GitHub. On the site, the Markdown
files of the root become pages in `project/`, and other linked files and folders pages in
`project/source/` that show or list them; notebooks become pages, too. Links are rewritten to match,
and a link to anything else fails the build.
"""

import os
import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

# MkDocs puts the folder of a hook on the path while it imports the hook.
from site_pages import folder_page, notebook_page, source_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROOT_PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
"""Files of the root that are always pages of the site, since they are in its navigation."""
ICON = ROOT / "src" / "fourlab" / "web" / "static" / "icon.svg"
CODE = re.compile(r"^( *)(```+).*?^\1\2 *$|(`+)(?!`).+?(?<!`)\3(?!`)", re.DOTALL | re.MULTILINE)
"""Fenced blocks and code in backticks, in which nothing is a link."""
LINK = re.compile(
    r"(?P<before>\]\(|^\[[^\]\n]+\]:\s*)(?P<path>[^)\s#]+)(?P<anchor>#[^)\s]*)?", re.MULTILINE
)


def on_files(files: Any, config: Any) -> Any:
    """Add the files outside docs/ that the site shows as pages, and the notebooks."""
    pages = {page: page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")}
    for notebook in DOCS.rglob("*.ipynb"):
        pages[notebook] = notebook_page(notebook)
        name = _page_of(notebook.relative_to(ROOT).as_posix())
        files.append(File.generated(config, name, content=pages[notebook]))
    linked = {name for page, text in pages.items() for name in _linked(page, text)}
    for name in sorted(linked | set(ROOT_PAGES)):
        file = ROOT / name
        if file.is_dir():
            content = folder_page(name, file)
        elif _is_root_page(name):
            content = file.read_text(encoding="utf-8")
        else:
            content = source_page(name, file)
        files.append(File.generated(config, _page_of(name), content=content))
    files.append(File.generated(config, "pictures/logo.svg", abs_src_path=str(ICON)))
    return files


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


def on_post_build(config: Any) -> None:
    """Remove parts of the theme that no reader needs: source maps, search in other languages."""
    scripts = Path(config["site_dir"]) / "assets" / "javascripts"
    shutil.rmtree(scripts / "lunr")
    for file in scripts.parent.rglob("*.map"):
        file.unlink()


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


def _linked(page: Path, text: str) -> Iterator[str]:
    """Yield the files and folders outside docs/ that a page links to."""
    for match in LINK.finditer(CODE.sub("", text)):
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
        return re.sub(r"\.ipynb$", ".md", name.removeprefix("docs/"))
    if _is_root_page(name):
        return f"project/{name.lower()}"
    return f"project/source/{name}.md"
