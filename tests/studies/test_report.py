"""The results of a run: damaged work files, and what a resumed run does."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fourlab.errors import UserError
from fourlab.jobs.job import Session
from fourlab.jobs.run import Run, open_run
from fourlab.reporting.figures import panels
from fourlab.studies import job, made
from fourlab.studies.catalogue import all_experiments, items_named
from fourlab.studies.claims import Claim, Source
from fourlab.studies.findings import of_items
from fourlab.studies.job import StudyJob, read_job
from fourlab.studies.report import check_work, load_parts, save_parts, write_reports
from fourlab.studies.workbench import Part, Picture, Table, Workbench


def a_run(folder: Path, *names: str, seed: int = 0, scale: str = "smoke") -> Run:
    """Return a run in which these experiments are complete."""
    run = open_run(folder, "reproduce-smoke", {"kind": "reproduce", "scale": scale, "seed": seed})
    for name in names:
        experiment = all_experiments()[name]
        check_work(run, experiment)
        claim = Claim("number", "a number", "1", Source.TEXT, faithful="2")
        save_parts(run, experiment, [claim, Table("some", ("head",), ((name,),))])
    write_reports(run)
    return run


def test_a_run_of_an_earlier_version_keeps_its_numbered_folders(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    (run.folder / "000").mkdir()
    experiment = all_experiments()["000-exact"]
    save_parts(run, experiment, [Claim("number", "a number", "1", Source.TEXT, faithful="2")])
    write_reports(run)
    assert (run.folder / "000" / "data" / "exact-claims.csv").is_file()
    assert "000/report.md" in (run.folder / "report.md").read_text(encoding="utf-8")
    assert not (run.folder / "vannucci-abril").exists()


def test_a_command_for_a_figure_says_what_it_shows_and_where_it_is(tmp_path: Path) -> None:
    name = "004-experiments-1-2"
    run = a_run(tmp_path)
    picture = Picture("experiment-1", "Games.", lambda: panels(1, 1)[0], Table("", ("x",), ((1,),)))
    claim = Claim("number", "a number", "1", Source.TEXT, faithful="2")
    save_parts(run, all_experiments()[name], [claim, picture])
    results = write_reports(run)
    title, place = of_items(run, results, ["arya", "figure-44"])
    assert title.startswith("Figure 44: minimax against Q-learning (Experiment 1). The reported")
    file = Path(place.removeprefix("picture: "))
    assert file.is_file()
    assert file.name == "experiments-1-2-experiment-1.svg"
    file.unlink()
    assert list(of_items(run, results, ["arya", "figure-44"]))[1].endswith("experiment-1.csv")
    assert [item.name for item in items_named(["bhat", "table-5", "figure-3"])] == [
        "table-5",
        "figure-3",
    ]
    assert not list(of_items(run, results, ["arya", "experiments-1-2"]))
    assert not items_named(["arya"])


@pytest.mark.parametrize("content", [b"{", b"\xff", b""])
def test_damaged_work_files_are_reported(tmp_path: Path, content: bytes) -> None:
    run = a_run(tmp_path, "000-exact")
    experiment = all_experiments()["000-exact"]
    work = run.folder / "work" / "000-exact"
    (work / "begun.json").write_bytes(content)
    with pytest.raises(
        UserError, match=r"begun\.json is damaged; remove it and give the command again"
    ):
        check_work(run, experiment)
    for wrong in (content, b"{}"):
        (work / "found.json").write_bytes(wrong)
        with pytest.raises(
            UserError, match=r"found\.json is damaged; remove it and give the command again"
        ):
            load_parts(run, "000-exact")
    assert load_parts(run, "004-speed") is None


def test_a_resumed_run_does_what_it_began_before_its_experiments_were_on_record(
    tmp_path: Path,
) -> None:
    run = a_run(tmp_path)  # as older versions wrote it: without a list of experiments
    done = Claim("number", "a number", "1", Source.TEXT, faithful="2")
    for name in ("000-exact", "003-figure-1"):
        check_work(run, all_experiments()[name])
        save_parts(run, all_experiments()[name], [done])
    requested = StudyJob(("001-table-5",), "smoke").extended(run.config)
    run.extend(requested.config, requested.extent)
    assert run.config["experiments"] == ["001-table-5"]
    resumed = [experiment.name for experiment in read_job(run.config).chosen(run)]
    assert resumed == ["000-exact", "001-table-5", "003-figure-1"]
    assert [experiment.name for experiment in requested.chosen(run)] == ["001-table-5"]


def test_numbers_that_are_judged_again_keep_the_program_that_made_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(tmp_path)
    experiment = replace(all_experiments()["004-theory"], function="tiny:conduct")
    tiny = ModuleType("fourlab.studies.tiny")

    def conduct(bench: Workbench) -> Iterator[Part]:
        yield Claim("n", "a number", "1", Source.TEXT, faithful=bench.calculate("n", lambda: "2"))

    monkeypatch.setattr(tiny, "conduct", conduct, raising=False)
    monkeypatch.setitem(sys.modules, "fourlab.studies.tiny", tiny)
    monkeypatch.setattr(job, "all_experiments", lambda: {experiment.name: experiment})
    program = {"created": "2026-11-18T08:00:00", "versions": {}, "machine": "one"}
    work = run.folder / "work" / experiment.name

    def completed(commit: str) -> made.Made:
        monkeypatch.setattr(made, "environment", lambda: {**program, "commit": commit})
        session = Session()
        assert StudyJob((experiment.name,), "smoke").work(run, session) is not None
        session.close()
        return made.of_experiment(run, experiment)

    assert (completed("first").commit, completed("second").commit) == ("first", "first")
    # Without its parts, an experiment judges its stored numbers again.
    (work / "found.json").unlink()
    assert completed("first").judged == ""
    (work / "found.json").unlink()
    again = completed("second")
    assert (again.commit, again.judged_commit, again.judged) == (
        "first",
        "second",
        program["created"],
    )
    for name in ("found.json", "n.json"):
        (work / name).unlink()
    new = completed("third")
    assert (new.commit, new.judged_commit, new.judged) == ("third", None, "")


@pytest.mark.parametrize("experiments", [[["x"]], [{"x": 1}], [1], "000-exact", {}, None, 7])
def test_a_configuration_with_other_experiments_than_names_is_one_line(experiments: Any) -> None:
    config = {"kind": "reproduce", "scale": "smoke", "seed": 0, "experiments": experiments}
    with pytest.raises(UserError) as error:
        read_job(config)
    assert str(error.value) == f"experiments must be a list of names, not {experiments!r}"
