"""No option, board or position makes an agent crash, play an illegal column or report NaN."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from fourlab.agent import Limit
from fourlab.agents import registry
from fourlab.agents.registry import MAX_SPEC, make, parse_spec
from fourlab.errors import UserError
from fourlab.game.position import Position
from tests.promises import Report
from tests.safety import fuzz
from tests.safety.fuzz import Case, fault
from tests.safety.fuzz_soak import CASES, CHUNK, FIRST_SEED, last_case, run_chunk, run_chunks


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_random_specs_on_random_boards(seed: int, tmp_path: Path) -> None:
    result = run_chunk(seed, 1000, tmp_path)
    assert result["faults"] == 0, result["output"]
    assert result["cases"] == 1000
    # Otherwise too many specs are refused for the test to mean anything.
    assert result["answered"] > 700


@pytest.mark.soak
@pytest.mark.parametrize("checked", ["0", "1"])
def test_a_million_random_specs_with_and_without_bounds_checking(
    checked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figure: Report
) -> None:
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", checked)
    folder = Path(os.environ.get("FOURLAB_FUZZ_FOLDER", tmp_path))
    result = run_chunks(CASES, folder)
    assert result["faults"] == 0, result["output"]
    figure("cases", result["cases"], CASES, at_least=True)
    figure("cases that were answered", result["answered"], 0.7 * CASES, at_least=True)


def test_a_soak_is_resumed_and_reports_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = {"cases": 5, "answered": 4, "decisions": 4, "faults": 0, "slowest": 0.1}
    runs: list[int] = []

    def process(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        runs.append(int(command[-2]))
        crashed = runs[-1] == FIRST_SEED + 1
        return subprocess.CompletedProcess(
            command, -11 if crashed else 0, "" if crashed else json.dumps(summary), "Segmentation"
        )

    monkeypatch.setattr(subprocess, "run", process)
    first = run_chunks(2 * CHUNK, tmp_path)
    assert sorted(runs) == [FIRST_SEED, FIRST_SEED + 1]
    assert first["faults"] == 1
    assert "Segmentation" in first["output"]
    assert "exit code -11" in first["output"]
    # A longer run repeats nothing, and still knows the fault.
    again = run_chunks(3 * CHUNK, tmp_path)
    assert sorted(runs) == [FIRST_SEED, FIRST_SEED + 1, FIRST_SEED + 2]
    assert (again["cases"], again["faults"]) == (10, 1)


def test_the_case_that_ends_the_process_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    def crash_on_short_cases(case: Case) -> tuple[int, str | None]:
        if len(repr(case)) < longest / 2:
            crashed.append(case)
            raise Crash
        return 1, None

    longest = max(len(repr(case)) for case in fuzz.cases(0, 50))
    crashed: list[Case] = []
    monkeypatch.setenv("FOURLAB_FUZZ_LAST", str(tmp_path / "last"))
    monkeypatch.setattr(fuzz, "run", crash_on_short_cases)
    with pytest.raises(Crash):
        fuzz.main(0, 50)
    assert last_case(tmp_path / "last") == repr(crashed[0])


@pytest.mark.parametrize(
    "spec",
    [
        "alphazero:method=puct,fpu=1e39",
        "alphazero:method=puct,fpu=1e31",
        "alphazero:scale=1e308",
        "guided:c=1e38,proofs=0",
        "guided:depth=9223372036854775808",
        "mcts:memory_mb=9223372036854775808",
        "mcts:c=nan",
        "perfect:memory_mb=inf",
        f"mcts:simulations={'9' * 5000}",
    ],
)
def test_numbers_that_once_crashed_are_refused_with_their_range(spec: str) -> None:
    with pytest.raises(UserError, match="must be a") as refusal:
        make(spec)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize(
    "spec", ["mcts:final=sample,temperature=1e-320", "alphazero:temperature=1e-320"]
)
def test_tiny_temperatures_play_the_best_column(spec: str) -> None:
    case = Case(spec, "7x6x4", (3, 3), Limit(simulations=20), 1)
    assert fault(case) is None


def test_every_numeric_option_has_a_range() -> None:
    for name in registry.AGENTS:
        for option in registry.options_of(name):
            if {int, float} & set(option.kinds):
                has_lower = option.least is not None or option.above is not None
                assert has_lower, f"{name}:{option.name}"
                assert option.most is not None, f"{name}:{option.name}"


def test_a_long_spec_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(UserError, match=f"at most {MAX_SPEC} characters"):
        parse_spec("mcts:" + " " * 20_000)


@pytest.mark.parametrize("text", ["x" + " " * 300, "a=" * 300, '"' * 300, "a=1," * 300, "=" * 300])
def test_strange_specs_are_refused_or_read_in_one_pass(text: str) -> None:
    """The parser looks at a part of the text once per option, and options must differ."""
    with pytest.raises(UserError) as refusal:
        make(f"mcts:{text}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("mcts", ("mcts", {})),
        (" mcts : c = 2 , tie = last ,", ("mcts", {"c": "2", "tie": "last"})),
        ('engine:cmd="a, b=c" , grace=1', ("engine", {"cmd": "a, b=c", "grace": "1"})),
        ("q:table=", ("q", {"table": ""})),
    ],
)
def test_specs_are_read_as_before(spec: str, expected: tuple[str, dict[str, str]]) -> None:
    assert parse_spec(spec) == expected


@pytest.mark.parametrize("spec", ["mcts:c", 'q:table="a', 'q:table="a"b', "mcts:=2", "mcts:1c=2"])
def test_broken_specs_are_refused(spec: str) -> None:
    with pytest.raises(UserError, match="options are written name:option=value"):
        parse_spec(spec)


def test_a_board_on_which_no_line_fits_is_a_draw_at_once() -> None:
    decision = make("perfect").decide(Position(board="9x6x63"), Limit(seconds=60))
    assert decision.proven is not None
    assert decision.proven.result == 0
    assert decision.analysis.nodes == 0
