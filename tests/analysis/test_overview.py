"""Runs as the web shows them: the contents of their folders, and nothing outside."""

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fourlab.analysis import overview
from fourlab.analysis.overview import NotThere
from fourlab.arena.play import play_tournament, solve_games
from fourlab.arena.report import write_report
from fourlab.arena.store import Store
from fourlab.arena.summary import summarize
from fourlab.arena.tournament import read
from fourlab.errors import UserError
from fourlab.jobs.executors.local import Local
from fourlab.jobs.run import Run, open_run
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.claims import Claim, Source
from fourlab.studies.report import check_work, save_parts, write_reports
from fourlab.studies.verdicts import same_number
from fourlab.studies.workbench import Text
from fourlab.training.loop import train
from fourlab.web.record_messages import RunAnswer
from tests.arena.players import make
from tests.training.test_loop import Sum, stop_after

LEAGUE = {"agents": ["random", "rules", "minimax:depth=1"], "openings": "random:16", "rounds": 2}
NAMES_FROM_OUTSIDE = (
    "",
    ".",
    "..",
    "../runs",
    "/etc",
    "*",
    "a/b",
    "%2e%2e",
    "..\\x",
    "\0",
    "lock",
    "manifest.json",
)


def begun(home: Path, **settings: Any) -> Run:
    return open_run(
        home, "league", {"kind": "tournament", **read({**LEAGUE, **settings}).as_data()}
    )


def played(home: Path, solved: bool = False, **settings: Any) -> Run:
    run = begun(home, **settings)
    tournament = read({**LEAGUE, **settings})
    with Store(run.games_file) as store:
        results = play_tournament(tournament, store, Local(2), make)
        if solved:
            solve_games(store, Local(2))
        summary = summarize(results, store)
        run.write("results.json", summary)
        write_report(run, tournament, summary, store)
    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def league(home: Path) -> Run:
    return played(home, solved=True)


@pytest.fixture(scope="module")
def duel(home: Path) -> Run:
    return played(home, agents=["random", "rules"], seed=5)


def test_a_finished_league_has_tables_figures_and_games(league: Run) -> None:
    data = overview.detail(league)
    assert data == json.loads(json.dumps(data, allow_nan=False))
    assert data["name"] == league.name
    assert (data["kind"], data["status"]) == ("tournament", "finished")
    assert (data["done"], data["total"], data["unit"], data["games"]) == (12, 12, "games", 12)
    assert data["created"] == league.manifest["created"]
    assert [table["title"] for table in data["tables"]][:2] == [
        "Result",
        "Agreement with the solver",
    ]
    result = data["tables"][0]
    assert {row[0] for row in result["rows"]} == set(LEAGUE["agents"])
    assert all(
        len(row) == len(result["head"])
        for table in data["tables"]
        for row in table["rows"]
        if table is result
    )
    assert data["figures"] == sorted(file.stem for file in (league.folder / "figures").iterdir())
    assert data["settings"]["agents.1.spec"] == "rules"
    assert data["metrics"] is None
    assert {name: data[name] for name in overview.row(league)} == overview.row(league)


def test_a_match_has_its_score_as_headline(duel: Run) -> None:
    data = overview.detail(duel)
    assert data["headline"].startswith("random scored ")
    assert [table["title"] for table in data["tables"]] == ["Result", "By colour"]
    assert data["tables"][0]["head"] == ["random", "against rules"]


def test_games_are_returned_page_by_page(league: Run) -> None:
    with Store(league.games_file, read_only=True) as store:
        stored = list(store.games(thoughts=True))
    pages = [overview.games(league, offset, 5) for offset in (0, 5, 10, 15)]
    assert {page["total"] for page in pages} == {12}
    listed = [game for page in pages for game in page["games"]]
    assert [game["number"] for game in listed] == list(range(12))
    assert [game["moves"] for game in listed] == [game.moves for game in stored]
    one = overview.game(league, 7)
    assert {name: one[name] for name in listed[7]} == listed[7]
    assert len(one["thoughts"]) == len(stored[7].columns)
    assert set(one["thoughts"][0]) == {"value", "visits", "seconds"}
    assert one["scores"] == list(stored[7].exact_scores or ())
    with pytest.raises(NotThere, match="no game 99"):
        overview.game(league, 99)


def test_only_differing_settings_are_compared(league: Run, duel: Run) -> None:
    data = overview.compare([league, duel])
    assert data["runs"] == [league.name, duel.name]
    assert data["settings"]["seed"] == [0, 5]
    assert data["settings"]["agents.2.spec"] == ["minimax:depth=1", None]
    assert "rounds" not in data["settings"]
    assert overview.compare([league, league])["settings"] == {}


def test_a_run_is_running_while_it_is_locked_and_then_stopped(tmp_path: Path) -> None:
    run = begun(tmp_path)
    assert overview.row(run)["status"] == "stopped"
    with run.locked():
        data = overview.row(run)
        assert (data["status"], data["done"], data["total"]) == ("running", 0, 12)
        tournament = read(LEAGUE)
        with Store(run.games_file) as store:
            results = play_tournament(tournament, store, Local(2), make)
            store.drop_from(7)
            assert overview.row(run)["done"] == 7  # also while it is written
            assert overview.games(run)["total"] == 7
            run.write("results.json", {**summarize(results, store), "games": 7})
    data = overview.row(run)
    assert (data["status"], data["done"], data["total"]) == ("stopped", 7, 12)
    assert data["headline"]


def test_changed_results_are_read_again(tmp_path: Path) -> None:
    run = open_run(tmp_path, "sum", {"kind": "train-sum"})
    for headline in ("bad", "good"):
        run.write("results.json", {"headline": headline})
        assert overview.row(run)["headline"] == headline


def test_a_training_run_has_progress_and_curves(tmp_path: Path) -> None:
    run = open_run(tmp_path, "sum", {"kind": "train-sum", "total": 20})
    assert overview.row(run)["done"] is None
    train(run, Sum(), stop_after(3))
    data = overview.detail(run)
    assert (data["status"], data["done"], data["total"], data["unit"]) == (
        "stopped",
        6,
        20,
        "numbers",
    )
    assert all(row.pop("seconds") >= 0 for row in data["metrics"]["rows"])
    assert data["metrics"] == {
        "unit": "numbers",
        "rows": [
            {"piece": 1, "numbers": 2, "sum": 3, "half": {"sum": 1.5}},
            {"piece": 2, "numbers": 4, "sum": 10, "half": {"sum": 5}},
            {"piece": 3, "numbers": 6, "sum": 21, "half": {"sum": 10.5}},
        ],
        "curves": [{"label": "the sum so far", "names": ["sum", "half.sum"], "logarithmic": False}],
    }
    assert (data["games"], data["tables"]) == (None, [])
    train(run, Sum())
    data = overview.detail(run)
    assert (data["status"], data["done"], data["headline"]) == ("finished", 20, "the sum is 210")
    assert ["sum", "210"] in data["tables"][0]["rows"]
    with pytest.raises(NotThere, match="has no games"):
        overview.games(run)


def test_a_reproduction_counts_finished_experiments(tmp_path: Path) -> None:
    run = open_run(tmp_path, "reproduce-smoke", {"kind": "reproduce", "scale": "smoke", "seed": 0})
    data = overview.row(run)
    assert (data["status"], data["done"], data["total"], data["unit"]) == (
        "stopped",
        0,
        0,
        "experiments",
    )
    first = all_experiments()["000-exact"]
    second = all_experiments()["004-speed"]
    for experiment in (first, second):
        check_work(run, experiment)
    with run.locked():
        data = overview.row(run)
        assert (data["status"], data["done"], data["total"], data["headline"]) == (
            "running",
            0,
            2,
            "",
        )
    save_parts(
        run,
        first,
        [
            Claim("one", "one", "1", Source.TEXT, faithful="1", reproduced=same_number(1, 1, 0)),
            Claim("two", "two", "2", Source.TEXT, faithful="3", reproduced=same_number(2, 3, 0)),
            Text("said", "words"),
        ],
    )
    write_reports(run)  # as after a stop
    data = overview.row(run)
    assert (data["status"], data["done"], data["total"]) == ("stopped", 1, 2)
    assert data["headline"] == "1 experiment: 1 agree, 0 possible, 1 differ"
    save_parts(
        run,
        second,
        [
            Claim(
                "three", "three", "1", Source.TEXT, faithful="1", reproduced=same_number(1, 1, 0)
            ),
            Claim("four", "four", "", Source.OURS, faithful="1"),
        ],
    )
    write_reports(run)
    data = overview.detail(run)
    assert (data["status"], data["done"], data["total"]) == ("finished", 2, 2)
    assert data["headline"] == "2 experiments: 2 agree, 0 possible, 1 differ"
    (table,) = data["tables"]
    assert table["rows"] == [["000-exact", 1, 0, 1, 0, 0], ["004-speed", 1, 0, 0, 0, 0]]
    assert (data["games"], data["metrics"], data["kind"]) == (None, None, "reproduce")
    RunAnswer.model_validate(data)  # so the page can show it
    shutil.rmtree(run.folder / "work")  # no longer needed
    assert overview.row(run)["status"] == "finished"


def test_metrics_are_thinned_and_end_with_the_last_row(tmp_path: Path) -> None:
    run = open_run(tmp_path, "sum", {"kind": "train-sum", "total": 4000})
    train(run, Sum(4000))
    rows = overview.detail(run)["metrics"]["rows"]
    assert len(rows) <= overview.MOST_ROWS
    assert rows[-1]["numbers"] == 4000
    assert (
        len({after["numbers"] - before["numbers"] for before, after in itertools.pairwise(rows)})
        == 1
    )


def test_numbers_that_are_not_finite_become_none(tmp_path: Path) -> None:
    run = open_run(tmp_path, "sum", {"kind": "train-sum", "rate": float("inf")})
    train(run, Sum(), stop_after(1))
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"piece": 2, "numbers": 4, "sum": NaN, "half": {"sum": Infinity}}\n')
    data = overview.detail(run)
    json.dumps(data, allow_nan=False)
    assert data["metrics"]["rows"][-1] == {
        "piece": 2,
        "numbers": 4,
        "sum": None,
        "half": {"sum": None},
    }
    assert data["settings"]["rate"] is None


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
def test_a_damaged_run_is_reported_without_its_path(
    tmp_path: Path, file: str, content: str
) -> None:
    kind = "train-sum" if file == "training.json" else "tournament"
    run = open_run(tmp_path, "x", {**begun(tmp_path).config, "kind": kind})
    run.write(file, content)
    data = overview.detail(Run(run.folder))
    if content.endswith("2"):  # cut off while it was written: no results yet
        assert data["status"] == "stopped"
        return
    assert data["status"] == "damaged"
    assert data["headline"]
    assert str(tmp_path) not in json.dumps(data)
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


def test_a_statement_of_several_rows_counts_once() -> None:
    verdicts = {
        "possible": {"answer": "agrees", "test": f"{overview.MAY_HAPPEN}: Wilson interval"},
    }

    def rows(*answers: str | None, **fields: Any) -> list[dict[str, Any]]:
        return [
            {
                **{"kind": "claim", "name": f"row-{place}", "reported": "yes", "true": None},
                **{"made_as": "claim", "statement": "one"},
                "reproduced": None if answer is None else verdicts.get(answer, {"answer": answer}),
                **fields,
            }
            for place, answer in enumerate(answers)
        ]

    agrees, differs, cannot_tell = "agrees", "differs", "cannot tell"
    for answers, expected in (
        ((agrees, agrees), agrees),
        ((agrees, cannot_tell, differs), differs),
        ((agrees, cannot_tell), cannot_tell),
        ((agrees, None), agrees),
        ((agrees, None, "no verdict"), cannot_tell),
        ((agrees, "possible"), "possible"),
        (("possible", "possible"), "possible"),
        (("possible", "no verdict"), cannot_tell),
        (("possible", differs), differs),
        ((None, "no verdict"), overview.UNTESTED),
    ):
        assert overview.count_answers(rows(*answers)) == {expected: 1}
    assert overview.count_answers(rows(agrees, differs, statement="")) == {agrees: 1, differs: 1}
    for kind in ("reading", "diagnostic"):
        assert not overview.count_answers(rows(agrees, made_as=kind))
    assert not overview.count_answers(rows(agrees, reported="")), "ours, not the report's"
