"""A real server and a real browser. Without one these tests are skipped, and in CI they fail."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tests.missing_parts import require

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 375, "height": 812}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server looks for runs."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def server(home: Path) -> Iterator[str]:
    """The address of `fourlab web` in a process of its own, on a port of its own."""
    command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0", "--runs", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found[0]
        process.terminate()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, only as long as tests here run: other tests in this process must be able to have an event loop."""
    found = require("browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def problems() -> list[str]:
    """What the browser complained about; a test that expects complaints clears the list."""
    return []


@pytest.fixture
def context(browser: Browser, server: str, problems: list[str]) -> Iterator[BrowserContext]:
    """A new browser without memories; animations are off, so that tests wait for nothing."""
    with browser.new_context(base_url=server, viewport=DESKTOP, reduced_motion="reduce") as context:
        context.set_default_timeout(120_000)
        context.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
        context.on("weberror", lambda error: problems.append(str(error.error)))
        yield context
    assert problems == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """An empty tab."""
    return context.new_page()


def column(page: Page, number: int) -> Locator:
    """The button of a column, by what a screen reader says."""
    return page.get_by_role("button", name=re.compile(f"^Column {number}:"))


def moves_of(page: Page) -> str:
    """The moves in the address; what `page.url` says may be a moment old."""
    return str(page.evaluate("new URLSearchParams(location.search).get('moves') ?? ''"))


def status(page: Page, text: str) -> None:
    """Wait until the line above the board says so."""
    expect(page.locator("#status")).to_contain_text(text)


def press(page: Page, name: str) -> None:
    """Click the button of that name."""
    page.get_by_role("button", name=name, exact=True).click()


def fail_once(page: Page, path: str, retry_after: str | None = None) -> None:
    """Let the first request to a path be refused with 503, as by a server that has too much to do."""
    answer = {"error": {"status": 503, "code": "busy", "message": "too many are thinking"}}
    headers = {"Retry-After": retry_after} if retry_after else {}
    page.route(path, lambda route: route.fulfill(status=503, headers=headers, json=answer), times=1)


def has_no_accessibility_violations(page: Page) -> bool:
    """Run axe-core on the page as it is, light and dark."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{theme}: {found.generate_report()}"
    return True


def fits(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways, a few frames after the last change."""
    for _ in range(100):
        page.evaluate("new Promise(requestAnimationFrame)")
        if page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            return True
    return False
