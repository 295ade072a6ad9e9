"""Damaged run folders over the web: every page of a run answers with one line, never with 500."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from fourlab.agent import Stop
from fourlab.errors import UserError
from fourlab.web.searching import KINDS
from fourlab.web.settings import Caps, Settings
from tests.in_process import run_in_process
from tests.web.conftest import nothing_to_compile, serving

PAGES = ("", "/games", "/games/0", "/figures/x.svg")
BITS = 200
"""Single bits that are flipped."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished match of four games."""
    folder = tmp_path_factory.mktemp("played")
    command = ("match", "random", "rules", "--games", "4", "--run", "match", "--quiet")
    done = run_in_process(command, folder)
    assert done.returncode == 0, done.stderr
    return folder / "match"


@pytest.fixture
def home(tmp_path: Path, played: Path) -> Path:
    """Return a folder of runs with a copy of the match, to be damaged."""
    shutil.copytree(played, tmp_path / "match")
    return tmp_path


@pytest.fixture
def lab(home: Path) -> Iterator[httpx.Client]:
    with serving(Settings(home=home), nothing_to_compile()) as client:
        yield client


def change_json(name: str, change: Callable[[Any], object]) -> Callable[[Path], None]:
    """Return a function that changes a JSON file of a run."""

    def damage(run: Path) -> None:
        file = run / name
        data = json.loads(file.read_text()) if file.exists() else {}
        change(data)
        file.write_text(json.dumps(data))

    return damage


def change_games(statement: str) -> Callable[[Path], None]:
    """Return a function that changes the games of a run, whatever their table allows."""

    def damage(run: Path) -> None:
        with sqlite3.connect(run / "games.sqlite") as games:
            games.execute("PRAGMA ignore_check_constraints = ON")
            games.execute(statement)
        games.close()

    return damage


def cut(run: Path) -> None:
    file = run / "games.sqlite"
    file.write_bytes(file.read_bytes()[:5000])


DAMAGES: dict[str, Callable[[Path], None]] = {
    "kind": change_json("manifest.json", lambda data: data["config"].update(kind=5)),
    "created": change_json("manifest.json", lambda data: data.update(created=7)),
    "config": change_json("manifest.json", lambda data: data.update(config=[1])),
    "no manifest": lambda run: (run / "manifest.json").write_text("[]") and None,
    "headline": change_json("results.json", lambda data: data.update(headline=[1])),
    "results": lambda run: (run / "results.json").write_text("3") and None,
    "training": lambda run: (run / "training.json").write_text('{"unit": 5, "total": []}') and None,
    "red": change_games("UPDATE games SET red = x'ff00'"),
    "moves": change_games("UPDATE games SET moves = '99,99,'"),
    "long moves": change_games("UPDATE games SET moves = '4444444444'"),
    "start": change_games("UPDATE games SET start = 'nonsense'"),
    "board": change_games("UPDATE games SET board = '0x0x0'"),
    "result": change_games("UPDATE games SET result = 7"),
    "cause": change_games("UPDATE games SET cause = 'none'"),
    "thoughts": change_games("UPDATE games SET thoughts = '[[[]]]'"),
    "more thoughts": change_games("""UPDATE games SET thoughts = '[["a", "b", "c"]]'"""),
    "scores": change_games("""UPDATE games SET scores = '{"a": 1}'"""),
    "number": change_games("UPDATE games SET number = -5 WHERE number = 0"),
    "tables": change_games("DROP TABLE games"),
    "cut": cut,
    "empty": lambda run: (run / "games.sqlite").write_bytes(b"") and None,
    "text": lambda run: (run / "games.sqlite").write_bytes(b"x" * 10_000) and None,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_every_page_of_a_damaged_run_answers_in_one_line(
    lab: httpx.Client, home: Path, damage: Callable[[Path], None]
) -> None:
    damage(home / "match")
    answers = [lab.get(f"/api/v1/runs/match{page}") for page in PAGES]
    answers.append(lab.get("/api/v1/compare", params={"run": ["match", "match"]}))
    for answer in answers:
        assert answer.status_code in (200, 400, 404), answer.text
        assert str(home) not in answer.text
        if answer.status_code != 200:
            message = answer.json()["error"]["message"]
            assert message
            assert "\n" not in message


def test_flipped_bits_of_a_run_raise_nothing_but_messages(home: Path, played: Path) -> None:
    rng = random.Random(1)
    files = [played / name for name in ("games.sqlite", "manifest.json", "results.json")]
    asked = [
        ("run", {"name": "match"}),
        ("games", {"name": "match", "offset": 0, "limit": 50}),
        ("game", {"name": "match", "number": 0}),
        ("compare", {"names": ["match"]}),
    ]
    refused = 0
    for _ in range(BITS):
        file = rng.choice(files)
        data = bytearray(file.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        (home / "match" / file.name).write_bytes(data)
        for do, fields in asked:
            try:
                KINDS[do]({"home": str(home), **fields}, Caps(), Stop(), lambda event: None)
            except UserError as error:
                refused += 1
                assert str(home) not in str(error)
                assert len(str(error)) < 500
        shutil.copy(file, home / "match" / file.name)
    assert refused
