"""`fourlab engine`, in processes of their own."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from fourlab import Limit, Position, make
from fourlab.arena.game import play_game
from fourlab.engines.program import Engine
from fourlab.game.record import Cause
from tests.conftest import ROOT

Run = Callable[..., subprocess.CompletedProcess[str]]
BROKEN = shlex.join(
    [sys.executable, "-S", str(ROOT / "tests" / "engines" / "engine.py"), "illegal"]
)

PATIENT = {"start_seconds": 600, "grace": 600}
"""Limits so long that a busy machine does not fail an engine."""
WAITING = ("--start-seconds", "600", "--grace", "600")


def served(spec: str) -> str:
    return shlex.join([sys.executable, "-m", "fourlab", "engine", "serve", spec])


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """A served agent, as the arena plays it."""
    agent = Engine(served("mcts"), **PATIENT)
    yield agent
    agent.close()


@pytest.mark.parametrize("board", ["7x6x4", "5x4x4"])
@pytest.mark.parametrize("side", [0, 1], ids=["red", "yellow"])
def test_a_served_agent_plays_whole_games_in_the_arena(
    engine: Engine, board: str, side: int
) -> None:
    players = [engine, make("rules")] if side == 0 else [make("rules"), engine]
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    record = play_game(Position(board=board), players, [Limit(simulations=50)] * 2, rngs)
    assert (record.cause, record.detail) == (Cause.NORMAL, "")
    assert record.result is not None
    values = [thought.value for thought in record.thoughts[side::2]]
    assert all(value is not None and -1 <= value <= 1 for value in values)


def test_a_served_agent_reports_every_column(fourlab: Run) -> None:
    agent = f'engine:cmd="{served("perfect")}",multipv=7,start_seconds=600,grace=600'
    analysis = json.loads(
        fourlab("analyze", "32751571231557", "--agent", agent, "--proof", "0", "--json").stdout
    )
    assert analysis["estimates"] == {
        "1": -1.0,
        "2": -1.0,
        "3": -1.0,
        "4": -1.0,
        "5": -1.0,
        "6": -1.0,
        "7": -1.0,
    }
    assert analysis["column"] in (2, 3)
    assert analysis["proven"] is None  # claims of an external engine count as estimates


def test_a_served_agent_follows_the_protocol(fourlab: Run) -> None:
    done = fourlab("engine", "check", served("rules"), "--board", "5x4x4", *WAITING)
    assert done.returncode == 0, done.stdout
    assert "ok      greets and gets ready: Fourlab" in done.stdout
    assert done.stdout.endswith("all 17 rules are kept\n")


def test_the_faults_of_a_broken_engine_are_reported(fourlab: Run) -> None:
    done = fourlab("engine", "check", BROKEN, "--board", "5x4x4", *WAITING)
    assert done.returncode == 1
    fault = "answered column 9, which does not exist (position startpos)"
    assert f"BROKEN  plays whole games on 5x4x4: {fault}\n" in done.stdout
    assert done.stdout.endswith("10 of 17 rules are broken\n")


def test_the_report_as_json(fourlab: Run) -> None:
    done = fourlab("engine", "check", "./nothing", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "cmd": "./nothing",
        "kept": False,
        "rules": [
            {
                "rule": "greets and gets ready",
                "kept": False,
                "detail": "cannot start ./nothing: No such file or directory",
            }
        ],
    }


def test_the_pons_protocol_answers_positions_with_scores(fourlab: Run) -> None:
    done = fourlab(
        "engine",
        "serve",
        "perfect",
        "--proto",
        "pons",
        stdin="23766176641753\n1212121\n32751571231557",
    )
    assert done.returncode == 0
    assert done.stdout == "23766176641753 2\n\n32751571231557 -3\n"
    assert done.stderr.splitlines()[-1].startswith("fourlab: line 2: the game is over")


def test_the_line_protocol_answers_columns_with_columns(fourlab: Run) -> None:
    done = fourlab(
        "engine",
        "serve",
        "rules",
        "--proto",
        "line",
        "--board",
        "5x4x4",
        stdin="go\n1\nx\n1\nquit\n1\n",
    )
    assert done.returncode == 0
    own = done.stdout.splitlines()
    assert own[0] == "3"
    assert own[2] == "error: 'x' is neither a column nor go, new or quit"
    assert len(own) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "nobody"),
        ("serve", "human"),
        ("serve", "rules", "--proto", "uci"),
        ("serve", "rules", "--proto", "pons"),
        ("check", " "),
        ("check", "./nothing", "--grace", "-1"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(fourlab: Run, arguments: tuple[str, ...]) -> None:
    done = fourlab("engine", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("fourlab: ")
    assert done.stderr.count("\n") == 1


def test_an_agent_that_cannot_play_reports_why_in_its_last_line() -> None:
    agent = Engine(served("dqn"), **PATIENT)
    record = play_game(
        Position(board="5x4x4"),
        [agent, make("rules")],
        [Limit()] * 2,
        [np.random.default_rng(1)] * 2,
    )
    agent.close()
    assert record.cause == Cause.CRASH
    assert record.detail.startswith("red: exited with code 2: fourlab: ")


@pytest.mark.parametrize("protocol", ["c4i", "line"])
def test_a_closed_input_ends_the_engine(protocol: str) -> None:
    command = f"{sys.executable} -m fourlab engine serve perfect --proto {protocol} <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fourlab", "engine", "serve", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
        env={**os.environ, "FOURLAB_POSITIONS": os.devnull},
    )


def send(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin
    process.stdin.write(text)
    process.stdin.flush()


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout
    while not (line := process.stdout.readline()).startswith(word):
        assert line, f"ended without {word}"


@pytest.mark.parametrize("state", ["thinking", "waiting"])
def test_ctrl_c_ends_the_engine(state: str) -> None:
    with start("mcts") as process:
        send(process, "isready\n")
        wait_for(process, "readyok")
        if state == "thinking":
            send(process, "go infinite\nisready\n")
            wait_for(process, "readyok")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "question", "answer"),
    [
        (("perfect", "--proto", "pons"), "121212\n", "121212 18"),
        (("rules", "--proto", "line"), "go\n", "4"),
    ],
)
def test_ctrl_c_ends_the_simple_protocols(
    arguments: tuple[str, ...], question: str, answer: str
) -> None:
    with start(*arguments) as process:
        send(process, question)
        wait_for(process, answer)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize("how", ["quit", "the end of the input"])
def test_quit_and_the_end_of_the_input_end_the_process(how: str) -> None:
    with start("mcts") as process:
        send(process, "isready\ngo infinite\n")
        wait_for(process, "readyok")
        if how == "quit":
            send(process, "quit\n")
        else:
            assert process.stdin
            process.stdin.close()
        assert process.wait() == 0
        assert process.stdout
        assert ("bestmove" in process.stdout.read()) == (how != "quit")
