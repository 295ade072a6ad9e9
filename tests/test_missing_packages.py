"""One line for a missing package: the exact pip install of an extra, and life without Numba."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT, Result

COMPILER = ("numba", "llvmlite")


def run_without(packages: tuple[str, ...], code: str, folder: Path, **variables: str) -> Result:
    """Run code in its own process, in which some packages cannot be imported."""
    blocked = f"import sys\nsys.modules.update(dict.fromkeys({packages!r}))\n"
    # A file that Python imports at its start, so that child processes are without them, too.
    (folder / "sitecustomize.py").write_text(blocked)
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **variables},
    )


def command(*arguments: str) -> str:
    return f"from fourlab.cli import main; main({list(arguments)!r})"


EXTRAS = {
    "plots": (("matplotlib",), command("analyze", "4453", "--agent", "rules", "--plot", "a.svg")),
    "train": (("torch",), command("train", "dqn", "--games", "1")),
    "ray": (("ray",), command("match", "random", "rules", "--games", "2", "--executor", "ray")),
    "envs": (("gymnasium",), "import fourlab.bridges.gymnasium"),
    "sb3": (
        ("stable_baselines3",),
        "open('model.zip', 'wb').close()\n"
        + command("analyze", "4453", "--agent", "sb3:file=model.zip"),
    ),
    "openspiel": (("pyspiel",), "import fourlab.bridges.openspiel"),
    "chess": (("chess",), command("chess", "play")),
    "notebook": (("pandas",), "import fourlab as fl; fl.list_agents().to_pandas()"),
}
"""What needs an extra, by its name: packages of the extra, and code that uses them."""


def find_spec_of_blocked(packages: tuple[str, ...]) -> str:
    """Return code that makes `find_spec` answer None, as for a package that is not installed."""
    return (
        "import importlib.util as util\n"
        "real = util.find_spec\n"
        f"util.find_spec = lambda name, package=None: "
        f"None if name.partition('.')[0] in {packages!r} else real(name, package)\n"
    )


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_missing_extra_is_one_line_with_the_command(extra: str, tmp_path: Path) -> None:
    packages, code = EXTRAS[extra]
    done = run_without(packages, find_spec_of_blocked(packages) + code, tmp_path)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert f"pip install 'fourlab[{extra}]'" in last
    if "from fourlab.cli" in code:
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1, done.stderr


def test_every_extra_for_users_has_such_a_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"all", "bench", "dev", "docs"}
    assert extras == set(EXTRAS)


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "4453"),
        ("analyze", "4453", "--agent", "mcts"),
        ("perft", "3"),
        ("warmup",),
        ("match", "mcts", "rules", "--games", "2"),
    ],
)
def test_without_numba_a_search_is_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = run_without(COMPILER, command(*arguments), tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("fourlab: this needs Numba (")
    assert "pip install numba" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("show", "4453"),
        ("positions",),
        ("agents",),
        ("match", "random", "rules", "--games", "2", "--quiet"),
    ],
)
def test_without_numba_plain_commands_work(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = run_without(COMPILER, command(*arguments), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_numba_the_page_says_what_is_missing(tmp_path: Path) -> None:
    code = """
from fastapi.testclient import TestClient
from fourlab.web.app import create_app
if __name__ == "__main__":
    with TestClient(create_app(), base_url="http://127.0.0.1") as client:
        for agent in ("rules", "mcts"):
            answer = client.post("/api/v1/move", json={"moves": "44", "agent": agent})
            print(answer.status_code, answer.text)
        print(client.get("/api/v1/ready").status_code)
"""
    done = run_without(COMPILER, code, tmp_path)
    played, refused, ready = done.stdout.splitlines()
    assert played.startswith("200 "), done.stderr
    assert refused.startswith("400 ")
    assert "this needs Numba" in refused
    assert ready == "200"


def test_without_numba_everything_runs_as_plain_python_on_request(tmp_path: Path) -> None:
    code = (
        "from fourlab import Limit, Position, make\n"
        "import numpy as np, sys\n"
        "rng = np.random.default_rng(0)\n"
        "mcts = make('mcts:simulations=200').decide(Position('4453'), Limit(), rng)\n"
        "minimax = make('minimax:depth=4').decide(Position('4453'), Limit(), rng)\n"
        "print(mcts.column, mcts.value, minimax.column)\n"
        "print(sys.modules.get('numba'))\n"
    )
    plain = run_without(COMPILER, code, tmp_path, NUMBA_DISABLE_JIT="1")
    compiled = run_without((), code, tmp_path)
    assert plain.stdout.splitlines()[1] == "None", plain.stderr
    assert plain.stdout.splitlines()[0] == compiled.stdout.splitlines()[0]


def test_a_numba_that_refuses_to_be_imported_says_why(tmp_path: Path) -> None:
    package = tmp_path / "numba"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('Numba needs NumPy 2.9 or less')\n")
    done = run_without((), command("solve", "4453"), tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("fourlab: this needs Numba (Numba needs NumPy 2.9 or less): pip")


def test_without_onnxruntime_a_network_is_one_line(tmp_path: Path) -> None:
    done = run_without(("onnxruntime",), command("analyze", "4453", "--agent", "value"), tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("fourlab: networks need onnxruntime (")
    assert "pip install onnxruntime" in done.stderr
    assert done.stderr.count("\n") == 1
