"""Every example in the documents runs and prints what it says."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import fourlab.game.position
from fourlab import Position
from fourlab.game import named
from fourlab.game.drawing import svg
from tests.conftest import ROOT, Result
from tests.in_process import run_in_process

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FLAGS = doctest.ELLIPSIS
SHELL_ONLY = set("|&;<>()$`\\\"'*?[]{}~#!")
"""Outside quotes, these are more to a shell than a part of a word."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_sessions_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # matches make run folders
    monkeypatch.setattr(named, "_added", {})  # positions that a session adds
    sessions = blocks(page, "python")
    text = "\n".join(sessions)
    assert all(">>>" in session for session in sessions)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    problems: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=problems.append)
    assert not problems, "".join(problems)


def words_of(command: str) -> list[str] | None:
    """The words of a command that a shell would only split; None if it does more than that."""
    unquoted = re.sub(r"""'[^']*'|"[^"$`\\\\]*\"""", "", command)
    return None if set(unquoted) & SHELL_ONLY else shlex.split(command)


def typed(command: str, folder: Path, environment: dict[str, str]) -> Result:
    """Run what a reader types: `fourlab` in this process, everything else in a shell."""
    words = words_of(command)
    if words is not None and words[0] == "fourlab":
        return run_in_process(words[1:], folder, environment=environment)
    return subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fourlab show 44", ["fourlab", "show", "44"]),
        ("fourlab chess --fen '6k1/8 w - - 0 1'", ["fourlab", "chess", "--fen", "6k1/8 w - - 0 1"]),
        ('fourlab train --body "conv 4, relu"', ["fourlab", "train", "--body", "conv 4, relu"]),
        ("fourlab --set networks='[\"4x1\"]'", ["fourlab", "--set", 'networks=["4x1"]']),
        ("printf 'go\n' | fourlab engine serve rules", None),
        ("fourlab qtable info runs/*/table.q", None),
        ("fourlab show 44 > board.txt", None),
        ('fourlab show "$HOME"', None),
    ],
)
def test_only_plain_words_are_taken_from_the_shell(command: str, words: list[str] | None) -> None:
    assert words_of(command) == words


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_console_sessions_run(page: Path, tmp_path: Path) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": programs, "COLUMNS": "200"}
    for session in blocks(page, "console"):
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
            done = typed(command, tmp_path, environment)
            # Wrong input is answered with one line on standard error.
            is_refused = expected.startswith("fourlab: ")
            assert done.returncode == (2 if is_refused else 0), f"{command}: {done.stderr}"
            output = done.stderr if is_refused else done.stdout
            printed = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
            same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
            assert same, f"{command} printed\n{printed}"


def test_the_readme_has_a_session_and_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert blocks(ROOT / "README.md", "python")
    assert "make run" in readme
    assert "make test" in readme


def test_the_pictures_are_what_the_program_draws() -> None:
    assert (ROOT / "docs" / "pictures" / "board.svg").read_text() == svg(Position("44354335265562"))


def test_docstring_examples_run() -> None:
    assert doctest.testmod(fourlab.game.position, optionflags=FLAGS).failed == 0


def test_the_architecture_page_names_every_module() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    modules = [
        file for file in (ROOT / "src" / "fourlab").rglob("*.py") if file.name != "__init__.py"
    ]
    missing = [str(file.relative_to(ROOT)) for file in modules if file.name not in page]
    assert not missing
