"""The pages that are made from the program say what the program says today."""

import re
from typing import Any

import pytest

from fourlab.cli.train import TRAININGS
from fourlab.options import options_of
from fourlab.web.app import create_app
from tests.command_lines import commands, parse
from tests.conftest import ROOT
from tools import reference

ALL = commands().items()
NAMES = [" ".join(path) for path in commands()]


def test_generated_pages_and_tables_are_up_to_date() -> None:
    stale = [
        page.name
        for page, text in reference.pages().items()
        if page.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run python -m tools.reference"


@pytest.mark.parametrize(("path", "command"), ALL, ids=NAMES)
def test_the_page_of_commands_has_every_option(path: tuple[str, ...], command: Any) -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    _, _, section = page.partition(f"# `fourlab {' '.join(path)}`\n")
    section, _, _ = section.partition("\n##")
    settings = set()
    if path[0] == "train":
        settings = set(options_of(TRAININGS[path[1]].settings)) - {"faithful"}
    for parameter in command.params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            is_listed = re.search(rf"(?:`|>|, ){re.escape(parameter.opts[-1])}\b", section)
            assert bool(is_listed) is (parameter.name not in settings), parameter.name


@pytest.mark.parametrize(("path", "command"), ALL, ids=NAMES)
def test_every_command_has_an_example_that_can_be_parsed(
    path: tuple[str, ...], command: Any
) -> None:
    examples = re.findall(r"^(?:Example: |  )fourlab (.+)", command.help, re.MULTILINE)
    assert path in {parse(f"fourlab {example}") for example in examples}


def test_the_page_of_settings_has_every_setting() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    for name, training in TRAININGS.items():
        _, _, section = page.partition(f"\n## {name}\n")
        section, _, _ = section.partition("\n## ")
        missing = [
            option for option in options_of(training.settings) if f"| `{option}`" not in section
        ]
        assert missing == []


def test_the_page_of_routes_has_every_route_and_object() -> None:
    page = (ROOT / "docs" / "reference" / "rest-routes.md").read_text(encoding="utf-8")
    schema = create_app().openapi()
    for path, methods in schema["paths"].items():
        for method in methods:
            assert f"### {method.upper()} {path.removeprefix('/api/v1/')}\n" in page
    assert all(f"### {name}\n" in page for name in schema["components"]["schemas"])
