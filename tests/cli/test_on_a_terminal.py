"""What people see on a terminal, in a real pseudo-terminal."""

import re
import sys
from pathlib import Path

import pytest

from tests.cli.pseudo_terminal import on_a_terminal

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="there are no pseudo-terminals on Windows"
)
CTRL_C = "\x03"


def test_a_game_is_drawn_in_one_place_and_can_be_reviewed_and_repeated(tmp_path: Path) -> None:
    start = ("--start", "121212", "--seed", "1")
    with on_a_terminal("play", "random", *start, folder=tmp_path) as terminal:
        terminal.wait_for("eval, quit): ")
        assert "red (X): human   yellow (O): random   score 0-0, 0 drawn" in terminal.text
        assert "\x1b[1;31m" in terminal.shown, "red discs are red"
        before = terminal.type("0\n")
        terminal.wait_for("there is no column 0", before)
        terminal.wait_for("quit): ", before)
        before = terminal.type("e\n")
        terminal.wait_for("columns by value: wins in 1: 1; loses in 32: 2", before)
        terminal.wait_for("quit): ", before)
        before = terminal.type("h\n")
        terminal.wait_for("hint: column 1, which wins in 1", before)
        terminal.wait_for("quit): ", before)
        before = terminal.type("1\n")
        terminal.wait_for("score: human 1, random 0, drawn 0", before)
        terminal.wait_for("q quits: ", before)
        assert terminal.shown.count("\x1b[J") == 3, "the board was replaced after every answer"
        before = terminal.type("r\n")
        terminal.wait_for("red: accuracy 100.0%", before)
        terminal.wait_for("q quits: ", before)
        before = terminal.type("s\n")
        terminal.wait_for("yellow (O): human   score 0-1", before)
        terminal.wait_for("yellow, column 1-7", before)
        terminal.type(CTRL_C)
        assert terminal.end() == 130
        assert "stopped; resume with: fourlab play --red random --yellow human" in terminal.text


def test_solve_says_that_it_waits_for_positions(tmp_path: Path) -> None:
    with on_a_terminal("solve", folder=tmp_path) as terminal:
        terminal.wait_for("type positions, one per line; Ctrl-D ends (fourlab help solve)")
        before = terminal.type("44444\n\x04")
        terminal.wait_for("44444 -1 0", before)
        assert terminal.end() == 0


def test_statistics_of_the_search_are_shown(tmp_path: Path) -> None:
    with on_a_terminal("play", "mcts:simulations=50", folder=tmp_path) as terminal:
        terminal.wait_for("quit): ")
        before = terminal.type("4\n")
        terminal.wait_for("statistics: 50 simulations in ", before)
        terminal.wait_for("quit): ", before)
        terminal.type("q\n")
        assert terminal.end() == 0


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colour_the_game_is_plain_text(tmp_path: Path, variables: dict[str, str]) -> None:
    with on_a_terminal("play", "rules", folder=tmp_path, **variables) as terminal:
        terminal.wait_for("quit): ")
        terminal.type("q\n")
        assert terminal.end() == 0
        assert "\x1b" not in terminal.shown


def test_a_low_terminal_shows_boards_one_below_the_other(tmp_path: Path) -> None:
    with on_a_terminal("play", "rules", folder=tmp_path, rows=10) as terminal:
        terminal.wait_for("quit): ")
        before = terminal.type("4\n")
        terminal.wait_for("2 discs on the board", before)
        terminal.type("q\n")
        assert terminal.end() == 0
        assert "\x1b[J" not in terminal.shown


@pytest.mark.parametrize("columns", [60, 120])
def test_the_progress_of_a_job_is_a_bar_at_any_width(tmp_path: Path, columns: int) -> None:
    command = ("match", "mcts:simulations=2000", "mcts:simulations=2001", "--games", "2000")
    with on_a_terminal(*command, folder=tmp_path, columns=columns) as terminal:
        terminal.wait_for("/2000 games")
        terminal.type(CTRL_C)
        terminal.wait_for("finishing the work in progress")
        terminal.type(CTRL_C)
        assert terminal.end() == 130
    assert "━━━━━━━━━━" in terminal.text
    assert "\\u001b" not in terminal.shown, "escape sequences are obeyed, not shown"
    assert "fourlab resume runs/" in terminal.text.replace("\r\n", "")


def test_solving_shows_bounds_and_ctrl_c_prints_those_that_are_proven(tmp_path: Path) -> None:
    with on_a_terminal("solve", "1", "44", "--no-book", folder=tmp_path, columns=60) as terminal:
        terminal.wait_for(" nodes, ")
        terminal.type(CTRL_C)
        assert terminal.end() == 130
    assert "\\u001b" not in terminal.shown
    assert re.search(r"1: (-?\d+)\.\.(-?\d+), [\d,]+ nodes, \d+ s", terminal.text)
    row = re.search(r"[\r\n]1 (-?\d+)\.\.(-?\d+) \d+ \d+\r", terminal.text)
    assert row is not None
    assert -20 <= int(row[1]) < int(row[2]) <= 21
    assert "interrupted; the bounds above are proven" in terminal.text
    assert "\n44 " not in terminal.text, "the next position is not begun"
