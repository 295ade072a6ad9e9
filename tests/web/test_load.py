"""Load: no errors, excess requests refused, bounded memory; `make soak` checks the speed."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.promises import Report


def load_test(*arguments: str) -> Any:
    """Return the results of benchmarks/web.py, which starts its own server and clients."""
    command = [sys.executable, str(ROOT / "benchmarks" / "web.py"), "--json", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_many_players_get_moves_and_excess_requests_are_refused() -> None:
    results = load_test("--seconds", "1", "--pause", "0.2")
    assert results["a hundred players"]["moves"] > 50
    assert results["a hundred players"]["errors"] == 0
    assert results["pings beside 16 searchers"]["errors"] == 0
    assert results["ten times too much"]["refused"] > 0
    assert results["ten times too much"]["wrong"] == 0
    streams = results["a thousand idle streams"]
    assert streams["other"] == 0
    assert streams["refused"] > 0
    assert streams["refused"] + streams["closed"] > 900
    assert results["memory"]["megabytes"] < 500


@pytest.mark.soak
def test_the_server_meets_its_speed_goals(figure: Report) -> None:
    results = load_test("--seconds", "30")
    check(results, figure)


def check(results: Any, figure: Report) -> None:
    """Report every figure that has a goal."""
    goals = [
        (title, name, limit)
        for title, limits in results["goals"].items()
        for name, limit in limits.items()
        if title in results
    ]
    assert goals
    for title, name, limit in goals:
        figure(f"{title}, {name}", results[title][name], limit)


SOAK_SECONDS = "FOURLAB_SOAK_SECONDS"
"""The environment variable with the length of the next test; ten minutes by default."""


def test_players_of_a_short_soak_lose_no_move() -> None:
    played = load_test("--soak", "4")["200 players"]
    assert played["moves"] > 0
    assert played["lost"] == 0
    assert played["faults"] == 0


@pytest.mark.soak
def test_200_players_lose_no_move_and_the_server_no_memory(figure: Report) -> None:
    results = load_test("--soak", os.environ.get(SOAK_SECONDS, "600"))
    assert results["200 players"]["moves"] > 0
    check(results, figure)
