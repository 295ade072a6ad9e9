"""Rehearse a release: build it, inspect it, install it in clean environments and use it.

    python tools/release.py [--fast] [--extra NAME ...]

Builds the source distribution and the wheel (from the source distribution, as installers do),
checks their contents and sizes, installs the wheel and its light extras into new environments,
resolves the heavy extras without installing them, and runs what the README shows. Prints a table;
exits with 1 if anything is wrong. `--fast` only builds and inspects. The network is used by pip
alone, as it is configured on this machine. Nothing is published.
"""

import argparse
import email
import os
import re
import runpy
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MB = 1e6
MOST_WHEEL_MB = 15.0
MOST_SOURCE_MB = 40.0
LIGHT = ("plots", "envs", "chess", "notebook")
"""Extras that are really installed; the others take hundreds of megabytes."""
NEEDED_IN_WHEEL = (
    "fourlab/__init__.py",
    "fourlab/py.typed",
    "fourlab/solver/book.npz",
    "fourlab/training/test_set.npz",
    "fourlab/agents/q/q_5x4.q",
    "fourlab/nets/weights/alphazero.onnx",
    "fourlab/nets/weights/dqn.onnx",
    "fourlab/nets/weights/value.onnx",
    "fourlab/nets/weights/sewell.onnx",
    "fourlab/web/static/index.html",
    "fourlab/web/static/main.js",
)
NEEDED_IN_SOURCE = (
    *("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "pyproject.toml"),
    *("Makefile", "tasks.py", "constraints.txt", "tests/naive.py", "docs/index.md"),
    "hatch_build.py",
)
UNWANTED = ("__pycache__/", ".pyc", "/.venv/", "_cache/", ".hypothesis/", "/runs/", ".whl", ".tmp")
"""Parts of paths that belong in neither file."""
UNWANTED_IN_WHEEL = ("tests/", "docs/", "benchmarks/", "tools/", "arya-1000.onnx")
COMMANDS = (
    ("fourlab", "--version"),
    ("fourlab", "show", "4453"),
    ("fourlab", "solve", "--all-columns", "32751571231557"),
    ("fourlab", "analyze", "4453", "--agent", "value"),
)
"""What is run in the new environment; the last one needs a shipped network."""
USE = {
    "plots": "import matplotlib",
    "envs": "import fourlab.bridges.gymnasium, fourlab.bridges.pettingzoo",
    "chess": "import fourlab.chess",
    "notebook": "import fourlab as fl; fl.list_agents().to_pandas()",
}
"""Code that an installed extra must run."""


PAGE = """
import re, subprocess, sys, urllib.request
command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
    try:
        address = re.search(r"http://\\S+", server.stdout.readline())[0]
        assert b"Fourlab" in urllib.request.urlopen(address).read()
    finally:
        server.terminate()
"""
"""Starts the page, as the README's first command does, and reads it."""


class Row(NamedTuple):
    """A line of the table."""

    step: str
    result: str
    problems: tuple[str, ...] = ()


def extras() -> list[str]:
    """Return the extras for users, as pyproject.toml declares them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [
        name for name in project["optional-dependencies"] if name not in ("bench", "dev", "docs")
    ]


def build(folder: Path) -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it; return their paths."""

    def hatchling(kind: str, place: Path) -> None:
        command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
        subprocess.run(command, cwd=place, check=True, capture_output=True)

    hatchling("sdist", ROOT)
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    hatchling("wheel", folder / source.name.removesuffix(".tar.gz"))
    (wheel,) = folder.glob("*.whl")
    return source, wheel


def source_problems(source: Path) -> Iterator[str]:
    """Yield what is wrong with a source distribution."""
    with tarfile.open(source) as archive:
        # Every name begins with fourlab-VERSION/.
        names = [member.name.partition("/")[2] for member in archive.getmembers()]
    yield from (f"lacks {name}" for name in NEEDED_IN_SOURCE if name not in names)
    yield from _unwanted(names, UNWANTED)
    if source.stat().st_size > MOST_SOURCE_MB * MB:
        yield f"has more than {MOST_SOURCE_MB:g} MB"


def wheel_problems(wheel: Path) -> Iterator[str]:
    """Yield what is wrong with a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        yield from (f"lacks {name}" for name in NEEDED_IN_WHEEL if name not in names)
        if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
            yield "lacks the licence"
        yield from _unwanted(names, UNWANTED)
        yield from (f"contains {name}" for name in names if name.startswith(UNWANTED_IN_WHEEL[:4]))
        yield from (f"contains {name}" for name in names if name.endswith(UNWANTED_IN_WHEEL[4:]))
        yield from metadata_problems(archive)
        # The place where it was built is nobody's business, and means nothing elsewhere.
        here = (str(ROOT).encode(), str(wheel.parent).encode())
        for name in names:
            if any(place in archive.read(name) for place in here):
                yield f"{name} contains a path of this machine"
    if wheel.stat().st_size > MOST_WHEEL_MB * MB:
        yield f"has more than {MOST_WHEEL_MB:g} MB"


def metadata_problems(wheel: zipfile.ZipFile) -> Iterator[str]:
    """Yield what is wrong with the description of a wheel."""
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    about = email.message_from_bytes(wheel.read(name))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"\n## {about['Version']} - 20" not in changelog:
        yield f"CHANGELOG.md has no dated entry for {about['Version']}"
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    if f"\nversion: {about['Version']}\n" not in citation:
        yield f"CITATION.cff has another version than {about['Version']}"
    provided = set(about.get_all("Provides-Extra") or [])
    yield from (f"lacks the extra {extra}" for extra in extras() if extra not in provided)
    urls = set(about.get_all("Project-URL") or [])
    project_urls = runpy.run_path(str(ROOT / "hatch_build.py"))["project_urls"]
    for label, url in project_urls(os.environ).items():
        if f"{label}, {url}" not in urls:
            yield f"lacks the address {url} ({label})"
    if any("@ file:" in requirement for requirement in about.get_all("Requires-Dist") or []):
        yield "requires a file of this machine"


def _unwanted(names: Sequence[str], parts: Sequence[str]) -> Iterator[str]:
    for name in names:
        if any(part in f"/{name}" for part in parts) or name.startswith(("/", "..")):
            yield f"contains {name}"


class Environment:
    """A new virtual environment."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True, clear=True)
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")
        self.folder = folder

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, outside the repository."""
        variables = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        program = str(self.bin / command[0])
        return subprocess.run(
            [program, *command[1:]],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
        )

    def pip(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run pip, as it is configured here."""
        return self.run("python", "-m", "pip", "--disable-pip-version-check", "-q", *arguments)


def installed(wheel: Path, folder: Path, chosen: Sequence[str]) -> Iterator[Row]:
    """Install the wheel and its extras; yield what happens."""
    environment = Environment(folder)
    started = time.monotonic()
    yield _row("pip install fourlab", environment.pip("install", str(wheel)), started)
    for command in COMMANDS:
        started = time.monotonic()
        yield _row(" ".join(command), environment.run(*command), started)
    yield from readme_rows(environment)
    for extra in chosen:
        started = time.monotonic()
        # The constraint is the release of torch that has builds without CUDA.
        wanted = ("install", "-c", str(ROOT / "constraints.txt"), f"{wheel}[{extra}]")
        if extra not in LIGHT:
            done = environment.pip(*wanted, "--dry-run")
            yield _row(f"pip install 'fourlab[{extra}]' --dry-run", done, started)
            continue
        yield _row(f"pip install 'fourlab[{extra}]'", environment.pip(*wanted), started)
        yield _row(f"  {USE[extra]}", environment.run("python", "-c", USE[extra]), started)


def readme_rows(environment: Environment) -> Iterator[Row]:
    """Start the page, and run the README's Python; yield whether they do what they should."""
    started = time.monotonic()
    yield _row("fourlab web", environment.run("python", "-c", PAGE), started)
    started = time.monotonic()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    session = environment.folder / "readme.txt"
    session.write_text("\n".join(blocks), encoding="utf-8")
    done = environment.run("python", "-m", "doctest", "-o", "ELLIPSIS", str(session))
    yield _row("the README's Python", done, started)


def _row(step: str, done: subprocess.CompletedProcess[str], started: float) -> Row:
    took = f"{time.monotonic() - started:.1f} s"
    if done.returncode == 0:
        return Row(step, took)
    lines = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
    return Row(step, took, (f"exit code {done.returncode}: {lines[-1][:200]}",))


def rehearse(fast: bool, chosen: Sequence[str]) -> Iterator[Row]:
    """Do everything; yield the lines of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, wheel = build(folder)
        size = f"{source.stat().st_size / MB:.2f} MB"
        yield Row(source.name, size, tuple(source_problems(source)))
        size = f"{wheel.stat().st_size / MB:.2f} MB"
        yield Row(wheel.name, size, tuple(wheel_problems(wheel)))
        if not fast:
            yield from installed(wheel, folder / "environment", chosen)


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--fast", action="store_true", help="Only build and inspect.")
    parser.add_argument(
        "--extra", action="append", choices=extras(), help="An extra to try; default: all of them."
    )
    options = parser.parse_args()
    failures = 0
    for row in rehearse(options.fast, options.extra or extras()):
        failures += bool(row.problems)
        print(f"{'WRONG' if row.problems else 'ok':5}  {row.step:58} {row.result:>10}", flush=True)
        for problem in row.problems:
            print(f"         {problem}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
