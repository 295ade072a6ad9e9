import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fourlab as fl
from tests.conftest import Result

Fourlab = Callable[..., Result]


def run_of(tmp_path: Path) -> str:
    (folder,) = (tmp_path / "runs").iterdir()
    return folder.name


def test_a_match_prints_statistics_and_writes_a_run(fourlab: Fourlab, tmp_path: Path) -> None:
    done = fourlab("match", "rules", "random", "--games", "40")
    assert done.returncode == 0, done.stderr
    assert "rules against random: 40 games" in done.stdout
    assert "wins    40 = 100.0%" in done.stdout or "Elo: +" in done.stdout
    assert "red, who moves first, scored" in done.stdout
    assert "40/40 games" in done.stderr
    assert "milliseconds per move: rules " in done.stdout
    folder = tmp_path / "runs" / run_of(tmp_path)
    for name in ("config.toml", "manifest.json", "games.sqlite", "results.json", "report.html"):
        assert (folder / name).exists()


def test_json_is_one_value_with_pairs_and_intervals(fourlab: Fourlab) -> None:
    done = fourlab("match", "mcts:simulations=20", "rules", "--games", "20", "--json", "--quiet")
    assert done.stderr == ""
    data = json.loads(done.stdout)
    (match,) = data["matches"]
    assert sum(match["counts"]) == 10
    assert match["games"] == data["games"] == 20
    assert set(match["elo"]) >= {"value", "low", "high", "why", "text"}
    assert data["first_player"]["games"] == 20
    assert data["accuracy"] is None


def test_accuracy_counts_every_move_and_can_be_added_later(
    fourlab: Fourlab, tmp_path: Path
) -> None:
    first = json.loads(
        fourlab(
            "match",
            "perfect",
            "random",
            "--games",
            "4",
            "--openings",
            "random:14",
            "--accuracy",
            "--json",
            "--quiet",
        ).stdout
    )
    agents = first["accuracy"]["agents"]
    assert agents["perfect"]["kept"] == agents["perfect"]["best"] == 1
    assert {blunder["agent"] for blunder in first["accuracy"]["blunders"]} <= {"random"}
    fourlab(
        "match",
        "rules",
        "random",
        "--games",
        "4",
        "--openings",
        "random:14",
        "--quiet",
        "--name",
        "later",
    )
    later = json.loads(fourlab("resume", "later", "--accuracy", "--json", "--quiet").stdout)
    assert later["accuracy"]["agents"]["rules"]["moves"] > 0


def test_limits_can_differ_by_side(fourlab: Fourlab) -> None:
    done = fourlab(
        "match",
        "mcts",
        "mcts",
        "--games",
        "2",
        "--limit-a",
        "simulations=30",
        "--limit-b",
        "simulations=10,nodes=99",
        "--json",
    )
    agents = json.loads(done.stdout)["agents"]
    assert list(agents) == ["mcts simulations=30", "mcts simulations=10 nodes=99"]


def test_an_agent_can_play_itself(fourlab: Fourlab) -> None:
    agents = json.loads(fourlab("match", "random", "random", "--games", "2", "--json").stdout)[
        "agents"
    ]
    assert list(agents) == ["random (A)", "random (B)"]


def test_equal_deterministic_players_are_not_enough_information(fourlab: Fourlab) -> None:
    done = fourlab(
        "match", "minimax:depth=1", "minimax:depth=2", "--games", "20", "--openings", "empty"
    )
    assert "9 pairs repeat others move by move and count once" in done.stdout
    assert "Elo: too few pairs: 10 are needed" in done.stdout


def test_names_that_look_like_formulas_are_only_names(fourlab: Fourlab, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(
        "rounds = 1\n[[agents]]\nspec = \"random\"\nname = 'a$\\foo_{$b'\n"
        '[[agents]]\nspec = "rules"\nname = "四目"\n'
        '[[agents]]\nspec = "minimax:depth=1"\n'
    )
    done = fourlab("tournament", "odd.toml", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("small_match")
def test_a_run_of_the_same_name_that_differs_is_mentioned(fourlab: Fourlab) -> None:
    printed = fourlab("match", "random", "rules", "--games", "4", "--seed", "9").stderr
    assert "note: a new run; " in printed
    assert "differs in seed" in printed


def test_few_openings_are_mentioned(fourlab: Fourlab) -> None:
    assert (
        "only 4 such openings"
        in fourlab("match", "random", "rules", "--games", "20", "--openings", "all:1").stderr
    )


@pytest.mark.usefixtures("small_match")
def test_a_damaged_run_does_not_hide_the_others(fourlab: Fourlab, tmp_path: Path) -> None:
    for name, manifest, results in (
        ("a", "[]", "{}"),
        ("b", '{"config": {}}', "{}"),
        ("c", "{", ""),
    ):
        (tmp_path / "runs" / name).mkdir()
        (tmp_path / "runs" / name / "manifest.json").write_text(manifest)
        (tmp_path / "runs" / name / "results.json").write_text(results)
    done = fourlab("runs")
    assert done.returncode == 0
    assert done.stdout.count("damaged") == 3
    assert "2 of 2 games" in done.stdout


def test_a_sequential_test_stops_early_and_prints_its_verdict(fourlab: Fourlab) -> None:
    done = fourlab("match", "rules", "random", "--games", "2000", "--sprt", "0", "50", "--quiet")
    assert "SPRT: H1 accepted after" in done.stdout
    assert "rules is stronger than random by more than 0 normalized Elo" in done.stdout


def test_games_are_listed_shown_replayed_and_exported(fourlab: Fourlab, tmp_path: Path) -> None:
    fourlab("match", "mcts:simulations=30", "rules", "--games", "6", "--quiet")
    listed = fourlab("games", "last").stdout.splitlines()
    assert len(listed) == 7
    assert listed[1].split()[:3] == ["0", "mcts:simulations=30", "rules"]
    shown = fourlab("games", "last", "1").stdout
    assert "game 1: rules (red) against mcts:simulations=30 (yellow)" in shown
    assert "visits" in shown
    replayed = fourlab("games", "last", "1", "--replay", "0").stdout
    assert replayed.count("1  2  3  4  5  6  7") == replayed.count(" plays ") + 1
    assert "the same game" in fourlab("games", "last", "3", "--again").stdout
    rows = list(csv.DictReader(io.StringIO(fourlab("games", "last", "--csv", "-").stdout)))
    assert [row["number"] for row in rows] == list("012345")
    fourlab("games", "last", "--jsonl", "games.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert len(lines) == 6
    assert len(lines[0]["thoughts"]) == len(lines[0]["moves"])
    data = json.loads(fourlab("games", "last", "--json", "--result", "red").stdout)
    assert all(game["result"] == 1 for game in data)
    assert len(fourlab("games", "last", "--cause", "timeout").stdout.splitlines()) == 1


def test_a_tournament_has_ratings_and_a_cross_table(fourlab: Fourlab, tmp_path: Path) -> None:
    (tmp_path / "openings.txt").write_text("44\n45 # two\n".replace(" # two", ""))
    (tmp_path / "league.toml").write_text(
        'openings = "file:openings.txt"\nboards = ["7x6x4"]\nseed = 2\nworkers = 2\n'
        '[[agents]]\nspec = "random"\n[[agents]]\nspec = "rules"\nname = "ruler"\n'
        '[[agents]]\nspec = "mcts"\nsimulations = 20\n'
    )
    done = fourlab("tournament", "league.toml")
    assert done.returncode == 0, done.stderr
    assert "Elo (Bradley-Terry, 95 %)" in done.stdout
    assert "score of row against column" in done.stdout
    assert run_of(tmp_path).split("_")[1] == "league"
    assert (
        json.loads(fourlab("tournament", "league.toml", "--json", "--quiet").stdout)["games"] == 12
    )


def test_a_tournament_takes_agents_on_the_command_line(fourlab: Fourlab, tmp_path: Path) -> None:
    command = ("tournament", "random", "rules", "mcts", "--simulations", "20", "--seed", "3")
    done = fourlab(*command, "--games", "4", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "score of row against column" in done.stdout
    # More games extend the run, as those of a match do; --rounds is the same in openings.
    more = json.loads(fourlab(*command, "--rounds", "4", "--json", "--quiet").stdout)
    assert (more["run"], more["games"]) == (f"runs/{run_of(tmp_path)}", 3 * 8)
    # The same tournament in Python has the same games.
    limits: dict[str, Any] = {"simulations": 20, "seed": 3, "workers": 1, "quiet": True}
    again = fl.tournament(["random", "rules", "mcts"], games=8, runs=tmp_path / "runs", **limits)
    assert again.run.name == run_of(tmp_path)
    # Boards and openings are settings, too.
    boards = ("--board", "5x4x4", "--openings", "empty", "--games", "2", "--json", "--quiet")
    small = json.loads(fourlab("tournament", "random", "rules", *boards).stdout)
    assert small["games"] == 2


def test_the_settings_of_a_file_are_in_the_file(fourlab: Fourlab, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('agents = ["random", "rules"]\nrounds = 1\n')
    done = fourlab("tournament", "t.toml", "--games", "4")
    assert (done.returncode, done.stdout) == (2, "")
    assert "t.toml has its own settings; --games is for agents on the command" in done.stderr


def test_runs_are_compared_by_what_differs(fourlab: Fourlab) -> None:
    for seed in ("1", "2"):
        fourlab(
            "match",
            "random",
            "rules",
            "--games",
            "2",
            "--seed",
            seed,
            "--name",
            f"run{seed}",
            "--quiet",
        )
    listed = fourlab("runs").stdout.splitlines()
    assert len(listed) == 2
    assert "2 of 2 games" in listed[0]
    compared = fourlab("runs", "run1", "run2").stdout
    assert "seed" in compared
    assert "rounds" not in compared
    data = json.loads(fourlab("runs", "run1", "run2", "--json").stdout)
    assert data["settings"] == {"seed": [1, 2]}


def test_a_bad_engine_loses_its_games_and_the_match_continues(fourlab: Fourlab) -> None:
    done = fourlab(
        "match", 'engine:cmd="/no/such/engine"', "random", "--games", "4", "--json", "--quiet"
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["faults"] == [
        {
            "agent": 'engine:cmd="/no/such/engine"',
            "cause": "crash",
            "games": 4,
            "example": "game 0, red: cannot start /no/such/engine: No such file or directory",
        }
    ]
    assert data["matches"][0]["losses"]["count"] == 4


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["match", "random", "rules", "--games", "3"], "even"),
        (["match", "random", "nobody"], "there is no agent 'nobody'"),
        (["match", "random", "human"], "a human cannot play in a match"),
        (["match", "random", "rules", "--openings", "random:99"], "at most 60"),
        (["match", "random", "rules", "--openings", "file:none.txt"], "none.txt"),
        (["match", "random", "rules", "--limit-a", "hours=3"], "seconds"),
        (["match", "random", "rules", "--seconds", "0"], "greater than 0"),
        (["match", "random", "rules", "--seconds", "inf"], "greater than 0"),
        (["match", "random", "rules", "--grace", "inf"], "grace"),
        (["match", "random", "rules", "--sprt", "5", "1"], "elo0"),
        (["match", "random", "rules", "--executor", "cloud"], "local, threads, ray"),
        (["match", "random", "rules", "--address", "x"], "ray"),
        (["match", "random", "rules", "--starts", "me"], "alternate or fixed"),
        (
            ["match", "random", "dqn", "--board", "5x4x4"],
            "the network knows the board 7x6x4, not 5x4x4",
        ),
        (["tournament", "none.toml"], "none.toml"),
        (["resume", "nothing"], "there is no run 'nothing'"),
        (["games", "nothing"], "there is no run 'nothing'"),
        (["runs", "nothing"], "there is no run 'nothing'"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], word: str, fourlab: Fourlab, tmp_path: Path
) -> None:
    done = fourlab(*arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_file_that_is_no_tournament_is_refused_in_one_line(
    fourlab: Fourlab, tmp_path: Path
) -> None:
    for text, word in (
        ("agents = [", "not TOML"),
        ("agents = []\n", "two agents"),
        ("x = 1\n", "'x'"),
        ('workers = "2"', "workers"),
    ):
        (tmp_path / "bad.toml").write_text(text)
        done = fourlab("tournament", "bad.toml")
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert word in done.stderr


@pytest.mark.usefixtures("small_match")
def test_a_missing_game_is_reported(fourlab: Fourlab) -> None:
    assert "has no game 7" in fourlab("games", "last", "7").stderr
    assert "give the number of a game" in fourlab("games", "last", "--again").stderr


def test_a_match_stopped_by_its_test_warns_of_the_biased_elo(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    command = ("match", "rules", "random", "--games", "200", "--quiet", "--workers", "1")
    stopped = fourlab(*command, "--sprt", "0", "100")
    assert "H1 accepted" in stopped.stdout
    assert "stopped by a test is biased" in stopped.stdout
    (report,) = tmp_path.glob("runs/*/report.html")
    assert "stopped by a test is biased" in report.read_text()
    assert "biased" not in fourlab(*command, "--sprt", "0", "1").stdout
