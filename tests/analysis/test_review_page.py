import pytest

from fourlab import Limit, Position
from fourlab.analysis.review import review
from fourlab.analysis.review_page import review_page
from tests.arena.test_report import Page

NO_LIMIT = Limit()


def of(moves: str, board: str | None = None, limit: Limit = NO_LIMIT) -> tuple[str, Page]:
    columns = tuple(int(column) - 1 for column in moves)
    text = review_page(review(Position(board=board), columns, limit))
    return text, Page(text)


def test_the_page_needs_no_other_file_and_shows_every_move() -> None:
    text, page = of("4444413333122")
    assert page.outside == page.links == []
    assert "script" not in page.tags
    assert "//127.0.0.1" not in text
    assert page.tags.count("svg") == 1 + 3  # the chances, and a board for each mistake
    assert page.tags.count("tr") == 3 + 1 + 13
    for words in (
        "Review: yellow wins in 27",
        "turns a win into a loss",
        "Every move",
        "accuracy",
        "red wins in 41",
    ):
        assert words in page.words
    assert "estimated.</p>" not in text


def test_a_page_says_that_some_positions_are_not_proven() -> None:
    text, page = of("445566", "8x6x4", Limit(nodes=50))
    assert "what is not proven is estimated" in page.words
    assert "The worst mistakes" not in text


def test_only_the_worst_mistakes_have_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourlab.analysis.review_page.MOST_BOARDS", 1)
    _, page = of("4444413333122")
    assert page.words.count("Connect Four") == 1
    assert page.words.count("Move 13, red: column 2 turns a win into a loss") == 1


def test_a_game_without_moves_has_a_page() -> None:
    _, page = of("")
    assert "no moves" in page.words


def test_the_same_game_gives_the_same_page() -> None:
    assert of("121212")[0] == of("121212")[0]
