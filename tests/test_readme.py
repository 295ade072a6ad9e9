"""What the README claims: its numbers are measured ones, its boards work, its film is small."""

import re

import pytest

from fourlab import Rules, UserError
from fourlab.game.geometry import MAX_BITS
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 80
MOST_FILM_BYTES = 1_500_000


def test_every_number_of_the_table_is_on_the_page_that_it_links_to() -> None:
    rows = re.findall(
        r"^\| (?!one thread|---)(.*)\[\w+\]\((docs/[\w/.-]+)[^)]*\) \|$", README, re.M
    )
    assert len(rows) == 5
    for cells, page in rows:
        text = (ROOT / page).read_text(encoding="utf-8")
        figures = re.findall(r"\d[\d,.]*\d|\d", cells)
        assert [figure for figure in figures if figure not in text] == []


def test_the_first_screen_has_picture_numbers_and_commands() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    places = [README.index(part) for part in ("<img ", "| ratio |", "make run", ">>> import")]
    assert places == sorted(places)


def test_the_film_is_small_and_moves() -> None:
    film = ROOT / "docs" / "pictures" / "page.gif"
    data = film.read_bytes()
    assert data.startswith(b"GIF89a")
    assert data.count(b"\x21\xf9\x04") > 5, "an extension before every frame"
    assert len(data) < MOST_FILM_BYTES
    assert "docs/pictures/page.gif" in README


def test_the_boards_are_named_exactly() -> None:
    (sentence,) = re.findall(r"^Boards of .*?\.$", README, re.M | re.S)
    working, refused = sentence.split(";")
    for board in re.findall(r"\d+x\d+", working):
        rules = Rules.parse(board)
        assert (rules.rows + 1) * rules.columns <= MAX_BITS
    for board in re.findall(r"\d+x\d+", refused):
        with pytest.raises(UserError, match="is too large: ") as error:
            Rules.parse(board)
        assert "\n" not in str(error.value)
    assert f"at most {MAX_BITS}" in working
