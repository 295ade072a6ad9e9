"""A misbehaving engine cannot block us, fill our memory, leave processes or harm the next game."""

import contextlib
import gc
import os
import re
import shlex
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab import Decision, Limit, Position, Stop, UserError, make
from fourlab.agent import Analysis, Forfeit
from fourlab.engines import program
from fourlab.engines import protocol as c4i
from fourlab.engines.process import Program
from fourlab.engines.program import Engine
from fourlab.game.record import Cause

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SCRIPT = Path(__file__).with_name("engine.py")
QUICK = Limit(seconds=0.2)


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    """Where the engines of a test leave their process ids."""
    return tmp_path / "pids"


@pytest.fixture(autouse=True)
def nothing_is_left(pids: Path) -> Iterator[None]:
    """Check after every test that no process, zombie or open file is left, nor memory used."""
    files = os.listdir("/proc/self/fd")
    threads = threading.active_count()
    with contextlib.suppress(OSError):
        # Reset the peak memory, where that is allowed.
        Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmHWM")
    gc.freeze()  # objects of other tests need not be scanned after each of these
    yield
    gc.collect()
    assert memory("VmHWM") - before < 50
    assert len(os.listdir("/proc/self/fd")) == len(files)
    assert threading.active_count() == threads
    for pid in map(int, pids.read_text().split() if pids.exists() else []):
        assert ends(pid)
        assert not group_of(pid)
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def memory(field: str) -> float:
    """Return a field of /proc/self/status in megabytes."""
    status = Path("/proc/self/status").read_text()
    match = re.search(rf"^{field}:\s*(\d+) kB", status, re.MULTILINE)
    assert match
    return int(match[1]) / 1000


def ends(pid: int) -> bool:
    """Wait until a process has ended, which takes a moment after it is killed."""
    while runs(pid):
        time.sleep(0.01)
    return True


def runs(pid: int) -> bool:
    try:
        return state(pid)[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def state(pid: int) -> list[str]:
    """Return the words of /proc/PID/stat from the state on: state, parent, group, …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def group_of(pid: int) -> list[int]:
    """Return the running processes of a process group."""
    members = []
    for member in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
        try:
            if int(state(member)[2]) == pid and runs(member):
                members.append(member)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return members


def engine(kind: str, pids: Path, **options: Any) -> Engine:
    """Return an engine with ample time limits, unless the options set others."""
    cmd = shlex.join([sys.executable, "-S", str(SCRIPT), kind, str(pids)])
    return Engine(cmd, **{"start_seconds": 600, "grace": 600, "move_seconds": 600, **options})


def ask(
    agent: Engine, position: Position | None = None, limit: Limit = QUICK, seed: int = 1
) -> Decision:
    return agent.decide(position or Position(), limit, np.random.default_rng(seed))


def play(agent: Engine, limit: Limit = Limit(), board: str = "7x6x4") -> Position:  # noqa: B008
    """Play a whole game of the engine against itself; return the last position."""
    position = Position(board=board)
    rng = np.random.default_rng(1)
    while position.outcome() is None:
        position = position.play(agent.decide(position, limit, rng).column)
    return position


def plays_well(pids: Path) -> None:
    agent = engine("good", pids)
    assert play(agent).outcome() is not None
    agent.close()


FAULTS = [
    ("silent", {"start_seconds": 0.5}, Cause.TIMEOUT, r"did not start within 0.5 s \(no c4iok\)"),
    ("dies", {}, Cause.CRASH, "exited with code 1: no licence"),
    ("crash", {}, Cause.CRASH, "exited with code 1: RuntimeError: boom"),
    ("killed", {}, Cause.CRASH, r"was killed by signal 9 \(Killed\)"),
    ("hang", {"grace": 0.1}, Cause.TIMEOUT, r"had not answered \d+.\d\d s after its time"),
    ("illegal", {}, Cause.ILLEGAL, "answered column 9, which does not exist"),
    ("words", {}, Cause.CRASH, "answered 'left', which is not a column"),
    (
        "noise",
        {},
        Cause.CRASH,
        "wrote more than 1048576 bytes for one move|wrote more than 10000 lines for one move",
    ),
    ("lines", {}, Cause.CRASH, "wrote more than 10000 lines for one move"),
    ("no-newline", {}, Cause.CRASH, "wrote a line of more than 65536 bytes"),
    ("long-lines", {}, Cause.CRASH, "wrote more than 1048576 bytes for one move"),
    ("stderr", {"grace": 0.1}, Cause.TIMEOUT, "had not answered"),
    ("late", {"grace": 0.1}, Cause.TIMEOUT, r"answered \d+.\d\d s late \(0.1 s are allowed\)"),
    ("close", {}, Cause.CRASH, "closed its output"),
    ("memory", {"memory_mb": 150}, Cause.CRASH, r"used \d+ MB of memory, more than its 150 MB"),
]


@pytest.mark.parametrize(
    ("kind", "options", "cause", "detail"), FAULTS, ids=[fault[0] for fault in FAULTS]
)
def test_a_fault_is_a_forfeit_and_harms_nothing_else(
    kind: str,
    options: dict[str, float],
    cause: Cause,
    detail: str,
    pids: Path,
) -> None:
    agent = engine(kind, pids, **options)
    agent.overtime = 600 if kind == "late" else 0
    with pytest.raises(Forfeit, match=f"^({detail})") as forfeit:
        ask(agent)
    assert forfeit.value.cause == cause
    assert "\n" not in str(forfeit.value)
    (pid,) = map(int, pids.read_text().split())
    assert ends(pid)  # at once, not only when it is closed
    plays_well(pids)


@pytest.mark.parametrize(
    ("cmd", "why"),
    [
        ("/no/such/engine --fast", "No such file or directory"),
        (str(SCRIPT.parent), "Permission denied"),
        ("a\0b", "null byte"),
    ],
)
def test_a_program_that_cannot_be_started_is_a_forfeit(cmd: str, why: str) -> None:
    with pytest.raises(Forfeit, match=f"cannot start .*{why}") as forfeit:
        ask(Engine(cmd))
    assert forfeit.value.cause == Cause.CRASH


def test_a_full_column_is_illegal(pids: Path) -> None:
    with pytest.raises(Forfeit, match="answered column 4, which is full") as forfeit:
        ask(engine("full", pids), Position("444444"))
    assert forfeit.value.cause == Cause.ILLEGAL


def test_a_second_answer_never_answers_the_next_question(pids: Path) -> None:
    agent = engine("twice", pids)
    assert play(agent).write("moves") == "1111112222223333334"  # leftmost throughout, never 99
    agent.close()


def test_after_a_fault_the_same_agent_starts_a_fresh_engine(pids: Path) -> None:
    agent = engine("illegal", pids)
    for _ in range(2):
        with pytest.raises(Forfeit, match="column 9"):
            ask(agent)
    assert len(set(pids.read_text().split())) == 2


def test_an_engine_that_died_between_two_moves_forfeits_the_next(pids: Path) -> None:
    agent = engine("good", pids)
    ask(agent)
    os.kill(int(pids.read_text()), 9)
    with pytest.raises(Forfeit, match="was killed by signal 9"):
        ask(agent)
    ask(agent)
    agent.close()


@pytest.mark.parametrize("kind", ["ignores-quit", "ignores-sigterm", "child", "good"])
def test_closing_ends_the_engine_and_its_children(kind: str, pids: Path) -> None:
    agent = engine(kind, pids)
    ask(agent)
    assert all(runs(int(pid)) for pid in pids.read_text().split())
    agent.close()
    assert all(ends(int(pid)) for pid in pids.read_text().split())
    agent.close()  # a second time does nothing
    plays_well(pids)


def test_a_garbage_collected_engine_is_ended(pids: Path) -> None:
    agent = engine("good", pids)
    ask(agent)
    del agent
    gc.collect()
    assert ends(int(pids.read_text()))


def test_an_engine_does_not_outlive_its_parent(pids: Path) -> None:
    script = f"""
        import numpy as np, os, signal, sys
        from fourlab import Limit, Position
        from fourlab.engines.program import Engine
        agent = Engine({engine("good", pids).cmd!r})
        agent.decide(Position(), Limit(), np.random.default_rng(1))
        if sys.argv[1] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
    """
    for how in ("forgets", "killed"):
        subprocess.run([sys.executable, "-c", textwrap.dedent(script), how], check=how == "forgets")
    assert all(ends(int(pid)) for pid in pids.read_text().split())


def test_an_engine_can_be_started_before_its_first_move(pids: Path) -> None:
    agent = engine("good", pids)
    agent.start()
    agent.start()  # a second time does nothing
    assert len(pids.read_text().split()) == 1
    ask(agent)
    assert len(pids.read_text().split()) == 1
    agent.close()
    with pytest.raises(Forfeit, match="exited with code 1: no licence"):
        engine("dies", pids).start()


def test_stop_ends_the_search(pids: Path) -> None:
    agent = engine("until-stop", pids)
    stop = Stop()
    timer = threading.Timer(0.2, stop.set)
    timer.start()
    assert ask(agent, limit=Limit(stop=stop)).column == 0
    timer.join()
    assert ask(agent, limit=Limit(seconds=0.1)).column == 0  # and so does the end of its time
    agent.close()


def test_info_lines_are_in_the_decision(pids: Path) -> None:
    agent = engine("noisy", pids)
    decision = ask(agent, limit=Limit())
    assert (decision.column, decision.value, decision.line, decision.proven) == (0, 0.3, (0,), None)
    assert replace(decision.analysis, seconds=None) == Analysis(depth=2, nodes=7)
    agent.close()


@pytest.mark.parametrize(
    ("info", "value", "line"),
    [
        ("score win 7 pv 4 4", 1.0, (3, 3)),
        ("score loss 2 pv 4 8", -1.0, ()),
        ("score draw pv 3", 0.0, ()),
        ("score wdl 0 0 0", None, ()),
        ("score wdl 9 0 x pv 4 4 4 4 4 4 4", None, ()),
        ("score wdl " + "9" * 5000 + " 1 1", None, ()),
        ("nodes", None, ()),
    ],
)
def test_malformed_info_is_ignored(info: str, value: float | None, line: tuple[int, ...]) -> None:
    report = program._Report()
    report.add(c4i.Info.read(info.split()))
    decision = report.decision(3, Position(), 0.1)
    assert (decision.value, decision.line) == (value, line)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines sent to the engines of a test."""
    all_lines: list[str] = []
    send = Program.send

    def record_and_send(process: Program, *lines: str) -> None:
        all_lines.extend(lines)
        send(process, *lines)

    monkeypatch.setattr(Program, "send", record_and_send)
    return all_lines


def test_the_lines_sent_to_an_engine(pids: Path, sent: list[str]) -> None:
    agent = engine("leftmost", pids)
    rng = np.random.default_rng(7)
    seeds = np.random.default_rng(7).integers(2**31, size=4)
    agent.decide(Position("44"), Limit(seconds=2), rng)
    agent.decide(Position("4412"), Limit(simulations=5, nodes=6, depth=7), rng)  # the same game
    agent.decide(Position("4412"), Limit(), rng)  # not one move later, so another game
    agent.decide(Position("7/7/7/7/7/3r3 y 4"), Limit(), rng)
    agent.close()
    assert sent == [
        *("c4i", "isready"),
        *(
            f"newgame 7x6x4 seed {seeds[0]}",
            "ping 1",
            "position startpos moves 4 4",
            "go movetime 2000",
        ),
        *("ping 2", "position startpos moves 4 4 1 2", "go simulations 5 nodes 6 depth 7"),
        *(f"newgame 7x6x4 seed {seeds[2]}", "ping 3", "position startpos moves 4 4 1 2", "go"),
        *(f"newgame 7x6x4 seed {seeds[3]}", "ping 4", "position fen 7/7/7/7/7/3r3 y 4", "go"),
        "quit",
    ]


def test_another_generator_is_another_game(pids: Path, sent: list[str]) -> None:
    agent = engine("leftmost", pids)
    ask(agent, Position("44"), seed=1)
    ask(agent, Position("4412"), seed=1)
    agent.close()
    assert sum(line.startswith("newgame") for line in sent) == 2


def test_any_board_can_be_played(pids: Path) -> None:
    agent = engine("leftmost", pids)
    assert play(agent, board="12x4x5").outcome() is not None
    agent.close()


def test_an_engine_that_does_not_read_its_input_forfeits(pids: Path) -> None:
    agent = engine("good", pids)
    ask(agent)
    program = agent._kept.program
    assert program
    os.kill(int(pids.read_text()), 19)  # stopped: its input fills up
    with pytest.raises(Forfeit, match="does not read its input"):
        program.send(*["ping 1"] * 20_000)
    agent.close()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("", r'an engine needs the command that starts it: engine:cmd="./my-engine --fast"'),
        (':cmd=" "', "an engine needs the command"),
        (
            """:cmd="it's" """,
            'cannot read the command "it\'s" .No closing quotation.; write it like engine:cmd=',
        ),
        (
            ":cmd=x,start_seconds=0",
            "option start_seconds of agent 'engine' must be a number greater than 0 "
            "and at most 86,400, not '0'",
        ),
        (":cmd=x,grace=-1", "option grace of agent 'engine' must be a number from 0 to 86,400"),
        (
            ":cmd=x,multipv=0",
            "option multipv of agent 'engine' must be a whole number from 1 to 62, not '0'",
        ),
        (
            ':cmd=x,options="Hash"',
            "cannot read 'Hash' in option options of agent 'engine'; "
            "write it like Threads=2;Style=wild",
        ),
    ],
)
def test_bad_options_are_refused(options: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        make(f"engine{options}")


def test_options_are_set_before_the_first_question(pids: Path, sent: list[str]) -> None:
    agent = engine("settable", pids, options="Favourite Column = 3; Other=;")
    assert ask(agent).column == 2
    agent.close()
    settings = ["setoption name Favourite Column value 3", "setoption name Other value "]
    assert sent[:4] == ["c4i", *settings, "isready"]


def test_an_option_that_is_not_offered_is_a_forfeit(pids: Path) -> None:
    with pytest.raises(
        Forfeit, match="offers no option 'favourite'; it offers Favourite Column, Other"
    ):
        ask(engine("settable", pids, options="favourite=3"))
    with pytest.raises(Forfeit, match="offers no option 'Hash'; it offers none"):
        ask(engine("good", pids, options="Hash=3"))


def test_several_columns_can_be_evaluated(pids: Path, sent: list[str]) -> None:
    agent = engine("settable", pids, multipv=3)
    decision = ask(agent, limit=Limit(simulations=5))
    agent.close()
    assert "go simulations 5 multipv 3" in sent
    assert decision.analysis.estimates == {0: 7 / 9, 1: 5 / 9, 2: 3 / 9}
    assert decision.value == 7 / 9  # only the best column counts
    assert decision.line == (0,)


def test_a_limit_with_only_a_stop_flag_is_sent_as_infinite(pids: Path, sent: list[str]) -> None:
    agent = engine("leftmost", pids)
    stop = Stop()
    ask(agent, limit=Limit(stop=stop))
    ask(agent, limit=Limit(stop=stop, depth=3))
    ask(agent, limit=Limit())
    agent.close()
    assert [line for line in sent if line.startswith("go")] == ["go infinite", "go depth 3", "go"]
