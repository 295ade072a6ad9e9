import json
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab.cli import main
from tests.contract.test_agents import NAMES, SPECS

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_it_prints_one_row_per_column_and_the_line(fourlab: Run) -> None:
    done = fourlab("analyze", "4453", "--agent", "mcts:simulations=3000")
    assert done.returncode == 0
    assert "column    visits   share     mean    bound  proven" in done.stdout
    assert "plays " in done.stdout
    assert "; line " in done.stdout
    assert "3,000 simulations" in done.stderr


def test_proven_results_are_marked(fourlab: Run) -> None:
    done = fourlab("analyze", "445566")
    assert "a proven win" in done.stdout
    assert any(row.endswith("  win") for row in done.stdout.splitlines())


def test_json_is_complete_and_a_seed_repeats_it(fourlab: Run) -> None:
    arguments = (
        "analyze",
        "4453",
        "--agent",
        "mcts",
        "--simulations",
        "500",
        "--trace",
        "--seed",
        "3",
        "--proof",
        "0",
        "--json",
    )
    first, second = (json.loads(fourlab(*arguments).stdout) for _ in range(2))
    for analysis in (first, second):
        analysis["stats"].pop("seconds")
    assert first == second
    assert sum(column["visits"] for column in first["columns"]) == 500
    assert first["trace"][-1]["simulations"] == 500
    assert first["line"][0] == first["column"]


def test_the_exact_values_of_vannucci_and_abril(fourlab: Run) -> None:
    done = fourlab("analyze", "vannucci-abril", "--agent", "expectimax-random")
    assert "column 5: 1 = +1.00000 exactly" in done.stdout
    assert "column 7: 21/32 = +0.65625 exactly" in done.stdout


def test_the_convergence_can_be_plotted(fourlab: Run, tmp_path: Path) -> None:
    arguments = ("analyze", "--agent", "mcts:simulations=2000", "--plot")
    assert fourlab(*arguments, "a.svg").returncode == 0
    assert fourlab(*arguments, "b.svg").returncode == 0
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert fourlab(*arguments, "c.png").returncode == 0


def test_what_cannot_be_analysed_is_refused(fourlab: Run) -> None:
    for arguments in (
        ("1212121",),
        ("44", "--agent", "rules", "--trace"),
        ("--agent", "expectimax-random"),
        ("44", "--plot", "picture.gif"),
        ("44", "--plot", "no/such/folder.svg"),
    ):
        done = fourlab("analyze", *arguments)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith("fourlab: ")
        assert "Traceback" not in done.stderr


def analyzed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command in this process; return its output."""
    with pytest.raises(SystemExit) as ended:
        main(["analyze", *arguments, "--simulations", "50", "--proof", "0"])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name in NAMES if name != "human"])
def test_every_agent_can_analyse(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("vannucci-abril", "--agent", SPECS.get(name, name))
    assert "\nplays " in analyzed(capsys, *arguments)
    data = json.loads(analyzed(capsys, *arguments, "--json"))
    assert data["column"] in (5, 7)  # the open ones


@pytest.mark.parametrize("agent", ["value", "dqn", "q"])
def test_learned_values_are_shown_as_estimates(
    agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = analyzed(capsys, "vannucci-abril", "--agent", agent)
    data = json.loads(analyzed(capsys, "vannucci-abril", "--agent", agent, "--json"))
    assert list(data["estimates"]) == ["5", "7"]
    for column, estimate in data["estimates"].items():
        assert f"column {column}: {estimate:+.4f} estimated\n" in printed
    assert "exactly" not in printed
    assert "exact_values" not in data
