"""`fourlab reproduce` as people use it: listed, run, refused, killed and gone on with."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab.studies import experiment
from fourlab.studies.catalogue import all_experiments, title_of
from tests.cli.interrupted import interrupted, stopped_by_ctrl_c
from tests.conftest import Result

Fourlab = Callable[..., Result]
SOME = ["000-figure-2", "002-games", "004-dqn"]
"""Repetitions, calculations and games: all kinds of work that is remembered."""
MEASURED = {"002-future", "004-speed", "004-text-mode", "league"}
"""What tells seconds is not the same a second time."""


def found(folder: Path) -> dict[str, object]:
    experiments: dict[str, object] = json.loads((folder / "results.json").read_text(encoding="utf-8"))["experiments"]
    return experiments


def reports(folder: Path) -> dict[str, bytes]:
    """Everything that a run's reports show, but for how they were made."""
    kinds = (".md", ".csv", ".svg")
    files = (file for file in folder.rglob("*") if file.suffix in kinds and "work" not in file.relative_to(folder).parts)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def killed_again_and_again(folder: Path, command: list[str]) -> int:
    """Kill the command, with all its processes, after ever more reports of progress until it ends.

    Returns the number of kills.
    """
    for kills in range(100):
        started = interrupted(folder, command, "progress", 2 * 3**kills, signal.SIGKILL)
        _, told = started.communicate()
        if started.returncode != -signal.SIGKILL:
            assert started.returncode == 0, told
            return kills
    raise AssertionError("it never comes to an end")


def test_list_tells_what_each_experiment_claims_and_costs(fourlab: Fourlab) -> None:
    listed = fourlab("reproduce", "list").stdout
    for each in all_experiments().values():
        assert f"{title_of(each)}  {each.title} (" in listed
        assert each.claim in listed
    (chess,) = (line for line in listed.splitlines() if line.startswith("arya chess "))
    assert all(word in chess for word in ("smoke", "quick", "full", "needs chess"))
    machine = json.loads(fourlab("reproduce", "list", "--json").stdout)
    assert [each["name"] for each in machine] == list(all_experiments())
    assert all(set(each["seconds"]) == {"smoke", "quick", "full"} for each in machine)
    some = json.loads(fourlab("reproduce", "list", "002", "--json").stdout)
    assert [each["name"] for each in some] == [name for name in all_experiments() if name.startswith("002")]


@pytest.mark.parametrize("names", [SOME, pytest.param(["all"], marks=pytest.mark.soak)], ids=["some", "all"])
def test_studies_run_at_the_smallest_scale(names: list[str], fourlab: Fourlab, tmp_path: Path) -> None:
    """tests/studies runs every study by itself."""
    done = fourlab("reproduce", *names, "--scale", "smoke", "--run", "all", "--publish", "pages", "--workers", "2")
    assert done.returncode == 0, done.stderr
    studies = [name for name in all_experiments() if names == ["all"] or name in names]
    for place, name in enumerate(studies, 1):
        assert f"{name}: " in done.stdout
        assert f"{name} ({place}/{len(studies)})" in done.stderr
    index = (tmp_path / "all" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "pages" / "000" / "figures").is_dir()
    for document in {name.partition("-")[0] if name[0].isdigit() else "all" for name in studies}:
        assert f'href="{document}/report.html"' in index
        page = (tmp_path / "all" / document / "report.html").read_text(encoding="utf-8")
        images = list((tmp_path / "pages" / document).glob("figures/*"))
        assert ("<svg" in page) == bool(images)
        assert images or names == SOME  # not every study has a figure
        assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)=.https?:", page)  # the page needs nothing but itself
        for image in images:
            assert f"figures/{image.name}" in (tmp_path / "pages" / document / "report.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "pages" / "manifest.json").read_text())["config"]["scale"] == "smoke"


def test_who_is_killed_again_and_again_ends_with_the_same_report(fourlab: Fourlab, tmp_path: Path) -> None:
    command = ["reproduce", *SOME, "--scale", "smoke", "--workers", "2"]
    assert killed_again_and_again(tmp_path, [*command, "--run", "killed"]) >= 1
    assert fourlab(*command, "--run", "whole").returncode == 0
    assert reports(tmp_path / "killed") == reports(tmp_path / "whole")
    assert found(tmp_path / "killed") == found(tmp_path / "whole")


@pytest.mark.soak
def test_any_experiment_may_be_killed(fourlab: Fourlab, tmp_path: Path) -> None:
    names = [name for name in all_experiments() if name not in MEASURED]
    command = ["reproduce", *names, "--scale", "smoke", "--workers", "2"]
    assert killed_again_and_again(tmp_path, [*command, "--run", "killed"]) >= 3
    assert subprocess.run([sys.executable, "-m", "fourlab", *command, "--run", "whole"], cwd=tmp_path).returncode == 0
    killed, whole = found(tmp_path / "killed"), found(tmp_path / "whole")
    assert [name for name in names if killed[name] != whole[name]] == []


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_ctrl_c_tells_how_to_go_on(tmp_path: Path) -> None:
    command = ["reproduce", "000", "--scale", "smoke", "--run", "stopped", "--workers", "1"]
    told = stopped_by_ctrl_c(tmp_path, command, "experiment", 2)
    assert "000-figure-1 (2/" in told
    assert told.splitlines()[-1] == "fourlab resume stopped --workers 1"
    assert "000-exact" in found(tmp_path / "stopped")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["001-tabel-5"], "there is no experiment '001-tabel-5'; did you mean 001-table-5? fourlab study list shows all"),
        (["all", "005"], "there is no experiment '005'; did you mean"),
        (["000-exact", "--scale", "tiny"], "a scale is smoke, quick, full, not 'tiny'"),
        (["000-exact", "--workers", "0"], "worker"),
        (["000-exact", "--publish", sys.executable], "it is not a folder"),
        (["000-exact", "--executor", "cloud"], "there is no executor 'cloud'; executors are local, threads, ray"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], told: str, fourlab: Fourlab, tmp_path: Path) -> None:
    done = fourlab("reproduce", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_told_before_anything_begins(
    fourlab: Fourlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "find_spec", lambda name: name != "chess" or None)
    done = fourlab("reproduce", "000-exact", "004-chess", "--scale", "smoke", "--run", "run")
    assert done.returncode == 2
    assert done.stderr == "fourlab: 004-chess needs chess: pip install 'fourlab[chess]'\n"
    assert not (tmp_path / "run").exists()


def test_a_folder_of_another_run_is_left_alone(fourlab: Fourlab, tmp_path: Path) -> None:
    assert fourlab("reproduce", "000-exact", "--scale", "smoke", "--run", "run").returncode == 0
    before = reports(tmp_path / "run")
    for arguments in (["--scale", "quick"], ["--scale", "smoke", "--seed", "1"]):
        done = fourlab("reproduce", "000-exact", *arguments, "--run", "run")
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "run" in done.stderr
    assert reports(tmp_path / "run") == before


def test_work_of_other_sizes_and_damaged_findings_are_told(fourlab: Fourlab, tmp_path: Path) -> None:
    command = ["reproduce", "000-figure-2", "--scale", "smoke", "--run", "run", "--workers", "1"]
    assert fourlab(*command, "--publish", "pages").returncode == 0
    work = tmp_path / "run" / "work" / "000-figure-2"
    begun = (work / "begun.json").read_text()
    (work / "begun.json").write_text(begun.replace('"sets": 4', '"sets": 5'))
    done = fourlab(*command)
    assert done.returncode == 2
    assert "fourlab: 000-figure-2 was begun with" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    (work / "begun.json").write_text(begun)
    whole = (work / "found.json").read_text()
    (work / "found.json").write_text(whole[:-20])
    done = fourlab(*command)
    assert (done.returncode, done.stderr) == (
        2,
        f"fourlab: {work.relative_to(tmp_path) / 'found.json'} is damaged; remove it and give the command again\n",
    )
    (work / "found.json").unlink()
    (tmp_path / "pages" / "000" / "data" / "of-yesterday.csv").write_text("old")
    assert fourlab(*command, "--publish", "pages").returncode == 0  # from the work that is kept
    assert (work / "found.json").read_text() == whole
    assert not (tmp_path / "pages" / "000" / "data" / "of-yesterday.csv").exists()


def test_two_cannot_work_on_one_run(fourlab: Fourlab, tmp_path: Path) -> None:
    """The first one stops, as by Ctrl-Z, when its first experiment begins."""
    command = ["reproduce", "000", "--scale", "smoke", "--run", "run", "--quiet"]
    first = interrupted(tmp_path, command, "experiment", 1, signal.SIGSTOP)
    try:
        _, status = os.waitpid(first.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        done = fourlab("reproduce", "000-exact", "--scale", "smoke", "--run", "run")
        assert done.returncode == 2
        assert done.stderr == "fourlab: another process is working on run\n"
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
