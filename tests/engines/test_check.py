"""Good engines pass, and each fault is found by the rule it breaks."""

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


def examine(kind: str, start_seconds: float = 600, grace: float = 60) -> Iterator[Finding]:
    engine = Engine(shlex.join([sys.executable, "-S", str(SCRIPT), kind]), start_seconds, grace, move_seconds=2)
    return check(engine, [SMALL])


@pytest.mark.parametrize("kind", ["good", "leftmost"])
def test_an_engine_that_keeps_the_rules_is_found_to(kind: str) -> None:
    findings = list(examine(kind))
    assert all(finding.kept for finding in findings), findings
    assert len({finding.rule for finding in findings}) == 17


OPEN_COLUMNS = "knows on 5x4x4 which columns are open, by moves, by fen and by both"
BROKEN = [
    ("silent", "greets and gets ready", r"did not start within 1 s (no c4iok)"),
    ("dies", "greets and gets ready", "exited with code 1: no licence"),
    ("crash", "answers whatever the bounds are", "exited with code 1: RuntimeError: boom (position startpos moves 4 4)"),
    ("illegal", "plays whole games on 5x4x4", "answered column 9, which does not exist (position startpos)"),
    ("words", "keeps to its time", "answered 'left', which is not a column (position startpos)"),
    ("late", "gives one answer to one question", "s late (0.1 s are forgiven) (position startpos)"),
    ("until-stop", "answers whatever the bounds are", "did not answer 'go' within 2 s before it was told to stop"),
    ("twice", "gives one answer to one question", "answered one question a second time: bestmove 99"),
    ("lines", "keeps to its time", "said more than 10000 lines for one move (position startpos)"),
    ("ignores-quit", "ends at quit", "still ran 0.5 s after quit"),
    ("ignores-quit", "ends when its input ends", "still ran 0.5 s after the end of its input"),
    ("guesses", "passes over lines it does not know", "answered lines that no protocol knows: bestmove 1"),
    ("knows-all", "passes over lines it does not know", "exited with code 1: what?"),
    ("deaf-to-ping-2", "answers every ping, in order", "left out pong 2"),
    ("answers-stop", "says nothing to stop when it does not think", "answered stop: bestmove 1"),
    ("no-fen", OPEN_COLUMNS, "answered column 1, which is full (position fen"),
    ("fen-without-moves", OPEN_COLUMNS, "where only column 5 is open (newgame 5x4x4 seed 1, position fen"),
    ("nameless", "greets and gets ready", "tells no id name and no id author"),
    ("no-options", "takes the options it offers", "exited with code 1: no option"),
    ("wants-a-board", "begins games without a board and with a seed alone", "exited with code 1: no board"),
    ("one-size", "reads the size of the board from a fen", "where only column 5 is open (newgame, position fen"),
    ("banana", "tells what it thinks in the protocol's words", "'banana' is no column: info depth 3 score win pv banana"),
    ("noisy", "tells what it thinks in the protocol's words", "'score' is not what the protocol says: info score"),
    ("after", "gives one answer to one question", "went on to think aloud after its answer: info depth 3"),
]


@pytest.mark.parametrize(("kind", "rule", "detail"), BROKEN, ids=[f"{kind}: {rule}" for kind, rule, _ in BROKEN])
def test_a_fault_is_found_and_told(kind: str, rule: str, detail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_check, "LEAVE_SECONDS", 0.5)
    start_seconds = {"silent": 1, "deaf-to-ping-2": 5}.get(kind, 600)
    findings = examine(kind, start_seconds, grace=0.1 if kind == "late" else 60)
    finding = next(each for each in findings if each.rule == rule)
    assert not finding.kept
    assert detail in finding.detail
    findings.close()  # type: ignore[attr-defined]


def test_an_engine_for_the_usual_board_only_can_pass() -> None:
    cmd = shlex.join([sys.executable, "-S", str(SCRIPT), "classic-only"])
    engine = Engine(cmd, start_seconds=600, grace=60, move_seconds=2)
    findings = list(check(engine, [CLASSIC]))
    assert all(finding.kept for finding in findings), findings
    assert "not examined" in next(each.detail for each in findings if each.rule == "reads the size of the board from a fen")


def test_an_engine_that_does_not_greet_is_not_examined_further(tmp_path: Path) -> None:
    assert len(list(check(Engine(str(tmp_path / "nothing"))))) == 1


def test_chance_that_does_not_come_from_the_seed_is_only_remarked() -> None:
    finding = next(each for each in examine("any") if each.rule == "takes its chance from the seed")
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
