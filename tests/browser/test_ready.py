"""While kernels compile, the page says when a level will be ready and then starts by itself."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from fourlab.compiled.background import Background
from fourlab.web.readiness import Readiness
from fourlab.web.settings import Settings
from tests.browser.conftest import (
    PHONE,
    column,
    fits,
    has_no_accessibility_violations,
    moves_of,
    status,
)
from tests.web.conftest import Held, serving


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def slow(held: Held, page: Page) -> Iterator[str]:
    """The address of a server whose minimax (level 5) is ready when the test says so."""
    compiled = ("tree search", "network search", "planes", "solver", "negamax", "guided search")
    names = {"minimax": 300.0, **dict.fromkeys(compiled, 1.0)}
    readiness = Readiness(
        lambda load: Background(names, [held], names, compiled=compiled, load=lambda name: None)
    )
    with serving(Settings(), readiness) as client:
        yield str(client.base_url)
        page.close()  # before its server stops


def test_a_game_against_a_level_that_is_not_ready_starts_by_itself(
    page: Page, slow: str, held: Held
) -> None:
    methods: list[str] = []
    page.on(
        "request",
        lambda request: methods.append(request.method) if request.url.endswith("ready") else None,
    )
    page.goto(f"{slow}?yellow=level:5")
    status(page, re.compile(r"Red to move · Strong ready in about \d+ min"))
    expect(page.locator("#live")).to_have_text(re.compile(r"Strong ready in about \d+ min"))
    assert has_no_accessibility_violations(page)
    column(page, 4).click()
    status(page, re.compile(r"Yellow: Strong ready in about \d+ min"))
    column(page, 4).click()
    status(page, "Strong is not ready yet, and will move by itself.")
    page.set_viewport_size(PHONE)
    assert fits(page)
    assert has_no_accessibility_violations(page)
    held.close()
    status(page, "Red to move")
    assert len(moves_of(page)) == 2
    expect(page.get_by_role("option", name=re.compile("in about"))).to_have_count(0)
    before = len(methods)
    page.wait_for_timeout(2500)  # longer than the polling interval
    assert len(methods) == before, "polling ends"
    assert methods.count("POST") == 1, "the level is moved to the front once"


def test_ready_levels_play_at_once(page: Page, slow: str) -> None:
    page.goto(f"{slow}?yellow=level:3")
    expect(
        page.get_by_role("option", name=re.compile(r"5 · Strong \(in about \d+ min\)"))
    ).to_have_count(2)
    expect(page.get_by_role("option", name="4 · Club", exact=True)).to_have_count(2)
    column(page, 4).click()
    status(page, "Red to move")
    assert len(moves_of(page)) == 2
    page.get_by_label("Yellow", exact=True).select_option("level:5")
    status(page, re.compile(r"Red to move · Strong ready in about \d+ min"))


def test_watch_says_which_agent_is_not_ready(page: Page, slow: str, held: Held) -> None:
    page.goto(f"{slow}?view=watch")
    page.get_by_label("Red", exact=True).select_option("level:5")
    page.get_by_role("button", name="Step", exact=True).click()
    status(page, re.compile(r"Red: Strong ready in about \d+ min"))
    held.close()
    status(page, "Yellow to move")
