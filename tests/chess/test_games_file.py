"""Files of chess games that somebody else has written."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourlab.chess.job import read_job
from fourlab.chess.match import MAX_GAME_BYTES, MOST_GAMES, ChessMatch, Games
from fourlab.errors import UserError

MATCH = ChessMatch(("random", "random"), games=4)
GAME = {"number": 0, "start": "", "moves": "e2e4", "result": "1-0", "ending": "checkmate"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    Games(MATCH, tmp_path / "games.jsonl")
    return tmp_path / "games.jsonl"


def append(file: Path, *lines: str) -> None:
    with file.open("a") as stream:
        stream.writelines(f"{line}\n" for line in lines)


def test_a_game_is_read(file: Path) -> None:
    append(file, json.dumps(GAME))
    assert [game.moves for game in Games(MATCH, file).games] == ["e2e4"]


@pytest.mark.parametrize(
    "change",
    [
        {"number": "x"},
        {"number": True},
        {"number": 0.0},
        {"number": -1},
        {"number": MOST_GAMES},
        {"number": 10**30},
        {"number": None},
        {"result": "9-9"},
        {"result": []},
        {"ending": {}},
        {"ending": ["x"]},
        {"moves": 7},
        {"moves": "e2e4 " * MAX_GAME_BYTES},
        {"start": None},
        {"more": 1},
    ],
)
def test_values_that_no_game_has_are_refused(file: Path, change: dict[str, Any]) -> None:
    append(file, json.dumps({**GAME, **change}))
    before = file.read_bytes()
    with pytest.raises(UserError, match="cannot read chess games in"):
        Games(MATCH, file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "line", ["", "null", "7", "[]", "{}", '"x"', "[" * 99_999, "[[[]]]", "NaN", '{"number": 0}']
)
def test_lines_that_are_no_games_are_refused(file: Path, line: str) -> None:
    append(file, line, json.dumps(GAME))
    with pytest.raises(UserError, match="cannot read chess games in"):
        Games(MATCH, file)


@pytest.mark.parametrize("first", ["[" * 9_999, "[]", "null", "9" * 5_000, "{}"])
def test_a_first_line_that_is_no_match_is_refused(file: Path, first: str) -> None:
    file.write_text(f"{first}\n")
    with pytest.raises(UserError, match="does not hold the games"):
        Games(MATCH, file)


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\xff\n")
    with pytest.raises(UserError, match="cannot read chess games in"):
        Games(MATCH, file)


def test_a_game_counts_once(file: Path) -> None:
    append(file, json.dumps(GAME), json.dumps({**GAME, "result": "0-1"}))
    with pytest.raises(UserError, match="game 0 is there twice"):
        Games(MATCH, file)


@pytest.mark.parametrize(
    "change",
    [
        {"games": 10**12},
        {"games": 2.0},
        {"games": "4"},
        {"plies": "x"},
        {"plies": 10**9},
        {"seed": -1},
        {"seed": [1]},
        {"seconds": float("nan")},
        {"simulations": 0},
    ],
)
def test_a_configuration_that_no_match_has_is_refused(change: dict[str, Any]) -> None:
    config = {"kind": "chess", "players": ["random", "random"], "games": 4, "plies": 4, "seed": 0}
    assert read_job(config).match == MATCH
    with pytest.raises(UserError, match=next(iter(change))):
        read_job({**config, **change})
