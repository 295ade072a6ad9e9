"""Games on the terminal, typed through a pipe."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_person_wins_a_game(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", stdin="1\n2\n1\n2\n1\n2\n1\n")
    assert done.returncode == 0
    assert "red wins with a1 a2 a3 a4" in done.stdout
    assert done.stdout.endswith("moves: 1 2 1 2 1 2 1\n")


def test_two_agents_play_by_themselves_and_a_seed_repeats_the_game(fourlab: Run) -> None:
    games = [
        json.loads(
            fourlab("play", "--red", "random", "--yellow", "random", "--seed", s, "--json").stdout
        )
        for s in "112"
    ]
    assert games[0] == games[1]
    assert games[0] != games[2]
    assert games[0]["outcome"] in ("red wins", "yellow wins", "draw")


def test_bad_answers_are_refused_and_asked_for_again(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", stdin="9\nx\n\n4\nquit\n")
    assert "there is no column 9" in done.stdout
    assert "'x' is not a column" in done.stdout
    assert "'' is not a column" in done.stdout
    assert done.stdout.endswith("moves: 4\n")


@pytest.mark.parametrize("word", [":q", "quit", "quit()", "exit", "exit()"])
def test_quitting_prints_the_resume_command(fourlab: Run, word: str) -> None:
    done = fourlab("play", "--yellow", "human", stdin=f"4\n4\n{word}\n")
    assert done.returncode == 0
    assert "fourlab play --red human --yellow human --board 7x6x4 --start 44" in done.stdout


def test_the_end_of_input_quits(fourlab: Run) -> None:
    done = fourlab("play")
    assert done.returncode == 0
    assert "stopped; resume with" in done.stdout


def test_a_move_is_taken_back_together_with_the_agents_reply(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "rules", "--seed", "1", stdin="4\nback\n3\nquit\n")
    assert done.stdout.endswith("moves: 3 4\n")


def test_between_people_one_move_is_taken_back(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", stdin="4\n5\nback\n6\nquit\n")
    assert done.stdout.endswith("moves: 4 6\n")


def test_nothing_can_be_taken_back_at_the_start(fourlab: Run) -> None:
    for arguments in ((), ("--red", "rules", "--yellow", "human")):
        done = fourlab("play", *arguments, stdin="back\nquit\n")
        assert "there is no move to take back" in done.stdout


def test_hints_are_off_by_default(fourlab: Run) -> None:
    assert "hint: " not in fourlab("play", "--yellow", "human", stdin="1\n2\nquit\n").stdout
    assert "hint: column 4" in fourlab("play", "--yellow", "human", stdin="hint\nquit\n").stdout
    assert (
        fourlab("play", "--yellow", "human", "--hints", stdin="1\n2\nquit\n").stdout.count("hint: ")
        == 3
    )


def test_any_board_and_any_start(fourlab: Run) -> None:
    done = fourlab(
        "play", "--red", "rules", "--yellow", "rules", "--board", "5x4x3", "--start", "11", "--json"
    )
    game = json.loads(done.stdout)
    assert game["board"] == "5x4x3"
    assert game["start"] == "5/5/y4/r4 r 3"
    assert (
        fourlab(
            "play", "--red", "rules", "--yellow", "rules", "--start", "vannucci-abril"
        ).returncode
        == 0
    )


def test_with_json_the_board_goes_to_standard_error(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", "--json", stdin="1\n2\n1\n2\n1\n2\n1\n")
    assert json.loads(done.stdout)["moves"] == [1, 2, 1, 2, 1, 2, 1]
    assert "red, column 1-7" in done.stderr


def test_between_people_the_very_first_move_can_be_taken_back(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", stdin="4\nback\n5\nquit\n")
    assert done.stdout.endswith("moves: 5\n")


@pytest.mark.parametrize("answer", ["[/x]", "[red]", ":smile:", "9" * 5000, "²"])
def test_strange_answers_are_shown_as_typed(fourlab: Run, answer: str) -> None:
    done = fourlab("play", stdin=f"{answer}\nquit\n")
    assert done.returncode == 0, done.stderr
    assert f"{answer!r} is not a column" in done.stdout


def test_an_answer_that_is_not_text_is_refused() -> None:
    command = [sys.executable, "-m", "fourlab", "play"]
    done = subprocess.run(
        command,
        input=b"\xff\nquit\n",
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
    )
    assert done.returncode == 0, done.stderr
    assert b"is not a column" in done.stdout


def test_hints_come_from_the_agent_that_was_named(fourlab: Run) -> None:
    hints = fourlab(
        "play", "--yellow", "human", "--hint-agent", "random", "--hints", stdin="1\n2\n3\n4\nquit\n"
    ).stdout
    assert hints.count("hint: column") > hints.count("hint: column 4")
    assert fourlab("play", "--hint-agent", "human").returncode == 2


def test_asking_for_hints_does_not_change_a_seeded_game(fourlab: Run) -> None:
    plain, hinted = (
        json.loads(
            fourlab("play", "--yellow", "random", "--seed", "3", "--json", stdin=answers).stdout
        )["moves"]
        for answers in ("1\n2\n3\nquit\n", "hint\n1\nhint\n2\n3\nquit\n")
    )
    assert plain == hinted


def test_hand_made_boards_can_be_played_with_any_counts(fourlab: Run) -> None:
    start = ("--start", "7/7/7/7/7/rrr4 y 4", "--red", "rules", "--yellow", "rules")
    assert fourlab("play", *start).returncode == 2
    assert fourlab("play", *start, "--any-counts").returncode == 0


def test_ctrl_c_prints_the_resume_command(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "fourlab", "play", "--yellow", "human"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("4\n")
    process.stdin.flush()
    while "1 disc on the board" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    rest = process.communicate()[0]
    assert process.returncode == 130
    assert "--start 4" in rest


def test_a_game_compiles_only_what_its_agents_need(fourlab_process: Run, tmp_path: Path) -> None:
    done = fourlab_process(
        "play",
        "--red",
        "minimax:depth=1",
        "--yellow",
        "rules",
        FOURLAB_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert done.returncode == 0
    compiled = {file.name.rsplit(".", 2)[0] for file in (tmp_path / "cache").rglob("*.kernel")}
    assert "agents.minimax.kernel" in compiled
    assert all(name.startswith(("agents.minimax.", "compiled.")) for name in compiled)
    assert not compiled & {"compiled.rollouts", "compiled.planes"}


def test_the_adaptive_level_follows_the_results(
    fourlab: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # Red wins with column 4 at once, in a game that begins shortly before.
    start = ("--start", "434343", "--seed", "1")
    done = fourlab("play", "--level", "auto", *start, "--games", "2", stdin="4\n4\n")
    assert done.returncode == 0, done.stderr
    assert "next game: level-4 (Improver)" in done.stdout
    assert "next game: level-5 (Club)" in done.stdout
    assert json.loads((tmp_path / "state" / "fourlab" / "adaptive.json").read_text()) == {
        "level": 5
    }
    # A game that is not finished changes nothing.
    done = fourlab("play", "--level", "auto", *start, stdin="quit\n")
    assert "fourlab play --red human --yellow level-5" in done.stdout
    # The person loses: yellow wins with column 4.
    lost = ("--start", "142434", "--seed", "1")
    done = fourlab("play", "--level", "auto", *lost, stdin="1\n1\n1\n")
    assert "next game: level-4 (Improver)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--level", "x"), "a level is a number from 1 to 10, or auto, not 'x'"),
        (("--level", "0"), "there is no level-0; levels are level-1 to level-10"),
        (("--level", "auto", "--red", "mcts"), "--level auto follows the results of a person"),
        (("--level", "auto", "rules"), "give an opponent or a level, not both"),
    ],
)
def test_other_levels_are_refused(fourlab: Run, arguments: tuple[str, ...], message: str) -> None:
    done = fourlab("play", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
