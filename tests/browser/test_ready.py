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

WAIT = 120_000
"""Milliseconds that a search may take to load its kernels."""


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def slow(held: Held, page: Page) -> Iterator[str]:
    """The address of a server whose solver (level 10) is ready when the test says so."""
    compiled = (
        *("tree search", "network search", "planes", "minimax", "negamax", "guided search"),
        "pattern search",
    )
    names = {"solver": 300.0, **dict.fromkeys(compiled, 1.0)}
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
    page.goto(f"{slow}?yellow=level:10")
    status(page, re.compile(r"Red to move · Champion ready in about \d+ min"))
    expect(page.locator("#live")).to_have_text(re.compile(r"Champion ready in about \d+ min"))
    assert has_no_accessibility_violations(page)
    column(page, 4).click()
    status(page, re.compile(r"Yellow: Champion ready in about \d+ min"))
    column(page, 4).click()
    status(page, "Champion is not ready yet, and will move by itself.")
    page.set_viewport_size(PHONE)
    assert fits(page)
    assert has_no_accessibility_violations(page)
    held.close()
    # The first search in a process loads its kernels, which may take long beside other tests.
    expect(page.locator("#status")).to_contain_text("Red to move", timeout=WAIT)
    assert len(moves_of(page)) == 2
    expect(page.get_by_role("option", name=re.compile("in about"))).to_have_count(0)
    before = len(methods)
    page.wait_for_timeout(2500)  # longer than the polling interval
    assert len(methods) == before, "polling ends"
    assert methods.count("POST") == 1, "the level is moved to the front once"


def test_ready_levels_play_at_once(page: Page, slow: str) -> None:
    page.goto(f"{slow}?yellow=rules")
    expect(
        page.get_by_role("option", name=re.compile(r"10 · Champion \(in about \d+ min\)"))
    ).to_have_count(2)
    expect(page.get_by_role("option", name="5 · Club", exact=True)).to_have_count(2)
    column(page, 4).click()
    status(page, "Red to move")
    assert len(moves_of(page)) == 2
    page.get_by_label("Yellow", exact=True).select_option("level:10")
    status(page, re.compile(r"Red to move · Champion ready in about \d+ min"))


def test_watch_says_which_agent_is_not_ready(page: Page, slow: str, held: Held) -> None:
    page.goto(f"{slow}?view=watch")
    page.get_by_label("Red", exact=True).select_option("level:10")
    page.get_by_role("button", name="Step", exact=True).click()
    status(page, re.compile(r"Red: Champion ready in about \d+ min"))
    held.close()
    expect(page.locator("#status")).to_contain_text("Yellow to move", timeout=WAIT)
