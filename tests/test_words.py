"""The check of names, phrases and line lengths finds what it looks for."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import words

Check = Callable[[str, str], list[str]]


@pytest.fixture
def check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Check:
    """Check one file in a project of its own; return the printed problems."""
    exceptions = tmp_path / "exceptions.txt"
    exceptions.write_text("# path and a piece of the line\nsrc/quoted.py so many\n")
    monkeypatch.setattr(words, "ROOT", tmp_path)
    monkeypatch.setattr(words, "EXCEPTIONS", exceptions)

    def run(name: str, text: str) -> list[str]:
        file = tmp_path / "src" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        count = words.main(["src"])
        lines = capsys.readouterr().out.splitlines()
        file.unlink()
        assert (count > 0) == any(": " in line for line in lines)
        return [line for line in lines if line.startswith("src/")]

    return run


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("for each in games:\n    pass\n", "src/a.py:1: name 'each'"),
        ("def f(told):\n    return told\n", "src/a.py:1: name 'told'"),
        ("self.found = 1\n", "src/a.py:1: name 'found'"),
        ("def tell() -> None: ...\n", "src/a.py:1: name 'tell'"),
        ('"""At most so many moves."""\n', "src/a.py:1: phrase 'so many'"),
        ("# It is chosen by\n# lot.\n", "src/a.py:1: phrase 'by\\n# lot'"),
        ("x = 1\n# document 004 says so\n", "src/a.py:2: phrase 'document 004'"),
        (f"x = '{'y' * 100}'\n", "src/a.py:1: 106 columns"),
    ],
)
def test_a_problem_is_reported_with_its_line(check: Check, text: str, problem: str) -> None:
    (line,) = check("a.py", text)
    assert line.startswith(problem)


@pytest.mark.parametrize("name", ["a.mjs", "a.toml", "a.md", "a.html"])
def test_phrases_are_looked_for_in_every_kind_of_text(check: Check, name: str) -> None:
    (line,) = check(name, "// as so many\n")
    assert line.startswith(f"src/{name}:1: phrase 'so many'")


def test_the_whole_project_has_the_files_beside_its_folders() -> None:
    for name in ("CHANGELOG.md", "SECURITY.md", "README.md", "CONTRIBUTING.md"):
        assert name in words.WHOLE
        assert (words.ROOT / name).is_file()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "for game in games:\n    print(game, 'each of them was found')\n"),
        ("a.py", "'somany by lots'\n"),
        ("quoted.py", '"""He wrote: so many."""\n'),
        ("a.md", f"{'long ' * 50}\n"),
    ],
)
def test_what_is_allowed_is_not_reported(check: Check, name: str, text: str) -> None:
    assert check(name, text) == []
