import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

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

TWO_PEOPLE = "/?yellow=human"


def test_a_whole_game_is_played_against_an_agent(page: Page) -> None:
    page.goto("/?yellow=level:1")
    over = page.get_by_role("button", name="Play again")
    turn = page.get_by_text("Red to move")
    for _ in range(21):
        expect(turn.or_(over).first).to_be_visible()
        if over.is_visible():
            break
        page.get_by_role("button", name=re.compile(r"^Column \d+: (?!.*full)")).first.click()
    expect(over).to_be_visible()
    expect(
        page.get_by_role("heading", name=re.compile("Red wins|Yellow wins|A draw"))
    ).to_be_visible()
    press(page, "Play again")
    expect(column(page, 1)).to_have_accessible_name("Column 1: empty")
    page.go_back()
    press(page, "Review this game")
    assert "view=review" in page.url


def test_columns_are_named_by_their_discs_and_moves_are_read_aloud(page: Page) -> None:
    page.goto(TWO_PEOPLE)
    column(page, 4).click()
    expect(page.get_by_role("status")).to_have_text("Red: column 4.")
    column(page, 4).click()
    expect(page.get_by_role("status")).to_have_text("Yellow: column 4.")
    expect(column(page, 4)).to_have_accessible_name("Column 4: Red, Yellow")
    expect(column(page, 3)).to_have_accessible_name("Column 3: empty")


def test_the_end_is_announced_and_the_winning_cells_are_marked(page: Page) -> None:
    page.goto(f"{TWO_PEOPLE}&moves=434343")
    column(page, 4).click()
    status(page, "Red wins with four in a row")
    expect(page.get_by_role("status")).to_have_text("Red: column 4. Red wins with four in a row.")
    expect(page.locator(".won")).to_have_count(4)
    press(page, "Take back")
    expect(page.locator(".won")).to_have_count(0)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("/?yellow=human&moves=111111", "Column 1 is full."),
        ("/?yellow=human&moves=1212121", "The game is over: red wins with four in a row."),
        ("/?red=mcts:seconds=9", "It is Red's turn (mcts:seconds=9). Wait, or press “Move now”."),
        (
            "/?moves=4453&ply=3",
            "It is Yellow's turn (level 3). Go to the last position, or press “Move now” "
            "to let it choose anew.",
        ),
    ],
)
def test_an_impossible_move_is_explained(page: Page, address: str, reason: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="New game").wait_for()
    column(page, 1).click()
    status(page, reason)
    expect(page.get_by_role("status")).to_have_text(reason)


def test_the_keyboard_is_enough_to_play(page: Page) -> None:
    page.goto(TWO_PEOPLE)
    column(page, 1).wait_for()
    page.keyboard.press("4")
    page.keyboard.press("ArrowRight")  # moves the focus to the board
    expect(column(page, 4)).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")  # around the edge
    expect(column(page, 7)).to_be_focused()
    page.keyboard.press("Space")
    assert moves_of(page) == "457"
    page.keyboard.press("Tab")
    take_back = page.get_by_role("button", name="Take back")
    while not take_back.evaluate("element => element === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert moves_of(page) == "45"
    page.get_by_label("Yellow", exact=True).focus()
    page.get_by_role("option", name="1 · Newcomer").first.wait_for(state="attached")
    page.keyboard.press("1")  # selects in the list, plays no disc
    expect(page.get_by_label("Yellow", exact=True)).to_have_value("level:1")
    assert moves_of(page) == "45"


def test_a_disc_is_dragged_above_a_column_and_dropped(page: Page) -> None:
    page.goto(TWO_PEOPLE)
    disc = page.locator(".hand").bounding_box()
    target = column(page, 6).bounding_box()
    assert disc is not None
    assert target is not None
    x = disc["x"] + disc["width"] / 2
    y = disc["y"] + disc["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(target["x"] + target["width"] / 2, y, steps=4)
    assert moves_of(page) == ""
    page.mouse.up()
    assert moves_of(page) == "6"
    page.mouse.down()
    page.mouse.move(10, 700, steps=4)  # away from the board: no move
    page.mouse.up()
    assert moves_of(page) == "6"
    page.mouse.click(x, target["y"] + target["height"] - 20)
    assert moves_of(page) == "64"


def test_the_address_is_the_game(page: Page, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/?board=10x5x4&yellow=human")
    for number in (10, 10, 2):
        column(page, number).click()
    assert moves_of(page) == "10,10,2,"
    press(page, "Copy link")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    shared = page.evaluate("navigator.clipboard.readText()")
    page.reload()
    other = context.new_page()
    other.goto(shared)
    for tab in (page, other):
        expect(column(tab, 10)).to_have_accessible_name("Column 10: Red, Yellow")
        expect(column(tab, 2)).to_have_accessible_name("Column 2: Red")
        status(tab, "Yellow to move")


def test_the_address_may_name_a_position_in_any_notation(page: Page) -> None:
    page.goto("/?start=sewell-2r&red=human&yellow=human")
    expect(column(page, 7)).to_have_accessible_name("Column 7: Yellow")
    page.goto("/?start=ddec&yellow=human")
    expect(column(page, 4)).to_have_accessible_name("Column 4: Red, Yellow")


def test_an_invalid_address_is_explained(page: Page) -> None:
    page.goto("/?moves=4444444")
    status(page, "Column 4 is full.")
    page.goto("/?board=99x99")
    status(page, "too large")
    page.goto(f"/?start={1001 * 'd'}")
    status(page, "A position has at most 1000 characters; this one has 1001.")
    page.goto("/?moves=44&ply=abc")
    status(page, "There is no move abc.")


def test_a_finished_start_position_offers_a_new_game(page: Page) -> None:
    page.goto("/?start=7/7/r6/ry5/ry5/ry5+y+4&yellow=human")
    expect(page.get_by_role("heading", name="Red wins")).to_be_visible()
    expect(page.get_by_role("button", name="Play again")).to_have_count(0)
    page.get_by_role("button", name="New game").first.click()
    status(page, "Red to move")


def test_a_strange_address_or_stored_setting_does_no_harm(page: Page) -> None:
    strange = {
        "theme": "x",
        "flip": 3,
        "play-hints": "x",
        "speed": "x",
        "watch-red": 5,
        "analyse-first": 5,
        "xray": {},
        "engine": "x",
    }
    page.add_init_script(f"localStorage.fourlab = JSON.stringify({strange})")
    for view in ("toString", "__proto__", "play"):
        page.goto(f"/?view={view}")
        expect(page.get_by_role("switch", name="Hints while playing")).not_to_be_checked()
    page.get_by_role("button", name="Theme: system").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    for view, picker, agent in (
        ("Watch", "Red", "level:3"),
        ("Analyse", "First opinion", "perfect"),
        ("X-ray", "Agent", "mcts"),
    ):
        page.get_by_role("link", name=view).click()
        expect(page.get_by_label(picker, exact=True)).to_have_value(agent)


def test_a_view_that_failed_to_load_can_be_opened_again(page: Page, problems: list[str]) -> None:
    page.goto("/?moves=44&yellow=human")
    for file in ("views.css", "review.js"):
        page.route(f"**/static/{file}", lambda route: route.abort(), times=1)
    page.get_by_role("link", name="Watch").click()  # needs views.css
    expect(
        page.get_by_text("Watch could not be opened. The server does not answer.").first
    ).to_be_visible()
    press(page, "Try again")
    expect(page.get_by_role("button", name="Step")).to_be_visible()
    page.get_by_role("link", name="Review").click()  # the script itself is missing
    expect(
        page.get_by_text("Review could not be opened. The server does not answer.").first
    ).to_be_visible()
    page.get_by_role("link", name="Review").click()
    expect(page.get_by_role("link", name="Save as a page")).to_be_visible()
    problems.clear()


def test_back_takes_back_a_whole_turn(page: Page) -> None:
    page.goto("/?yellow=level:3")
    for number in (4, 5):
        status(page, "Red to move")
        column(page, number).click()
    status(page, "Red to move")
    after_two = moves_of(page)
    assert len(after_two) == 4
    page.go_back()
    status(page, "Red to move")
    assert moves_of(page) == after_two[:2]
    page.go_back()
    status(page, "Red to move")
    assert moves_of(page) == ""
    page.go_forward()
    status(page, "Red to move")
    assert moves_of(page) == after_two[:2]


def test_a_move_at_an_earlier_position_replaces_the_later_moves(page: Page) -> None:
    page.goto(f"{TWO_PEOPLE}&moves=4453")
    press(page, "Previous move")
    press(page, "Move 2, Yellow: column 4")
    assert "ply=2" in page.url
    expect(column(page, 5)).to_have_accessible_name("Column 5: empty")
    column(page, 1).click()
    assert moves_of(page) == "441"


def test_seats_change_at_any_time(page: Page) -> None:
    page.goto(TWO_PEOPLE)
    column(page, 4).click()
    page.get_by_label("Yellow", exact=True).select_option(label="2 · Beginner")
    status(page, "Red to move")
    assert len(moves_of(page)) == 2
    press(page, "Swap seats")
    status(page, "Yellow to move")
    assert "red=level:2" in page.url
    assert len(moves_of(page)) == 3
    page.get_by_label("Red", exact=True).select_option("mcts")
    typed = page.get_by_role("textbox", name="Agent with its options")
    typed.fill("mcts:simulations=50")
    typed.press("Enter")
    assert "red=mcts:simulations%3D50" in page.url
    column(page, 1).click()
    status(page, "Yellow to move")
    assert len(moves_of(page)) == 5


def test_a_refused_agent_is_reported_and_can_be_tried_again(
    page: Page, problems: list[str]
) -> None:
    page.goto("/?red=nobody&yellow=human")
    page.get_by_role("button", name="Try again").click()
    expect(
        page.get_by_role("region", name="Play").get_by_text("agent 'nobody' cannot play here")
    ).to_be_visible()
    page.get_by_label("Red", exact=True).select_option("level:1")
    status(page, "Yellow to move")
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()
    problems.clear()  # the browser logs the answer 400


def test_a_request_to_a_busy_server_is_repeated(page: Page, problems: list[str]) -> None:
    fail_once(page, "**/api/v1/move", retry_after="0.1")
    page.goto("/?red=level:1&yellow=human")
    status(page, "Yellow to move")
    assert len(moves_of(page)) == 1
    problems.clear()


def test_move_now_cuts_the_thinking_short(page: Page) -> None:
    page.goto("/?red=mcts:seconds=9&yellow=human")
    status(page, "Red (mcts:seconds=9) is thinking…")
    with page.expect_request("**/api/v1/move") as request:
        press(page, "Move now")
    assert request.value.post_data_json["seconds"] < 1
    status(page, "Yellow to move")
    assert len(moves_of(page)) == 1
    expect(page.get_by_role("button", name="Move now")).to_be_disabled()


def test_a_disc_appears_before_the_server_replies_and_a_late_reply_is_dropped(page: Page) -> None:
    held: list[Route] = []
    page.route("**/api/v1/move", lambda route: held.append(route))
    page.goto("/?yellow=level:3")
    page.get_by_role("button", name="New game").wait_for()
    with page.expect_request("**/api/v1/move"):
        column(page, 4).click()
    expect(column(page, 4)).to_have_accessible_name("Column 4: Red")
    press(page, "New game")
    answer = {
        "column": 4,
        "agent": "level:3",
        "value": None,
        "proven": None,
        "policy": None,
        "line": [],
        "seconds": 0,
    }
    held[0].fulfill(json=answer)
    column(page, 1).click()
    expect(column(page, 4)).to_have_accessible_name("Column 4: empty")
    assert moves_of(page) == "1"


def test_hints_are_off_while_playing_until_switched_on(page: Page) -> None:
    page.goto("/?yellow=human&moves=434343")
    page.get_by_role("button", name="New game").wait_for()
    expect(page.locator(".hints")).to_be_hidden()
    page.get_by_role("switch", name="Hints while playing").click()
    expect(column(page, 4)).to_have_accessible_description("wins in 1")
    page.reload()
    expect(page.get_by_role("switch", name="Hints while playing")).to_be_checked()
    expect(column(page, 4)).to_have_accessible_description("wins in 1")


def test_failed_hints_are_reported(page: Page, problems: list[str]) -> None:
    fail_once(page, "**/analysis/stream?*")
    page.goto("/?yellow=human&moves=434343")
    page.get_by_role("switch", name="Hints while playing").click()
    status(page, "No hints: too many are thinking")
    press(page, "Previous move")
    press(page, "Next move")
    expect(column(page, 4)).to_have_accessible_description("wins in 1")
    status(page, "Red to move")
    problems.clear()


def test_a_flipped_board_is_a_mirror_with_the_same_numbers(page: Page) -> None:
    page.goto(f"{TWO_PEOPLE}&moves=434343")
    page.get_by_role("switch", name="Hints while playing").click()
    page.get_by_role("switch", name="Flip board").click()

    def middle(element: Locator) -> float:
        box = element.bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2

    places = [middle(column(page, number)) for number in range(1, 8)]
    assert places == sorted(places, reverse=True)
    expect(page.locator("#hint-1")).to_have_text("loses in 2")
    for number in (3, 4):
        at = pytest.approx(places[number - 1], abs=1)
        assert middle(page.locator(f"#hint-{number}")) == at
        assert middle(page.locator(".numbers span").nth(number - 1)) == at
        side = {3: "yellow", 4: "red"}[number]
        discs = page.locator(f".picture .{side}").all()
        assert [middle(disc) for disc in discs] == [at] * 3
    column(page, 5).focus()
    page.keyboard.press("ArrowRight")
    expect(column(page, 4)).to_be_focused()
    assert middle(page.locator(".hand")) == pytest.approx(places[3], abs=1)
    hand = page.locator(".hand").bounding_box()  # the disc above the board
    assert hand is not None
    height = hand["y"] + hand["height"] / 2
    page.mouse.move(places[3], height)
    page.mouse.down()
    page.mouse.move(places[0] - 5, height, steps=4)
    assert middle(page.locator(".hand")) == pytest.approx(places[0] - 5, abs=1)
    page.mouse.up()
    assert moves_of(page) == "4343431"
    page.mouse.click(places[6], hand["y"] + 3 * hand["height"])
    assert moves_of(page) == "43434317"
    assert has_no_accessibility_violations(page)
    page.get_by_role("link", name="Watch").click()
    page.reload()
    assert middle(column(page, 1)) > middle(column(page, 7))  # remembered in every view


def test_the_disc_falls_unless_motion_is_reduced(page: Page) -> None:
    page.goto(TWO_PEOPLE)
    column(page, 4).click()
    assert page.evaluate("document.getAnimations().length") == 0
    page.emulate_media(reduced_motion="no-preference")
    animations = page.evaluate(
        "(document.querySelectorAll('.columns button')[0].click(), document.getAnimations().length)"
    )
    assert animations == 1


def test_the_theme_is_remembered(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Theme: system").click()
    assert page.evaluate(background) != light
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate(background) != light


@pytest.mark.parametrize(
    "address", ["/?moves=4453", "/?moves=1212121", "/?board=15x3x3", "/?red=nobody"]
)
def test_play_is_accessible_in_both_themes_and_fits_a_phone(
    page: Page, address: str, problems: list[str]
) -> None:
    page.goto(address)
    page.get_by_role("option", name="3 · Casual").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    assert has_no_accessibility_violations(page)
    page.set_viewport_size(PHONE)
    assert fits(page)
    if "nobody" in address:
        problems.clear()


def test_a_phone_has_large_touch_targets(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/?moves=4453&yellow=human")
    page.get_by_role("button", name="New game").wait_for()
    assert has_no_accessibility_violations(page)
    sizes = page.evaluate(
        "[...document.querySelectorAll('button, select, nav a')]"
        ".map(element => element.getBoundingClientRect())"
        ".map(box => Math.min(box.width, box.height)).filter(size => size > 0)"
    )
    assert min(sizes) >= 44


def test_the_numbers_below_a_very_wide_board_do_not_overlap_on_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/?board=31x1x4&moves=1,11,&yellow=human")
    expect(column(page, 11)).to_have_accessible_name("Column 11: Yellow (full)")
    visibility = "element => getComputedStyle(element).visibility"
    shown = [
        number.inner_text()
        for number in page.locator(".numbers span").all()
        if number.evaluate(visibility) == "visible"
    ]
    assert shown == ["5", "11", "15", "20", "25", "30"]


def test_the_first_load_is_small_and_comes_from_this_server_only(page: Page, server: str) -> None:
    sizes: dict[str, int] = {}
    page.on("response", lambda response: sizes.update({response.url: len(response.body())}))
    page.goto("/")
    page.get_by_role("option", name="3 · Casual").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    assert all(url.startswith(server) for url in sizes)
    assert any(url.endswith("icon.svg") for url in sizes)
    assert sum(sizes.values()) < 80_000, sizes


def test_options_are_set_in_a_form_built_from_their_declarations(page: Page) -> None:
    """The names, ranges and help of an agent's options come from the server, not the page."""
    page.goto("/?red=human&yellow=mcts")
    picker = page.locator(".picker", has=page.get_by_label("Yellow"))
    picker.get_by_text("Options", exact=True).click()
    form = picker.locator("details.options")
    spec = picker.get_by_label("Agent with its options")
    form.get_by_label("simulations", exact=True).fill("50")
    form.get_by_label("simulations", exact=True).press("Tab")
    expect(spec).to_have_value("mcts:simulations=50")
    form.get_by_label("scale", exact=True).select_option("wins")
    expect(spec).to_have_value("mcts:simulations=50,scale=wins")
    form.get_by_label("proofs", exact=True).uncheck()
    expect(spec).to_have_value("mcts:simulations=50,scale=wins,proofs=false")
    expect(page).to_have_url(re.compile("yellow=mcts"))
    form.get_by_label("simulations", exact=True).fill("0")  # outside the range: refused by the form
    form.get_by_label("simulations", exact=True).press("Tab")
    expect(spec).to_have_value("mcts:simulations=50,scale=wins,proofs=false")
    form.get_by_label("simulations", exact=True).fill("")  # back to the default
    form.get_by_label("simulations", exact=True).press("Tab")
    expect(spec).to_have_value("mcts:scale=wins,proofs=false")
    has_no_accessibility_violations(page)
    spec.fill("mcts:final=mean")
    spec.press("Enter")
    expect(form.get_by_label("final", exact=True)).to_have_value("mean")
    expect(form.get_by_label("scale", exact=True)).to_have_value("signed")
    spec.fill("mcts:solver=0")  # the old name of proofs, as in a saved address
    spec.press("Enter")
    expect(form.get_by_label("proofs", exact=True)).not_to_be_checked()
    form.get_by_label("scale", exact=True).select_option("wins")
    expect(spec).to_have_value("mcts:proofs=0,scale=wins")
