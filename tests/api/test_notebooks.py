"""The notebooks of the documentation show what they showed when they were stored."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests import notebooks
from tests.conftest import ROOT

QUICK = ("play-and-analyse", "rerun-a-report")
"""They take a few seconds; the others run in `make soak`."""
FILES = [
    pytest.param(file, id=file.stem, marks=[] if file.stem in QUICK else [pytest.mark.soak])
    for file in notebooks.notebooks()
]


@pytest.mark.parametrize("file", FILES)
def test_a_notebook_shows_the_same_again(file: Path, tmp_path: Path) -> None:
    stored = notebooks.read(file)
    again = notebooks.read(file)
    notebooks.run(again, tmp_path)
    assert notebooks.texts(again) == notebooks.texts(stored)


@pytest.mark.parametrize("file", notebooks.notebooks(), ids=lambda file: file.stem)
def test_a_notebook_is_stored_with_its_outputs(file: Path) -> None:
    cells: list[Any] = [cell for cell in notebooks.read(file).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert {output.output_type for output in outputs} <= {"stream", "execute_result"}
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)
    assert not re.search(r"/(home|root|tmp|work)/", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", notebooks.notebooks(), ids=lambda file: file.stem)
def test_links_in_a_notebook_lead_somewhere(file: Path) -> None:
    cells = [cell.source for cell in notebooks.read(file).cells if cell.cell_type == "markdown"]
    links = re.findall(r"\]\(([^)#]+)", "\n".join(cells))
    assert [link for link in links if not (file.parent / link).exists()] == []


def test_the_map_lists_every_notebook() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert len(notebooks.notebooks()) == 5
    assert [
        file.name for file in notebooks.notebooks() if f"notebooks/{file.name}" not in page
    ] == []
