"""X-ray, Review, Watch and Lab: user journeys, each checked by axe-core in both themes."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from fourlab.agents.registry import make
from fourlab.arena.play import play_tournament
from fourlab.arena.report import write_report
from fourlab.arena.store import Store
from fourlab.arena.summary import summarize
from fourlab.arena.tournament import read
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.run import open_run
from fourlab.training.loop import train
from tests.browser.conftest import PHONE, column, fail_once, fits, has_no_accessibility_violations
from tests.browser.test_play import moves_of, press, status
from tests.training.test_loop import Sum, stop_after

expect.set_options(timeout=120_000)  # a busy machine is not a fault of the page
# Red has three in column 4 but plays column 1, and yellow completes column 3.
LOST_AT_MOVE_7 = "43434313"


def cursor(page: Page) -> int:
    """Return the number of moves shown, from the address; -1 if it names none."""
    return int(page.evaluate("new URLSearchParams(location.search).get('ply') ?? -1"))


def played(home: Path, name: str, **settings: Any) -> str:
    """Play a match on a small board and return the name of its run."""
    tournament = read(
        {
            "agents": ["random", "rules"],
            "boards": ["4x3x3"],
            "openings": "empty",
            "rounds": 3,
            **settings,
        }
    )
    run = open_run(home, name, {"kind": "match", **tournament.as_data()})
    with Store(run.games_file) as store:
        summary = summarize(play_tournament(tournament, store, Threads(1), make), store)
        run.write("results.json", summary)
        write_report(run, tournament, summary, store)
    return run.name


@pytest.fixture(scope="module")
def finished(home: Path) -> str:
    return played(home, "small")


# --- X-ray ----------------------------------------------------------------------------------------


def test_a_search_is_watched_while_it_thinks_and_stopped(page: Page) -> None:
    page.goto("/?view=xray&moves=44")
    page.get_by_label("Seconds at most").fill("20")
    press(page, "Start")
    rows = page.get_by_role("region", name="What the search thinks of each column").get_by_role(
        "row"
    )
    expect(rows).to_have_count(8)
    for curve in ("Value of each column", "Visits to each column"):
        expect(page.get_by_role("img", name=curve).locator("path.line")).to_have_count(7)
    # The request is cancelled, so that the server stops searching.
    with page.expect_event("requestfailed", lambda request: "analysis/stream" in request.url):
        press(page, "Stop")
    expect(page.get_by_text("Stopped.").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_disabled()


def test_another_position_or_view_ends_the_search(page: Page) -> None:
    page.goto("/?view=xray&moves=44")
    for leave in (
        lambda: column(page, 3).click(),
        lambda: page.get_by_role("link", name="Watch").click(),
    ):
        page.get_by_label("Seconds at most").fill("20")
        press(page, "Start")
        expect(page.get_by_role("img", name="Value of each column")).to_be_visible()
        with page.expect_event("requestfailed", lambda request: "analysis/stream" in request.url):
            leave()
        expect(page.get_by_role("img", name="Value of each column")).to_be_hidden()


@pytest.mark.parametrize("agent", ["mcts", "alphazero"])
def test_the_tree_is_opened_by_keyboard_and_the_board_shows_its_lines(
    page: Page, agent: str
) -> None:
    page.goto("/?view=xray")
    page.get_by_label("Agent", exact=True).select_option(agent)
    page.get_by_label("Simulations at most").fill("3000")
    press(page, "Start")
    here = page.get_by_role("treeitem", name="This position")
    expect(here).to_have_attribute("aria-expanded", "true")
    here.focus()
    for _ in range(3):  # to the first child, open it, to its first child
        page.keyboard.press("ArrowRight")
    node = page.locator(":focus")
    expect(node).to_have_attribute(
        "aria-label", re.compile(r"^Yellow, column \d, N [\d,]+, Q [+−]?[\d.]+")
    )
    # The board shows the line of two moves.
    expect(page.get_by_role("button", name=re.compile("^Column .*Red"))).to_have_count(1)
    expect(page.get_by_role("button", name=re.compile("^Column .*Yellow"))).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("treeitem", name="Yellow")).to_have_count(0)
    page.get_by_label("Seconds at most").focus()
    expect(page.get_by_role("button", name=re.compile("^Column .*empty"))).to_have_count(7)
    assert moves_of(page) == ""
    expect(page.get_by_role("columnheader", name="Prior")).to_have_count(
        1 if agent == "alphazero" else 0
    )
    assert has_no_accessibility_violations(page)
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_a_chart_can_be_read_as_a_table(page: Page) -> None:
    page.goto("/?view=xray")
    page.get_by_label("Simulations at most").fill("500")
    press(page, "Start")
    expect(page.get_by_role("tree")).to_be_visible()
    page.get_by_text("Numbers of the chart: Visits to each column").click()
    last = page.get_by_role("region", name="Numbers of the chart: Visits").get_by_role("row").last
    cells = last.get_by_role("cell").all_inner_texts()
    simulations, *visits = (int(cell.replace(",", "")) for cell in cells)
    assert simulations == 500
    assert len(visits) == 7
    assert 490 <= sum(visits) <= 500


# --- Review ---------------------------------------------------------------------------------------


def test_a_review_finds_the_blunder_and_the_graph_moves_the_cursor(page: Page) -> None:
    page.goto(f"/?view=review&moves={LOST_AT_MOVE_7}")
    slider = page.get_by_role("slider", name="Move")
    expect(slider).to_have_attribute(
        "aria-valuetext", re.compile("^8 of 8: yellow has won|^8 of 8: yellow wins")
    )
    press(page, "Previous mistake")
    assert cursor(page) == 7
    expect(page.get_by_role("listitem").filter(has_text="blunder")).to_have_count(1)
    expect(page.locator(".judged [aria-current=step]")).to_contain_text(
        "column 1 turns a win into a loss"
    )
    slider.focus()
    page.keyboard.press("Home")
    assert cursor(page) == 0
    expect(page.get_by_text("Now: red wins in 41.")).to_be_visible()
    graph = page.get_by_role("img", name="Win chance of red")
    box = graph.bounding_box()
    assert box is not None
    graph.click(position={"x": box["width"] / 2, "y": 60})
    assert cursor(page) in (3, 4, 5)
    page.get_by_label("Order of the moves").select_option("worst first")
    expect(page.locator(".judged li").first).to_contain_text("blunder")
    assert has_no_accessibility_violations(page)
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_a_blunder_can_be_retried_from_the_position_before_it(page: Page) -> None:
    page.goto(f"/?view=review&moves={LOST_AT_MOVE_7}&red=level:1&yellow=level:2")
    press(page, "Previous mistake")
    press(page, "Retry from here")
    status(page, "Red to move")
    assert cursor(page) == 6
    column(page, 4).click()
    status(page, "Red wins")
    assert moves_of(page) == "4343434"


def test_a_review_is_saved_as_one_self_contained_page(page: Page) -> None:
    page.goto(f"/?view=review&moves={LOST_AT_MOVE_7}")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as a page").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert download.value.suggested_filename == "review.html"
    assert "blunder" in text
    assert re.findall(r"<(?:script|link|iframe|img)\b", text) == []
    assert re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)|url\((?!#|data:)|@import", text) == []


def test_without_moves_there_is_nothing_to_review(page: Page) -> None:
    page.goto("/?view=review")
    expect(page.get_by_text("There is nothing to review yet")).to_be_visible()


# --- Watch ----------------------------------------------------------------------------------------


def test_two_agents_play_to_the_end_and_the_game_is_replayed(page: Page) -> None:
    page.goto("/?view=watch&board=4x3x3")
    page.get_by_label("Speed").focus()
    page.keyboard.press("End")
    press(page, "Step")
    expect(page.get_by_text(re.compile("^Move 1 of 1"))).to_be_visible()
    press(page, "Start")
    expect(page.locator("#status")).to_contain_text(re.compile("wins with|draw"))
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    moves = moves_of(page)
    press(page, "First position")
    assert cursor(page) == 0
    press(page, "Next move")
    assert cursor(page) == 1
    press(page, "Replay")
    expect(page.get_by_text(f"Move {len(moves)} of {len(moves)}")).to_be_visible()
    assert moves_of(page) == moves
    column(page, 1).click()
    status(page, "The game is over")
    assert has_no_accessibility_violations(page)
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_a_game_between_agents_can_be_paused(page: Page) -> None:
    page.goto("/?view=watch")
    press(page, "Start")
    expect(page.get_by_text("Move 1 of 1")).to_be_visible()
    press(page, "Pause")
    press(page, "New game")
    expect(page.get_by_text("An empty tape")).to_be_visible()


def test_a_link_to_moves_replays_them(page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.goto("/?moves=4343&view=watch")
    expect(page.get_by_text("Move 1 of 4: Red plays column 4")).to_be_visible()
    page.get_by_label("Speed").focus()
    page.keyboard.press("End")
    expect(page.get_by_text("Move 4 of 4: Yellow plays column 3")).to_be_visible()
    expect(page.get_by_role("button", name="Replay")).to_be_visible()


# In the middle of a game, and after its end.
@pytest.mark.parametrize(("ply", "kept"), [(1, "4"), (7, "")])
def test_going_back_restores_the_game_before_agents_played_on(
    page: Page, ply: int, kept: str
) -> None:
    page.goto(f"/?view=watch&moves=4343434&ply={ply}")
    press(page, "Step")
    expect(page.get_by_text(f"Move {len(kept) + 1} of {len(kept) + 1}")).to_be_visible()
    assert moves_of(page)[:-1] == kept
    page.go_back()
    expect(page.get_by_text(f"Move {ply} of 7")).to_be_visible()
    assert moves_of(page) == "4343434"


def test_one_refusal_of_a_busy_server_does_not_end_a_game(page: Page, problems: list[str]) -> None:
    fail_once(page, "**/api/v1/move", retry_after="0.1")
    page.goto("/?view=watch&board=4x3x3")
    page.get_by_label("Speed").fill("4")
    press(page, "Start")
    expect(page.locator("#status")).to_contain_text(re.compile("wins with|draw"))
    problems.clear()


def test_a_game_number_that_is_no_number_is_reported(page: Page) -> None:
    page.goto("/?view=watch&run=nix&game=abc")
    expect(page.get_by_text("there is no game “abc”")).to_be_visible()


def test_a_link_to_a_stored_game_replays_it_and_says_who_played(page: Page, finished: str) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.goto(f"/?view=watch&run={finished}&game=2")
    page.get_by_label("Speed").focus()
    page.keyboard.press("End")
    expect(
        page.get_by_text("random – rules: ").or_(page.get_by_text("rules – random: "))
    ).to_be_visible()
    expect(page.locator("#status")).to_contain_text(re.compile("wins with|draw"))
    assert "game=2" in page.evaluate("location.search")
    game = page.get_by_role("spinbutton", name="Game")
    game.fill("3")
    game.press("Tab")
    expect(page.get_by_text(re.compile(r"^Move [1-3] of \d+"))).to_be_visible()
    assert "game=3" in page.evaluate("location.search")


def test_a_stored_game_can_be_changed_although_the_list_of_runs_is_old(
    page: Page, finished: str
) -> None:
    page.route("**/api/v1/runs", lambda route: route.fulfill(json=[]))
    page.goto(f"/?view=watch&run={finished}&game=2")
    expect(page.get_by_role("combobox", name="Run")).to_have_value(finished)
    game = page.get_by_role("spinbutton", name="Game")
    game.fill("3")
    game.press("Tab")
    page.wait_for_url("**game=3**")


# --- Lab ------------------------------------------------------------------------------------------


def test_a_finished_run_is_listed_with_tables_figures_and_games(page: Page, finished: str) -> None:
    page.goto("/?view=lab")
    page.get_by_role("button", name=finished).click()
    expect(page.get_by_role("heading", name=finished)).to_be_visible()
    expect(page.get_by_text("6 / 6 games").first).to_be_visible()
    figure = page.get_by_role("img", name="Figure: lengths")
    expect(figure).to_be_visible()
    width = "async image => { await image.decode(); return image.naturalWidth; }"
    assert figure.evaluate(width) > 100
    assert has_no_accessibility_violations(page)
    page.set_viewport_size(PHONE)
    assert fits(page)
    page.get_by_role("link", name="Watch game 4").click()
    expect(page.get_by_text(re.compile(r"The start; \d+ moves follow"))).to_be_visible()
    assert f"run={finished}&game=4" in page.evaluate("location.search")


def test_runs_are_compared_by_the_settings_in_which_they_differ(
    page: Page, home: Path, finished: str
) -> None:
    other = played(home, "other", seed=5)
    page.goto("/?view=lab")
    page.get_by_label(f"Compare {finished}").check()
    page.get_by_label(f"Compare {other}").check()
    table = page.get_by_role("region", name="Differing settings")
    expect(table.get_by_role("row", name="seed 0 5")).to_be_visible()
    expect(table.get_by_role("row")).to_have_count(2)
    page.reload()  # the address names them
    expect(table.get_by_role("row", name="seed 0 5")).to_be_visible()
    page.get_by_label(f"Compare {other}").uncheck()
    expect(table).to_be_hidden()
    expect(page.get_by_label(f"Compare {finished}")).to_be_checked()


def test_a_running_training_refreshes_by_itself(page: Page, home: Path) -> None:
    run = open_run(home, "sum", {"kind": "train-sum", "total": 20})
    trainee = Sum()
    with run.locked():
        train(run, trainee, stop_after(2))
        page.goto(f"/?view=lab&run={run.name}")
        row = page.get_by_role("button", name=run.name)
        curve = page.get_by_role("img", name="the sum so far")
        expect(row).to_contain_text("running")
        expect(row).to_contain_text("4 / 20 numbers")
        expect(curve).to_have_accessible_description(
            "the sum so far against numbers. At the end sum: 10, half.sum: 5."
        )
        assert has_no_accessibility_violations(page)
        page.set_viewport_size(PHONE)
        assert fits(page)
        train(run, trainee, stop_after(3))
        expect(row).to_contain_text("10 / 20 numbers")
        expect(curve).to_have_accessible_description(
            "the sum so far against numbers. At the end sum: 55, half.sum: 27.5."
        )
    expect(row).to_contain_text("stopped")
    train(run, trainee)
    expect(row).to_contain_text("finished")
    expect(page.get_by_role("heading", name="Result")).to_be_visible()


def test_a_missing_run_is_reported(page: Page, problems: list[str]) -> None:
    page.goto("/?view=lab&run=nothing")
    expect(page.get_by_text("there is no run 'nothing'")).to_be_visible()
    problems.clear()  # the browser logs the answer 404
