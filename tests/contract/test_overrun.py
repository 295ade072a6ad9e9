"""How late agents answer; `make soak` measures it, see docs/measurements.md."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.promises import Report


def overrun(*arguments: str) -> Any:
    """Return the figures of benchmarks/overrun.py, in milliseconds."""
    command = [sys.executable, str(ROOT / "benchmarks" / "overrun.py"), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_lateness_is_measured_with_both_clocks() -> None:
    for clock in ("wall", "cpu"):
        agents = overrun("--cases", "2", "--clock", clock, "random", "mcts")["agents"]
        assert list(agents) == ["random", "mcts"]
        for figures in agents.values():
            assert figures["answers"] == 2
            assert 0 <= figures["p50"] <= figures["p99"] <= figures["max"]


@pytest.mark.soak
@pytest.mark.parametrize("clock", ["wall", "cpu"])
def test_99_percent_of_answers_are_at_most_50_milliseconds_late(clock: str, figure: Report) -> None:
    measured = overrun("--cases", "100", "--clock", clock)
    assert len(measured["agents"]) > 30
    faults = []
    for name, figures in measured["agents"].items():
        # What a loop of short sleeps is late by, in the same run, is not the agent's doing.
        late = max(figures["p99"] - figures["control p99"], 0.0)
        try:
            figure(f"{name}, p99 ({figures['worst']})", late, measured["allowed"], "ms")
        except AssertionError as fault:  # report all agents, not only the first that is late
            faults.append(str(fault))
    assert not faults, "\n".join(faults)
