"""A run that is killed, stopped or aborted resumes as if it had never been interrupted."""

import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.in_process import run_in_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

Run = Callable[..., subprocess.CompletedProcess[str]]
LONG = ["match", "mcts:simulations=300", "rules", "--workers", "2", "--seed", "7"]
SHORT = ["match", "random", "rules", "--games", "40", "--workers", "2", "--seed", "5"]
MARK = "FOURLAB_TEST_MARK"


class Started:
    """A command in a session of its own, as a terminal starts it.

    Its processes are recognised by an environment variable, which workers inherit.
    """

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fourlab", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, MARK: self.mark},
            start_new_session=True,
        )

    def signal_group(self, number: int) -> None:
        os.killpg(self.process.pid, number)

    def wait_for_words(self, words: str) -> None:
        assert self.process.stderr
        assert any(words in line for line in self.process.stderr), (
            f"it ended without printing {words!r}"
        )

    def end(self) -> tuple[int, list[str]]:
        """Wait for the end; return the exit code and the remaining lines of standard error."""
        _, printed = self.process.communicate()
        return self.process.returncode, printed.splitlines()

    def living(self) -> list[int]:
        return [
            pid
            for pid in map(int, filter(str.isdecimal, os.listdir("/proc")))
            if self._is_ours(pid)
        ]

    def _is_ours(self, pid: int) -> bool:
        try:
            return f"{MARK}={self.mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """Start commands; check at the end that all their processes have ended."""
    all_started: list[Started] = []

    def run(*arguments: str) -> Started:
        all_started.append(Started(tmp_path, *arguments))
        return all_started[-1]

    yield run
    for started in all_started:
        with contextlib.suppress(ProcessLookupError):
            if started.process.poll() is None:
                started.signal_group(signal.SIGKILL)  # the test has failed
        started.process.communicate()
        wait_until(lambda started=started: not started.living())


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.005)


def wait_for_games(started: Started, run: Path, least: int) -> None:
    """Wait until a run that is being played has stored at least `least` games."""
    while len(rows(run)) < least:
        assert started.process.poll() is None, started.end()
        time.sleep(0.005)


def rows(run: Path) -> list[tuple[Any, ...]]:
    """Return number, cause and moves of the games stored so far."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{run / 'games.sqlite'}?mode=ro", uri=True)
        ) as base:
            return base.execute("SELECT number, cause, moves FROM games ORDER BY number").fetchall()
    except sqlite3.OperationalError:  # there is no table yet
        return []


def integrity(run: Path) -> str:
    with contextlib.closing(sqlite3.connect(run / "games.sqlite")) as base:
        (answer,) = base.execute("PRAGMA integrity_check").fetchone()
    return str(answer)


def table(fourlab: Run, run: str) -> str:
    done = fourlab("games", run, "--csv", "-")
    assert done.returncode == 0
    return done.stdout


def run_printed(fourlab: Run, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command line that was printed."""
    program, *arguments = shlex.split(command)
    assert program == "fourlab"
    return fourlab(*arguments)


def without_times(result: subprocess.CompletedProcess[str]) -> Any:
    """Return the JSON output without the folder and the times."""
    return {
        name: value
        for name, value in json.loads(result.stdout).items()
        if name not in ("run", "seconds_a_move")
    }


@pytest.mark.parametrize(
    ("kills", "games"), [(2, 300), pytest.param(25, 3000, marks=pytest.mark.soak)]
)
def test_repeated_kills_do_not_change_the_result(
    fourlab: Run, start: Callable[..., Started], tmp_path: Path, kills: int, games: int
) -> None:
    match = [*LONG, "--games", str(games)]
    rng, run = random.Random(7), tmp_path / "killed"
    for i in range(1, kills + 1):
        enough = max(10 * i, len(rows(run)) + 1)
        started = start(*match, "--quiet", "--run", "killed")
        wait_for_games(started, run, enough)
        time.sleep(rng.uniform(0, 0.05))
        if i % 5 != 2:
            started.signal_group(signal.SIGKILL)
        else:
            started.process.kill()  # the workers must notice by themselves
        assert started.end()[0] == -signal.SIGKILL
        wait_until(lambda started=started: not started.living())
        assert integrity(run) == "ok"
    assert len(rows(run)) < games, "there was something left to do"
    again = fourlab(*match, "--run", "killed", "--json")
    assert again.returncode == 0
    whole = fourlab(*match, "--run", "whole", "--json")
    assert table(fourlab, "killed") == table(fourlab, "whole")
    assert [number for number, _, _ in rows(run)] == list(range(games))
    assert without_times(again) == without_times(whole)


OPENINGS = ["112233", "44", "4444", "4433"]
"""Red wins the first one immediately: once a game is stored, the workers play the slow ones."""


def slow_match(tmp_path: Path, yellow: str, games: int = len(OPENINGS)) -> list[str]:
    (tmp_path / "openings.txt").write_text("\n".join(OPENINGS) + "\n")
    slow = ["match", "rules", yellow, "--games", str(games), "--starts", "fixed"]
    return [*slow, "--openings", "file:openings.txt", "--workers", "2"]


WAITING_PLAYER = """
import pathlib, time

def act(observation, configuration):
    if pathlib.Path("gate").exists():
        pathlib.Path("waiting").touch()
        while pathlib.Path("gate").exists():
            time.sleep(0.01)
    return observation["board"].index(0)
"""


class Gate:
    """Blocks a player while it is closed, so that tests do not depend on timing."""

    def __init__(self, folder: Path) -> None:
        (folder / "player.py").write_text(WAITING_PLAYER)
        self.player = "kaggle:file=player.py"
        self._file = folder / "gate"
        self._waiting = folder / "waiting"

    def close(self) -> None:
        self._waiting.unlink(missing_ok=True)
        self._file.touch()

    def open(self) -> None:
        self._file.unlink()

    def wait_for_player(self) -> None:
        wait_until(self._waiting.exists)


def test_a_stopped_run_finishes_the_games_in_progress_and_resumes(
    fourlab: Run, start: Callable[..., Started], tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    match, run = slow_match(tmp_path, gate.player, games=12), tmp_path / "stopped"
    resume = "fourlab resume stopped --workers 2 --allow-programs"
    gate.close()
    started, count = start(*match, "--run", "stopped"), 0
    for number in (signal.SIGINT, signal.SIGTERM):
        gate.wait_for_player()
        started.signal_group(number)
        started.wait_for_words("press Ctrl-C again")
        gate.open()
        code, printed = started.end()
        stored = rows(run)
        assert code == 130
        assert printed[-2:] == [f"stopped after {len(stored)} of 12 games; resume with:", resume]
        assert count < len(stored) < 12
        assert {cause for _, cause, _ in stored} == {"normal"}
        gate.close()
        started, count = start(*resume.split()[1:], "--quiet"), len(stored)
    gate.open()
    assert started.end() == (0, [])
    assert fourlab(*match, "--quiet", "--run", "whole").returncode == 0
    assert table(fourlab, "stopped") == table(fourlab, "whole")


def test_abandoned_games_are_stored_as_interrupted_and_played_again(
    fourlab: Run, start: Callable[..., Started], tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    match = slow_match(tmp_path, gate.player)
    gate.close()
    started = start(*match, "--quiet", "--run", "stopped")
    wait_for_games(started, tmp_path / "stopped", 1)
    gate.wait_for_player()
    started.signal_group(signal.SIGINT)
    started.wait_for_words("press Ctrl-C again to abandon it")
    started.signal_group(signal.SIGINT)
    started.wait_for_words("abandoning")
    gate.open()
    code, printed = started.end()
    assert code == 130
    assert printed[-1] == "fourlab resume stopped --workers 2 --allow-programs"
    causes = [cause for _, cause, _ in rows(tmp_path / "stopped")]
    assert {"interrupted", "normal"} <= set(causes)
    assert (
        printed[-2]
        == f"stopped after {causes.count('normal')} of {len(OPENINGS)} games; resume with:"
    )
    assert run_printed(fourlab, printed[-1]).returncode == 0
    assert [cause for _, cause, _ in rows(tmp_path / "stopped")] == ["normal"] * len(OPENINGS)
    assert fourlab(*match, "--quiet", "--run", "whole").returncode == 0
    assert table(fourlab, "stopped") == table(fourlab, "whole")


@pytest.mark.parametrize("more", [1, 4])
def test_a_second_ctrl_c_does_not_wait_for_a_move(
    more: int, start: Callable[..., Started], tmp_path: Path
) -> None:
    started = start(
        *slow_match(tmp_path, "mcts:simulations=30000000"), "--quiet", "--run", "stopped"
    )
    wait_for_games(started, tmp_path / "stopped", 1)
    started.signal_group(signal.SIGINT)
    started.wait_for_words("press Ctrl-C again")
    for _ in range(more):
        time.sleep(0.1)  # signals that come together count once; nothing depends on how many count
        started.signal_group(signal.SIGINT)
    code, printed = started.end()
    assert code == 130
    assert printed[-1] == "fourlab resume stopped --workers 2"
    assert integrity(tmp_path / "stopped") == "ok"


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a complete run."""
    folder = tmp_path_factory.mktemp("complete")
    assert run_in_process([*SHORT, "--quiet", "--run", "one"], folder).returncode == 0
    return folder / "one"


@pytest.fixture
def played(complete: Path, tmp_path: Path) -> Path:
    """A copy of the complete run, for one test."""
    return Path(shutil.copytree(complete, tmp_path / "one"))


def test_a_different_configuration_is_refused_by_field(fourlab: Run, played: Path) -> None:
    before = rows(played)
    for changed, field in (
        (["--seed", "6"], "seed = 5, not 6"),
        (["--limit-b", "nodes=9"], "agents.1.name = rules, not rules nodes=9"),
        (["--openings", "empty"], "openings = random:4, not empty"),
    ):
        done = fourlab(*SHORT, "--run", "one", *changed)
        assert (done.returncode, done.stdout) == (2, "")
        assert (
            done.stderr == f"fourlab: one was begun with {field}: a run keeps its configuration\n"
        )
    other = fourlab("match", "minimax", *SHORT[2:], "--run", "one")
    assert (other.returncode, other.stdout) == (2, "")
    assert other.stderr.startswith(
        "fourlab: one was begun with agents.0.name = random, not minimax: "
    )
    assert rows(played) == before


def test_more_games_extend_a_run_and_play_only_the_missing_ones(fourlab: Run, played: Path) -> None:
    """Games, workers and executor are not part of a run's identity."""
    before = rows(played)
    longer = [*SHORT, "--games", "44", "--quiet"]
    copy = Path(shutil.copytree(played, played.parent / "copy"))
    for folder, command in (
        (played, [*longer, "--run", "one"]),
        (copy, ["resume", "copy", "--games", "44"]),
    ):
        done = fourlab(*command)
        assert done.returncode == 0, done.stderr
        after = rows(folder)
        assert len(after) == 44
        assert after[: len(before)] == before
        assert "rounds = 22" in (folder / "config.toml").read_text()
    whole = fourlab(*longer, "--run", "whole")
    assert whole.returncode == 0, whole.stderr
    assert rows(played.parent / "whole") == after
    fewer = fourlab(*SHORT, "--run", "whole", "--json")  # shows all stored games
    assert json.loads(fewer.stdout)["games"] == 44
    odd = fourlab("resume", "whole", "--games", "45")
    assert (odd.returncode, odd.stdout) == (2, "")
    assert "a round has 2 games" in odd.stderr


def test_an_edited_configuration_is_refused_by_field(fourlab: Run, played: Path) -> None:
    file = played / "config.toml"
    text = file.read_text()
    for before, after, words in (
        ("seed = 5", "seed = 55", "one was begun with seed = 5, not 55: "),
        (
            'spec = "rules"',
            'spec = "random"',
            "one was begun with agents.1.spec = rules, not random: ",
        ),
        ("seed = 5", "", "one was begun with seed = 5, not None: "),
        ("seed = 5", "seed =", "one/config.toml is not TOML: "),
    ):
        assert text.count(before) == 1
        file.write_text(text.replace(before, after))
        done = fourlab("resume", "one")
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"fourlab: {words}")
    file.write_text(text)
    assert fourlab("resume", "one").returncode == 0


def test_a_second_process_on_the_same_run_is_refused(
    fourlab: Run, start: Callable[..., Started], tmp_path: Path
) -> None:
    match = [*slow_match(tmp_path, "mcts:simulations=30000000"), "--quiet", "--run", "one"]
    wait_for_games(start(*match), tmp_path / "one", 1)
    for second in (fourlab(*match), fourlab("resume", "one")):
        assert (second.returncode, second.stdout) == (2, "")
        assert second.stderr == "fourlab: another process is working on one\n"


def test_the_same_command_again_plays_nothing_and_prints_the_same(
    fourlab: Run, tmp_path: Path
) -> None:
    first = fourlab(*SHORT, "--json")
    (run,) = (tmp_path / "runs").iterdir()
    before = rows(run)
    for again in (fourlab(*SHORT, "--json"), fourlab("resume", "last", "--json")):
        assert (again.returncode, again.stderr) == (0, "")
        assert without_times(again) == without_times(first)
    assert rows(run) == before
    assert len(before) == 40


def test_a_damaged_file_of_games_is_reported_in_one_line(fourlab: Run, played: Path) -> None:
    (played / "games.sqlite").write_text("not a table of games\n" * 100)
    listed, resumed = fourlab("games", "one"), fourlab("resume", "one")
    assert (listed.returncode, resumed.returncode) == (2, 2)
    assert listed.stderr == "fourlab: cannot open one/games.sqlite: file is not a database\n"
    assert resumed.stderr == listed.stderr
