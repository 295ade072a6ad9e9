"""The pages are of four kinds, the map lists them all, and every link leads somewhere."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from fourlab.agents import registry
from tests import in_process
from tests.conftest import ROOT
from tools import option_tables

DOCS = ROOT / "docs"
KINDS = ("tutorials", "how-to", "reference", "explanation")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
AGENT_PAGES = option_tables.pages()
AGENTS = [page.stem for page in AGENT_PAGES]
AGENT_SECTIONS = ("How it works", "Options", "Measurements")
"""Every agent's page has these after its introduction, in this order; others may come between."""
NAMED_PAGE = re.compile(r"\bdocs/[\w/.-]+\.\w+")
"""A page or picture as code and other text name it."""


def prose(text: str) -> str:
    """Return a page without its fenced blocks and without code in backticks."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def headings(text: str, level: int | None = None) -> list[str]:
    """Return the headings of a page outside its fenced blocks."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    marks = "#" * level if level else "#+"
    return re.findall(rf"^{marks} +(.*?) *$", text, re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page, and explicit ones."""
    names: set[str] = set(re.findall(r'\b(?:id|name)="([^"]+)"', text))
    counts: dict[str, int] = {}
    for heading in headings(text):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        counts[name] = counts.get(name, -1) + 1
        names.add(f"{name}-{counts[name]}" if counts[name] else name)
    return names


def targets(text: str) -> list[str]:
    """Return the targets of all links and pictures of a page, except addresses on the web."""
    text = prose(text)
    linked = re.findall(r"\]\(\s*([^)\s]+)[^)]*\)", text)
    linked += re.findall(r'\b(?:src|href)="([^"]+)"', text)
    linked += re.findall(r"^\[[^\]]+\]:\s*(\S+)", text, re.MULTILINE)
    return [target for target in linked if not re.match(r"[a-z]+:", target)]


def broken(page: Path, text: str) -> Iterator[str]:
    """Yield the links of a page that lead nowhere."""
    for target in targets(text):
        path, _, anchor = unquote(target).partition("#")
        file = page.parent / path if path else page
        if not file.exists():
            yield f"{target}: there is no such file"
        elif anchor:
            linked = text if file == page else file.read_text(encoding="utf-8")
            if file.suffix == ".md" and anchor not in anchors(linked):
                yield f"{target}: the page has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_link_and_anchor_leads_somewhere(page: Path) -> None:
    assert list(broken(page, page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[map](docs/nowhere.md)", "docs/nowhere.md: there is no such file"),
        ("[map](docs/index.md#nowhere)", "docs/index.md#nowhere: the page has no such heading"),
        ("# Here\n[up](#there)", "#there: the page has no such heading"),
        ('<img src="docs/nowhere.svg">', "docs/nowhere.svg: there is no such file"),
        ("see [map][1]\n\n[1]: docs/nowhere.md", "docs/nowhere.md: there is no such file"),
    ],
)
def test_a_broken_link_is_noticed(text: str, problem: str) -> None:
    assert list(broken(ROOT / "README.md", text)) == [problem]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("## Play Kaggle's own agents", "play-kaggles-own-agents"),
        ("## `uci8`: the UCI data set", "uci8-the-uci-data-set"),
        ("### Limits, and what a fault costs", "limits-and-what-a-fault-costs"),
        ("## Twice\n\n## Twice", "twice-1"),
    ],
)
def test_anchors_are_those_of_github(heading: str, anchor: str) -> None:
    assert anchor in anchors(heading)


def test_code_names_only_pages_that_exist() -> None:
    files = [
        file
        for folder in ("src", "benchmarks", "examples", "tests")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".py", ".js", ".mjs", ".c", ".html", ".toml"} and file != Path(__file__)
    ]
    files += [ROOT / "Makefile", ROOT / "pyproject.toml", *PAGES]
    missing = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for name in NAMED_PAGE.findall(file.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    }
    assert missing == set()


def test_there_is_no_page_outside_the_four_kinds() -> None:
    pages = {page.relative_to(DOCS) for page in DOCS.rglob("*.md")}
    homes = {page.parts[0] for page in pages}
    assert homes == {
        *KINDS,
        "agents",
        "experiments",
        "index.md",
        "architecture.md",
        "bibliography.md",
        "measurements.md",
        "security.md",
    }


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_starts_with_its_only_first_level_heading(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert len(headings(text, 1)) == 1


def test_no_sentence_is_on_two_pages() -> None:
    pages: dict[str, set[str]] = {}
    for kind in KINDS:
        for page in (DOCS / kind).glob("*.md"):
            text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
            for paragraph in re.split(r"\n\n|\n- |\n\|", text):
                for sentence in re.split(r"(?<=[.:;]) ", " ".join(paragraph.split())):
                    pages.setdefault(sentence, set()).add(page.name)
    assert {text for text, names in pages.items() if len(names) > 1 and len(text) > 50} == set()


def test_the_map_lists_every_page_under_its_kind() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = {(DOCS / target.partition("#")[0]).resolve() for target in targets(text)}
    pages = {page.resolve() for page in DOCS.rglob("*.md")}
    unlisted = {page.relative_to(DOCS).as_posix() for page in pages - listed}
    # The pages of agents and of experiments have maps of their own.
    assert {page for page in unlisted if not page.startswith(("agents/", "experiments/"))} == {
        "index.md"
    }
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    for kind in KINDS:
        (section,) = (part for part in parts if part.lower().startswith(kind))
        others = {other for other in KINDS if other != kind}
        assert not {target.split("/")[0] for target in targets(section)} & others


def test_the_list_of_agents_has_every_page() -> None:
    listed = targets((DOCS / "agents" / "index.md").read_text(encoding="utf-8"))
    assert {page.name for page in AGENT_PAGES} <= set(listed)
    assert {name for name in registry.names() if registry.preset(name) is None} == set(AGENTS)


@pytest.mark.parametrize("page", AGENT_PAGES, ids=AGENTS)
def test_an_agents_page_has_its_sections_in_order(page: Path) -> None:
    sections = headings(page.read_text(encoding="utf-8"), 2)
    assert [name for name in sections if name in AGENT_SECTIONS] == list(AGENT_SECTIONS)


@pytest.mark.parametrize("page", AGENT_PAGES, ids=AGENTS)
def test_an_agents_page_has_the_options_that_the_agent_declares(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert option_tables.options_table(page.stem) in text
    described = in_process.run_in_process(["agents", page.stem, "--json"], ROOT)
    (agent,) = json.loads(described.stdout)
    rows = re.findall(r"^\| `(\w+)` \|", option_tables.options_table(page.stem), re.MULTILINE)
    assert rows == [option["name"] for option in agent["options"]]
