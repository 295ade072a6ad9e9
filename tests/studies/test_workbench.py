"""Work that is stored by name and resumed, and the selection of experiments."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fourlab.arena.tournament import Player, Tournament
from fourlab.errors import UserError
from fourlab.jobs.executors.local import Local
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.kinds import job_of
from fourlab.jobs.run import Run
from fourlab.parsing import MAX_MANIFEST_BYTES, MAX_VALUES
from fourlab.studies.catalogue import Experiment, all_experiments, chosen
from fourlab.studies.claims import Claim, Source
from fourlab.studies.job import _conduct
from fourlab.studies.report import load_parts
from fourlab.studies.workbench import Part, Stopped, Text, Workbench, completed


class Stopping(Threads):
    """Stops after a number of batches."""

    def __init__(self, after: int) -> None:
        super().__init__(1)
        self.after = after

    def map(self, work, items):  # type: ignore[no-untyped-def]
        for place, batch in enumerate(super().map(work, items)):
            yield batch
            if place + 1 >= self.after:
                return


def bench(folder: Path, executor: Threads | None = None) -> Workbench:
    return Workbench(folder, "smoke", {}, 0, executor or Threads(1))


def test_a_calculation_is_made_once(tmp_path: Path) -> None:
    calls = []
    for _ in range(2):
        assert bench(tmp_path).calculate("sum", lambda: calls.append(1) or {"sum": 3}) == {"sum": 3}
    assert calls == [1]


def test_repetitions_resume_where_they_were_stopped(tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        bench(tmp_path, Stopping(3)).repeat("squares", lambda number: number**2, 10)
    stored = json.loads((tmp_path / "squares.json").read_text())
    assert 0 < len(stored) < 10
    calls: list[int] = []
    squares = bench(tmp_path).repeat(
        "squares", lambda number: calls.append(number) or number**2, 10
    )
    assert squares == [number**2 for number in range(10)]
    assert sorted(calls) == [number for number in range(10) if str(number) not in stored]


def fails_at_three(number: int) -> int:
    """Fail as a fault of an experiment does."""
    return 1 // (number - 3)


def refuses(number: int) -> int:
    """Fail as a missing file does."""
    raise UserError("the table is not there")


def test_a_failing_repetition_is_one_line_without_tracebacks(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    executor = Local(1)
    worker = replace(bench(tmp_path), executor=executor)
    line = r"^quotients failed: ZeroDivisionError\(.*\) in test_workbench.py, line \d+$"
    with pytest.raises(UserError, match=line):
        worker.repeat("quotients", fails_at_three, 5)
    with pytest.raises(UserError, match=r"^tables failed: the table is not there$"):
        worker.repeat("tables", refuses, 1)
    executor.close()
    assert capfd.readouterr().err == ""
    # What was done before is kept.
    assert json.loads((tmp_path / "quotients.json").read_text()) == {"0": -1, "1": -1, "2": -1}


def many_values(number: int) -> list[float]:
    """Return as many values as thousands of searches have."""
    return [number + 0.123456] * 400_000


def test_work_of_full_scale_can_be_read_again(tmp_path: Path) -> None:
    done = bench(tmp_path).repeat("many", many_values, 3)
    assert sum(map(len, done)) > MAX_VALUES
    assert (tmp_path / "many.json").stat().st_size > MAX_MANIFEST_BYTES
    again = Workbench(tmp_path, "full", {}, 0, Threads(1), computes)
    assert again.repeat("many", many_values, 3) == done


def computes(*progress: object) -> None:
    raise AssertionError("stored work was computed again")


@pytest.mark.parametrize("content", [b"{", b"\xff", b""])
def test_damaged_work_is_reported(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "work.json"
    file.write_bytes(content)
    message = f"{re.escape(str(file))} is damaged; remove it and give the command again"
    with pytest.raises(UserError, match=message):
        bench(tmp_path).calculate("work", lambda: 1)
    for wrong in (content, b"[]"):
        file.write_bytes(wrong)
        with pytest.raises(UserError, match=message):
            bench(tmp_path).repeat("work", abs, 2)


def test_a_repetition_that_fails_is_reported(tmp_path: Path) -> None:
    with pytest.raises((UserError, ZeroDivisionError)):
        bench(tmp_path).repeat("broken", lambda number: 1 // number, 2)


def test_games_are_played_once(tmp_path: Path) -> None:
    tournament = Tournament((Player("random"), Player("rules")), ("5x4x4",), "empty", 3, "fixed")
    first = bench(tmp_path).play("games", tournament, thoughts=True)
    assert [game.number for game in first] == [0, 1, 2]
    assert all(game.record.thoughts for game in first)
    assert bench(tmp_path).play("games", tournament, thoughts=True) == first


def test_a_crashed_game_is_no_result(tmp_path: Path) -> None:
    (game, *_) = bench(tmp_path).play(
        "games", Tournament((Player("random"), Player("rules")), ("5x4x4",), "empty", 1, "fixed")
    )
    assert completed("games", [game]) == [game]
    with pytest.raises(
        UserError, match="game 0 of games, random against rules, ended by crash: oh"
    ):
        completed("games", [game, game._replace(cause="crash", detail="oh")])


def names(*selection: str) -> list[str]:
    return [experiment.name for experiment in chosen(list(selection))]


def test_names_select_experiments() -> None:
    catalogue = list(all_experiments())
    assert names("all") == catalogue
    assert names("001") == [name for name in catalogue if name.startswith("001")]
    assert names(catalogue[0], catalogue[0]) == [catalogue[0]]
    with pytest.raises(UserError, match="did you mean 001-table-5"):
        chosen(["001-tabel-5"])


def test_every_experiment_is_complete() -> None:
    for experiment in all_experiments().values():
        assert set(experiment.sizes) == {"smoke", "quick", "full"}
        assert experiment.document in ("000", "001", "002", "003", "004", "all")
        assert experiment.ids
        assert experiment.claim.endswith(".")


@pytest.mark.parametrize(
    "content", ["", "[", "[" * 99_999, "[" * 40 + "]" * 40, "9" * 5_000, "\udcff", "7", "[]"]
)
def test_a_damaged_work_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "squares.json").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=r"squares\.json is damaged; remove it"):
        bench(tmp_path).repeat("squares", lambda number: number**2, 10)


CLAIM = {"kind": "claim", **Claim("x", "a number", "1", Source.TEXT, faithful="2").as_json()}


@pytest.mark.parametrize(
    "part",
    [
        *(7, None, [], {}, "x", {"kind": "poem"}, {"kind": ["text"]}, {"kind": "text"}),
        {**CLAIM, "reproduced": "yes"},
        {**CLAIM, "quantity": 7},
        {name: value for name, value in CLAIM.items() if name != "why"},
        {"kind": "text", "title": "x", "lines": ["x"]},
        {"kind": "table", "title": "x", "file": "x.csv", "head": [7], "rows": []},
        {"kind": "table", "title": "x", "file": "x.csv", "head": ["x"], "rows": [7]},
        {"kind": "table", "title": "x", "file": "../x.csv", "head": ["x"], "rows": []},
        {"kind": "picture", "caption": "x", "file": "../../x"},
        {"kind": "picture", "caption": 7, "file": "x"},
    ],
)
def test_parts_that_no_experiment_has_are_damage(tmp_path: Path, part: object) -> None:
    run = Run(tmp_path)
    file = tmp_path / "work" / "000-exact" / "found.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps([CLAIM]))
    assert load_parts(run, "000-exact") == [CLAIM]
    file.write_text(json.dumps([CLAIM, part]))
    with pytest.raises(UserError, match=r"found\.json is damaged; remove it"):
        load_parts(run, "000-exact")


def test_earlier_work_of_other_types_is_named_and_a_fault_without_it_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = all_experiments()["000-exact"]

    def conduct(self: object, bench: Workbench) -> Iterator[Part]:
        assert self == experiment
        rows = bench.calculate("rows", lambda: {"rows": 1})["rows"]
        yield Text("rows", "x" * rows)
        raise KeyError("a fault")

    monkeypatch.setattr(Experiment, "conduct", conduct)
    with pytest.raises(KeyError, match="a fault"):
        _conduct(experiment, bench(tmp_path))
    (tmp_path / "rows.json").write_text("[]")
    with pytest.raises(UserError, match="000-exact cannot use its earlier work in"):
        _conduct(experiment, bench(tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        {"experiments": ["000-nothing"]},
        {"experiments": [["000-exact"]]},
        {"experiments": 7},
        {"scale": "huge"},
        {"scale": []},
        {"seed": "x"},
        {"seed": -1},
        {"seed": 0.5},
    ],
)
def test_a_study_with_an_impossible_configuration_is_refused(
    tmp_path: Path, change: dict[str, object]
) -> None:
    config = {"kind": "reproduce", "scale": "smoke", "seed": 0, "experiments": ["000-exact"]}
    for name, content in (("ours", config), ("theirs", {**config, **change})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(json.dumps({"config": content}))
    assert job_of(Run(tmp_path / "ours")).config == config
    with pytest.raises(UserError):
        job_of(Run(tmp_path / "theirs"))
