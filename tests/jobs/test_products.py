"""A run folder does not decide which files outside it are written."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fourlab.datasets.job import SolvedJob, Uci8Job
from fourlab.errors import UserError
from fourlab.game.rules import Rules
from fourlab.jobs.job import Conduct, Job, Session
from fourlab.jobs.kinds import job_of
from fourlab.jobs.run import Run, open_run, toml
from fourlab.jobs.runner import begin, resume, work
from fourlab.solver.build import BookJob

RULES = Rules.parse("4x3x3")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def session() -> Session:
    return Session(Conduct(1, "threads"))


def stopped() -> Session:
    session = Session(Conduct(1, "threads"))
    session.stop()
    return session


def name_product(run: Run, file: Path) -> None:
    """Let a run folder name another product, as somebody else's would."""
    config: dict[str, Any] = {**run.config, "file": str(file)}
    (run.folder / "manifest.json").write_text(json.dumps({**run.manifest, "config": config}))
    (run.folder / "config.toml").write_text(toml(config))
    (run.folder / "seal.json").unlink(missing_ok=True)


def test_ones_own_run_is_resumed_without_naming_the_file_again(tmp_path: Path) -> None:
    file = tmp_path / "book.npz"
    job = BookJob(RULES, 2, file)
    run = begin(job, tmp_path / "runs")
    assert work(job, run, stopped()) is None
    assert not file.exists()
    results = resume(Run(run.folder), session())
    assert results is not None
    assert results["file"] == str(file)
    assert file.exists()


def test_a_moved_run_must_be_given_its_file_again(tmp_path: Path) -> None:
    job = BookJob(RULES, 2, tmp_path / "book.npz")
    run = begin(job, tmp_path / "runs")
    work(job, run, stopped())
    moved = Run(Path(shutil.move(run.folder, tmp_path / "moved")))
    with pytest.raises(UserError, match=r"named by .*moved, not by you.* --output FILE"):
        resume(moved, session())
    assert resume(moved, session(), product=tmp_path / "other.npz") is not None
    assert (tmp_path / "other.npz").exists()
    assert not (tmp_path / "book.npz").exists()
    # The file is recorded now, and part of the run.
    assert resume(Run(moved.folder), session()) is not None


@pytest.mark.parametrize(
    "job",
    [
        BookJob(RULES, 2, Path("book.npz")),
        Uci8Job(Path("uci8.data")),
        SolvedJob(Path("set.npz"), RULES, 3, (4, 6), 0),
    ],
)
def test_the_folder_of_somebody_else_names_no_file(job: Job, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    run = open_run(tmp_path, "x", job.config, tmp_path / "foreign")
    name_product(run, precious)
    with pytest.raises(UserError, match="not by you"):
        resume(Run(run.folder), session())
    with pytest.raises(UserError, match="not by you"):
        job_of(Run(run.folder))
    assert precious.read_text() == "mine"


def test_a_changed_manifest_of_ones_own_run_names_no_other_file(tmp_path: Path) -> None:
    job = BookJob(RULES, 2, tmp_path / "book.npz")
    run = begin(job, tmp_path / "runs")
    assert work(job, run, session()) is not None
    name_product(run, tmp_path / "other.npz")
    with pytest.raises(UserError, match="not by you"):
        resume(Run(run.folder), session())
    assert not (tmp_path / "other.npz").exists()


def test_a_damaged_or_impossible_record_is_no_record(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = BookJob(RULES, 2, tmp_path / "book.npz")
    run = begin(job, tmp_path / "runs")
    work(job, run, session())
    (record,) = (state / "fourlab" / "products").iterdir()
    whole = json.loads(record.read_text())
    for content in ("", "[]", json.dumps({**whole, "run": "/elsewhere"})):
        record.write_text(content)
        with pytest.raises(UserError, match="not by you"):
            job_of(Run(run.folder))
    # Work is done where nothing can be recorded, too.
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert work(job, Run(run.folder), session()) is not None
    with pytest.raises(UserError, match="not by you"):
        job_of(Run(run.folder))


def test_matches_have_no_such_file(tmp_path: Path) -> None:
    config = {"kind": "match", "rounds": 1, "agents": ["random", "rules"]}
    run = open_run(tmp_path, "x", config)
    job_of(run)
    with pytest.raises(UserError, match="makes no file outside its folder"):
        job_of(run, product=tmp_path / "file")
