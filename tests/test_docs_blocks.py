"""Blocks in the documents that tests/test_docs.py does not run are valid, and few."""

import re
import tomllib
from pathlib import Path

import pytest

from fourlab.arena.tournament import read
from fourlab.cli.tournament import CONDUCT
from tests.command_lines import options_of, parse
from tests.conftest import ROOT

ALL_PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in ALL_PAGES if "experiments" not in page.parts]
"""Those of experiments are written by the program, with transcripts of all kinds."""
TASKS = re.findall(r'^        "([a-z-]+)": ', (ROOT / "tasks.py").read_text(), re.MULTILINE)
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
LANGUAGES = {"console", "python", "sh", "toml", "text", ""}
"""`console` and `python` are run, `sh` and `toml` parsed; the others are drawings and grammars."""
TRAININGS = "trainings take minutes to hours; tests/cli/test_train_*.py runs small ones"
NOT_RUN = {
    "README.md": "make run and make test start a server and all tests",
    "CONTRIBUTING.md": "make quick and make test run the tests",
    "docs/agents/alphazero.md": TRAININGS,
    "docs/agents/anytime.md": "the public test sets, which are not part of the project",
    "docs/agents/dqn.md": TRAININGS,
    "docs/agents/onnx.md": "the reader's own network; tests/agents plays one",
    "docs/agents/patterns.md": TRAININGS,
    "docs/agents/q.md": TRAININGS,
    "docs/agents/sb3.md": "the reader's own model; tests/agents plays one",
    "docs/agents/value.md": TRAININGS,
    "docs/explanation/speedrun.md": TRAININGS,
    "docs/how-to/connect-an-engine.md": "the reader's own engine",
    "docs/how-to/install.md": "make and pip change the environment",
    "docs/how-to/kaggle.md": "tests/bridges/kaggle exports these agents, which takes minutes",
    "docs/how-to/reproduce-the-reports.md": "the experiments take minutes to hours",
    "docs/how-to/use-many-processes.md": "starts Ray, which tests/jobs/test_ray.py does",
    "docs/how-to/use-the-web-page.md": "a server does not end; tests/cli/test_web.py starts it",
    "docs/reference/board-values.md": "minutes; tests/datasets/test_boards.py makes a small table",
    "docs/reference/commands.md": "examples of every command, trainings included",
    "docs/reference/levels.md": "thousands of games",
    "docs/tutorials/write-an-agent.md": "the reader's own package",
}
"""Pages with commands in `sh` blocks, which are only parsed, and why."""
ELIDED = {
    "docs/agents/alphazero.md": "8-bit arithmetic differs in the last bits between processors",
}
"""Pages in which a line of output is left out, and why."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the blocks of a page with their languages."""
    return [(match[2], match[3]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_at_the_margin_and_of_a_kind_that_is_checked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # tests/test_docs.py looks for fences at the beginning of a line.
    assert not re.search(r"^ +```", text, re.MULTILINE)
    assert not re.search(r"^    (?:fourlab|make|pip|python) ", BLOCK.sub("", text), re.MULTILINE)
    for language, block in blocks(page):
        assert language in LANGUAGES
        if language != "console":
            assert not re.search(r"^\$ ", block, re.MULTILINE)


def test_every_page_whose_commands_are_not_run_says_why() -> None:
    pages = {name_of(page) for page in PAGES if any(kind == "sh" for kind, _ in blocks(page))}
    assert pages == set(NOT_RUN)


@pytest.mark.parametrize("page", [page for page in PAGES if name_of(page) in NOT_RUN], ids=name_of)
def test_commands_that_are_not_run_can_be_parsed(page: Path) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for language, block in blocks(page):
        for line in block.replace("\\\n", "").splitlines() if language == "sh" else ():
            match line.split()[:2]:
                case ["fourlab", _]:
                    parse(line)
                case ["make", target]:
                    assert target in targets
                case ["python", "tasks.py"]:
                    assert line.split()[2] in TASKS
                case ["python", script] if script.startswith("benchmarks/"):
                    assert (ROOT / script).is_file()
                case ["pip", "install"]:
                    named = re.findall(r"(?:\.|fourlab)\[([a-z,]+)\]", line)
                    assert {name for names in named for name in names.split(",")} <= set(extras)
                case other:
                    pytest.fail(f"nobody checks {other}")


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_commands_in_the_text_have_the_options_that_they_show(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for code in re.findall(r"`(fourlab [^`]+)`", text):
        words = code.split()[1:]
        if words[0].isupper() or words[0].startswith("-"):  # fourlab COMMAND, fourlab --help
            continue
        path, options = options_of(words)
        assert path, code
        shown = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert shown <= options, code


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_toml_is_what_the_program_reads(page: Path) -> None:
    for language, block in blocks(page):
        if language == "toml":
            settings = tomllib.loads(block)
            if "agents" in settings:
                plan = {name: value for name, value in settings.items() if name not in CONDUCT}
                assert len(read(plan).players) > 1
            else:
                assert set(settings["project"]["entry-points"]) == {"fourlab.agents"}


def test_every_page_that_leaves_out_lines_of_output_says_why() -> None:
    pages = {
        name_of(page)
        for page in PAGES
        for language, block in blocks(page)
        if language == "console" and re.search(r"^\.\.\.$", block, re.MULTILINE)
    }
    assert pages == set(ELIDED)
