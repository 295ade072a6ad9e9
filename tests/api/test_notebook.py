"""The five lines of the documentation in a real Jupyter kernel, with rich displays."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "python-api.md"
SESSION = re.compile(r"^```python\n(>>> import fourlab as fl\n.*?)^```", re.DOTALL | re.MULTILINE)


def executed(cells: list[str], folder: Path) -> list[list[Any]]:
    """Run cells in a new kernel; return the outputs of each."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return [cell.outputs for cell in notebook.cells]


def shown(outputs: list[Any]) -> dict[str, str]:
    """Return what a cell displays, by the kind of its data."""
    (result,) = (output for output in outputs if output.output_type == "execute_result")
    return dict(result.data)


def five_lines() -> list[str]:
    """Return the first session of the reference page, line by line."""
    match = SESSION.search(PAGE.read_text(encoding="utf-8"))
    assert match is not None
    return re.findall(r"^>>> (.*?)$", match[1], re.MULTILINE)


def test_the_five_lines_run_and_show_pictures(tmp_path: Path) -> None:
    lines = five_lines()
    assert len(lines) == 5
    position, solution, analysis, match = [
        shown(outputs) for outputs in executed(lines, tmp_path)[1:]
    ]
    assert position["image/svg+xml"].startswith("<svg")
    assert solution["text/html"].count("<svg") == 1
    assert "loses in 36" in solution["text/html"]
    assert "best play: " in analysis["text/html"]
    assert "<table" in match["text/html"]
    assert match["text/plain"].startswith("<MatchResult mcts")


def test_figures_are_shown_and_errors_are_one_line(tmp_path: Path) -> None:
    (_, figure) = executed(["import fourlab as fl", "fl.review('4455661').plot()"], tmp_path)
    assert shown(figure)["image/svg+xml"].lstrip().startswith("<svg")
    with pytest.raises(CellExecutionError) as caught:
        executed(["import fourlab as fl\nfl.match('mctss', 'rules')"], tmp_path)
    assert caught.value.ename == "UserError"
    assert "there is no agent 'mctss' (did you mean 'mcts'?)" in caught.value.evalue
    # The cell, then one line instead of a traceback.
    *_, last = caught.value.traceback.strip().splitlines()
    assert last.startswith("UserError: there is no agent 'mctss'")
    assert "registry.py" not in caught.value.traceback
