"""`fourlab train patterns` as users run it."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

from tests.cli.interrupted import ends_the_same
from tests.conftest import Result

SMALL = shlex.split(
    "train patterns --board 5x4x4 --tuples 10 --cells 5 --games 3000 --block 1000 --batch 200"
    " --opening 6 --seed 3 --quiet"
)


def test_patterns_are_trained_reported_and_played(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    done = fourlab(*SMALL, "--run", "here")
    assert done.returncode == 0, done.stderr
    headline, how, report = done.stdout.splitlines()
    assert headline.startswith("10 tuples, 3,000 games, ")
    assert "mistakes one ply ahead on " in headline
    assert how == "play it: fourlab play --board 5x4x4 --yellow patterns:file=here/patterns.npz"
    assert report == "report: here/report.html"
    rows = [json.loads(row) for row in (tmp_path / "here/metrics.jsonl").read_text().splitlines()]
    assert [row["games"] for row in rows] == [1000, 2000, 3000]

    for agent in ("patterns:file=here/patterns.npz", "anytime:file=here/patterns.npz,nodes=500"):
        game = fourlab(
            *("play", "--board", "5x4x4", "--red", "random", "--yellow", agent),
            *("--seed", "1", "--json"),
        )
        assert game.returncode == 0, game.stderr
        assert json.loads(game.stdout)["outcome"] is not None

    other = fourlab("play", "--red", "random", "--yellow", "patterns:file=here/patterns.npz")
    assert other.returncode == 2
    assert "the patterns are for the board 5x4x4, not 7x6x4" in other.stderr


def test_a_training_stopped_by_ctrl_c_resumes_to_the_same_result(
    fourlab: Callable[..., Result], tmp_path: Path
) -> None:
    many = [*SMALL, "--games", "40000", "--block", "400"]
    ends_the_same(fourlab, tmp_path, many, "40,000 games", "patterns.npz")
