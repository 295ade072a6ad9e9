import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fourlab import Position, UserError, make
from fourlab.bridges.kaggle import export as exporter
from fourlab.bridges.kaggle.examine import REPLIES, SEARCHED
from fourlab.bridges.kaggle.export import KINDS, export, source_of
from fourlab.bridges.kaggle.replies import shipped_replies
from fourlab.game.rules import Rules
from fourlab.nets.patterns import PatternNetwork, Shape
from fourlab.solver import Solver
from tests.processes import runs

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            "negamax",
            "'negamax' cannot be exported; these can: alphazero, anytime, dqn, mcts, minimax, pat",
        ),
        ("human", "agent 'human' cannot be exported"),
        ("nobody", "there is no agent 'nobody'"),
        ("mcts:leaves=patterns", "mcts with leaves=patterns cannot be exported; patterns and any"),
        ("alphazero:net=patterns", "alphazero with net=patterns cannot be exported; patterns and"),
        ("patterns:file=nothing.npz", "cannot read the patterns nothing.npz: No such file"),
        ("minimax:depth=0", "depth of agent 'minimax' must be a whole number from 1 to 62"),
    ],
)
def test_what_cannot_be_exported_is_said(spec: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        source_of(spec)


@pytest.mark.parametrize("name", ["patterns", "anytime"])
def test_patterns_of_another_board_are_refused(name: str, tmp_path: Path) -> None:
    shape = Shape(Rules(5, 4, 4), (0b11, 0b101))
    file = tmp_path / "small.npz"
    PatternNetwork(shape, np.zeros((2, shape.entries), np.int16)).save(file)
    said = "small.npz: its patterns are for the board 5x4x4, and Kaggle plays 7x6x4"
    with pytest.raises(UserError, match=said):
        source_of(f'{name}:file="{file}"')
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(UserError, match="is not a file of patterns or is damaged"):
        source_of(f'{name}:file="{file}"')


def test_a_folder_that_is_not_there_is_said_first(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such folder"):
        export("rules", tmp_path / "nothing" / "main.py")
    with pytest.raises(UserError, match="it is a folder"):
        export("rules", tmp_path)
    with pytest.raises(UserError, match="there is no agent"):
        export(
            "rulse",
            tmp_path / "main.py",
            lambda: pytest.fail("what cannot be exported is not examined"),
        )


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "def agent(o, c): return c.columns",
            "it failed its test with-numba: ValueError: answered 7 on",
        ),
        ("def agent(o, c): return 0", "answered 0 on"),  # until the column is full
        ("def agent(o, c): return 1 / 0", "ZeroDivisionError"),
        ("import fourlab\ndef agent(o, c): return 0", "ModuleNotFoundError"),
        ("print(__file__)\ndef agent(o, c): return 0", "NameError"),
        ("import os\nos._exit(3)", "failed: exited with code 3"),
        (
            "TROUBLE = ['ZeroDivisionError()']\ndef agent(o, c): return o.board.index(0)",
            "something went wrong in it: ZeroDivisionError",
        ),
        (
            "import time\ndef agent(o, c):\n    time.sleep(2.1 if c.actTimeout == 2 else 0)\n"
            "    return o.board.index(0)",
            None,
        ),
        (
            "def agent(o, c): return o.board[: c.columns].index(0)",
            "rules did not take [1-8] of 8 wins",
        ),
    ],
)
def test_a_file_that_fails_is_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str, said: str | None
) -> None:
    monkeypatch.setattr(exporter, "source_of", lambda spec: source)
    if said is None:
        monkeypatch.setattr(exporter, "BANK", 1)
    file = tmp_path / "main.py"
    file.write_text("what was there before")
    with pytest.raises(UserError, match=said or r"would need \d+\.\d s more than Kaggle's bank"):
        export("rules", file)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["what was there before"]


def test_a_weak_file_does_not_pass_for_perfect(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    weak = source_of("rules")
    monkeypatch.setattr(exporter, "source_of", lambda spec: weak)
    said = r"perfect did not keep \d+ of \d+ known results: .*\d+: \d instead of \d"
    with pytest.raises(UserError, match=said):
        export("perfect", tmp_path / "main.py")
    assert export("rules", tmp_path / "main.py").examined[0].mistakes
    assert not KINDS["perfect"].keeps(make("perfect:mistakes=0.5"))


def test_the_known_results_are_known() -> None:
    solver = Solver()
    book = shipped_replies()
    assert book is not None
    for moves, columns in (REPLIES | SEARCHED).items():
        best = solver.best_columns(moves, weak=True)[1]
        assert "".join(str(column + 1) for column in best) == columns, moves
        assert (book.column(Position(moves)) is None) == (moves in SEARCHED), moves


def test_one_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(exporter, "source_of", lambda spec: "while True: pass")
    monkeypatch.setattr(exporter, "MAX_SECONDS", 2)
    with pytest.raises(UserError, match="did not end within 2 s"):
        export("rules", tmp_path / "main.py")
    assert not list(tmp_path.iterdir())


def test_one_that_prints_without_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(exporter, "source_of", lambda spec: "while True: print('x' * 1000)")
    with pytest.raises(UserError, match="failed: wrote more than"):
        export("rules", tmp_path / "main.py")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_what_a_file_starts_ends_with_its_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The child keeps the pipe to its grandparent open, in a session of its own.
    child = [sys.executable, "-S", "-c", "import time; time.sleep(100_000)"]
    source = (
        f"import os, subprocess\nchild = subprocess.Popen({child}, start_new_session=True)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\nos._exit(3)"
    )
    monkeypatch.setattr(exporter, "source_of", lambda spec: source)
    with pytest.raises(UserError, match="failed: exited with code 3"):
        export("rules", tmp_path / "main.py")
    assert not runs(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("spec", ["random", "dqn"])
def test_who_promises_nothing_is_not_held_to_it(spec: str) -> None:
    assert not KINDS[spec].wins(None)
    assert not KINDS[spec].blocks(None)


def test_the_command_prints_the_results_of_the_tests(fourlab: Run, tmp_path: Path) -> None:
    done = fourlab("export", "kaggle", "rules", "-o", "rules.py", "--quiet", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    exported = json.loads(done.stdout)
    (result,) = exported["examined"]
    assert (exported["file"], exported["spec"], exported["bytes"]) == (
        "rules.py",
        "rules",
        len((tmp_path / "rules.py").read_bytes()),
    )
    assert not result["numba"]
    assert (result["wins"], result["blocks"], result["tactics"]) == (8, 8, 8)
    assert (tmp_path / "rules.py").read_text() == source_of("rules")


@pytest.mark.parametrize("spec", ["mcts:simulations=100", "anytime:nodes=200"])
def test_a_searching_agent_is_examined_with_numba_and_without(spec: str, tmp_path: Path) -> None:
    exported = export(spec, tmp_path / "main.py")
    assert [result.numba for result in exported.examined] == [True, False]
    assert all(result.wins == result.blocks == 8 for result in exported.examined)
    assert all(result.tactics == 8 for result in exported.examined)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("mcts", ["makes at most 10,000 simulations per move; mcts:seconds=2 uses"]),
        ("patterns", ["makes at most 10,000 nodes per move; patterns:seconds=2 uses"]),
        ("anytime", ["makes at most 100,000 nodes per move; anytime:seconds=2 uses"]),
        ("anytime:seconds=2", ["without Numba it searches less deeply"]),
    ],
)
def test_differences_from_the_lab_are_noted(spec: str, said: list[str]) -> None:
    name, agent = exporter._agent(spec)
    notes = list(exporter._notes(name, agent))
    for text in said:
        assert any(text in note for note in notes)
    assert sum("per move" in note for note in notes) == (":" not in spec)


def test_mistakes_on_the_command_line_cost_one_line(fourlab: Run) -> None:
    done = fourlab("export", "kaggle", "negamax")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "fourlab: agent 'negamax' cannot be exported; these can: "
    )
