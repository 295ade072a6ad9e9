"""A run folder from somebody else: its seal leads to no other files, and no file holds us up."""

import json
import os

import pytest

from fourlab.arena.store import Store
from fourlab.arena.verify import verify
from fourlab.jobs.run import Run
from fourlab.jobs.seal import SEAL_FILE, _hash_of
from tests.arena.eight_games import reasons, run_fourlab


@pytest.mark.parametrize(
    "name",
    [
        "../victim/found.json",
        "VICTIM/found.json",
        "figures/../../victim/found.json",
        "./../victim/found.json",
        "../victim/games.sqlite",
        "VICTIM/games.sqlite",
        "nul\0/found.json",
        "\ud800/found.json",
        "",
    ],
)
def test_a_seal_cannot_name_files_outside_its_folder(run: Run, name: str) -> None:
    victim = run.folder.parent / "victim"
    victim.mkdir()
    for precious in ("found.json", "games.sqlite"):
        (victim / precious).write_text("precious")
    seal_file = run.folder / SEAL_FILE
    content = json.loads(seal_file.read_text())
    files = content["files"]
    files[name.replace("VICTIM", str(victim))] = {"bytes": 1, "sha256": "0"}
    content["sha256"] = _hash_of(files)
    seal_file.write_text(json.dumps(content))
    assert any("names files outside the run" in reason for reason in reasons(verify(run)))
    done = run_fourlab("resume", str(run.folder))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    # The games are sound, so a repair writes a new seal.
    assert run_fourlab("verify", str(run.folder), "--repair", "--quiet").returncode == 0
    assert verify(run).is_sound
    assert sorted(file.name for file in victim.iterdir()) == ["found.json", "games.sqlite"]
    assert {file.read_text() for file in victim.iterdir()} == {"precious"}


def test_a_store_that_is_missing_is_played_again(run: Run) -> None:
    games = [game.moves for game in Store(run.games_file, read_only=True).games()]
    run.games_file.unlink()
    done = run_fourlab("verify", str(run.folder), "--repair", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert verify(run).is_sound
    assert [game.moves for game in Store(run.games_file, read_only=True).games()] == games


def test_a_file_of_another_size_is_not_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (run.folder / "report.html").write_text("short")
    read: list[str] = []
    monkeypatch.setattr("fourlab.jobs.seal.digest", lambda file: read.append(file.name) or "")
    assert "report.html was changed" in reasons(verify(run))
    assert "report.html" not in read
    assert "config.toml" in read


@pytest.mark.parametrize("command", ["verify", "resume", "games"])
def test_a_file_of_gigabytes_that_are_not_there_is_refused(run: Run, command: str) -> None:
    os.truncate(run.folder / "report.html", 500 * 10**9)
    done = run_fourlab(command, str(run.folder))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "report.html is a file of many gigabytes that are not there" in done.stderr
