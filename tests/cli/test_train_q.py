"""`fourlab train q` as a person uses it."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

from tests.cli.interrupted import ends_the_same
from tests.conftest import ROOT, Result

SMALL = shlex.split("train q --board 4x3x3 --games 4000 --block 500 --exam-games 20 --seed 3 --quiet")


def test_a_table_is_learned_told_of_and_played(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    done = fourlab(*SMALL, "--run", "here")
    assert done.returncode == 0, done.stderr
    headline, how, report = done.stdout.splitlines()
    assert " positions learned in 4,000 games on 4x3x3; examined: won " in headline
    assert "as first player at worst a" in headline
    assert how == "play it: fourlab play --board 4x3x3 --yellow q:table=here/table.q"
    assert report == "report: here/report.html"
    assert len((tmp_path / "here" / "metrics.jsonl").read_text().splitlines()) == 8
    results = json.loads((tmp_path / "here" / "results.json").read_text())
    assert set(results["all_replies"]) == {"first", "second"}

    game = fourlab("play", "--board", "4x3x3", "--red", "random", "--yellow", "q:table=here/table.q", "--seed", "1", "--json")
    assert game.returncode == 0, game.stderr
    assert json.loads(game.stdout)["outcome"] is not None

    again = fourlab(*SMALL, "--run", "here", "--json")
    assert json.loads(again.stdout)["headline"] == headline


def test_a_training_goes_on_after_ctrl_c_and_ends_the_same(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    many = [*SMALL, "--against", "rules", "--target", "best", "--games", "600", "--block", "20", "--exam-games", "0"]
    ends_the_same(fourlab, tmp_path, many, "600 games", "table.q")


def test_a_range_is_written_in_quotes_wherever_it_is_shown_to_be_typed(fourlab: Callable[..., Result]) -> None:
    """A shell would write bhat-mc{0..25} out, and only the first would go with --against."""
    page = (ROOT / "docs" / "agents" / "q.md").read_text()
    for text in (page, "".join(fourlab("train", "q", "--help").stdout.split())):  # the help may be broken anywhere
        assert "'bhat-mc{" in text
        assert "bhat-mc{" not in text.replace("'bhat-mc{", "")


def test_slow_opponents_make_short_pieces_of_work(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    slow = shlex.split("train q --board 4x3x3 --against rules --target best --games 500 --quiet --run here")
    assert fourlab(*slow, "--exam-games", "0").returncode == 0
    assert len((tmp_path / "here" / "metrics.jsonl").read_text().splitlines()) == 3


def test_what_cannot_be_is_said_in_one_line(fourlab: Callable[..., Result]) -> None:
    for arguments, why in (
        (["--preset", "nobody"], "there is no preset 'nobody'"),
        (["--faithful"], "nothing to be faithful to"),
        (["--alpha", "2"], "--alpha must be a number from 0 to 1"),
        (["--preset", "bhat", "--against", "bhat-mc{3..1}"], "a range goes up"),
        (["--preset", "bhat", "--against", "nobody"], "there is no agent 'nobody'"),
        (["--preset", "bhat", "--against", "human"], "people do not play in trainings"),
    ):
        done = fourlab("train", "q", *arguments)
        assert done.returncode == 2
        assert why in done.stderr
        assert len(done.stderr.splitlines()) == 1
