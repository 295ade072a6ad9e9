"""A real server and a real browser; without a browser the tests are skipped, or fail in CI."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    WebError,
    expect,
    sync_playwright,
)

from tests.missing_parts import require

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 375, "height": 812}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the server looks for runs."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def server(home: Path) -> Iterator[str]:
    """Run `fourlab web` in its own process on a free port; yield its address."""
    command = [sys.executable, "-m", "fourlab", "web"]
    command += ["--no-browser", "--port", "0", "--runs", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address is not None
        yield address[0]
        process.terminate()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, closed after this package: other tests in this process need the event loop."""
    executable = require("browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def problems() -> list[str]:
    """Console errors and warnings; a test that expects some clears the list."""
    return []


@pytest.fixture(scope="package")
def resident(browser: Browser, server: str) -> Iterator[Page]:
    """A tab that shows a text of the server and stays open in the context of all tests.

    Chromium keeps the renderer and the compiled modules of a site only while a tab shows it, and
    loads the page for half of the CPU time with them. Animations are off to save time.
    """
    with browser.new_context(base_url=server, viewport=DESKTOP, reduced_motion="reduce") as context:
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.goto("/static/game.js")
        yield page


@pytest.fixture
def context(resident: Page, server: str, problems: list[str]) -> Iterator[BrowserContext]:
    """The browser context, without anything that earlier tests have opened, stored or allowed."""
    context = resident.context
    session = context.new_cdp_session(resident)
    stored = {"origin": server.rstrip("/"), "storageTypes": "cookies,local_storage,indexeddb"}
    session.send("Storage.clearDataForOrigin", stored)
    session.detach()

    def on_console(message: ConsoleMessage) -> None:
        # The resident tab asks for an icon that a text does not have, at any time.
        if message.page != resident and message.type in ("error", "warning"):
            problems.append(message.text)

    def on_error(error: WebError) -> None:
        problems.append(str(error.error))

    context.on("console", on_console)
    context.on("weberror", on_error)
    yield context
    for page in context.pages:
        if page != resident:
            page.close()
    context.remove_listener("console", on_console)
    context.remove_listener("weberror", on_error)
    context.clear_permissions()
    assert problems == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """An empty tab."""
    return context.new_page()


def column(page: Page, number: int) -> Locator:
    """Return the button of a column by its accessible name."""
    return page.get_by_role("button", name=re.compile(f"^Column {number}:"))


def moves_of(page: Page) -> str:
    """Return the moves in the address; `page.url` may lag behind it."""
    return str(page.evaluate("new URLSearchParams(location.search).get('moves') ?? ''"))


def status(page: Page, text: str) -> None:
    """Wait until the status line above the board contains a text."""
    expect(page.locator("#status")).to_contain_text(text)


def press(page: Page, name: str) -> None:
    """Click the button with this exact name."""
    page.get_by_role("button", name=name, exact=True).click()


def fail_once(page: Page, path: str, retry_after: str | None = None) -> None:
    """Refuse the first request to a path with 503, as an overloaded server does."""
    answer = {"error": {"status": 503, "code": "busy", "message": "too many are thinking"}}
    headers = {"Retry-After": retry_after} if retry_after else {}
    page.route(path, lambda route: route.fulfill(status=503, headers=headers, json=answer), times=1)


def has_no_accessibility_violations(page: Page) -> bool:
    """Run axe-core on the page in the light and the dark theme."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        results = Axe().run(page)
        assert results.violations_count == 0, f"{theme}: {results.generate_report()}"
    return True


def fits(page: Page) -> bool:
    """Return whether the page fits the width of the window within a few frames."""
    for _ in range(100):
        page.evaluate("new Promise(requestAnimationFrame)")
        if page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            return True
    return False
