"""The first minute of a new user: a timeline from an empty folder to the first reply.

    python benchmarks/first_minute.py [--wheel] [--json]

Clones the committed state of this repository into an empty folder, without a virtual environment
and with an empty kernel cache, runs `make run`, opens the page in a browser and plays a move
against the default level; then waits until the other levels have replied, too. `--wheel` starts
from an installed wheel instead and measures `fourlab play`, `fourlab web` and a Python session,
each with an empty kernel cache. Run it twice, so that packages come from pip's download cache the
second time.

Without Playwright or a browser, the script makes the requests of the page itself.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from budget import LIMITS

ROOT = Path(__file__).parents[1]
LEVELS = (*("Casual", "Improver", "Club", "Strong", "Expert", "Master", "Grandmaster", "Champion"),)
"""Levels 3 to 10; all need a compiled search, and the last another one."""
SESSION = (
    "import fourlab\n"
    "print(fourlab.make('mcts:simulations=1000').decide("
    "fourlab.Position('4453'), fourlab.Limit(), __import__('numpy').random.default_rng(0)).column)"
)


class Timeline:
    """Events with their times in seconds since the start."""

    def __init__(self, quiet: bool) -> None:
        self.started = time.monotonic()
        self.events: dict[str, float] = {}
        self._quiet = quiet

    def note(self, event: str) -> None:
        """Record an event."""
        self.events[event] = round(time.monotonic() - self.started, 2)
        if not self._quiet:
            print(f"{self.events[event]:7.2f} s  {event}", flush=True)


def first_click(address: str, timeline: Timeline) -> None:
    """Play column 4 in a browser and wait for the reply."""
    try:
        from playwright.sync_api import sync_playwright

        sys.path.insert(0, str(ROOT))
        from tests.browser.conftest import FLAGS
        from tests.system_parts import find

        browser_program = find("browser")
    except ImportError:
        browser_program = None
    if browser_program is None:
        urllib.request.urlopen(address).read()
        timeline.note("page fetched (no browser here)")
        reply(address, 3)
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(browser_program), args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(0)
        page.goto(address)
        column = page.get_by_role("button", name=re.compile("^Column 4:"))
        column.wait_for()
        timeline.note("page shown in the browser")
        column.click()
        moves = "new URLSearchParams(location.search).get('moves') ?? ''"
        while len(page.evaluate(moves)) < 2:
            page.wait_for_timeout(10)
        browser.close()


def reply(address: str, level: int) -> None:
    """Request a move of a level."""
    body = json.dumps({"moves": "4", "agent": f"level:{level}"}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{address}api/v1/move", body, headers)
    urllib.request.urlopen(request).read()


@contextmanager
def serving(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run a command that serves the page; yields the address."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if address := re.search(r"http://\S+", line):
                yield address[0]
                return
        raise SystemExit(f"{' '.join(command)} ended without an address")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        process.wait()


def play_on_page(address: str, timeline: Timeline) -> None:
    timeline.note("server answers")
    first_click(address, timeline)
    timeline.note("first reply (Casual)")
    for level, name in enumerate(LEVELS[1:], 4):
        reply(address, level)
        timeline.note(f"reply of {name}")


def from_clone(folder: Path, environment: dict[str, str], timeline: Timeline) -> None:
    """Clone the repository, run `make run`, and play."""
    clone = folder / "fourlab"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    timeline.note("cloned")
    command = ["make", "run", "ARGS=--no-browser --port 0"]
    with serving(command, clone, environment) as address:
        play_on_page(address, timeline)


def from_wheel(folder: Path, environment: dict[str, str], timeline: Timeline) -> dict[str, float]:
    """Install a wheel and measure three ways to a first reply; returns their seconds."""
    subprocess.run([sys.executable, "-m", "venv", "venv"], cwd=folder, check=True)
    python = folder / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", "dist", str(ROOT)], cwd=folder, check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    timeline.note("wheel built")
    subprocess.run([*pip, "install", str(wheel)], cwd=folder, check=True)
    timeline.note("wheel installed")
    seconds = {}

    def cache(name: str) -> dict[str, str]:
        return {**environment, "FOURLAB_CACHE_DIR": str(folder / f"cache-{name}")}

    started = time.monotonic()
    command = [str(python), "-m", "fourlab", "play", "--yellow", "mcts:simulations=1000"]
    played = subprocess.run(
        command,
        input="4\nquit\n",
        text=True,
        cwd=folder,
        env=cache("play"),
        check=True,
        stdout=subprocess.PIPE,
    )
    if "2 discs on the board" not in played.stdout:
        raise SystemExit("fourlab play did not reply")
    seconds["fourlab play"] = time.monotonic() - started
    timeline.note("fourlab play: reply of mcts")
    started = time.monotonic()
    subprocess.run(
        [str(python), "-c", SESSION],
        cwd=folder,
        env=cache("session"),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    seconds["Python session"] = time.monotonic() - started
    timeline.note("Python session: reply of mcts")
    started = time.monotonic()
    command = [str(python), "-m", "fourlab", "web", "--no-browser", "--port", "0"]
    with serving(command, folder, cache("web")) as address:
        first_click(address, timeline)
        seconds["fourlab web"] = time.monotonic() - started
        timeline.note("fourlab web: first reply (Casual)")
        reply(address, 7)
        timeline.note("fourlab web: reply of Master")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wheel", action="store_true", help="Start from an installed wheel.")
    parser.add_argument("--json", action="store_true", help="Print one JSON value instead of text.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "FOURLAB_CACHE_DIR": str(folder / "cache")}
        environment.pop("PYTHONPATH", None)
        environment.pop("VIRTUAL_ENV", None)
        timeline = Timeline(quiet=options.json)
        if options.wheel:
            seconds = from_wheel(folder, environment, timeline)
            figures = {"wheel to first reply, s": max(seconds.values())}
        else:
            from_clone(folder, environment, timeline)
            figures = {"clone to first reply, s": timeline.events["first reply (Casual)"]}
            seconds = {}
    if options.json:
        print(json.dumps({"timeline": timeline.events, "seconds": seconds, "figures": figures}))
        return
    for way, spent in seconds.items():
        print(f"{way}: {spent:.1f} s")
    for figure, spent in figures.items():
        print(f"{figure}: {spent:.1f} (limit {LIMITS['clock'][figure]:.0f})")


if __name__ == "__main__":
    main()
