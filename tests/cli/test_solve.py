import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_positions_from_the_command_line(fourlab: Run) -> None:
    done = fourlab("solve", "23766176641753", "121212")
    assert done.returncode == 0
    first, second = (line.split() for line in done.stdout.splitlines())
    assert first[:2] == ["23766176641753", "2"]
    assert int(first[2]) > 1000
    assert int(first[3]) > 0
    assert second[:3] == ["121212", "18", "0"]


def test_positions_from_a_pipe_and_from_a_file(fourlab: Run, tmp_path: Path) -> None:
    text = "# three of them\n23766176641753\n\nddddddcc\n32751571231557 -1\n"
    piped = fourlab("solve", "--weak", stdin=text)
    assert piped.returncode == 0
    assert [line.split()[0] for line in piped.stdout.splitlines()] == [
        "23766176641753",
        "ddddddcc",
        "32751571231557",
    ]
    assert [line.split()[1] for line in piped.stdout.splitlines()][::2] == ["1", "-1"]
    (tmp_path / "set.txt").write_text("23766176641753 2\n32751571231557 -3\n")
    done = fourlab("solve", "--file", "set.txt")
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["2", "-3"]
    assert done.stderr == "" or "compiling" in done.stderr


def test_wrong_scores_are_reported(fourlab: Run) -> None:
    done = fourlab("solve", stdin="23766176641753 2\n32751571231557 4\n")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].endswith("wrong: 4 was expected")
    assert "1 of 2 scores are not as expected" in done.stderr
    weak = fourlab("solve", "--weak", "--json", stdin="23766176641753 5\n32751571231557 4\n")
    assert [json.loads(line)["wrong"] for line in weak.stdout.splitlines()] == [False, True]


def test_scores_outside_the_proven_bounds_are_wrong_too(fourlab: Run) -> None:
    done = fourlab("solve", "--no-book", "--nodes", "20000", stdin="75777317 20\n75777317 -2\n")
    assert done.returncode == 1
    assert "1 of 2 scores are not as expected" in done.stderr
    assert "2 of 2 scores could not be proven" in done.stderr
    assert fourlab("solve", "44", "--file", "x").returncode == 2
    assert fourlab("solve", "44", "--memory-mb", "inf").returncode == 2


def test_all_columns(fourlab: Run) -> None:
    assert (
        fourlab("solve", "--all-columns", "32751571231557").stdout
        == "32751571231557 -4 -3 -3 -5 -5 -9 -4\n"
    )
    full = fourlab("solve", "--all-columns", "--weak", "4444442222223")
    assert full.returncode == 0
    assert full.stdout.split()[2] == full.stdout.split()[4] == "."
    data = json.loads(fourlab("solve", "--all-columns", "--json", "32751571231557").stdout)
    assert data["score"] == -3
    assert data["columns"]["6"] == {"score": -9, "lower": -9, "upper": -9}


def test_unproven_scores_are_shown_as_bounds(fourlab: Run) -> None:
    done = fourlab("solve", "75777317", "--no-book", "--nodes", "20000")
    low, high = done.stdout.split()[1].split("..")
    assert int(low) <= -2 <= int(high)
    data = json.loads(
        fourlab("solve", "75777317", "--no-book", "--nodes", "20000", "--json").stdout
    )
    assert data["score"] is None
    assert data["nodes"] == 20000


def test_bad_lines_are_named_and_earlier_results_are_printed(fourlab: Run, tmp_path: Path) -> None:
    done = fourlab("solve", stdin="23766176641753\n99\n")
    assert done.returncode == 2
    assert done.stdout.startswith("23766176641753 2")
    assert "standard input, line 2" in done.stderr
    assert done.stderr.count("\n") <= 2
    over = fourlab("solve", "1212121")
    assert over.returncode == 2
    assert "the game is over" in over.stderr
    assert fourlab("solve", "--file", "none.txt").returncode == 2
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert fourlab("solve", "--file", "binary").returncode == 2
    assert fourlab("solve", "44", "--seconds", "0").returncode == 2


def test_accuracy_of_agents(fourlab: Run, tmp_path: Path) -> None:
    done = fourlab("accuracy", "rules", "perfect", "--random", "10", "--plies", "20-30", "--json")
    assert done.returncode == 0
    data = json.loads(done.stdout)["agents"]
    assert data["perfect"]["mistakes"] == 0
    assert data["perfect"]["best"] == data["perfect"]["positions"] == 10
    low, high = data["rules"]["mistake_interval"]
    assert low <= data["rules"]["mistake_rate"] <= high
    (tmp_path / "some.txt").write_text("23766176641753 2\n32751571231557 -3\n")
    shown = fourlab("accuracy", "mcts", "--simulations", "50", "--positions", "some.txt")
    assert shown.returncode == 0
    assert "can go wrong" in shown.stdout.splitlines()[0]
    assert shown.stdout.splitlines()[1].startswith("mcts")


def test_accuracy_needs_positions(fourlab: Run, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("# nothing\n")
    (tmp_path / "over.txt").write_text("1212121\n")
    for arguments in (
        ("accuracy", "rules"),
        ("accuracy", "rules", "--random", "3", "--positions", "x"),
        ("accuracy", "rules", "--positions", "none.txt"),
        ("accuracy", "rules", "--positions", "over.txt"),
        ("accuracy", "rules", "--random", "3", "--plies", "5-2"),
        ("accuracy", "rules", "--random", "3", "--plies", "²-³"),
        ("accuracy", "rules", "--random", "90", "--plies", "1-1"),
        ("accuracy", "nobody", "--random", "3"),
    ):
        done = fourlab(*arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == ""
        assert "Traceback" not in done.stderr


def test_books_are_built_described_and_checked(fourlab: Run, tmp_path: Path) -> None:
    built = fourlab("book", "build", "--plies", "4", "--board", "5x4", "--file", "b.npz")
    assert built.returncode == 0
    assert "positions of up to 4 plies on 5x4x4" in built.stdout
    assert not (tmp_path / "b.npz.journal").exists()
    data = json.loads(fourlab("book", "info", "b.npz", "--json").stdout)
    assert data["plies"] == 4
    assert data["sha256"] in built.stdout
    assert "20 positions solved again, 0 wrong" in fourlab("book", "check", "b.npz").stdout
    assert json.loads(fourlab("book", "info", "--json").stdout)["board"] == "7x6x4"
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    assert fourlab("book", "info", "bad.npz").returncode == 2
    assert fourlab("book", "build", "--plies", "40", "--board", "3x3").returncode == 2


def test_analyze_shows_exact_values_and_the_agent(fourlab: Run) -> None:
    done = fourlab("analyze", "32751571231557", "--agent", "minimax")
    assert "column  3 * loses in 24" in done.stdout
    assert "column  6   loses in 12" in done.stdout
    assert "best play: 3 2 4" in done.stdout
    assert " points" in done.stdout
    data = json.loads(fourlab("analyze", "32751571231557", "--agent", "minimax", "--json").stdout)
    assert data["truth"]["columns"][5] == {
        "column": 6,
        "says": "loses in 12",
        "score": -9,
        "lower": -9,
        "upper": -9,
    }
    assert len(data["truth"]["line"]) == 24
    without = json.loads(
        fourlab("analyze", "32751571231557", "--agent", "rules", "--proof", "0", "--json").stdout
    )
    assert "truth" not in without
