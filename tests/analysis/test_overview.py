"""Runs as the web shows them: what the folder holds, and nothing outside it."""

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fourlab.analysis import overview
from fourlab.analysis.overview import NotThere
from fourlab.arena.play import judge_games, play_tournament
from fourlab.arena.report import write_report
from fourlab.arena.store import Store
from fourlab.arena.summary import summarize
from fourlab.arena.tournament import read
from fourlab.errors import UserError
from fourlab.jobs.executors.local import Local
from fourlab.jobs.run import Run, open_run
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.experiment import Finding, Text
from fourlab.studies.report import check_work, keep, write_reports
from fourlab.training.loop import train
from fourlab.web.record_messages import RunTold
from tests.arena.players import make
from tests.training.test_loop import Sum, stop_after

LEAGUE = {"agents": ["random", "rules", "minimax:depth=1"], "openings": "random:16", "rounds": 2}
NAMES_FROM_OUTSIDE = ("", ".", "..", "../runs", "/etc", "*", "a/b", "%2e%2e", "..\\x", "\0", "lock", "manifest.json")


def begun(home: Path, **settings: Any) -> Run:
    return open_run(home, "league", {"kind": "tournament", **read({**LEAGUE, **settings}).as_data()})


def played(home: Path, judged: bool = False, **settings: Any) -> Run:
    run, tournament = begun(home, **settings), read({**LEAGUE, **settings})
    with Store(run.games_file) as store:
        results = play_tournament(tournament, store, Local(2), make)
        if judged:
            judge_games(store, Local(2))
        summary = summarize(results, store)
        run.write("results.json", summary)
        write_report(run, tournament, summary, store)
    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def league(home: Path) -> Run:
    return played(home, judged=True)


@pytest.fixture(scope="module")
def duel(home: Path) -> Run:
    return played(home, agents=["random", "rules"], seed=5)


def test_a_finished_league_has_tables_figures_and_games(league: Run) -> None:
    told = overview.detail(league)
    assert told == json.loads(json.dumps(told, allow_nan=False))
    assert told["name"] == league.name
    assert (told["kind"], told["status"]) == ("tournament", "finished")
    assert (told["done"], told["total"], told["unit"], told["games"]) == (12, 12, "games", 12)
    assert told["created"] == league.manifest["created"]
    assert [table["title"] for table in told["tables"]][:2] == ["Result", "Beside the exact truth"]
    result = told["tables"][0]
    assert {row[0] for row in result["rows"]} == set(LEAGUE["agents"])
    assert all(len(row) == len(result["head"]) for table in told["tables"] for row in table["rows"] if table is result)
    assert told["figures"] == sorted(file.stem for file in (league.folder / "figures").iterdir())
    assert told["settings"]["agents.1.spec"] == "rules"
    assert told["metrics"] is None
    assert {name: told[name] for name in overview.row(league)} == overview.row(league)


def test_a_match_tells_its_score(duel: Run) -> None:
    told = overview.detail(duel)
    assert told["headline"].startswith("random scored ")
    assert [table["title"] for table in told["tables"]] == ["Result", "By colour"]
    assert told["tables"][0]["head"] == ["random", "against rules"]


def test_games_come_page_by_page(league: Run) -> None:
    with Store(league.games_file, read_only=True) as store:
        stored = list(store.games(thoughts=True))
    pages = [overview.games(league, offset, 5) for offset in (0, 5, 10, 15)]
    assert {page["total"] for page in pages} == {12}
    listed = [each for page in pages for each in page["games"]]
    assert [each["number"] for each in listed] == list(range(12))
    assert [each["moves"] for each in listed] == [each.moves for each in stored]
    one = overview.game(league, 7)
    assert {name: one[name] for name in listed[7]} == listed[7]
    assert len(one["thoughts"]) == len(stored[7].columns)
    assert set(one["thoughts"][0]) == {"value", "visits", "seconds"}
    assert one["scores"] == list(stored[7].exact_scores or ())
    with pytest.raises(NotThere, match="no game 99"):
        overview.game(league, 99)


def test_only_differing_settings_are_compared(league: Run, duel: Run) -> None:
    told = overview.compare([league, duel])
    assert told["runs"] == [league.name, duel.name]
    assert told["settings"]["seed"] == [0, 5]
    assert told["settings"]["agents.2.spec"] == ["minimax:depth=1", None]
    assert "rounds" not in told["settings"]
    assert overview.compare([league, league])["settings"] == {}


def test_a_run_is_running_while_somebody_works_on_it_and_then_stopped(tmp_path: Path) -> None:
    run = begun(tmp_path)
    assert overview.row(run)["status"] == "stopped"
    with run.locked():
        told = overview.row(run)
        assert (told["status"], told["done"], told["total"]) == ("running", 0, 12)
        tournament = read(LEAGUE)
        with Store(run.games_file) as store:
            results = play_tournament(tournament, store, Local(2), make)
            store.drop_from(7)
            assert overview.row(run)["done"] == 7  # also while it is written
            assert overview.games(run)["total"] == 7
            run.write("results.json", {**summarize(results, store), "games": 7})
    told = overview.row(run)
    assert (told["status"], told["done"], told["total"]) == ("stopped", 7, 12)
    assert told["headline"]


def test_results_that_were_written_anew_are_read_anew(tmp_path: Path) -> None:
    run = open_run(tmp_path, "sum", {"kind": "train-sum"})
    for headline in ("bad", "good"):
        run.write("results.json", {"headline": headline})
        assert overview.row(run)["headline"] == headline


def test_a_training_tells_its_progress_and_its_curves(tmp_path: Path) -> None:
    run = open_run(tmp_path, "sum", {"kind": "train-sum", "total": 20})
    assert overview.row(run)["done"] is None
    train(run, Sum(), stop_after(3))
    told = overview.detail(run)
    assert (told["status"], told["done"], told["total"], told["unit"]) == ("stopped", 6, 20, "numbers")
    assert all(row.pop("seconds") >= 0 for row in told["metrics"]["rows"])
    assert told["metrics"] == {
        "unit": "numbers",
        "rows": [
            {"piece": 1, "numbers": 2, "sum": 3, "half": {"sum": 1.5}},
            {"piece": 2, "numbers": 4, "sum": 10, "half": {"sum": 5}},
            {"piece": 3, "numbers": 6, "sum": 21, "half": {"sum": 10.5}},
        ],
        "curves": [{"label": "the sum so far", "names": ["sum", "half.sum"], "logarithmic": False}],
    }
    assert (told["games"], told["tables"]) == (None, [])
    train(run, Sum())
    told = overview.detail(run)
    assert (told["status"], told["done"], told["headline"]) == ("finished", 20, "the sum is 210")
    assert ["sum", "210"] in told["tables"][0]["rows"]
    with pytest.raises(NotThere, match="has no games"):
        overview.games(run)


def test_the_documents_experiments_are_listed_as_they_go_on(tmp_path: Path) -> None:
    run = open_run(tmp_path, "reproduce-smoke", {"kind": "reproduce", "scale": "smoke", "seed": 0})
    told = overview.row(run)
    assert (told["status"], told["done"], told["total"], told["unit"]) == ("stopped", 0, 0, "experiments")
    first, second = all_experiments()["000-exact"], all_experiments()["004-speed"]
    for each in (first, second):
        check_work(run, each)
    with run.locked():
        told = overview.row(run)
        assert (told["status"], told["done"], told["total"], told["headline"]) == ("running", 0, 2, "")
    keep(run, first, [Finding("one", "1", "1", agrees=True), Finding("two", "2", "3", agrees=False), Text("said", "words")])
    write_reports(run)  # as when it is stopped
    told = overview.row(run)
    assert (told["status"], told["done"], told["total"]) == ("stopped", 1, 2)
    assert told["headline"] == "1 experiment: 1 agree, 1 differ"
    keep(run, second, [Finding("three", "1", "1", agrees=True), Finding("four", "", "1")])
    write_reports(run)
    told = overview.detail(run)
    assert (told["status"], told["done"], told["total"]) == ("finished", 2, 2)
    assert told["headline"] == "2 experiments: 2 agree, 1 differ"
    (table,) = told["tables"]
    assert table["rows"] == [["000-exact", 1, 1, 0], ["004-speed", 1, 0, 1]]
    assert (told["games"], told["metrics"], told["kind"]) == (None, None, "reproduce")
    RunTold.model_validate(told)  # so the page can show it
    shutil.rmtree(run.folder / "work")  # nobody needs it any more
    assert overview.row(run)["status"] == "finished"


def test_metrics_are_thinned_and_end_with_the_last_row(tmp_path: Path) -> None:
    run = open_run(tmp_path, "sum", {"kind": "train-sum", "total": 4000})
    train(run, Sum(4000))
    rows = overview.detail(run)["metrics"]["rows"]
    assert len(rows) <= overview.MOST_ROWS
    assert rows[-1]["numbers"] == 4000
    assert len({after["numbers"] - before["numbers"] for before, after in itertools.pairwise(rows)}) == 1


def test_numbers_that_json_does_not_have_are_left_out(tmp_path: Path) -> None:
    run = open_run(tmp_path, "sum", {"kind": "train-sum", "rate": float("inf")})
    train(run, Sum(), stop_after(1))
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"piece": 2, "numbers": 4, "sum": NaN, "half": {"sum": Infinity}}\n')
    told = overview.detail(run)
    json.dumps(told, allow_nan=False)
    assert told["metrics"]["rows"][-1] == {"piece": 2, "numbers": 4, "sum": None, "half": {"sum": None}}
    assert told["settings"]["rate"] is None


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("manifest.json", "{"),
        ("manifest.json", "[]"),
        ("results.json", "{}"),
        ("results.json", "[]"),
        ("results.json", '{"experiments": {"000-exact": 1}}'),
        ("results.json", '{"headline": 1, "games": 2'),
        ("training.json", "{}"),
        ("games.sqlite", "nonsense " * 1000),
    ],
)
def test_a_damaged_run_says_so_and_not_where_it_is(tmp_path: Path, file: str, content: str) -> None:
    kind = "train-sum" if file == "training.json" else "tournament"
    run = open_run(tmp_path, "x", {**begun(tmp_path).config, "kind": kind})
    run.write(file, content)
    told = overview.detail(Run(run.folder))
    if content.endswith("2"):  # cut short: nothing came out yet
        assert told["status"] == "stopped"
        return
    assert told["status"] == "damaged"
    assert told["headline"]
    assert str(tmp_path) not in json.dumps(told)
    if file == "games.sqlite":
        with pytest.raises(UserError) as error:
            overview.games(Run(run.folder))
        assert str(tmp_path) not in str(error.value)


@pytest.mark.parametrize("name", NAMES_FROM_OUTSIDE)
def test_names_are_looked_up_and_never_made_paths(league: Run, home: Path, name: str) -> None:
    assert overview.run_named(home, league.name) == league
    assert overview.figure(league, "ratings") == league.folder / "figures" / "ratings.svg"
    with pytest.raises(NotThere):
        overview.run_named(home, name)
    with pytest.raises(NotThere):
        overview.figure(league, name)
