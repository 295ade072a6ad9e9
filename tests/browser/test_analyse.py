import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import (
    PHONE,
    column,
    fail_once,
    fits,
    has_no_accessibility_violations,
    moves_of,
    press,
    status,
)

RED_WINS_AT_4 = "/?view=analyse&moves=434343"


def test_every_column_shows_its_proven_or_estimated_value(page: Page) -> None:
    page.goto(RED_WINS_AT_4)
    expect(column(page, 4)).to_have_accessible_description("wins in 1")
    expect(column(page, 1)).to_have_accessible_description("loses in 2")
    expect(page.locator("#hint-4")).to_have_class("hint win proven best")
    expect(page.get_by_role("heading", name="Red wins in 1 (proven)")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Red wins in 1 (proven)")  # read aloud
    row = page.get_by_role("row", name="4 wins in 1 ★ wins")
    expect(row).to_be_visible()  # alphazero proves it too


def test_an_estimate_is_marked_by_more_than_its_colour(page: Page) -> None:
    page.goto("/?view=analyse&moves=44")
    page.get_by_label("First opinion").select_option("mcts")
    hint = page.locator("#hint-4")
    expect(hint).to_contain_text("≈")
    assert hint.evaluate("element => getComputedStyle(element).borderStyle") == "dashed"


def test_clicking_a_move_of_the_best_line_plays_up_to_it(page: Page) -> None:
    page.goto("/?view=analyse&moves=43434")  # red threatens the fourth disc
    expect(page.get_by_role("heading", name=re.compile("Yellow .*proven"))).to_be_visible()
    expect(page.get_by_role("button", name="Go deeper")).to_be_visible()
    line = page.get_by_role("button", name=re.compile("^Play up to"))
    expect(line.first).to_have_accessible_name("Play up to Yellow in column 4")
    third = line.nth(2).inner_text()
    line.nth(2).click()
    assert moves_of(page).startswith("434344")
    assert moves_of(page)[7:] == third


def test_clicks_play_for_both_sides_whatever_the_seats(page: Page) -> None:
    page.goto("/?view=analyse&yellow=level:3")
    column(page, 4).click()
    column(page, 3).click()
    assert moves_of(page) == "43"
    status(page, "Red to move")


def test_the_engine_and_hints_switches_are_independent_and_remembered(page: Page) -> None:
    page.goto(RED_WINS_AT_4)
    expect(column(page, 4)).to_have_accessible_description("wins in 1")
    page.get_by_role("switch", name="Hints").click()
    expect(page.locator(".hints")).to_be_hidden()
    # The engine keeps running.
    expect(page.get_by_role("heading", name="Red wins in 1 (proven)")).to_be_visible()
    page.get_by_role("switch", name="Engine").click()
    page.reload()
    expect(page.get_by_role("switch", name="Hints")).not_to_be_checked()
    expect(page.get_by_role("heading", name="Red to move: the engine is off")).to_be_visible()


def test_going_deeper_takes_more_time_and_is_disabled_when_the_game_is_over(page: Page) -> None:
    page.goto("/?view=analyse&moves=44")
    deeper = page.get_by_role("button", name="Go deeper (5 s)")
    with page.expect_request("**/analysis/stream?*seconds=5*"):
        deeper.click()
    page.goto("/?view=analyse&moves=1212121")  # over
    expect(page.get_by_role("button", name="Go deeper")).to_be_disabled()


def test_streams_close_when_the_position_the_tab_or_the_view_changes(
    page: Page,
) -> None:
    page.goto("/?view=analyse&moves=44")
    page.get_by_label("First opinion").select_option("mcts")
    hide = """hidden => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
    }"""
    leave = [
        lambda: column(page, 4).click(),
        lambda: page.evaluate(hide, True),
        lambda: page.get_by_role("link", name="Play").click(),
    ]
    for action in leave:
        page.evaluate(hide, False)
        # A tab that becomes visible again resumes its search by itself.
        if page.get_by_role("button", name="Searching, 5 s").count() == 0:
            page.get_by_role("button", name="Go deeper (5 s)").click()
        expect(page.get_by_role("button", name="Searching, 5 s")).to_be_visible()
        with page.expect_event("requestfailed", lambda request: "analysis/stream" in request.url):
            action()


def test_an_agent_that_cannot_play_this_board_says_so(page: Page, problems: list[str]) -> None:
    page.goto("/?view=analyse&board=5x4x3")
    expect(page.get_by_label("Second opinion")).to_have_value("mcts")
    page.get_by_label("Second opinion").select_option("dqn")
    expect(page.locator(".problem")).to_contain_text("knows only the board 7x6x4")
    problems.clear()


def test_a_failed_opinion_can_be_requested_again(page: Page, problems: list[str]) -> None:
    fail_once(page, "**/analysis/stream?*agent=perfect*")
    page.goto(RED_WINS_AT_4)
    expect(page.get_by_role("status").or_(page.locator(".problem"))).to_have_text(
        2 * ["perfect: too many are thinking"]
    )
    with page.expect_request("**/analysis/stream?*agent=perfect*seconds=1"):
        press(page, "Try again")
    expect(page.get_by_role("heading", name="Red wins in 1 (proven)")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()
    problems.clear()


@pytest.mark.parametrize(
    "address", [RED_WINS_AT_4, "/?view=analyse&moves=44", "/?view=analyse&board=15x3x3"]
)
def test_analyse_is_accessible_in_both_themes_and_fits_a_phone(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(".hint").first).to_be_visible()
    assert has_no_accessibility_violations(page)
    page.set_viewport_size(PHONE)
    assert fits(page)
