"""`fourlab open` finds reports; `fourlab runs --delete` deletes runs and nothing else."""

import json
import os
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab.jobs.run import Run as RunFolder

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_the_report_of_the_last_run_is_opened(
    small_match: Path, fourlab: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: bool(opened.append(address)) or True)
    done = fourlab("open", DISPLAY=":0")
    report = small_match / "report.html"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{report}\n", "")
    assert opened == [report.as_uri()]


def test_without_a_display_the_path_is_printed(
    small_match: Path, fourlab: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    done = fourlab("open", small_match.name)
    assert done.stdout == f"{small_match / 'report.html'}\n"
    assert done.stderr == "note: no browser could be opened here\n"
    done = fourlab("open", "last", "--no-browser", "--json")
    assert json.loads(done.stdout) == {
        "report": str(small_match / "report.html"),
        "opened": False,
    }


def test_a_run_without_a_report_names_the_next_step(small_match: Path, fourlab: Run) -> None:
    (small_match / "report.html").unlink()
    assert "a match has no report; its files are in" in fourlab("open").stderr
    (small_match / "results.json").unlink()
    assert f"fourlab resume runs/{small_match.name} finishes the run" in fourlab("open").stderr


def test_a_run_is_deleted_with_yes(small_match: Path, fourlab: Run) -> None:
    done = fourlab("runs", "--delete", small_match.name, "--yes")
    assert (done.returncode, done.stdout) == (0, f"deleted runs/{small_match.name}\n")
    assert list(small_match.parent.iterdir()) == []


def test_nothing_is_deleted_unasked(small_match: Path, fourlab: Run) -> None:
    done = fourlab("runs", "--delete", "last", stdin="y\n")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "add --yes" in done.stderr
    assert small_match.exists()
    assert fourlab("runs", "--yes").returncode == 2
    assert fourlab("runs", small_match.name, "--delete", "last", "--yes").returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
@pytest.mark.parametrize(("answer", "is_deleted"), [("n", False), ("", False), ("yes", True)])
def test_on_a_terminal_it_asks(
    small_match: Path, tmp_path: Path, answer: str, is_deleted: bool
) -> None:
    import pty

    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "fourlab", "runs", "--delete", "last"]
    with subprocess.Popen(command, stdin=terminal, stderr=terminal, cwd=tmp_path) as process:
        os.close(terminal)
        os.write(main, f"{answer}\n".encode())
        asked = os.read(main, 1000).decode()
        while "[y/N]" not in asked:
            asked += os.read(main, 1000).decode()
        assert process.wait() == 0
    os.close(main)
    assert "files, " in asked
    assert small_match.exists() != is_deleted


def test_a_run_in_progress_is_not_deleted(small_match: Path, fourlab: Run) -> None:
    with RunFolder(small_match).locked():
        done = fourlab("runs", "--delete", "last", "--yes")
    assert "another process is working on" in done.stderr
    assert (small_match / "manifest.json").exists()


def test_folders_elsewhere_and_links_are_not_deleted(
    small_match: Path, fourlab: Run, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(small_match, elsewhere)
    done = fourlab("runs", "--delete", "elsewhere", "--yes")
    assert "is not in runs" in done.stderr
    (tmp_path / "runs" / "linked").symlink_to(elsewhere)
    done = fourlab("runs", "--delete", "linked", "--yes")
    assert "is not in runs" in done.stderr
    (small_match / "figures").mkdir(exist_ok=True)
    (small_match / "figures" / "out").symlink_to(elsewhere)
    done = fourlab("runs", "--delete", small_match.name, "--yes")
    assert "a link to elsewhere" in done.stderr
    assert (elsewhere / "manifest.json").exists()
    assert (small_match / "manifest.json").exists()


def test_if_one_of_several_cannot_be_deleted_none_is(
    small_match: Path, fourlab: Run, tmp_path: Path
) -> None:
    shutil.copytree(small_match, tmp_path / "elsewhere")
    words = ("--delete", small_match.name, "--delete", "elsewhere", "--yes")
    assert fourlab("runs", *words).returncode == 2
    assert small_match.exists()
