import io
import itertools
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab import Limit, Position, Stop, UserError, make
from fourlab.agent import Forfeit
from fourlab.arena.game import play_game
from fourlab.bridges.kaggle.export import source_of
from fourlab.bridges.kaggle.player import _Overtime
from fourlab.game.record import Cause
from tests.conftest import ROOT

Run = Callable[..., subprocess.CompletedProcess[str]]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def submission(tmp_path: Path) -> Callable[[str], str]:
    """Write a submission; its spec."""

    def write(source: str) -> str:
        file = tmp_path / "main.py"
        file.write_text(source)
        return f'kaggle:file="{file}"'

    return write


def test_a_submission_plays_in_the_arena(submission: Callable[[str], str]) -> None:
    agent = make(submission(source_of("rules")))
    record = play_game(
        Position(board="5x4x4"), [agent, make("random")], [Limit()] * 2, [rng(), rng(2)]
    )
    assert record.cause == Cause.NORMAL


def test_the_agent_may_be_a_path(submission: Callable[[str], str]) -> None:
    spec = submission("def agent(o, c): return 6").replace("file=", "agent=")
    assert make(spec).decide(Position(), Limit(), rng()).column == 6


def test_a_limit_of_seconds_is_its_time(submission: Callable[[str], str]) -> None:
    agent = make(
        submission(
            "def agent(o, c): return int(c.actTimeout) + (3 if o.remainingOverageTime else 0)"
        )
    )
    assert agent.decide(Position(), Limit(), rng()).column == 5
    assert agent.decide(Position(), Limit(seconds=1), rng()).column == 1


def test_chance_comes_from_our_seed_and_stays_inside(submission: Callable[[str], str]) -> None:
    source = """
import random, numpy
def agent(o, c):
    return (random.randrange(7) + numpy.random.randint(7)) % 7
"""
    agent = make(submission(source))
    before = np.random.get_state()[1].copy()
    columns = [
        agent.decide(Position(), Limit(), rng(seed)).column for seed in (*range(20), *range(20))
    ]
    assert columns[:20] == columns[20:]
    assert len(set(columns)) > 3
    assert (np.random.get_state()[1] == before).all()


@pytest.mark.parametrize(
    ("source", "cause", "said"),
    [
        ("def agent(o, c): return 7", Cause.ILLEGAL, "answered column 8, which is not open"),
        ("def agent(o, c): return -1", Cause.ILLEGAL, "answered column 0, which is not open"),
        ("def agent(o, c): return '3'", Cause.ILLEGAL, "answered '3', which is not a column"),
        ("def agent(o, c): return True", Cause.ILLEGAL, "answered True, which is not a column"),
        (
            "def agent(o, c): print('x'); return 1 / 0",
            Cause.CRASH,
            "raised ZeroDivisionError: division by zero",
        ),
        ("def agent(o, c): raise SystemExit(3)", Cause.CRASH, "raised SystemExit: 3"),
    ],
)
def test_faults_cost_the_game(
    submission: Callable[[str], str],
    capsys: pytest.CaptureFixture[str],
    source: str,
    cause: Cause,
    said: str,
) -> None:
    with pytest.raises(Forfeit, match=said) as caught:
        make(submission(source)).decide(Position(), Limit(), rng())
    assert caught.value.cause == cause
    assert capsys.readouterr().out == ""


def archive(folder: Path, **files: str) -> str:
    """Write an archive of files; its spec."""
    file = folder / "submission.tar.gz"
    with tarfile.open(file, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "/").replace("_py", ".py"))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content.encode()))
    return f'kaggle:file="{file}"'


def test_an_archive_plays_with_the_files_in_it(tmp_path: Path) -> None:
    main = """
import os
from parts.columns import COLUMN
with open("parts/number") as stream:
    NUMBER = int(stream.read())
def agent(o, c):
    assert os.path.basename(c["__raw_path__"]) == "main.py"
    return COLUMN + NUMBER
"""
    spec = archive(tmp_path, main_py=main, parts__columns_py="COLUMN = 2", parts__number="3")
    agent = make(spec)
    assert agent.decide(Position(), Limit(), rng()).column == 5
    agent.close()
    assert agent.decide(Position(), Limit(), rng()).column == 5, "it is started again"
    assert make(spec.replace("file=", "agent=")).decide(Position(), Limit(), rng()).column == 5


def test_modules_beside_a_main_file_can_be_imported(submission: Callable[[str], str]) -> None:
    spec = submission("from beside import COLUMN\ndef agent(o, c): return COLUMN")
    Path(spec.split('"')[1]).with_name("beside.py").write_text("COLUMN = 4")
    assert make(spec).decide(Position(), Limit(), rng()).column == 4


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"other_py": "def agent(o, c): return 0"}, r"it has no main\.py at its top"),
        ({"..__out_py": "", "main_py": ""}, r"\.\./out\.py would lie outside its folder"),
        ({"__out_py": ""}, r"/out\.py would lie outside its folder"),
    ],
)
def test_an_archive_that_is_no_submission_is_refused(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    with pytest.raises(UserError, match=f"cannot unpack .*: {said}"):
        make(archive(tmp_path, **files))


def test_a_damaged_archive_or_one_with_links_is_refused(tmp_path: Path) -> None:
    spec = archive(tmp_path, main_py="def agent(o, c): return 0")
    file = tmp_path / "submission.tar.gz"
    file.write_bytes(file.read_bytes()[:60])
    with pytest.raises(UserError, match=r"cannot unpack .*submission"):
        make(spec)
    with tarfile.open(file, "w:gz") as tar:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/"
        tar.addfile(link)
    with pytest.raises(UserError, match="link is neither a file nor a folder"):
        make(spec)


def test_overtime_is_taken_from_one_bank_for_a_game() -> None:
    overtime = _Overtime()
    assert overtime.bank(Position("44")) == 60
    overtime.spend(-1.5)
    overtime.spend(20)
    assert overtime.bank(Position("4453")) == 40
    overtime.spend(5)
    assert overtime.bank(Position("5432")) == 60, "it does not follow"
    overtime.spend(5)
    assert overtime.bank(Position()) == 60
    assert overtime.bank(Position("1", "5x4x4")) == 60


def test_a_submission_sees_the_overtime_that_is_left(
    submission: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = make(submission("def agent(o, c): return int(o.remainingOverageTime // 10)"))
    assert agent.decide(Position(), Limit(), rng()).column == 6
    agent._overtime.spend(25)
    assert agent.decide(Position("71"), Limit(), rng()).column == 3
    assert agent.decide(Position("71"), Limit(seconds=5), rng()).column == 0


def test_what_cannot_be_played_is_said_in_one_line(submission: Callable[[str], str]) -> None:
    with pytest.raises(UserError, match=r"cannot read nothing\.py: No such file"):
        make("kaggle:file=nothing.py")
    with pytest.raises(UserError, match="is not a submission: SyntaxError"):
        make(submission("def agent("))
    with pytest.raises(
        UserError, match="is not a submission: ValueError: there is no function in it"
    ):
        make(submission("x = 1"))
    with pytest.raises(UserError, match="is not a submission: SystemExit"):
        make(submission("import sys\nsys.exit()"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_pipes_and_devices_are_no_submissions(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UserError, match="is not a file"):
            make(f'kaggle:file="{file}"')


def test_without_kaggles_package_the_command_to_install_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("kaggle_environments")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "kaggle_environments", None)
    with pytest.raises(
        UserError,
        match="pip install jsonschema requests && pip install --no-deps kaggle-environments==",
    ) as refusal:
        make("kaggle:agent=negamax")
    package = str(refusal.value).split()[-1]
    assert package in (ROOT / "Makefile").read_text(), "it is the version that is tested"


def test_their_negamax_plays_in_our_arena(environments: Any) -> None:
    record = play_game(
        Position("4455"),
        [make("kaggle"), make("kaggle:agent=random")],
        [Limit()] * 2,
        [rng(), rng(2)],
    )
    assert record.cause == Cause.NORMAL
    with pytest.raises(
        UserError, match="Kaggle has no agent 'nobody'; it has random, negamax, and a submission is"
    ):
        make("kaggle:agent=nobody")


def test_their_negamax_obeys_the_clock_and_the_stop_flag(
    environments: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = make("kaggle:grace=0")
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    with pytest.raises(Forfeit, match="had not answered after 100 s") as late:
        agent.decide(Position(board="12x4x5"), Limit(seconds=100), rng())
    assert late.value.cause == Cause.TIMEOUT
    assert next(clock) < 110
    stop = Stop()
    monkeypatch.setattr(time, "perf_counter", lambda: stop.set() or next(clock))
    assert agent.decide(Position(), Limit(stop=stop), rng()).column in range(7)
    assert next(clock) < 120


def test_a_match_on_the_command_line(fourlab: Run, submission: Callable[[str], str]) -> None:
    done = fourlab(
        "match",
        submission(source_of("rules")),
        "random",
        "--games",
        "4",
        "--quiet",
        "--workers",
        "1",
    )
    assert done.returncode == 0, done.stderr
    assert "against random: 4 games" in done.stdout
