"""The page in a browser: the size of the first load, and the time from a click to the disc.

    python benchmarks/page.py

Needs playwright and Chromium (python -m pip install 'fourlab[dev]'; Debian's chromium).
"""

import re
import shutil
import statistics
import subprocess
import sys

from playwright.sync_api import Page, sync_playwright

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
)
COLUMNS = (3, 3, 2, 2, 4, 4, 1, 1, 5, 5, 0, 0)
# Measures from the click to the end of the first frame with a new disc.
STOPWATCH = """() => {
  window.times = [];
  let clicked = 0;
  const isDisc = (node) => node.matches?.('.red, .yellow');
  const drawn = (changes) => changes.some(({ addedNodes }) => [...addedNodes].some(isDisc));
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
    """Return the bytes of all responses until the page is complete."""
    sizes: dict[str, int] = {}
    page.on("response", lambda response: sizes.update({response.url: len(response.body())}))
    page.goto(address)
    page.get_by_role("option", name="3 · Casual").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    return sum(sizes.values())


def clicks(page: Page, address: str, count: int = 40) -> list[float]:
    """Return the milliseconds from click to disc, with both sides played by humans."""
    page.goto(f"{address}?yellow=human")
    page.get_by_role("button", name="New game").wait_for()
    page.evaluate(STOPWATCH)
    for number in range(count):
        page.locator(".columns button").nth(COLUMNS[number % len(COLUMNS)]).click()
        page.wait_for_timeout(100)
        if page.get_by_role("button", name="Play again").is_visible():
            page.get_by_role("button", name="Play again").click()
    times: list[float] = page.evaluate("times")
    return times


def main() -> None:
    programs = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    browser_file = next(filter(None, programs), None)
    command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        try:
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None
            browser = playwright.chromium.launch(executable_path=browser_file, args=list(FLAGS))
            kilobytes = first_load(browser.new_page(), address[0]) / 1000
            print(f"first load     {kilobytes:6.1f} kB   at most 70")
            times = clicks(browser.new_page(), address[0])
            median = statistics.median(times)
            print(f"click to disc  {median:6.1f} ms   at most 50; median of {len(times)}")
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
