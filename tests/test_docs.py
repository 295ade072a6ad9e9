"""Every example in the documents runs and prints what it says."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fourlab.game.position
from fourlab import Position
from fourlab.game.draw import svg
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FLAGS = doctest.ELLIPSIS


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_sessions_run(page: Path) -> None:
    sessions = blocks(page, "python")
    text = "\n".join(sessions)
    assert all(">>>" in session for session in sessions)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    problems: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=problems.append)
    assert not problems, "".join(problems)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_console_sessions_run(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
    for session in blocks(page, "console"):
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
            done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path, env=environment)
            assert done.returncode == 0, f"{command}: {done.stderr}"
            printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
            same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
            assert same, f"{command} printed\n{printed}"


def test_the_readme_has_a_session_and_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert blocks(ROOT / "README.md", "python")
    assert "make run" in readme
    assert "make test" in readme


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)", page.read_text()) + re.findall(r'src="([^"]+)"', page.read_text())
    for target in targets:
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_pictures_are_what_the_program_draws() -> None:
    assert (ROOT / "docs" / "pictures" / "board.svg").read_text() == svg(Position("44354335265562"))


def test_docstring_examples_run() -> None:
    assert doctest.testmod(fourlab.game.position, optionflags=FLAGS).failed == 0


def test_the_architecture_page_names_every_module() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    modules = [file for file in (ROOT / "src" / "fourlab").rglob("*.py") if file.name != "__init__.py"]
    missing = [str(file.relative_to(ROOT)) for file in modules if file.name not in page]
    assert not missing
