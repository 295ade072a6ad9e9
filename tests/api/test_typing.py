"""Type checkers see the functions as they are, with every keyword."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

GOOD = """\
from typing import assert_type

import fourlab as fl


class Mine:
    def decide(self, position: fl.Position) -> int:
        return position.legal_columns()[0]


match = fl.match("mcts", Mine(), games=100, seconds=0.1, openings=["44"], workers=2)
assert_type(match, fl.MatchResult)
assert_type(match.score, float | None)
assert_type(fl.tournament(["random", Mine], rounds=5), fl.TournamentResult)
assert_type(fl.solve("4453"), fl.Solution)
assert_type(fl.solve([[0] * 7] * 6).score, int | None)
assert_type(fl.analyse("4453", agent="alphazero", seconds=1), fl.PositionAnalysis)
assert_type(fl.analyze(fl.Position("4453")).decision, fl.Decision)
assert_type(fl.review("4453").mistakes[0].column, int)
assert_type(fl.train("alphazero", preset="smoke").spec, str)
assert_type(fl.study("bhat", "table-5", scale="smoke"), fl.StudyResult)
assert_type(fl.list_agents()["mcts"], fl.AgentInfo)
assert_type(fl.make("mcts", simulations=1000).decide(fl.Position()).column, int)
assert_type(fl.Solver().solve("4453"), fl.Solution)
"""
BAD = """\
import fourlab as fl

fl.match("mcts", "rules", game=100)
fl.match("mcts", "rules", seconds="1")
fl.solve("4453", second=1)
fl.study("bhat", scale="huge")
"""


def test_examples_pass_strict_checks_and_wrong_keywords_do_not(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"),
            # The cache of `make check`, with which this takes seconds.
            *("--config-file", str(ROOT / "pyproject.toml"), "--follow-imports=silent"),
            *("--cache-dir", str(ROOT / ".mypy_cache"), "good.py", "bad.py"),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
    )
    complaints = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [line.split(": error: ")[0] for line in complaints] == [
        *("bad.py:3", "bad.py:4", "bad.py:5", "bad.py:6")
    ], done.stdout
