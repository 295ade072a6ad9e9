"""A pytest plugin for `make quick`: with `--quick`, test only the core and what has changed.

A file has changed if it differs from the merge base with the main branch; uncommitted changes
count. A test file is chosen if it has changed, or if it mirrors the path of a changed module or
imports it. Tests that need torch, Ray, OpenSpiel, Kaggle's environment or a browser are left to
`make test`.
"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ("tests/game", "tests/contract", "tests/game/test_bitboard.py", "tests/test_public_names.py")
"""Tests that always run, since everything else depends on what they test."""
HEAVY_FILES = (
    "tests/cli/test_train_",
    "tests/cli/test_reproduce",
    "tests/contract/test_bridges",
    "tests/contract/test_jobs",
    "tests/studies/",
    "tests/test_docs",
)
"""Tests that load torch or OpenSpiel through the command line or an agent's name."""
HEAVY_AGENTS = ("openspiel", "kaggle")
"""Agents whose tests load a large package."""
HEAVY = re.compile(
    r"^\s*(?:import|from) (?:torch|ray|pyspiel|open_spiel|playwright|kaggle_environments)\b"
    r"|tests\.browser|importorskip\(\"(?:torch|ray|pyspiel)",
    re.MULTILINE,
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick`."""
    parser.addoption("--quick", action="store_true", help="Test the core and what has changed.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files that `--quick` does not need before they import anything."""
    if not config.getoption("--quick") or not collection_path.is_relative_to(ROOT / "tests"):
        return None
    path = collection_path.relative_to(ROOT).as_posix()
    files = chosen(changed())
    # Folders without a chosen file are skipped, so that their conftest.py is not imported.
    is_needed = path in files or any(file.startswith(f"{path}/") for file in files)
    return None if is_needed else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests of agents that load a large package."""
    if config.getoption("--quick"):
        items[:] = [item for item in items if not any(name in item.name for name in HEAVY_AGENTS)]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a large package has been loaded after all."""
    loaded = {"torch", "ray", "pyspiel", "playwright"} & set(sys.modules)
    if session.config.getoption("--quick") and loaded:
        session.exitstatus = 1
        print(f"\nmake quick must not load {', '.join(sorted(loaded))}")


def chosen(changes: frozenset[str]) -> frozenset[str]:
    """Return the test files to run after these files have changed."""
    modules = [
        name_of(path) for path in changes if path.startswith("src/") and path.endswith(".py")
    ]
    return frozenset(
        path
        for path, source in sources().items()
        if not HEAVY.search(source)
        and not path.startswith(HEAVY_FILES)
        and (
            path.startswith(CORE)
            or path in changes
            or any(tests(path, source, module) for module in modules)
        )
    )


@cache
def sources() -> dict[str, str]:
    """Return the text of every test file, by its path from the root."""
    files = (ROOT / "tests").rglob("test_*.py")
    return {file.relative_to(ROOT).as_posix(): file.read_text() for file in files}


def name_of(path: str) -> str:
    """Return the module of a source file."""
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def tests(path: str, source: str, module: str) -> bool:
    """Return whether a test file mirrors the path of a module or imports it."""
    package, _, name = module.rpartition(".")
    mirror = "/".join(["tests", *package.split(".")[1:], f"test_{name}.py"])
    imports = (
        rf"^(?:from {re.escape(module)} import|import {re.escape(module)}\b"
        rf"|from {re.escape(package)} import .*\b{name}\b)"
    )
    return path == mirror or re.search(imports, source, re.MULTILINE) is not None


@cache
def changed() -> frozenset[str]:
    """Return the files that differ from the main branch; none outside a repository."""
    base = git("merge-base", "HEAD", "origin/main") or git("rev-parse", "HEAD")
    listed = git("diff", "--name-only", *base) + git("ls-files", "--others", "--exclude-standard")
    return frozenset(listed)


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints; none if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
