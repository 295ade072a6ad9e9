"""The site that `make docs` builds: complete, self-contained, and every link leads somewhere."""

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.conftest import ROOT
from tests.site_build import build

MAX_MB = 20
"""About 13 MB in November 2026: pages 6, figures and data of the experiments 4."""
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""What a browser loads by itself, besides `<link>`, and the attribute that says from where."""
LEFTOVERS = {
    "a table": r"^\|[ :|-]+\|$",
    "a list that the paragraph before it has swallowed": r"^[-*] \S",
    "a fence": r"^ *```",
    "a link": r"\]\([^ )]+\)",
    "emphasis": r"\*\*\w[^*]*\*\*",
}
"""Markdown that the site would show as it is typed."""


@dataclass
class Built(HTMLParser):
    """What a page of the site contains."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)
    prose: list[str] = field(default_factory=list)
    _code: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
        self.classes |= set(attributes.get("class", "").split())
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag == "link":
            self.loads.append(attributes["href"])
        elif tag in LOADED and LOADED[tag] in attributes:
            self.loads.append(attributes[LOADED[tag]])
        self._code += tag in ("code", "pre", "script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.prose.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does."""
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def built(site: Path) -> dict[Path, Built]:
    """Return the pages of the site, parsed."""
    pages = {}
    for file in site.rglob("*.html"):
        if file.name != "404.html":  # its addresses are absolute, since it may be shown anywhere
            page = pages[file] = Built()
            page.feed(file.read_text(encoding="utf-8"))
    return pages


def test_every_page_of_the_documentation_is_on_the_site(
    built: dict[Path, Built], site: Path
) -> None:
    pages = {page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    missing = {page for page in pages if site / page.with_suffix(".html") not in built}
    assert missing == set()
    assert site / "project" / "contributing.html" in built


def test_notebooks_are_pages_with_their_outputs(built: dict[Path, Built], site: Path) -> None:
    notebooks = sorted((ROOT / "docs").rglob("*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        name = notebook.relative_to(ROOT / "docs")
        page = built[site / name.with_suffix(".html")]
        assert name.name in page.links  # the notebook itself can be downloaded
        assert "notebook-output" in page.classes or any("svg" in load for load in page.loads)


def test_linked_folders_are_listed(built: dict[Path, Built], site: Path) -> None:
    page = built[site / "project" / "source" / "src" / "fourlab" / "chess.html"]
    assert "The chess players as an engine that speaks UCI" in "".join(page.prose)


def test_every_link_and_anchor_of_the_site_leads_somewhere(
    built: dict[Path, Built], site: Path
) -> None:
    broken = set()
    for file, page in built.items():
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            shown = f"{file.relative_to(site)}: {link}"
            if not target.is_file() or not target.is_relative_to(site):
                broken.add(shown)
            # The theme's own switches begin with "__".
            elif parts.fragment.startswith("__") or target not in built:
                continue
            elif parts.fragment and unquote(parts.fragment) not in built[target].anchors:
                broken.add(shown)
    assert broken == set()


def test_no_page_loads_anything_from_another_host(built: dict[Path, Built], site: Path) -> None:
    loaded = {address for page in built.values() for address in page.loads}
    assert len(loaded) > 50
    assert {address for address in loaded if urlsplit(address).netloc} == set()
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", text)


def test_no_page_asks_the_theme_to_load_something(built: dict[Path, Built], site: Path) -> None:
    # The theme's script fetches mermaid for diagrams, and GitHub's counts for a repository. These
    # addresses, and one for browsers older than 2020, are all that it contains.
    (script,) = (site / "assets" / "javascripts").glob("bundle.*.min.js")
    hosts = set(re.findall(r"https?://([\w.]+)", script.read_text(encoding="utf-8")))
    assert hosts <= {"api.github.com", "clipboardjs.com", "unpkg.com"}
    classes = {name for page in built.values() for name in page.classes}
    assert classes & {"mermaid", "arithmatex", "md-source"} == set()


def test_no_markdown_is_shown_as_it_is_typed(built: dict[Path, Built], site: Path) -> None:
    shown = {
        f"{file.relative_to(site)}: {name}: {match[0]}"
        for file, page in built.items()
        for name, pattern in LEFTOVERS.items()
        for match in re.finditer(pattern, "".join(page.prose), re.MULTILINE)
    }
    assert shown == set()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (["ctrl-c", "checkpoint", "resumes"], "how-to/train.html"),
        (["upper", "confidence", "bound"], "agents/mcts.html"),
        (["normalized", "elo", "pairs"], "explanation/statistics.html"),
        (["kernel", "decorator"], "architecture.html"),
        (["leftmost", "entry-points"], "project/contributing.html"),
    ],
)
def test_the_search_finds_words(site: Path, words: list[str], page: str) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    text = " ".join(
        f"{entry['title']} {entry['text']}".lower()
        for entry in index["docs"]
        if entry["location"].partition("#")[0] == page
    )
    assert [word for word in words if word not in text] == []


def test_the_site_is_of_a_reasonable_size(site: Path) -> None:
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    assert size < MAX_MB * 1e6
