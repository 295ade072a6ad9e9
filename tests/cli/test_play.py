"""Games on the terminal, typed through a pipe."""

import json
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_person_wins_a_game(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", stdin="1\n2\n1\n2\n1\n2\n1\n")
    assert done.returncode == 0
    assert "red wins with a1 a2 a3 a4" in done.stdout
    assert done.stdout.endswith("moves: 1 2 1 2 1 2 1\n")


def test_two_agents_play_by_themselves_and_a_seed_repeats_the_game(fourlab: Run) -> None:
    games = [json.loads(fourlab("play", "--red", "random", "--yellow", "random", "--seed", s, "--json").stdout) for s in "112"]
    assert games[0] == games[1]
    assert games[0] != games[2]
    assert games[0]["outcome"] in ("red wins", "yellow wins", "draw")


def test_bad_answers_are_asked_again(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", stdin="9\nx\n\n4\nquit\n")
    assert "there is no column 9" in done.stdout
    assert "'x' is not a column" in done.stdout
    assert "'' is not a column" in done.stdout
    assert done.stdout.endswith("moves: 4\n")


@pytest.mark.parametrize("word", [":q", "quit", "quit()", "exit", "exit()"])
def test_quitting_prints_how_to_go_on(fourlab: Run, word: str) -> None:
    done = fourlab("play", "--yellow", "human", stdin=f"4\n4\n{word}\n")
    assert done.returncode == 0
    assert "fourlab play --red 'human' --yellow 'human' --board 7x6x4 --start '44'" in done.stdout


def test_the_end_of_input_quits(fourlab: Run) -> None:
    done = fourlab("play")
    assert done.returncode == 0
    assert "stopped; go on with" in done.stdout


def test_a_move_is_taken_back_together_with_the_agents_reply(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "rules", "--seed", "1", stdin="4\nback\n3\nquit\n")
    assert done.stdout.endswith("moves: 3 4\n")


def test_between_people_one_move_is_taken_back(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", stdin="4\n5\nback\n6\nquit\n")
    assert done.stdout.endswith("moves: 4 6\n")


def test_nothing_can_be_taken_back_at_the_start(fourlab: Run) -> None:
    for arguments in ((), ("--red", "rules", "--yellow", "human")):
        done = fourlab("play", *arguments, stdin="back\nquit\n")
        assert "there is no move of yours to take back" in done.stdout


def test_hints_are_off_unless_asked_for(fourlab: Run) -> None:
    assert "hint: " not in fourlab("play", "--yellow", "human", stdin="1\n2\nquit\n").stdout
    assert "hint: column 4" in fourlab("play", "--yellow", "human", stdin="hint\nquit\n").stdout
    assert fourlab("play", "--yellow", "human", "--hints", stdin="1\n2\nquit\n").stdout.count("hint: ") == 3


def test_any_board_and_any_start(fourlab: Run) -> None:
    done = fourlab("play", "--red", "rules", "--yellow", "rules", "--board", "5x4x3", "--start", "11", "--json")
    game = json.loads(done.stdout)
    assert game["board"] == "5x4x3"
    assert game["start"] == "5/5/y4/r4 r 3"
    assert fourlab("play", "--red", "rules", "--yellow", "rules", "--start", "vannucci-abril").returncode == 0


def test_with_json_the_board_goes_to_standard_error(fourlab: Run) -> None:
    done = fourlab("play", "--yellow", "human", "--json", stdin="1\n2\n1\n2\n1\n2\n1\n")
    assert json.loads(done.stdout)["moves"] == [1, 2, 1, 2, 1, 2, 1]
    assert "red, column 1-7" in done.stderr
