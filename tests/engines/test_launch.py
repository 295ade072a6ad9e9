"""A program ends with all its descendants, sees no secrets and has limits of its own."""

import os
import resource
import shlex
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from fourlab import Limit, make
from fourlab.agent import Forfeit
from fourlab.engines import launch, process
from fourlab.engines.process import MOST_TASKS, Program, environment
from fourlab.engines.program import Engine
from tests.engines.test_program import ask, ends, engine, runs, state

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    """Where the engines of a test leave their process ids."""
    return tmp_path / "pids"


def noted(pids: Path, count: int) -> list[int]:
    """Return the process ids in a file, waiting until there are `count` of them."""
    while len(numbers := pids.read_text().split()) < count:
        time.sleep(0.01)
    return [int(number) for number in numbers]


def test_a_child_in_another_session_ends_with_its_engine(pids: Path) -> None:
    agent = engine("daemon", pids)
    ask(agent)
    assert all(runs(pid) for pid in noted(pids, 2))
    agent.close()
    assert all(ends(pid) for pid in noted(pids, 2))


def test_what_an_engine_leaves_behind_ends_with_it(pids: Path) -> None:
    agent = engine("daemon", pids)
    ask(agent)
    program, daemon = noted(pids, 2)
    os.kill(program, 9)
    assert ends(daemon)
    with pytest.raises(Forfeit, match=r"was killed by signal 9 \(Killed\)"):
        ask(agent)


SCRIPT = """
    import os, signal, sys, time
    from fourlab import Limit, Position
    from fourlab.engines.program import Engine

    agent = Engine({cmd!r}, start_seconds=600, grace=600)
    agent.decide(Position(), Limit())
    if sys.argv[1] == "forked" and os.fork() == 0:
        time.sleep(100_000)
    print("ready", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(pids: Path) -> list[str]:
    """The command of a process that starts a deaf engine with a daemon and is killed."""
    script = textwrap.dedent(SCRIPT.format(cmd=engine("daemon", pids).cmd))
    return [sys.executable, "-c", script]


def test_an_engine_deaf_to_the_end_of_its_input_dies_with_a_killed_parent(
    pids: Path, killed: list[str]
) -> None:
    done = subprocess.run([*killed, "alone"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-9, "ready\n"), done.stderr
    assert all(ends(pid) for pid in noted(pids, 2))


def test_a_forked_copy_of_a_killed_parent_does_not_keep_the_engine_alive(
    pids: Path, killed: list[str]
) -> None:
    process = subprocess.Popen(
        [*killed, "forked"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.wait() == -9
    try:
        assert all(ends(pid) for pid in noted(pids, 2))
    finally:
        os.killpg(process.pid, 9)  # the copy


def test_an_engine_gets_no_secrets(pids: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not tell")
    monkeypatch.setenv("LICENCE", "for you")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    seen = []
    for options in ({}, {"env": ("LICENCE",)}):
        agent = engine("environment", pids, **options)
        ask(agent)
        agent.close()
        seen.append(set(Path(f"{pids}.environment").read_text().split()))
    assert {"PATH", "LC_ALL"} <= seen[0]
    assert not {"SECRET_KEY", "LICENCE"} & seen[0]
    assert seen[1] - seen[0] == {"LICENCE"}
    assert seen[0] <= {*environment(), "LC_CTYPE"}  # which Python itself may add


UNWANTED = (
    *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"),
    *("DYLD_INSERT_LIBRARIES", "NUMBA_DEBUG", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "VIRTUAL_ENV"),
    *("AWS_SECRET_ACCESS_KEY", "DBUS_SESSION_BUS_ADDRESS", "PATH_TO_KEY", "HOMEPAGE"),
)


def test_a_program_gets_no_variables_that_change_what_code_it_loads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (*UNWANTED, "TMPDIR", "SYSTEMROOT", "LANG", "HOME"):
        monkeypatch.setenv(name, "x")
    assert not environment().keys() & set(UNWANTED)
    assert {"PATH", "TMPDIR", "SYSTEMROOT", "LANG", "HOME"} <= environment().keys()


def test_variables_can_be_named_in_a_spec() -> None:
    agent = make('engine:cmd=x,env="LICENCE; HOST"')
    assert isinstance(agent, Engine)
    assert agent.env == ("LICENCE", "HOST")


def test_processor_time_is_limited(pids: Path) -> None:
    agent = engine("busy", pids, cpu_seconds=1)
    with pytest.raises(Forfeit, match=r"was killed by signal 24 \(CPU time limit exceeded\)"):
        ask(agent, limit=Limit(seconds=600))


def test_memory_of_children_in_other_sessions_counts(tmp_path: Path) -> None:
    child = "import os, time; os.setsid(); x = b'x' * 200_000_000; time.sleep(100_000)"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {child!r}])"
    program = Program([sys.executable, "-S", "-c", script], megabytes=150)
    try:
        with pytest.raises(Forfeit, match="more than its 150 MB"):
            program.read_line(time.monotonic() + 600)
    finally:
        program.close()


def test_memory_is_limited_while_nobody_reads() -> None:
    script = "x = b'x' * 200_000_000; import time; time.sleep(100_000)"
    program = Program([sys.executable, "-S", "-c", script], megabytes=150)
    try:
        program._popen.wait()
        with pytest.raises(Forfeit, match=r"used \d+ MB of memory, more than its 150 MB"):
            program.read_line(time.monotonic() + 600)
    finally:
        program.close()


CHILDREN = """
import subprocess, time
children = [subprocess.Popen(["sleep", "100000"]) for _ in range(30)]
time.sleep(100_000)
"""
THREADS = """
import threading, time
for _ in range(30):
    threading.Thread(target=time.sleep, args=[100_000]).start()
"""


@pytest.mark.parametrize("script", [CHILDREN, THREADS], ids=["children", "threads"])
def test_the_number_of_processes_and_threads_is_limited(
    monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(process, "MOST_TASKS", 20)
    program = Program([sys.executable, "-S", "-c", script], megabytes=1000)
    try:
        with pytest.raises(Forfeit, match=r"ran \d+ processes and threads, more than 20"):
            program.read_until("never", time.monotonic() + 600)
    finally:
        program.close()


def test_the_system_limits_processes_beyond_those_of_the_user() -> None:
    script = "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[0], flush=True)"
    program = Program([sys.executable, "-S", "-c", script], megabytes=100)
    try:
        line = program.read_line(time.monotonic() + 600)
    finally:
        program.close()
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    assert line is not None
    assert MOST_TASKS < int(line) < MOST_TASKS + 100_000 or int(line) == most


@pytest.mark.parametrize("session", ["pass", "os.setsid()"])
def test_an_engine_that_stops_its_launcher_is_ended(session: str) -> None:
    script = f"""if True:
        import os, time
        launcher = os.getppid()
        if os.fork() == 0:
            {session}
        else:
            time.sleep(0.1)
            os.kill(launcher, 19)
        time.sleep(100_000)
    """
    program = Program(shlex.join([sys.executable, "-S", "-c", script]), megabytes=100)
    launcher = program._popen.pid
    children: list[int] = []
    while len(children) < 2:
        children = launch.descendants(launcher)
    while state(launcher)[0] != "T":
        time.sleep(0.01)
    program.close()
    assert all(ends(pid) for pid in [launcher, *children])
