"""Agents of the server's owner in the pickers, and files dropped on the page."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.cli.test_web import running
from tests.web.test_own import SEARCHER

expect.set_options(timeout=120_000)  # a busy machine is not a fault of the page
BOT = "def {name}(position):\n    return position.legal_columns()[-1]\n"
DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  document.body.dispatchEvent(
    new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }),
  );
}"""


def test_an_agent_of_the_owner_is_in_every_picker(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT.format(name="bot"))
    with (
        running("--allow-programs", "--agent", f"{tmp_path}/bot.py:bot") as (_, address),
        browser.new_context(reduced_motion="reduce") as context,
    ):
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.goto(address)
        # Every view that lets an agent play or think lists it.
        for view in ("play", "analyse", "watch"):
            page.goto(f"{address.partition('?')[0]}?view={view}")
            page.locator("optgroup[label='Your own'] option[value=own-bot]").first.wait_for(
                state="attached"
            )
        page.goto(f"{address.partition('?')[0]}?red=human&yellow=own-bot")
        page.get_by_role("button", name=re.compile("column 4", re.I)).first.click()
        expect(page).to_have_url(re.compile("moves=47"))
        # A dropped file is an agent, too, and plays.
        page.evaluate(DROP, ["dropped.py", BOT.format(name="dropped")])
        expect(page).to_have_url(re.compile("yellow=own-dropped"))
        page.locator("optgroup[label='Your own'] option[value=own-dropped]").first.wait_for(
            state="attached"
        )
        # One that is none is refused, and the page says why.
        page.evaluate(DROP, ["syntax.py", "f("])
        expect(page.locator("#status")).to_contain_text("cannot be loaded: line 1")


def test_x_ray_offers_own_agents_that_have_a_search_tree(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT.format(name="bot"))
    (tmp_path / "watched.py").write_text(SEARCHER)
    agents = [f"--agent={tmp_path}/{name}.py" for name in ("bot", "watched")]
    with (
        running("--allow-programs", *agents) as (_, address),
        browser.new_context(reduced_motion="reduce") as context,
    ):
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.goto(address)
        page.goto(f"{address.partition('?')[0]}?view=xray&moves=44")
        own = page.locator("optgroup[label='Your own'] option")
        expect(own).to_have_text(["own-bot (has no search tree to show)", "own-watched"])
        expect(own.first).to_be_disabled()
        expect(own.last).to_be_enabled()
        page.get_by_label("Agent", exact=True).select_option("own-watched")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("treeitem", name="This position")).to_be_visible()
        expect(page.get_by_text("200 simulations").first).to_be_visible()
        # One without a tree can still be typed.
        page.get_by_label("Agent with its options").fill("own-bot")
        page.get_by_label("Agent with its options").blur()
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text("own-bot has no search tree to show.").first).to_be_visible()
        expect(page.get_by_role("tree")).to_be_hidden()


def test_a_usual_server_takes_no_files(page: Page, problems: list[str]) -> None:
    page.goto("/")
    page.evaluate(DROP, ["bot.py", BOT.format(name="bot")])
    expect(page.locator("#status")).to_contain_text("this server takes no files")
    problems.clear()  # the browser logs the refusal
