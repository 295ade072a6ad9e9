"""Every work that code or documents cite is in the bibliography, which says where it is used."""

import re
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "bibliography.md"
NAME = r"(?:van )?[A-Z][^\W\d_]+"
AUTHORS = rf"(?P<first>{NAME})(?:(?: and| &) {NAME}| et al\.)?"
YEAR = r"(?P<year>19\d\d|20[0-3]\d)"
CITATIONS = (
    re.compile(rf"\b{AUTHORS} \({YEAR}\)"),  # Karnin et al. (2013)
    re.compile(rf"[(;,] ?{AUTHORS},? {YEAR}(?=[,;)])"),  # (Ford 1957; Hunter 2004, ...)
)
MONTHS = "January February March April May June July August September October November December"
NOT_WORKS = {*MONTHS.split()}
ENTRY = re.compile(rf"^- \*\*{AUTHORS}(?: \({YEAR}\))?\.\*\*(?P<text>(?:.*\n)(?:  .*\n)*)", re.M)


def citations(text: str) -> Iterator[tuple[str, str]]:
    """Yield the first author and the year of every work that a text cites."""
    # A citation may be broken over two lines, of a comment or of a string, too.
    joined = re.sub(r"\s*\n\s*(?:# |\"|f\")?", " ", text)
    for pattern in CITATIONS:
        for match in pattern.finditer(joined):
            if match["first"] not in NOT_WORKS:
                yield match["first"], match["year"]


def cited() -> dict[tuple[str, str], set[str]]:
    """Return every work that is cited, with the files that cite it."""
    works: dict[tuple[str, str], set[str]] = {}
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    for file in files:
        if file != PAGE and "experiments" not in file.parts:
            for work in citations(file.read_text(encoding="utf-8")):
                works.setdefault(work, set()).add(file.relative_to(ROOT).as_posix())
    return works


ENTRIES = {
    (match["first"], match["year"]): " ".join(match["text"].split())
    for match in ENTRY.finditer(PAGE.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("as in UCB1 (Auer et\n# al., 2002).", ("Auer", "2002")),
        ("points (Ford 1957; Hunter 2004, a title)", ("Hunter", "2004")),
        ("# Agresti and Caffo (2000): one more", ("Agresti", "2000")),
        ("node (Kocsis & Szepesvári, 2006).", ("Kocsis", "2006")),
        ("(double DQN, van Hasselt et al.,\n2016)", ("van Hasselt", "2016")),
    ],
)
def test_citations_are_recognised(text: str, work: tuple[str, str]) -> None:
    assert work in set(citations(text))


def test_dates_are_no_citations() -> None:
    assert list(citations("at random (Kaggle since March 2020), in November 2026")) == []


def test_every_cited_work_has_an_entry() -> None:
    works = cited()
    assert len(works) > 30
    assert {work: files for work, files in works.items() if work not in ENTRIES} == {}


def test_entries_are_in_order_and_unlike_each_other() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(ENTRIES) == len(re.findall(r"^- ", text, re.M))
    for section in text.split("\n## ")[1:]:
        names = [(match["first"].lower(), match["year"] or "") for match in ENTRY.finditer(section)]
        assert names == sorted(names)


@pytest.mark.parametrize("work", list(ENTRIES), ids=str)
def test_an_entry_says_where_the_work_is_used(work: tuple[str, str]) -> None:
    used = re.findall(r"`([\w/]+\.py)`", ENTRIES[work])
    pages = re.findall(r"\]\(([\w/-]+\.md)", ENTRIES[work])
    assert used or pages
    missing = [name for name in used if not (ROOT / "src" / "fourlab" / name).exists()]
    assert missing == []
    # At least one of the files cites the work, unless only a page does.
    surname = work[0].split()[-1]
    texts = [(ROOT / "src" / "fourlab" / name).read_text(encoding="utf-8") for name in used]
    assert pages or any(surname in text for text in texts)
