import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Result

Fourlab = Callable[..., Result]


def test_a_game_is_reviewed_move_by_move(fourlab: Fourlab, tmp_path: Path) -> None:
    done = fourlab("review", "4444413333122", "--html", "review.html")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "  1. red     4  best     column 4 wins in 41"
    assert (
        lines[12]
        == " 13. red     2  blunder  column 2 turns a win into a loss; column 1 wins in 27"
    )
    assert lines[13] == "at the end: yellow wins in 27"
    assert lines[14].startswith(
        "red: accuracy 73.5%, value kept 71.4%, exactly best 57.1% of 7 moves"
    )
    assert lines[16] == "mistakes, worst first: 13, 11, 12"
    assert "turns a win into a loss" in (tmp_path / "review.html").read_text()


def test_an_agent_says_what_it_would_have_played(fourlab: Fourlab, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def last(position):\n    return position.legal_columns()[-1]\n"
    )
    done = fourlab("review", "44533", "--agent", "mine.py:last")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "  1. red     4  best     column 4 wins in 41; mine.py:last plays 7"
    assert sum("mine.py:last plays 7" in line for line in lines) == 5
    data = json.loads(fourlab("review", "445", "--agent", "rules", "--json").stdout)
    assert data["agent"] == "rules"
    assert [1 <= move["choice"] <= 7 for move in data["moves_made"]] == [True] * 3
    wrong = fourlab("review", "445", "--agent", "ruless")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'rules'" in wrong.stderr


def test_json_is_one_value(fourlab: Fourlab) -> None:
    data = json.loads(fourlab("review", "555", "--start", "vannucci-abril", "--json").stdout)
    assert data["outcome"] == "red wins"
    assert [move["category"] for move in data["moves_made"]] == ["best", "slow", "best"]


def test_unproven_positions_are_reported(fourlab: Fourlab) -> None:
    done = fourlab("review", "4,4", "--board", "12x4x4", "--seconds", "0.01")
    assert "not everything could be proven" in done.stdout
    assert "not proven" in done.stdout.splitlines()[0]


@pytest.mark.usefixtures("small_match")
def test_a_stored_game_is_reviewed(fourlab: Fourlab) -> None:
    game = json.loads(fourlab("games", "last", "1", "--json").stdout)
    data = json.loads(fourlab("review", "--run", "last", "--game", "1", "--json").stdout)
    assert [move["column"] for move in data["moves_made"]] == game["moves"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("9",), "there is no column 9"),
        (("7/7/7/7/7/3r3 y 4",), "is a board, not the moves of a game"),
        (("44", "--run", "last"), "either the moves of a game or a run"),
        (("--run", "nothing"), "there is no run 'nothing'"),
        (("44", "--seconds", "0"), "greater than 0"),
        (("44", "--html", "no/such/folder.html"), "cannot write"),
    ],
)
def test_bad_input_is_one_line(fourlab: Fourlab, arguments: tuple[str, ...], word: str) -> None:
    done = fourlab("review", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert len(done.stderr.splitlines()) == 1
