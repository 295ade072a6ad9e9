"""Programs that the tests need beside Python: a browser, a C compiler, Node.

`make test` runs this file. It looks for every program and tries to install missing ones:
Playwright's own browser if it can be downloaded, or else the system's package if the user is root
or sudo works without a password. For programs that are still missing, it prints the command that
installs them; tests that need them are skipped (tests/missing_parts.py). In CI, a missing program
is a failure.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 900
"""The time limit of every attempt to install something."""


@dataclass(frozen=True)
class Part:
    """A program that tests need."""

    title: str
    """Its name in messages."""
    programs: tuple[str, ...]
    """Alternative names on PATH, in order of preference."""
    tests: str
    """The tests that need it, for messages."""
    packages: tuple[str, ...]
    """Package names, one entry per manager in MANAGERS; several names are separated by spaces."""


@dataclass(frozen=True)
class Manager:
    """A package manager of the system."""

    program: str
    install: tuple[str, ...]
    update: tuple[str, ...] = ()
    needs_root: bool = True


MANAGERS = (
    Manager(
        "apt-get",
        ("apt-get", "install", "-y", "-qq", "--no-install-recommends"),
        update=("apt-get", "update", "-qq"),
    ),
    Manager("dnf", ("dnf", "install", "-y", "-q")),
    Manager("pacman", ("pacman", "-Sy", "--noconfirm", "--needed")),
    Manager("apk", ("apk", "add", "--quiet")),
    Manager("brew", ("brew", "install", "--quiet"), needs_root=False),
)
PARTS = {
    "browser": Part(
        "Chromium or Chrome",
        ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
        "tests of the page",
        ("chromium", "chromium", "chromium", "chromium", "chromium"),
    ),
    "compiler": Part(
        "a C compiler",
        ("cc", "gcc", "clang"),
        "tests of examples/engine.c",
        ("gcc libc6-dev", "gcc", "gcc", "gcc musl-dev", "gcc"),
    ),
    "node": Part(
        "Node",
        ("node", "nodejs"),
        "tests of examples/engine.mjs",
        ("nodejs", "nodejs", "nodejs", "nodejs", "node"),
    ),
}
MAC_BROWSERS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
DOWNLOADED = re.compile(
    r"(chrome|chromium|headless_shell|chrome-headless-shell"  # Linux, Windows
    r"|Chromium|Google Chrome for Testing)(\.exe)?"  # macOS
)
"""Names of the browser in Playwright's folder, depending on version and system."""


def in_ci() -> bool:
    """Return whether the tests run in CI, where nothing may be skipped."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def find(name: str) -> str | None:
    """Return the path of a part; None if it is missing."""
    on_path = next(filter(None, map(shutil.which, PARTS[name].programs)), None)
    if on_path is None and name == "browser":
        return next(_other_browsers(), None)
    return on_path


def _other_browsers() -> Iterator[str]:
    """Yield browsers that are not on PATH: macOS applications, Playwright's downloads."""
    if sys.platform == "darwin":
        yield from (file for file in MAC_BROWSERS if Path(file).exists())
    builds = [build for build in playwright_folder().glob("chromium*-*") if _revision(build)]
    for build in sorted(builds, key=_revision, reverse=True):
        for file in sorted(build.rglob("*")):
            is_program = file.is_file() and os.access(file, os.X_OK)
            # A download comes without the system libraries it needs, so it may not start.
            if DOWNLOADED.fullmatch(file.name) and is_program and _run([str(file), "--version"]):
                yield str(file)


def _revision(build: Path) -> int:
    """Return the number in chromium-1254 or chromium_headless_shell-1254, else 0."""
    number = build.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def playwright_folder() -> Path:
    """Return the folder of Playwright's downloads."""
    if folder := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        return Path(folder)
    caches = {"darwin": "Library/Caches", "win32": "AppData/Local"}
    return Path.home() / caches.get(sys.platform, ".cache") / "ms-playwright"


def get(name: str) -> str | None:
    """Install a missing part, never asking for a password; return its path or None."""
    if name == "browser" and (browser := _download_browser()) is not None:
        return browser
    manager = _manager()
    prefix = _command_prefix(manager) if manager is not None else None
    if manager is None or prefix is None:
        return None
    install = (*manager.install, *_packages(manager, name))
    print(f"== installing {PARTS[name].title}: {' '.join(install)}", flush=True)
    if manager.update:
        _run([*prefix, *manager.update], show=True)
    _run([*prefix, *install], show=True)
    return find(name)


def _download_browser() -> str | None:
    """Download Playwright's browser; return its path, or None if that fails."""
    print("== downloading Playwright's Chromium", flush=True)
    command = [sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"]
    browser = find("browser") if _run(command) else None
    if browser is None:
        print("that did not work", flush=True)
    return browser


def _manager() -> Manager | None:
    """Return the system's package manager."""
    return next((manager for manager in MANAGERS if shutil.which(manager.program)), None)


def _packages(manager: Manager, name: str) -> list[str]:
    return PARTS[name].packages[MANAGERS.index(manager)].split()


def _command_prefix(manager: Manager) -> list[str] | None:
    """Return the prefix of a command that installs packages; None if the user may not."""
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
    if not manager.needs_root or _is_root():
        return quiet
    if shutil.which("sudo") and _run(["sudo", "-n", "true"]):
        return ["sudo", "-n", *quiet]
    return None


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _run(command: Sequence[str], show: bool = False) -> bool:
    """Run a command without input; return whether it succeeds."""
    output = None if show else subprocess.DEVNULL
    environment = {**os.environ, "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def command_for(name: str) -> str:
    """Return the command that installs a part on this system."""
    manager = _manager()
    if manager is not None:
        words = [word for word in manager.install if word not in ("-y", "-qq", "-q", "--quiet")]
        sudo = ["sudo"] if manager.needs_root and not _is_root() else []
        return " ".join([*sudo, *words, *_packages(manager, name)])
    if name == "browser":
        return f"{sys.executable} -m playwright install --with-deps chromium"
    return f"put {' or '.join(PARTS[name].programs)} on PATH"


def main() -> int:
    """Find or install every part; return the exit code."""
    missing = []
    for name, part in PARTS.items():
        path = find(name) or get(name)
        if path is None:
            missing.append(name)
        else:
            print(f"== {part.title}: {path}", flush=True)
    for name in missing:
        consequence = "the build fails" if in_ci() else f"{PARTS[name].tests} will be skipped"
        print(f"MISSING: {PARTS[name].title}, so {consequence}; to fix this: {command_for(name)}")
    return 1 if missing and in_ci() else 0


if __name__ == "__main__":
    sys.exit(main())
