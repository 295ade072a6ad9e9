"""Good engines pass, and every fault is reported under the rule it breaks."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fourlab import Position, Rules
from fourlab.engines import check as engine_check
from fourlab.engines.check import Finding, check, nearly_full
from fourlab.engines.program import Engine
from fourlab.game.rules import CLASSIC
from tests.conftest import ROOT

SMALL = Rules(5, 4, 4)
SCRIPT = ROOT / "tests" / "engines" / "engine.py"


def findings_of(kind: str, start_seconds: float = 600, grace: float = 60) -> Iterator[Finding]:
    engine = Engine(
        shlex.join([sys.executable, "-S", str(SCRIPT), kind]), start_seconds, grace, move_seconds=2
    )
    engine.overtime = 600
    return check(engine, [SMALL])


@pytest.mark.parametrize("kind", ["good", "leftmost"])
def test_an_engine_that_keeps_the_rules_passes(kind: str) -> None:
    findings = list(findings_of(kind))
    assert all(finding.kept for finding in findings), findings
    assert len({finding.rule for finding in findings}) == 17


OPEN_COLUMNS = "knows the open columns on 5x4x4, given as moves, as a FEN and as both"
BROKEN = [
    ("silent", "greets and gets ready", r"did not start within 1 s (no c4iok)"),
    ("dies", "greets and gets ready", "exited with code 1: no licence"),
    (
        "crash",
        "answers with any bounds",
        "exited with code 1: RuntimeError: boom (position startpos moves 4 4)",
    ),
    (
        "illegal",
        "plays whole games on 5x4x4",
        "answered column 9, which does not exist (position startpos)",
    ),
    ("words", "keeps its time limit", "answered 'left', which is not a column (position startpos)"),
    ("late", "gives one answer per question", "s late (0.1 s are allowed) (position startpos)"),
    (
        "until-stop",
        "answers with any bounds",
        "did not answer 'go' within 2 s without stop",
    ),
    (
        "twice",
        "gives one answer per question",
        "answered one question twice: bestmove 99",
    ),
    (
        "lines",
        "keeps its time limit",
        "wrote more than 10000 lines for one move (position startpos)",
    ),
    ("ignores-quit", "exits on quit", "still ran 0.5 s after quit"),
    ("ignores-quit", "exits at the end of its input", "still ran 0.5 s after the end of its input"),
    (
        "guesses",
        "ignores unknown lines",
        "answered unknown lines: bestmove 1",
    ),
    ("knows-all", "ignores unknown lines", "exited with code 1: what?"),
    ("deaf-to-ping-2", "answers every ping, in order", "did not send pong 2"),
    ("answers-stop", "does not answer stop when idle", "answered stop: bestmove 1"),
    ("no-fen", OPEN_COLUMNS, "answered column 1, which is full (position fen"),
    (
        "fen-without-moves",
        OPEN_COLUMNS,
        "where only column 5 is open (newgame 5x4x4 seed 1, position fen",
    ),
    ("nameless", "greets and gets ready", "sends no id name and no id author"),
    ("no-options", "accepts the options it offers", "exited with code 1: no option"),
    (
        "wants-a-board",
        "starts games without a board or with a seed only",
        "exited with code 1: no board",
    ),
    (
        "one-size",
        "reads the board size from a FEN",
        "where only column 5 is open (newgame, position fen",
    ),
    (
        "banana",
        "writes valid info lines",
        "'banana' is not a column: info depth 3 score win pv banana",
    ),
    (
        "noisy",
        "writes valid info lines",
        "'score' is not part of the protocol: info score",
    ),
    (
        "after",
        "gives one answer per question",
        "sent info after its answer: info depth 3",
    ),
]


@pytest.mark.parametrize(
    ("kind", "rule", "detail"), BROKEN, ids=[f"{kind}: {rule}" for kind, rule, _ in BROKEN]
)
def test_a_broken_rule_is_reported(
    kind: str, rule: str, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_check, "LEAVE_SECONDS", 0.5)
    start_seconds = {"silent": 1, "deaf-to-ping-2": 5}.get(kind, 600)
    findings = findings_of(kind, start_seconds, grace=0.1 if kind == "late" else 60)
    finding = next(finding for finding in findings if finding.rule == rule)
    assert not finding.kept
    assert detail in finding.detail
    findings.close()  # type: ignore[attr-defined]


def test_an_engine_for_the_usual_board_only_can_pass() -> None:
    cmd = shlex.join([sys.executable, "-S", str(SCRIPT), "classic-only"])
    engine = Engine(cmd, start_seconds=600, grace=60, move_seconds=2)
    findings = list(check(engine, [CLASSIC]))
    assert all(finding.kept for finding in findings), findings
    assert "not tested" in next(
        finding.detail for finding in findings if finding.rule == "reads the board size from a FEN"
    )


def test_an_engine_that_does_not_greet_is_not_tested_further(tmp_path: Path) -> None:
    assert len(list(check(Engine(str(tmp_path / "nothing"))))) == 1


def test_an_engine_that_ignores_the_seed_passes_with_a_remark() -> None:
    finding = next(
        finding for finding in findings_of("any") if finding.rule == "is reproducible by its seed"
    )
    assert finding.kept
    assert "cannot be repeated" in finding.detail


@pytest.mark.parametrize("rules", engine_check.BOARDS, ids=str)
def test_there_is_a_position_with_one_open_column(rules: Rules) -> None:
    position = nearly_full(rules)
    assert position is not None
    assert position.legal_columns() == (rules.columns - 1,)
    assert Position(position.write("fen")) == position


def test_where_games_never_fill_the_board_there_is_none() -> None:
    assert nearly_full(Rules(9, 5, 3)) is None
