"""Matches, tournaments, trainings and studies from Python: results, resuming and errors."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import fourlab as fl
from fourlab.api import GameOptions, MatchOptions, TournamentOptions
from fourlab.api_runs import RunOptions
from fourlab.arena.match import MatchSettings, TournamentSettings
from fourlab.jobs.run import Run
from tests.conftest import Result

Command = Callable[..., Result]


HUGE: Any = "huge"


class Leftmost:
    """Plays the leftmost open column."""

    def decide(self, position: fl.Position) -> int:
        return position.legal_columns()[0]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- matches --------------------------------------------------------------------------------------


def test_a_match_is_that_of_the_command(fourlab: Command, tmp_path: Path) -> None:
    result = fl.match("mcts", "rules", games=10, simulations=20, seed=3, workers=1)
    options = ("--games", "10", "--simulations", "20", "--seed", "3", "--quiet")
    # The command finds the run of the call, and has nothing left to do.
    done = fourlab("match", "mcts", "rules", *options)
    text, _, run = done.stdout.rpartition("run: ")
    assert text == f"{result}\n"
    assert Path(run.split()[0]) == result.run
    printed = json.loads(fourlab("match", "mcts", "rules", *options, "--json").stdout)
    assert printed == result.to_dict()
    assert (tmp_path / result.report).exists()


def test_a_match_has_numbers_games_and_figures() -> None:
    result = fl.match("rules", "random", games=10, workers=1)
    assert (result.wins, result.draws, result.losses) == (10, 0, 0)
    assert (len(result), result.score, result.agents) == (10, 1.0, ["rules", "random"])
    assert result.elo.value is None
    assert result.elo.low is not None
    rows = result.to_pandas()
    assert len(rows) == 10
    assert set(rows.red) == {"rules", "random"}
    assert [game.number for game in result.games()] == list(range(10))
    assert result.plot().axes
    assert result.plot("lengths").axes
    with pytest.raises(fl.UserError, match="figures are score, lengths, first-columns"):
        result.plot("no such figure")
    assert "against random" in result._repr_html_()
    assert "score 100.0%" in repr(result)


def test_objects_classes_and_functions_play() -> None:
    result = fl.match(Leftmost, "rules", games=4)
    assert result.agents == ["Leftmost", "rules"]

    def rightmost(position: fl.Position) -> int:
        return position.legal_columns()[-1]

    assert fl.match(rightmost, Leftmost(), games=4).agents == ["rightmost", "Leftmost"]
    made = fl.match(fl.make("mcts", simulations=10), "random", games=4, workers=1)
    assert made.agents == ["mcts:simulations=10", "random"]
    assert fl.match("rules", "rules", games=2, workers=1).agents == ["rules (A)", "rules (B)"]


def test_openings_are_named_or_given() -> None:
    given = fl.match("rules", "random", games=4, openings=["44", fl.Position("45")], workers=1)
    assert [game.start for game in given.games()] == ["44", "44", "45", "45"]
    one = fl.match("rules", "random", games=2, openings=fl.Position("1212"), workers=1)
    assert {game.start for game in one.games()} == {"1212"}
    small = fl.match("rules", "random", games=2, board=fl.Rules(5, 4, 4), openings="empty")
    assert {(game.board, game.start) for game in small.games()} == {("5x4x4", "")}


def test_a_sequential_test_ends_a_match() -> None:
    result = fl.match("rules", "random", games=400, sprt=(0, 100), workers=1)
    assert len(result) < 400
    assert result.sprt is not None
    assert "accepted" in result.sprt
    assert result.sprt in str(result)


# --- resuming -------------------------------------------------------------------------------------


def test_the_same_folder_resumes_and_extends(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    first = fl.match("rules", "random", games=4, run=folder, workers=1)
    seen: list[fl.Progress] = []
    again = fl.match("rules", "random", games=8, run=folder, workers=1, on_progress=seen.append)
    assert first.run == again.run == folder
    assert (seen[0].done, seen[-1].done, seen[-1].total) == (4, 8, 8)
    assert [game.moves for game in first.games()][:4] == [game.moves for game in again.games()][:4]
    seen.clear()
    fl.match("rules", "random", games=8, run=folder, workers=1, on_progress=seen.append)
    assert {event.done for event in seen} == {8}  # nothing is played again


def test_a_changed_setting_is_refused_by_name(tmp_path: Path) -> None:
    fl.match("rules", "random", games=2, run=tmp_path / "mine", workers=1)
    with pytest.raises(fl.UserError, match="was begun with seed = 0, not 1"):
        fl.match("rules", "random", games=2, run=tmp_path / "mine", seed=1)
    fl.train("q", board="4x3x3", games=100, run=tmp_path / "q")
    with pytest.raises(fl.UserError, match="was begun with games = 100, not 200"):
        fl.train("q", board="4x3x3", games=200, run=tmp_path / "q")


def test_an_interrupted_match_is_resumed_by_the_same_call(tmp_path: Path) -> None:
    def interrupt(event: fl.Progress) -> None:
        if event.done >= 10:
            # As Ctrl-C does; the handler runs in the main thread, which is this one.
            os.kill(os.getpid(), 2)

    options: Any = {"games": 40, "run": tmp_path / "mine", "executor": "threads", "workers": 1}
    with pytest.raises(KeyboardInterrupt, match="the same call resumes the run"):
        fl.match("rules", "random", on_progress=interrupt, **options)
    stored = [game.moves for game in fl.MatchResult(tmp_path / "mine", {}).games()]
    assert 0 < len(stored) < 40
    result = fl.match("rules", "random", **options)
    assert [game.moves for game in result.games()][: len(stored)] == stored
    assert len(result) == 40


def test_matches_can_be_played_in_any_thread(tmp_path: Path) -> None:
    results = []
    thread = threading.Thread(
        target=lambda: results.append(fl.match("rules", "random", games=2, workers=1))
    )
    thread.start()
    thread.join()
    assert len(results[0]) == 2


def test_runs_are_kept_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = fl.match("rules", "random", games=2, runs=tmp_path / "here", name="mine", workers=1)
    assert named.run.parent == tmp_path / "here"
    assert "_mine_" in named.run.name
    monkeypatch.setenv("FOURLAB_RUNS", str(tmp_path / "there"))
    assert fl.match("rules", "random", games=2, workers=1).run.parent == tmp_path / "there"


def test_a_script_needs_no_guard_for_worker_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import fourlab as fl\n"
        "print('begun')\n"
        "class Mine:\n"
        "    def decide(self, position): return position.legal_columns()[0]\n"
        "print(fl.match('rules', 'random', games=4, workers=2).score)\n"
        "print(fl.match(Mine(), 'random', games=4, workers=2).agents)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "begun\n1.0\n['Mine', 'random']\n"
    # Not a terminal, so there is no progress, only the remark on the object.
    (note,) = done.stderr.splitlines()
    assert note.startswith("note: Mine cannot be sent to other processes")
    manifest = Run(next(iter((tmp_path / "runs").iterdir()))).manifest
    assert manifest["command"] == "python script.py"


# --- tournaments, trainings, studies --------------------------------------------------------------


def test_a_tournament_has_ratings() -> None:
    result = fl.tournament(["random", "rules", Leftmost], rounds=3, workers=1, seed=1)
    assert len(result) == 18
    assert next(iter(result.ratings)) == "rules"
    assert result.score("rules", "random") == 1.0
    assert list(result.to_pandas().agent) == list(result.ratings)
    assert "score of row against column" in str(result)
    assert result.plot().axes
    assert result.plot("cross-table").axes
    assert "Leftmost" in result._repr_html_()


def test_a_tournament_with_names_limits_boards_and_openings() -> None:
    result = fl.tournament(
        {"one": "mcts", "two": Leftmost, "three": "random"},
        rounds=1,
        simulations=5,
        boards=["4x4", fl.Rules(5, 4)],
        openings=["1"],
    )
    assert result.agents == ["one", "two", "three"]
    assert {(game.board, game.start) for game in result.games()} == {("4x4x4", "1"), ("5x4x4", "1")}
    config = Run(result.run).config
    assert [agent["simulations"] for agent in config["agents"]] == [5, 5, 5]


def test_a_training_gives_an_agent(tmp_path: Path) -> None:
    result = fl.train("q", board="4x3x3", games=500, run=tmp_path / "q")
    assert result.headline in str(result)
    agent = fl.make(result.spec)
    assert agent.decide(fl.Position(board="4x3x3")).column in range(4)
    assert list(result.to_pandas().games)[-1] == 500
    assert result.plot().axes
    assert result.headline in result._repr_html_()
    assert json.loads(json.dumps(result.to_dict()))["states"] > 100
    again = fl.train("q", board="4x3x3", games=500, run=tmp_path / "q")
    assert again.data == result.data


def test_a_study_compares_claims() -> None:
    result = fl.study("vannucci-abril", "exact", scale="smoke", workers=1)
    (title,) = result.claims
    assert title == "vannucci-abril exact"
    assert str(result).startswith("vannucci-abril exact: 0 agree, ")  # no verdicts at this scale
    rows = result.to_pandas()
    assert len(rows) == len(result.claims[title])
    assert {"experiment", "claim", "reported"} <= set(rows)
    assert "vannucci-abril exact" in result._repr_html_()
    assert all(file.suffix == ".svg" for file in result.figures)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fl.match("mctss", "rules"), "there is no agent 'mctss' (did you mean 'mcts'?)"),
        (lambda: fl.match("mcts", 3), "an agent is a spec, a function, or a class or object"),
        (lambda: fl.match("mcts", "human"), "a human cannot play in a match"),
        (lambda: fl.match("rules", "random", games=3), "must be even, not 3"),
        (lambda: fl.match("rules", "random", games=0), "games must be a whole number from 1 to"),
        (
            lambda: fl.match("rules", "random", simulation=3),  # type: ignore[call-arg]
            "match() has no setting 'simulation' (did you mean 'simulations'?)",
        ),
        (lambda: fl.match("rules", "random", board="9"), "a board is written COLUMNSxROWSxINAROW"),
        (lambda: fl.match("rules", "random", openings=["8"]), "there is no column 8"),
        (lambda: fl.match("rules", "random", openings="1212121"), "is over (red wins)"),
        (lambda: fl.match("rules", "random", seconds=-1), "seconds must be a number greater than"),
        (lambda: fl.match("rules", "random", workers=0), "at least one worker"),
        (lambda: fl.match("alphazero", "random", board="5x4"), "5x4"),
        (lambda: fl.tournament(["rules"]), "at least two agents"),
        (lambda: fl.tournament(["a", "b"], 5, games=10), "games and rounds say the same"),
        (lambda: fl.tournament(["rules", "rules"]), "two agents have the same name 'rules'"),
        (
            lambda: fl.tournament(["a", "b"], limit_a="nodes=5"),  # type: ignore[call-arg]
            "tournament() has no setting 'limit_a'",
        ),
        (lambda: fl.train("alphazer"), "there is no training 'alphazer' (did you mean"),
        (lambda: fl.train("q", preset="none"), "there is no preset 'none'; presets are"),
        (lambda: fl.train("q", game=3), "train() has no setting 'game' (did you mean 'games'?)"),
        (lambda: fl.train("q", games=-1), "games must be a whole number"),
        (lambda: fl.study(), "study() takes the name of a report"),
        (lambda: fl.study("bhatt"), "there is no experiment 'bhatt'; did you mean bhat?"),
        (lambda: fl.study("bhat", scale=HUGE), "a scale is smoke, quick, full, not 'huge'"),
    ],
)
def test_errors_are_one_line_and_make_no_run(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(fl.UserError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(caught.traceback) == 3  # this test, its call, the front door
    assert not Path("runs").exists()


# --- the options of functions and of commands are the same ----------------------------------------


def test_keywords_are_the_settings_of_the_commands() -> None:
    runs = set(RunOptions.__annotations__)
    match = set(MatchOptions.__annotations__) - runs
    assert match | {"games"} == {field.name for field in fields(MatchSettings)}
    tournament = set(TournamentOptions.__annotations__) - runs
    assert tournament | {"rounds"} == {field.name for field in fields(TournamentSettings)}
    assert set(GameOptions.__annotations__) <= set(MatchOptions.__annotations__)
