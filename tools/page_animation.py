"""Film the page for the README: a real server, a real browser, a short story.

    python tools/page_animation.py [--output FILE]

Plays some moves against an agent, has the position solved, plays the best move, looks into a search
and reviews the game. Every frame is a screenshot of the page; nothing is drawn by hand. Needs the
packages of the tests, a browser (tests/system_parts.py) and Pillow.
"""

import argparse
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for the tests' way to find a browser

from tests.browser.conftest import FLAGS, column, status  # noqa: E402
from tests.system_parts import find  # noqa: E402

OUTPUT = ROOT / "docs" / "pictures" / "page.gif"
VIEWPORT = {"width": 1120, "height": 720}
WIDTH = 760
"""Pixels of the picture, narrower than the page to keep the file small."""
MOST_BYTES = 1_500_000
START = "44444223"
"""The moves before the film begins: columns from 1, red first."""
CLICKS = (5,)
"""What red plays then; yellow's replies are those of an agent."""
REVIEWED = "44444223523255"
"""A game with a mistake."""
YELLOW = "level:7"
PATIENCE = 60_000
"""Milliseconds to wait for something."""
ANSWERED = 300
"""Milliseconds after a change of the page until all of it is drawn."""


@contextmanager
def server() -> Iterator[str]:
    """Run the page in its own process; yield its address."""
    with tempfile.TemporaryDirectory() as runs:
        command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0"]
        command += ["--runs", runs]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            address = re.search(r"http://\S+", process.stdout.readline())
            assert address is not None
            try:
                yield address[0].rstrip("/")
            finally:
                process.terminate()


class Film:
    """Frames with the time that each is shown."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.milliseconds: list[int] = []

    def take(self, milliseconds: int) -> None:
        """Add what the page shows now."""
        picture = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        height = round(picture.height * WIDTH / picture.width)
        self.frames.append(picture.resize((WIDTH, height), Image.Resampling.LANCZOS))
        self.milliseconds.append(milliseconds)

    def save(self, file: Path) -> None:
        """Write all frames as a GIF with one palette, so that only changes take space."""
        height = self.frames[0].height
        sheet = Image.new("RGB", (WIDTH, height * len(self.frames)))
        for number, frame in enumerate(self.frames):
            sheet.paste(frame, (0, number * height))
        # Half of the colours for large areas and their shades, the others for small marks.
        common = sheet.quantize(128, method=Image.Quantize.MEDIANCUT).getpalette() or []
        rare = sheet.quantize(127, method=Image.Quantize.MAXCOVERAGE).getpalette() or []
        palette = Image.new("P", (1, 1))
        palette.putpalette(common[: 128 * 3] + rare[: 127 * 3])
        first, *others = (
            frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames
        )
        first.save(
            file,
            save_all=True,
            append_images=others,
            duration=self.milliseconds,
            loop=0,
            optimize=True,
        )


def play_scenes(page: Page, address: str, film: Film) -> None:
    """Go through the story."""
    page.goto(f"{address}/?yellow={YELLOW}&moves={START}")
    page.wait_for_timeout(20 * ANSWERED)  # until all kernels are loaded
    status(page, "Red to move")
    film.take(1000)
    for click in CLICKS:
        column(page, click).click()
        page.mouse.move(5, 5)
        page.wait_for_timeout(ANSWERED)
        film.take(500)
        expect(page.locator("#status")).to_contain_text("Red to move", timeout=PATIENCE)
        page.wait_for_timeout(ANSWERED)
        film.take(700)
    show(page, "Analyse")
    proven = page.get_by_role("heading", name=re.compile("proven"))
    for milliseconds in (2600, 1600, 1600):
        deeper = page.get_by_role("button", name=re.compile("Go deeper"))
        expect(proven.or_(deeper).first).to_be_visible(timeout=PATIENCE)
        page.wait_for_timeout(5 * ANSWERED)
        # On a busy machine the usual second is not enough.
        if not proven.is_visible():
            deeper.click()
        expect(proven).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("row", name=re.compile("^7 "))).to_be_visible()
        film.take(milliseconds)
        best = page.locator(".hint.best").first.get_attribute("id") or ""
        column(page, int(best.rpartition("-")[2])).click()
        page.mouse.move(5, 5)
    show(page, "X-ray")
    page.get_by_role("button", name="Start", exact=True).click()
    for _ in range(4):
        page.wait_for_timeout(2 * ANSWERED)
        film.take(600)
    page.goto(f"{address}/?view=review&moves={REVIEWED}")
    expect(page.get_by_text("gave something away")).to_be_visible(timeout=PATIENCE)
    page.wait_for_timeout(ANSWERED)
    film.take(2600)


def show(page: Page, view: str) -> None:
    """Go to another view of the page."""
    page.get_by_role("link", name=view).click()


def main() -> None:
    """Film the page and write the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=OUTPUT, help="The file to write.")
    options = parser.parse_args()
    # Otherwise the film would show how the page waits for its compiler.
    subprocess.run([sys.executable, "-m", "fourlab", "warmup"], check=True)
    with server() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find("browser"), args=FLAGS)
        page = browser.new_page(viewport=VIEWPORT, reduced_motion="reduce", color_scheme="light")
        page.set_default_timeout(120_000)
        film = Film(page)
        play_scenes(page, address, film)
        film.save(options.output)
        browser.close()
    size = options.output.stat().st_size
    print(f"{options.output}: {len(film.frames)} frames, {size / 1000:.0f} kB")
    if size > MOST_BYTES:
        sys.exit(f"more than {MOST_BYTES / 1e6:g} MB")


if __name__ == "__main__":
    main()
