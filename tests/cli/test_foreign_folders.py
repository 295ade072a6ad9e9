"""Run folders and files of somebody else: commands write nothing elsewhere and wait for nothing."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourlab.jobs.run import toml

Command = Callable[..., subprocess.CompletedProcess[str]]

COMMANDS = [
    ("games", "last"),
    ("games", "last", "0"),
    ("review", "--run", "last", "--game", "0"),
    ("runs", "last"),
    ("verify", "last"),
    ("verify", "last", "--repair"),
    ("resume", "last", "--workers", "1"),
    ("match", "random", "rules", "--games", "2", "--workers", "1"),
]
"""All that open the run of `small_match`; the last finds it by its configuration."""
no_links = pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege on Windows")


def refused(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert (done.returncode, done.stdout) == (2, ""), done
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


def make_run(folder: Path, config: dict[str, Any]) -> Path:
    """Make a run folder as somebody else could."""
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"config": config, "created": "now"}))
    (folder / "config.toml").write_text(toml(config))
    return folder


# --- products -----------------------------------------------------------------------------------

FOREIGN: dict[str, dict[str, Any]] = {
    "book": {"kind": "book", "board": "4x3x3", "plies": 2},
    "uci8": {"kind": "dataset", "set": "uci8"},
    "solved": {
        "kind": "dataset",
        "set": "solved",
        "board": "4x3x3",
        "positions": 3,
        "plies": [4, 6],
        "seed": 0,
    },
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_no_foreign_run_writes_where_its_folder_says(
    fourlab: Command, tmp_path: Path, kind: str
) -> None:
    precious = tmp_path / "precious.npz"
    precious.write_text("mine")
    folder = make_run(tmp_path / "foreign", {**FOREIGN[kind], "file": str(precious)})
    refused(fourlab("resume", "foreign", "--workers", "1"), "--output FILE")
    (folder / "results.json").write_text("{}")
    # A finished run without a seal would be repaired by doing its work again.
    repaired = fourlab("verify", "foreign", "--repair")
    assert (repaired.returncode, repaired.stderr.count("\n")) == (2, 1)
    assert "--output FILE" in repaired.stderr
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("games", [0, 2])
def test_no_foreign_chess_match_writes_where_its_folder_says(
    fourlab: Command, tmp_path: Path, games: int
) -> None:
    made = fourlab("chess", "match", "random", "random", "--games", "2", "--run", "foreign")
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "foreign"
    (folder / "seal.json").unlink()
    manifest = json.loads((folder / "manifest.json").read_text())
    config = {**manifest["config"], "keep": str(tmp_path / "precious")}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "config": config}))
    (folder / "config.toml").write_text(toml(config))
    if games == 0:
        (folder / "games.jsonl").unlink()
    refused(fourlab("resume", "foreign", "--workers", "1"), "--output FILE")
    assert not (tmp_path / "precious").exists()
    done = fourlab("resume", "foreign", "--workers", "1", "-o", "kept")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kept").read_text().count("\n") == 3


def test_ones_own_book_is_resumed_and_a_copied_run_needs_the_file(
    fourlab: Command, tmp_path: Path
) -> None:
    build = ("book", "build", "--plies", "2", "--board", "4x3x3", "--file", "own.npz")
    assert fourlab(*build, "--workers", "1").returncode == 0
    (tmp_path / "own.npz").unlink()
    done = fourlab("resume", "last", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "own.npz").exists()
    (run,) = (tmp_path / "runs").iterdir()
    shutil.copytree(run, tmp_path / "copy")
    refused(fourlab("resume", "copy", "--workers", "1"), "own.npz is named by copy, not by you")
    done = fourlab("resume", "copy", "--workers", "1", "--output", "other.npz")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "other.npz").read_bytes() == (tmp_path / "own.npz").read_bytes()
    # It was named once, so it need not be named again.
    assert fourlab("resume", "copy", "--workers", "1").returncode == 0
    refused(fourlab("resume", "copy", "--games", "5"), "--games is for matches")


# --- links, pipes and devices -------------------------------------------------------------------


@no_links
@pytest.mark.parametrize("place", ["games.sqlite", "figures", "report.html", "x/y"])
def test_commands_do_not_follow_links_out_of_a_run(
    fourlab: Command, small_match: Path, tmp_path: Path, place: str
) -> None:
    link = small_match / place
    if link.is_dir():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.parent.mkdir(exist_ok=True)
    outside = tmp_path / "outside"
    link.symlink_to(outside)
    for command in COMMANDS:
        refused(fourlab(*command), f"{place} is not a file of its folder but a link to elsewhere")
    assert not outside.exists()
    done = fourlab("runs")
    assert done.returncode == 0
    assert "damaged" in done.stdout
    assert place in done.stdout


@no_links
def test_a_list_of_runs_shows_no_results_of_somewhere_else(
    fourlab: Command, small_match: Path, tmp_path: Path
) -> None:
    (small_match / "results.json").rename(tmp_path / "secret.json")
    (small_match / "results.json").symlink_to(tmp_path / "secret.json")
    (row,) = json.loads(fourlab("runs", "--json").stdout)
    assert (row["status"], row["results"]) == ("damaged", None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on Windows")
@pytest.mark.parametrize(
    "name",
    ["manifest.json", "config.toml", "results.json", "games.sqlite", "metrics.jsonl", "lock"],
)
def test_commands_do_not_wait_for_pipes_in_a_run(
    fourlab: Command, small_match: Path, name: str
) -> None:
    (small_match / name).unlink(missing_ok=True)
    os.mkfifo(small_match / name)
    for command in COMMANDS[:-1]:
        refused(fourlab(*command), f"{name} is not a file of its folder but a pipe or a device")
    done = fourlab("runs")
    assert (done.returncode, "damaged" in done.stdout) == (0, True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on Windows")
def test_commands_do_not_wait_for_pipes_as_files(fourlab: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "t.toml").write_text('agents = ["random", "rules"]\nopenings = "file:pipe"\n')
    for command in (
        ("tournament", "pipe"),
        ("tournament", "t.toml"),
        ("match", "random", "rules", "--openings", "file:pipe"),
        ("solve", "--file", "pipe"),
        ("accuracy", "rules", "--positions", "pipe"),
        ("train", "q", "--config", "pipe"),
    ):
        refused(fourlab(*command), "pipe is not a file")
    refused(fourlab("positions", FOURLAB_POSITIONS="pipe"), "pipe is not a file")


# --- work that a file asks for ------------------------------------------------------------------


def test_a_list_of_runs_looks_for_no_openings(
    fourlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = [{"spec": "random"}, {"spec": "rules"}]
    config = {"kind": "match", "boards": ["12x4x4"], "openings": "all:8", "agents": agents}
    make_run(tmp_path / "runs" / "1_endless_0", config)
    make_run(tmp_path / "runs" / "2_long_0", {**config, "rounds": 7})
    make_run(tmp_path / "runs" / "3_list_0", {**config, "rounds": 7, "openings": ["1"] * 50_000})

    def fail(*arguments: object) -> None:
        raise AssertionError

    monkeypatch.setattr("fourlab.arena.tournament.openings", fail)
    done = fourlab("runs")
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert [row.split("  ")[:2] for row in rows] == [
        ["1_endless_0", "damaged"],
        ["2_long_0", "stopped"],
        ["3_list_0", "stopped"],
    ]
    assert rows[1].split("  ")[2] == "0 of 14 games"
    refused(fourlab("resume", "endless"), "must have the number of rounds")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('openings = "all:8"\nboards = ["12x4x4"]', "there are more than 100,000 on a 12x4x4"),
        ("workers = 1000000", "workers are possible here, not 1000000"),
        ('workers = 1000000\nexecutor = "threads"', "workers are possible here, not 1000000"),
        ("workers = 0", "at least one worker is needed, not 0"),
        (f"openings = {['1'] * 100_001}", "100,001 openings are too many"),
    ],
)
def test_a_tournament_file_asks_for_too_much(
    fourlab: Command, tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "t.toml").write_text(f'agents = ["random", "rules"]\n{text}\n')
    refused(fourlab("tournament", "t.toml"), reason)
    assert not (tmp_path / "runs").exists()


def test_many_agents_and_openings_are_refused(
    fourlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = [f"random:seed={number}" for number in range(501)]
    (tmp_path / "t.toml").write_text(f"agents = {json.dumps(agents)}\n")
    refused(fourlab("tournament", "t.toml"), "501 agents are too many; at most 500 are allowed")
    monkeypatch.setattr("fourlab.arena.openings.MOST_OPENINGS", 10)
    monkeypatch.setattr("fourlab.cli.accuracy.MOST_POSITIONS", 10)
    (tmp_path / "positions").write_text("1\n" * 11)
    command = ("match", "random", "rules", "--openings", "file:positions")
    refused(fourlab(*command), "positions has more than 10 positions")
    refused(fourlab("accuracy", "rules", "--positions", "positions"), "more than 10 positions")


def test_a_long_message_is_cut(fourlab: Command, tmp_path: Path) -> None:
    make_run(tmp_path / "foreign", {"kind": "x" * 1_000_000})
    done = fourlab("resume", "foreign")
    assert done.returncode == 2
    assert len(done.stderr) < 2100
    assert done.stderr.endswith("…\n")
