"""`fourlab qtable` as a person uses it."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Result

LINE = '"((0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 1, 2, 0))",-2.0\n'


def test_bhats_text_format_is_imported_and_exported(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "values.gz").write_bytes(gzip.compress(LINE.encode()))
    done = fourlab("qtable", "import", "values.gz", "-o", "values.q")
    assert (done.returncode, done.stdout) == (0, "values.q: 1 positions on 5x4x4\n")
    described = json.loads(fourlab("qtable", "info", "values.q", "--json").stdout)
    assert (described["board"], described["positions"], described["initial"]) == ("5x4x4", 1, 1.0)
    assert described["learned"] == {"seat": "second", "read_from": "values.gz"}
    assert (
        fourlab("qtable", "export", "values.q", "-o", "again.gz").stdout
        == "again.gz: 1 positions\n"
    )
    assert gzip.decompress((tmp_path / "again.gz").read_bytes()).decode() == LINE
    decided = fourlab("analyze", "3", "--board", "5x4", "--agent", "q:table=values.q")
    assert decided.returncode == 0, decided.stderr
    assert "plays 1" in decided.stdout


def test_a_table_is_cut(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    second = LINE.replace("(0, 0, 1, 2, 0)", "(1, 2, 1, 2, 0)")
    (tmp_path / "values.gz").write_bytes(gzip.compress((LINE + second).encode()))
    fourlab("qtable", "import", "values.gz", "-o", "values.q")
    done = fourlab("qtable", "cut", "values.q", "-o", "early.q", "--discs", "3")
    assert done.stdout == "early.q: 1 of 2 positions on 5x4x4\n"
    described = json.loads(fourlab("qtable", "info", "early.q", "--json").stdout)
    assert described["learned"]["cut"] == 3


def test_the_shipped_table_describes_its_training(fourlab: Callable[..., Result]) -> None:
    done = fourlab("qtable", "info")
    assert done.returncode == 0, done.stderr
    assert "board: 5x4x4" in done.stdout
    assert "against=['bhat-mc{0..25}:c=2']" in done.stdout


def test_wrong_files_and_seats_are_refused_in_one_line(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "wrong").write_text("no table")
    for arguments, why in (
        (["info", "wrong"], "wrong is not a table of values or is damaged"),
        (["import", "wrong", "-o", "a.q"], "cannot read wrong"),
        (["export", "none.q", "-o", "a.gz"], "cannot read none.q"),
        (["import", "wrong", "-o", "a.q", "--seat", "third"], "the seat is first, second or both"),
    ):
        done = fourlab("qtable", *arguments)
        assert done.returncode == 2
        assert why in done.stderr
        assert len(done.stderr.splitlines()) == 1
