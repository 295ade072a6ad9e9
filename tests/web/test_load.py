"""Many at once: nobody gets an error, too many are refused politely, memory stays bounded. How quickly is for `make soak`."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.promises import Report


def measured(*arguments: str) -> Any:
    """What benchmarks/web.py finds: a server of its own and clients beside it."""
    command = [sys.executable, str(ROOT / "benchmarks" / "web.py"), "--json", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_many_players_get_their_moves_and_too_many_are_refused_politely() -> None:
    found = measured("--seconds", "1", "--pause", "0.2")
    assert found["a hundred players"]["moves"] > 50
    assert found["a hundred players"]["errors"] == 0
    assert found["pings beside 16 searchers"]["errors"] == 0
    assert found["ten times too much"]["refused"] > 0
    assert found["ten times too much"]["wrong"] == 0
    streams = found["a thousand idle streams"]
    assert streams["other"] == 0
    assert streams["refused"] > 900
    assert found["memory"]["megabytes"] < 500


@pytest.mark.soak
def test_the_server_is_as_quick_as_it_is_meant_to_be(figure: Report) -> None:
    found = measured("--seconds", "30")
    goals = [(title, name, most) for title, figures in found["goals"].items() for name, most in figures.items()]
    assert goals
    for title, name, most in goals:
        figure(f"{title}, {name}", found[title][name], most)
