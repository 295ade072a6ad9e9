"""The page in a real browser: how much the first load fetches, and how long after a click the disc is on the screen.

    python benchmarks/page.py

Needs playwright and Chromium (python -m pip install 'fourlab[dev]'; Debian's chromium).
"""

import re
import shutil
import statistics
import subprocess
import sys

from playwright.sync_api import Page, sync_playwright

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync")
# From the click to the end of the first frame that has a new disc.
STOPWATCH = """() => {
  window.times = [];
  let clicked = 0;
  const drawn = (changes) => changes.some(({ addedNodes }) => [...addedNodes].some((node) => node.matches?.('.red, .yellow')));
  addEventListener('click', (event) => (clicked = event.timeStamp), true);
  new MutationObserver((changes) => {
    if (!clicked || !drawn(changes)) return;
    const since = clicked;
    clicked = 0;
    requestAnimationFrame(() => {
      const after = new MessageChannel();
      after.port1.onmessage = () => times.push(performance.now() - since);
      after.port2.postMessage(0);
    });
  }).observe(document.querySelector('.picture'), { subtree: true, childList: true });
}"""


def first_load(page: Page, address: str) -> int:
    """Bytes of everything that the first look at the page fetches."""
    sizes: dict[str, int] = {}
    page.on("response", lambda response: sizes.update({response.url: len(response.body())}))
    page.goto(address)
    page.get_by_role("option", name="3 · Casual").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    return sum(sizes.values())


def clicks(page: Page, address: str, count: int = 40) -> list[float]:
    """Milliseconds from click to disc, two people playing."""
    page.goto(f"{address}?yellow=human")
    page.get_by_role("button", name="New game").wait_for()
    page.evaluate(STOPWATCH)
    for number in range(count):
        page.locator(".columns button").nth((3, 3, 2, 2, 4, 4, 1, 1, 5, 5, 0, 0)[number % 12]).click()
        page.wait_for_timeout(100)
        if page.get_by_role("button", name="Play again").is_visible():
            page.get_by_role("button", name="Play again").click()
    found: list[float] = page.evaluate("times")
    return found


def main() -> None:
    browser_file = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        try:
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None
            browser = playwright.chromium.launch(executable_path=browser_file, args=list(FLAGS))
            print(f"first load     {first_load(browser.new_page(), found[0]) / 1000:6.1f} kB   at most 70")
            times = clicks(browser.new_page(), found[0])
            print(f"click to disc  {statistics.median(times):6.1f} ms   at most 50; the median of {len(times)}")
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
