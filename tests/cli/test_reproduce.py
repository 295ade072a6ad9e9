"""`fourlab reproduce`: list, run, refuse, kill and resume experiments."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab.studies import catalogue
from fourlab.studies.catalogue import FOLDERS, all_experiments, title_of
from tests.cli.interrupted import interrupted, stopped_by_ctrl_c
from tests.conftest import Result

Fourlab = Callable[..., Result]
SOME = ["000-figure-2", "002-games", "004-dqn"]
"""One experiment of repetitions, one of calculations, one of games: all kinds of stored work."""
MEASURED = {"002-parallel", "004-speed", "004-text-mode", "league"}
"""Experiments that report seconds, which differ from run to run."""


def findings(folder: Path) -> dict[str, object]:
    """Return the stored findings of a run, by experiment."""
    experiments: dict[str, object] = json.loads(
        (folder / "results.json").read_text(encoding="utf-8")
    )["experiments"]
    return experiments


def reports(folder: Path) -> dict[str, bytes]:
    """Return the contents of a run's report files, by path; its working files are left out."""
    kinds = (".md", ".csv", ".svg")
    files = (
        file
        for file in folder.rglob("*")
        if file.suffix in kinds and "work" not in file.relative_to(folder).parts
    )
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def killed_again_and_again(folder: Path, command: list[str]) -> int:
    """Kill the command and its processes repeatedly until it finishes; return the number of kills.

    Every attempt gets three times as many progress reports before it is killed.
    """
    for kills in range(100):
        started = interrupted(folder, command, "progress", 2 * 3**kills, signal.SIGKILL)
        _, printed = started.communicate()
        if started.returncode != -signal.SIGKILL:
            assert started.returncode == 0, printed
            return kills
    raise AssertionError("the command never finished")


def test_list_shows_the_claim_and_cost_of_every_experiment(fourlab: Fourlab) -> None:
    listed = fourlab("reproduce", "list").stdout
    for study in all_experiments().values():
        assert f"{title_of(study)}  {study.title} (" in listed
        assert study.claim in listed
    (chess,) = (line for line in listed.splitlines() if line.startswith("arya chess "))
    assert all(word in chess for word in ("smoke", "quick", "full", "needs chess"))
    rows = json.loads(fourlab("reproduce", "list", "--json").stdout)
    assert [row["name"] for row in rows] == list(all_experiments())
    assert all(set(row["seconds"]) == {"smoke", "quick", "full"} for row in rows)
    of_gao = json.loads(fourlab("reproduce", "list", "002", "--json").stdout)
    assert [row["name"] for row in of_gao] == [
        name for name in all_experiments() if name.startswith("002")
    ]


@pytest.mark.parametrize(
    "names", [SOME, pytest.param(["all"], marks=pytest.mark.soak)], ids=["some", "all"]
)
def test_studies_run_at_the_smallest_scale(
    names: list[str], fourlab: Fourlab, tmp_path: Path
) -> None:
    """tests/studies runs every study separately."""
    done = fourlab(
        "reproduce",
        *names,
        "--scale",
        "smoke",
        "--run",
        "all",
        "--publish",
        "pages",
        "--workers",
        "2",
    )
    assert done.returncode == 0, done.stderr
    studies = [name for name in all_experiments() if names == ["all"] or name in names]
    for place, name in enumerate(studies, 1):
        assert f"{title_of(all_experiments()[name])}: " in done.stdout
        assert f"{title_of(all_experiments()[name])} ({place}/{len(studies)}): " in done.stderr
    index = (tmp_path / "all" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "pages" / "vannucci-abril" / "figures").is_dir()
    for document in {FOLDERS[all_experiments()[name].document] for name in studies}:
        assert f'href="{document}/report.html"' in index
        page = (tmp_path / "all" / document / "report.html").read_text(encoding="utf-8")
        images = list((tmp_path / "pages" / document).glob("figures/*"))
        assert ("<svg" in page) == bool(images)
        assert images or names == SOME  # not every study has a figure
        # The page must not load anything from elsewhere.
        assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)=.https?:", page)
        for image in images:
            assert f"figures/{image.name}" in (
                tmp_path / "pages" / document / "report.md"
            ).read_text(encoding="utf-8")
        manifest = json.loads((tmp_path / "pages" / document / "manifest.json").read_text())
        assert {made["scale"] for made in manifest["experiments"].values()} == {"smoke"}
    # A page follows from its data.
    published = reports(tmp_path / "pages")
    assert "pages" in fourlab("study", "pages", "pages").stdout
    assert reports(tmp_path / "pages") == published


def test_repeated_kills_do_not_change_the_report(fourlab: Fourlab, tmp_path: Path) -> None:
    command = ["reproduce", *SOME, "--scale", "smoke", "--workers", "2"]
    assert killed_again_and_again(tmp_path, [*command, "--run", "killed"]) >= 1
    assert fourlab(*command, "--run", "whole").returncode == 0
    assert reports(tmp_path / "killed") == reports(tmp_path / "whole")
    assert findings(tmp_path / "killed") == findings(tmp_path / "whole")


@pytest.mark.soak
def test_every_experiment_survives_kills(fourlab: Fourlab, tmp_path: Path) -> None:
    names = [name for name in all_experiments() if name not in MEASURED]
    command = ["reproduce", *names, "--scale", "smoke", "--workers", "2"]
    assert killed_again_and_again(tmp_path, [*command, "--run", "killed"]) >= 3
    assert (
        subprocess.run(
            [sys.executable, "-m", "fourlab", *command, "--run", "whole"], cwd=tmp_path
        ).returncode
        == 0
    )
    killed, whole = findings(tmp_path / "killed"), findings(tmp_path / "whole")
    assert [name for name in names if killed[name] != whole[name]] == []


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_ctrl_c_prints_the_resume_command(tmp_path: Path) -> None:
    command = ["reproduce", "000", "--scale", "smoke", "--run", "stopped", "--workers", "1"]
    printed = stopped_by_ctrl_c(tmp_path, command, "experiment", 2)
    assert "vannucci-abril figure-1 (2/" in printed
    assert printed.splitlines()[-1] == "fourlab resume stopped --workers 1"
    assert "000-exact" in findings(tmp_path / "stopped")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["001-tabel-5"],
            "there is no experiment '001-tabel-5'; did you mean 001-table-5 or 001-table-8? "
            "fourlab study list shows all",
        ),
        (["all", "005"], "there is no experiment '005'; did you mean"),
        (["table-5"], "there is no experiment 'table-5'; did you mean bhat table-5? fourlab study"),
        (["arya", "table-5"], "did you mean bhat table-5?"),
        (["bhat", "tabel-5"], "did you mean bhat table-5 or bhat table-8 or bhat table-7?"),
        (
            ["figure-1"],
            "did you mean vannucci-abril figure-1 or bhat figure-1 or gao figure-1 or sewell "
            "figure-1 or arya figure-1?",
        ),
        (["gao", "figure-9"], "did you mean gao figure-3 or gao figure-2 or gao figure-1 or arya"),
        (["figure-12"], "did you mean arya figure-12?"),
        (["arya", "figure", "44"], "no experiment 'figure'; did you mean arya figure-44? fourlab"),
        (["arya", "Figure-44"], "no experiment 'Figure-44'; did you mean arya figure-44? fourlab"),
        (["Bhat", "table-5"], "there is no experiment 'Bhat'; did you mean bhat? fourlab"),
        (["arya", "figure-35"], "Arya's report has no figure-35"),
        (["gao", "figure44"], "did you mean gao figure-3 or gao figure-2"),
        (["bath"], "did you mean bhat or vannucci-abril ablation? fourlab study list"),
        (["verfy"], "did you mean verify"),
        (["figure-44"], "did you mean arya figure-44? fourlab study list"),
        (["experiment-1"], "did you mean sewell experiment-1 or arya experiment-1? fourlab"),
        (["pages"], "takes one folder"),
        (["pages", "nowhere"], "nowhere has no published reports"),
        (["verify"], "there is no folder docs/experiments of published reports"),
        (["verify", "a", "b"], "takes one folder"),
        (["verify", ".", "--seed", "0"], ". has no published reports"),
        (["verify", ".", "--budget-seconds", "0"], "--budget-seconds"),
        (["000-exact", "--scale", "tiny"], "a scale is smoke, quick, full, not 'tiny'"),
        (["000-exact", "--workers", "0"], "worker"),
        (["000-exact", "--publish", sys.executable], "is not a folder"),
        (
            ["000-exact", "--executor", "cloud"],
            "there is no executor 'cloud'; executors are local, threads, ray",
        ),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, fourlab: Fourlab, tmp_path: Path
) -> None:
    done = fourlab("reproduce", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_reported_before_anything_begins(
    fourlab: Fourlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "find_spec", lambda name: name != "chess" or None)
    done = fourlab("reproduce", "000-exact", "004-chess", "--scale", "smoke", "--run", "run")
    assert done.returncode == 2
    assert done.stderr == "fourlab: arya chess needs chess: pip install 'fourlab[chess]'\n"
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


def test_work_of_other_sizes_and_damaged_findings_are_refused(
    fourlab: Fourlab, tmp_path: Path
) -> None:
    command = ["reproduce", "000-figure-2", "--scale", "smoke", "--run", "run", "--workers", "1"]
    assert fourlab(*command, "--publish", "pages").returncode == 0
    work = tmp_path / "run" / "work" / "000-figure-2"
    begun = (work / "begun.json").read_text()
    # A run of an older version, or one that was killed, has no seal that notices the change.
    seal = tmp_path / "run" / "seal.json"
    seal.unlink()
    (work / "begun.json").write_text(begun.replace('"sets": 4', '"sets": 5'))
    done = fourlab(*command)
    assert done.returncode == 2
    assert "fourlab: 000-figure-2 was begun with" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    (work / "begun.json").write_text(begun)
    whole = (work / "found.json").read_text()
    seal.unlink()
    (work / "found.json").write_text(whole[:-20])
    done = fourlab(*command)
    assert (done.returncode, done.stderr) == (
        2,
        f"fourlab: {work.relative_to(tmp_path) / 'found.json'} is damaged; "
        "remove it and give the command again\n",
    )
    (work / "found.json").unlink()
    seal.unlink()
    (tmp_path / "pages" / "vannucci-abril" / "data" / "outdated.csv").write_text("old")
    assert fourlab(*command, "--publish", "pages").returncode == 0  # from the stored work
    assert (work / "found.json").read_text() == whole
    assert not (tmp_path / "pages" / "vannucci-abril" / "data" / "outdated.csv").exists()


def test_damaged_findings_of_a_finished_run_are_made_again(
    fourlab: Fourlab, tmp_path: Path
) -> None:
    command = ["reproduce", "000-exact", "--scale", "smoke", "--run", "run", "--workers", "1"]
    assert fourlab(*command).returncode == 0
    stored = tmp_path / "run" / "work" / "000-exact" / "found.json"
    whole = stored.read_text()
    for content in ("{", whole.replace("0.7", "0.8"), None):
        for repair in (command, ["verify", "run", "--repair"]):
            stored.write_text(content) if content else stored.unlink()
            assert fourlab("verify", "run").returncode == 1
            assert fourlab(*repair).returncode == 0
            assert stored.read_text() == whole
            assert fourlab("verify", "run").returncode == 0


def test_two_processes_cannot_work_on_one_run(fourlab: Fourlab, tmp_path: Path) -> None:
    """The first process is suspended, as by Ctrl-Z, when its first experiment begins."""
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
