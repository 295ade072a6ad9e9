"""`fourlab train q` as users run it."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

from tests.cli.interrupted import ends_the_same
from tests.conftest import ROOT, Result

SMALL = shlex.split(
    "train q --board 4x3x3 --games 4000 --block 500 --exam-games 20 --seed 3 --quiet"
)


def test_a_table_is_trained_reported_and_played(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    done = fourlab(*SMALL, "--run", "here")
    assert done.returncode == 0, done.stderr
    headline, how, report = done.stdout.splitlines()
    assert " positions learned in 4,000 games on 4x3x3; evaluation: won " in headline
    assert "as first player at worst a" in headline
    assert how == "play it: fourlab play --board 4x3x3 --yellow q:table=here/table.q"
    assert report == "report: here/report.html"
    assert len((tmp_path / "here" / "metrics.jsonl").read_text().splitlines()) == 8
    results = json.loads((tmp_path / "here" / "results.json").read_text())
    assert set(results["all_replies"]) == {"first", "second"}

    game = fourlab(
        "play",
        "--board",
        "4x3x3",
        "--red",
        "random",
        "--yellow",
        "q:table=here/table.q",
        "--seed",
        "1",
        "--json",
    )
    assert game.returncode == 0, game.stderr
    assert json.loads(game.stdout)["outcome"] is not None

    again = fourlab(*SMALL, "--run", "here", "--json")
    assert json.loads(again.stdout)["headline"] == headline


def test_a_training_stopped_by_ctrl_c_resumes_to_the_same_result(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    many = [
        *SMALL,
        "--against",
        "rules",
        "--target",
        "best",
        "--games",
        "600",
        "--block",
        "20",
        "--exam-games",
        "0",
    ]
    ends_the_same(fourlab, tmp_path, many, "600 games", "table.q")


def test_ranges_of_agents_are_quoted_in_help_and_docs(
    fourlab: Callable[..., Result],
) -> None:
    """Unquoted, a shell expands bhat-mc{0..25}, and only the first agent belongs to --against."""
    page = (ROOT / "docs" / "agents" / "q.md").read_text()
    # The help may be wrapped anywhere, so its white space is removed.
    shown = "".join(fourlab("train", "q", "--help").stdout.split())
    for text in (page, shown):
        assert "'bhat-mc{" in text
        assert "bhat-mc{" not in text.replace("'bhat-mc{", "")


def test_slow_opponents_give_short_blocks(fourlab: Callable[..., Result], tmp_path: Path) -> None:
    slow = shlex.split(
        "train q --board 4x3x3 --against rules --target best --games 500 --quiet --run here"
    )
    assert fourlab(*slow, "--exam-games", "0").returncode == 0
    assert len((tmp_path / "here" / "metrics.jsonl").read_text().splitlines()) == 3


def test_bad_input_is_one_line(fourlab: Callable[..., Result]) -> None:
    for arguments, why in (
        (["--preset", "nobody"], "there is no preset 'nobody'"),
        (["--faithful"], "nothing to be faithful to"),
        (["--alpha", "2"], "--alpha must be a number from 0 to 1"),
        (["--preset", "bhat", "--against", "bhat-mc{3..1}"], "a range must ascend"),
        (["--preset", "bhat", "--against", "nobody"], "there is no agent 'nobody'"),
        (["--preset", "bhat", "--against", "human"], "a human cannot be a training opponent"),
    ):
        done = fourlab("train", "q", *arguments)
        assert done.returncode == 2
        assert why in done.stderr
        assert len(done.stderr.splitlines()) == 1
