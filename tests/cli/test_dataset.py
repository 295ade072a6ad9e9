import hashlib
import json
import lzma
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fourlab.datasets.labels import as_text, load, uci8
from fourlab.solver.many import CHUNK
from tests.cli.interrupted import interrupted, resume_arguments

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_the_uci_set_is_written_and_described(fourlab: Run, tmp_path: Path) -> None:
    done = fourlab("dataset", "uci8", "-o", "u.data.xz", "--json")
    assert done.returncode == 0, done.stderr
    text = lzma.decompress((tmp_path / "u.data.xz").read_bytes())
    assert json.loads(done.stdout) == {
        "file": "u.data.xz",
        "positions": 67_557,
        "win": 44_473,
        "draw": 6_449,
        "loss": 16_635,
        "sha256": hashlib.sha256(text).hexdigest(),
    }
    assert text.count(b"\n") == 67_557
    assert load(tmp_path / "u.data.xz").counts["win"] == 44_473


def test_solved_positions_are_written_and_described(fourlab: Run, tmp_path: Path) -> None:
    done = fourlab(
        "dataset", "solved", "-o", "s.npz", "--positions", "30", "--board", "5x4", "--seed", "2"
    )
    assert done.returncode == 0, done.stderr
    labelled = load(tmp_path / "s.npz")
    assert f"positions: 30\nwin: {labelled.counts['win']}\n" in done.stdout
    assert not (tmp_path / "s.npz.journal").exists()
    with np.load(tmp_path / "s.npz") as parts:
        about = json.loads(parts["about"].tobytes())
    assert (
        about["command"]
        == "fourlab dataset solved --positions 30 --plies 8-14 --board 5x4x4 --seed 2"
    )
    assert about["sha256"] in done.stdout


def test_solving_from_scratch_resumes_from_the_journal(fourlab: Run, tmp_path: Path) -> None:
    uci = uci8()
    about = {"question": "result", "board": "7x6x4", "positions": len(uci), "chunk": CHUNK}
    about["sha256"] = hashlib.sha256(uci.keys.astype("<i8").tobytes()).hexdigest()
    lines = [
        {"start": start, "scores": uci.results[start : start + CHUNK].tolist()}
        for start in range(0, len(uci), CHUNK)
    ]
    journal = tmp_path / "u.data.journal"
    # All but five positions are solved.
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in [about, *lines[:-1]]))
    done = fourlab("dataset", "uci8", "--from-scratch", "-o", "u.data")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "u.data").read_bytes() == as_text(uci)
    assert not journal.exists()


def test_stopped_work_resumes_and_gives_the_same_file(fourlab: Run, tmp_path: Path) -> None:
    command = ["dataset", "solved", "--positions", "200", "--board", "6x5", "--plies", "11-24"]

    def stop(how: signal.Signals, lines: int) -> str:
        """Begin or resume, stop after some lines of the journal, and return standard error."""
        solving = interrupted(tmp_path, [*command, "-o", "my set.npz"], "journal_line", lines, how)
        _, printed = solving.communicate()
        assert solving.returncode == (130 if how == signal.SIGINT else -how), printed
        assert not (tmp_path / "my set.npz").exists()
        return printed

    stop(signal.SIGKILL, 3)
    (journal,) = tmp_path.glob("runs/*/journal")
    killed = journal.read_text().splitlines()
    printed = stop(signal.SIGINT, 2)
    assert "Traceback" not in printed
    # The last line may have been cut short.
    assert journal.read_text().splitlines()[: len(killed) - 1] == killed[:-1]
    done = fourlab(*resume_arguments(printed))
    assert done.returncode == 0, done.stderr
    assert not journal.exists()
    straight = fourlab(*command, "--workers", "2", "-o", "b.npz", "--runs", "others")
    assert straight.returncode == 0, straight.stderr
    assert (tmp_path / "my set.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ("uci8",),
        ("uci8", "-o", "no/such/folder/u.data"),
        ("solved", "-o", "s.data"),
        ("solved", "-o", "s.npz", "--plies", "8"),
        ("solved", "-o", "s.npz", "--plies", "8-42"),
        ("solved", "-o", "s.npz", "--board", "3x3"),
        ("solved", "-o", "s.npz", "--positions", "900", "--plies", "2..3"),
        ("solved", "-o", "no/such/folder/s.npz"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    fourlab: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = fourlab("dataset", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("fourlab: ")
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
