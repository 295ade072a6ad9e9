"""A submission plays in a process of its own: it cannot hang, fill or end ours."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab import Limit, Position, Stop, UserError, make
from fourlab.agent import Forfeit
from fourlab.game.record import Cause

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def submission(tmp_path: Path) -> Callable[[str], str]:
    """Write a submission; its spec."""

    def write(source: str) -> str:
        file = tmp_path / "main.py"
        file.write_text(source)
        return f'kaggle:file="{file}"'

    return write


def test_state_is_kept_between_moves_and_printing_is_ignored(
    submission: Callable[[str], str], capfd: pytest.CaptureFixture[str]
) -> None:
    source = """
import os
moves = []
print('{"column": 6}')
os.write(1, b'{"column": 6}\\n')
def agent(o, c):
    moves.append(o.step)
    os.system('echo \\'{"column": 6}\\'')
    print('{"column": 6}', flush=True)
    return len(moves) - 1
"""
    agent = make(submission(source))
    assert [agent.decide(Position()).column for _ in range(3)] == [0, 1, 2]
    assert capfd.readouterr() == ("", "")


def test_an_endless_import_is_refused(submission: Callable[[str], str]) -> None:
    spec = submission("while True:\n    pass\n")
    with pytest.raises(UserError, match=r"is not a submission: it was not loaded within 0\.5 s"):
        make(f"{spec},start_seconds=0.5")


ENDLESS = "def agent(o, c):\n    while o.step == 0:\n        pass\n    return 3"
"""A submission that does not answer if the board is empty."""


def test_an_endless_move_costs_the_game(submission: Callable[[str], str]) -> None:
    agent = make(f"{submission(ENDLESS)},grace=0.4")
    with pytest.raises(Forfeit, match=r"had not answered after 0\.5 s") as fault:
        agent.decide(Position(), Limit(seconds=0.1))
    assert fault.value.cause == Cause.TIMEOUT
    assert agent.decide(Position("44"), Limit(seconds=600)).column == 3  # in a new process


def test_a_stop_flag_ends_a_submission_and_a_random_column_is_played(
    submission: Callable[[str], str],
) -> None:
    agent = make(submission(ENDLESS))
    stop = Stop()
    timer = threading.Timer(0.1, stop.set)
    timer.start()
    column = agent.decide(Position(), Limit(seconds=600, stop=stop)).column
    timer.join()
    assert column in range(7)
    assert agent.decide(Position("44")).column == 3  # in a new process


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("import os; os._exit(3)", "exited with code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "was killed by signal 11"),
        ("x = [b'x' * 10**6 for _ in range(4000)]", "MemoryError|MB of memory, more than its"),
        ("raise KeyboardInterrupt", "raised KeyboardInterrupt"),
        ("raise type('X', (Exception,), {'__str__': lambda self: 1 / 0})", "raised X"),
        ("import os; os.closerange(3, 100)", "closed its output|raised|exited"),
        ("return 10**5000", "answered column 9223372036854775808, which is not open"),
        ("return 'x' * 10**7", "answered 'x+, which is not a column"),
    ],
)
def test_a_fault_harms_only_its_process(
    submission: Callable[[str], str], move: str, reason: str
) -> None:
    spec = submission(f"def agent(o, c):\n    {move}\n    return 3")
    agent = make(f"{spec},memory_mb=300")
    with pytest.raises(Forfeit, match=reason):
        agent.decide(Position())


def test_a_submission_gets_no_secrets(
    submission: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not tell")
    agent = make(submission("import os\ndef agent(o, c): return int('SECRET_KEY' in os.environ)"))
    assert agent.decide(Position()).column == 0


def test_a_module_in_the_current_folder_does_not_replace_one_of_python_s(
    submission: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "random.py").write_text("raise SystemExit('not this one')")
    assert make(submission("def agent(o, c): return 2")).decide(Position()).column == 2


def test_closing_ends_the_process(submission: Callable[[str], str], tmp_path: Path) -> None:
    file = tmp_path / "pid"
    source = (
        f"import os\nopen({str(file)!r}, 'w').write(str(os.getpid()))\ndef agent(o, c): return 1"
    )
    agent = make(submission(source))
    pid = int(file.read_text())
    assert os.path.exists(f"/proc/{pid}")
    agent.close()
    assert not os.path.exists(f"/proc/{pid}")
    assert agent.decide(Position()).column == 1  # it is started again
