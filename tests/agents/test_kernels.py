"""Agents declare the kernels they need, so that a server can compile those first."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from fourlab.agents import registry
from fourlab.compiled.warmup import GROUPS
from fourlab.web import players

MORE = [
    "move minimax:evaluation=terminal",
    "move perfect:ties=random,mistakes=1",
    "move mcts:transpositions=1",
    "move mcts:opponent=negamax,rollouts=uniform,proofs=0",
    "move guided:depth=none",
    "move alphazero:method=puct",
    "analysis mcts",
    "analysis alphazero",
    "proof",
    "review",
]
REFUSES = "expectimax-random"  # refuses positions that need a larger search, as over the web
SCENARIOS = [
    *(f"move {name}{':positions=50' if name == REFUSES else ''}" for name in players.AGENTS),
    *MORE,
]


@pytest.fixture(scope="module")
def measured() -> Any:
    """Return the kernels that every scenario loads from the cache shared by all tests."""
    if not hasattr(os, "fork"):
        pytest.skip("the scenarios run in forks")
    command = [sys.executable, "-m", "tests.agents.kernels_used", *SCENARIOS]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_only_declared_kernels_are_loaded_or_compiled(measured: Any, scenario: str) -> None:
    assert measured[scenario]["more"] == []


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in MORE])
def test_every_declared_group_is_used(measured: Any, scenario: str) -> None:
    for name, functions in measured[scenario]["groups"].items():
        assert set(functions) & set(measured[scenario]["used"]), name


def test_declared_groups_exist_and_a_preset_has_those_of_its_agent() -> None:
    for name in registry.names():
        if name not in ("engine", "kaggle", "openspiel-mcts"):  # need packages or programs
            assert set(registry.kernels_of(name)) <= GROUPS.keys()
    assert registry.kernels_of("sewell-guided") == registry.kernels_of("guided") != ()
    assert (
        registry.kernels_of("random")
        == registry.kernels_of("rules")
        == registry.kernels_of("textbook")
        == ()
    )
