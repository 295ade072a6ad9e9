"""Without an optional package, what needs it names the command that installs it; all else works."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab import bridges
from tests.conftest import Result


@pytest.fixture
def without(tmp_path: Path) -> Callable[..., str]:
    """A search path on which some modules are hidden."""

    def hide(*modules: str) -> str:
        folder = tmp_path / "hidden"
        folder.mkdir()
        for module in modules:
            (folder / f"{module}.py").write_text(
                f"raise ModuleNotFoundError('hidden', name={module!r})\n"
            )
        return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])

    return hide


@pytest.mark.parametrize(
    ("module", "hidden", "why"),
    [
        (
            "bridges.gymnasium",
            "gymnasium",
            "this environment needs gymnasium: pip install 'fourlab[envs]'",
        ),
        (
            "bridges.pettingzoo",
            "gymnasium",
            "this environment needs gymnasium: pip install 'fourlab[envs]'",
        ),
        (
            "bridges.pettingzoo",
            "pettingzoo",
            "this environment needs pettingzoo: pip install 'fourlab[envs]'",
        ),
        ("bridges.openspiel", "pyspiel", "this needs OpenSpiel: pip install 'fourlab[openspiel]'"),
        ("chess.game", "chess", "chess needs python-chess: pip install 'fourlab[chess]'"),
    ],
)
def test_an_import_says_what_to_install(
    module: str, hidden: str, why: str, without: Callable[..., str]
) -> None:
    program = f"import fourlab.{module}"
    environment = {**os.environ, "PYTHONPATH": without(hidden)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.stderr.splitlines()[-1] == f"fourlab.errors.UserError: {why}"


def test_the_agent_says_it_in_one_line_and_can_be_listed_all_the_same(
    fourlab: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)  # as if it were not installed
    # The module is to be imported again.
    monkeypatch.delitem(sys.modules, "fourlab.bridges.openspiel", raising=False)
    monkeypatch.delattr(bridges, "openspiel", raising=False)
    refused = fourlab("analyze", "4453", "--agent", "openspiel-mcts")
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1].endswith(
        "this needs OpenSpiel: pip install 'fourlab[openspiel]'"
    )
    listed = fourlab("agents", "openspiel-mcts")
    assert listed.returncode == 0
    assert "simulations" in listed.stdout
