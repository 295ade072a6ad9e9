import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import (
    PHONE,
    column,
    fits,
    has_no_accessibility_violations,
    moves_of,
    press,
    status,
)


@pytest.fixture
def dialog(page: Page) -> Locator:
    page.goto("/?yellow=human")
    button = page.get_by_role("button", name="Set up…")
    button.evaluate("button => (button.click(), button.click())")  # a double click opens one
    dialog = page.get_by_role("dialog", name="Set up a position")
    expect(dialog).to_be_visible()
    return dialog


def start(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Start here").click()
    expect(dialog).to_be_hidden()


def test_a_position_is_drawn_with_the_mouse(page: Page, dialog: Locator) -> None:
    dialog.get_by_role("button", name="Column 4, row 6: empty").click()  # the disc falls
    dialog.get_by_label("Yellow", exact=True).first.check()
    dialog.get_by_role("button", name="Column 4, row 2: empty").click()
    dialog.get_by_role("button", name="Column 5, row 1: empty").click()
    expect(dialog.get_by_role("status")).to_contain_text("No real game has these numbers of discs")
    dialog.get_by_label("Erase").check()
    dialog.get_by_role("button", name="Column 4, row 1: Red").click()
    # The disc above it falls.
    expect(dialog.get_by_role("button", name="Column 4, row 1: Yellow")).to_be_visible()
    start(dialog)
    expect(column(page, 4)).to_have_accessible_name("Column 4: Yellow")
    column(page, 1).click()
    # The server accepts unequal numbers of discs too.
    page.get_by_label("Yellow", exact=True).select_option("level:10")
    status(page, "Red to move")
    assert len(moves_of(page)) == 2


def test_a_position_is_drawn_with_the_keyboard(dialog: Locator, page: Page) -> None:
    dialog.get_by_role("button", name="Column 7, row 1: empty").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Column 6, row 1: Red")).to_be_focused()
    page.keyboard.press("4")  # the board behind ignores it
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert moves_of(page) == ""


def test_any_notation_can_be_pasted(page: Page, dialog: Locator) -> None:
    for text in ("4453", "0:3342", "ddec", "7/7/7/7/3y3/3r3 r 4", "....\n...O\n..XX"):
        dialog.get_by_role("button", name="Clear").click()
        dialog.get_by_label("A position in any notation").fill(text)
        dialog.get_by_role("button", name="Read").click()
        expect(dialog.get_by_role("button", name="Column 4, row 2: Yellow")).to_be_visible()
    start(dialog)
    assert "start=4/3y/2rr+r+4" in page.url or "start=4/3y/2rr+y+4" in page.url
    expect(column(page, 4)).to_have_accessible_name("Column 4: Red, Yellow")


def test_text_that_is_no_position_is_reported(dialog: Locator, problems: list[str]) -> None:
    dialog.get_by_label("A position in any notation").fill("not a position!")
    dialog.get_by_role("button", name="Read").click()
    expect(dialog.get_by_role("status")).to_contain_text("cannot read the position")
    dialog.get_by_label("A position in any notation").fill(1001 * "4")
    dialog.get_by_role("button", name="Read").click()
    expect(dialog.get_by_role("status")).to_contain_text("at most 1000 characters")
    problems.clear()


def test_a_position_is_chosen_by_name(page: Page, dialog: Locator, problems: list[str]) -> None:
    dialog.get_by_label("Named positions").select_option("vannucci-abril")
    expect(dialog.get_by_role("button", name="Column 4, row 6: Red")).to_be_visible()
    start(dialog)
    expect(column(page, 4)).to_have_accessible_name(
        "Column 4: Yellow, Yellow, Red, Yellow, Red, Red (full)"
    )


def test_the_board_can_have_any_size(page: Page, dialog: Locator, problems: list[str]) -> None:
    dialog.get_by_label("Rows").fill("30")
    dialog.get_by_label("Rows").blur()
    expect(dialog.get_by_role("status")).to_contain_text("too large")
    expect(dialog.get_by_role("button", name="Start here")).to_be_disabled()
    for name, number in (("Rows", 4), ("Columns", 5), ("In a row", 3)):
        dialog.get_by_label(name).fill(str(number))
        dialog.get_by_label(name).blur()
    start(dialog)
    assert "board=5x4x3" in page.url
    column(page, 5).click()
    press(page, "New game")  # on the same board
    assert "board=5x4x3" in page.url


def test_the_dialog_is_accessible_in_both_themes_and_fits_a_phone(
    page: Page, dialog: Locator
) -> None:
    assert has_no_accessibility_violations(page)
    page.set_viewport_size(PHONE)
    assert fits(page)
