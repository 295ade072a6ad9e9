"""The adaptive opponent: its level follows the results of the games played on the page."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import (
    PHONE,
    column,
    fits,
    has_no_accessibility_violations,
    moves_of,
    press,
    status,
)

WINS_NEXT = "moves=434343"
"""Red wins with column 4."""
LEVEL = "JSON.parse(localStorage.fourlab ?? '{}')['adaptive-level']"


def test_after_a_win_the_next_game_is_against_the_level_above(page: Page) -> None:
    page.goto(f"/?yellow=adaptive&{WINS_NEXT}")
    picker = page.get_by_label("Yellow", exact=True)
    expect(picker).to_have_value("adaptive")
    expect(page.get_by_text("now level 3")).to_be_visible()
    column(page, 4).click()
    status(page, "Red wins with four in a row")
    expect(page.locator("#live")).to_have_text("The next game is against level 4, Improver.")
    expect(page.get_by_text("now level 4")).to_be_visible()
    press(page, "Take back")  # the same game counts once
    column(page, 4).click()
    status(page, "Red wins with four in a row")
    expect(page.get_by_text("now level 4")).to_be_visible()
    page.reload()  # remembered; and a game that was not played here does not count
    expect(page.get_by_text("now level 4")).to_be_visible()
    assert page.evaluate(LEVEL) == "level:4"
    assert has_no_accessibility_violations(page)
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_after_a_loss_it_is_the_level_below_and_that_level_plays(page: Page) -> None:
    page.add_init_script("localStorage.fourlab ??= JSON.stringify({'adaptive-level': 'level:10'})")
    page.route("**/api/v1/move", lambda route: route.fulfill(json={"column": 4}))
    page.goto("/?yellow=adaptive&moves=142434")
    with page.expect_request("**/api/v1/move") as request:
        column(page, 1).click()
    assert request.value.post_data_json["agent"] == "level:10"
    status(page, "Yellow wins with four in a row")
    assert moves_of(page) == "14243414"
    expect(page.get_by_text("now level 9")).to_be_visible()
    assert page.evaluate(LEVEL) == "level:9"


def test_the_opponent_is_chosen_with_the_keyboard(page: Page) -> None:
    page.goto("/")
    picker = page.get_by_label("Yellow", exact=True)
    page.get_by_role("option", name="1 · Newcomer").first.wait_for(state="attached")
    picker.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(picker).to_have_value("adaptive")
    assert "yellow=adaptive" in page.url
    expect(page.get_by_text("One level up after each game you win")).to_be_visible()
