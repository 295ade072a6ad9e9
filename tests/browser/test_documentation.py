"""The documentation's website in a real browser: search, phones, and no other host."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import DESKTOP, PHONE
from tests.site_build import build

WIDE_PAGES = (
    *("index.html", "reference/settings.html", "experiments/bhat/report.html"),
    "notebooks/understand-mcts.html",
)
"""Pages with tables, blocks of code or figures that are wider than a phone."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line per request."""

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the built site on a free port; yield its address."""
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_the_search_finds_a_section_and_asks_no_other_host(browser: Browser, address: str) -> None:
    with browser.new_context(viewport=DESKTOP, reduced_motion="reduce") as context:
        requests: list[str] = []
        context.on("request", lambda request: requests.append(request.url))
        page = context.new_page()
        page.goto(f"{address}index.html")
        page.get_by_label("Search", exact=True).first.click()
        page.keyboard.type("sprt biased")
        first = page.locator(".md-search-result__item").first
        expect(first).to_contain_text("The Elo of a stopped test is biased", timeout=60_000)
        assert any("search_index.json" in request for request in requests)
        assert {request for request in requests if not request.startswith(address)} == set()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone(browser: Browser, address: str, scheme: str) -> None:
    with browser.new_context(viewport=PHONE, color_scheme=scheme) as context:
        page = context.new_page()
        for name in WIDE_PAGES:
            page.goto(address + name)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width == PHONE["width"], name
            shown = page.locator("body").get_attribute("data-md-color-scheme")
            assert shown == {"light": "default", "dark": "slate"}[scheme]
