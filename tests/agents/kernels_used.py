"""Print the compiled functions that scenarios load, as JSON; run by test_kernels.py.

Every scenario runs in a fork of this process, so that it starts without any compiled function. The
output has the functions loaded by every declared kernel group, and those that a search then loads
in addition.
"""

import json
import os
import sys
from contextlib import suppress
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

import fourlab.agents.alphazero.agent
import fourlab.agents.mcts.guided  # noqa: F401 (imports are shared by the forks)
from fourlab.agent import Limit, Stop
from fourlab.agents import registry
from fourlab.analysis import opinion, review
from fourlab.compiled import warmup
from fourlab.errors import UserError
from fourlab.game.position import Position

POSITION = Position("44444432")  # with a full column


def loaded() -> set[str]:
    """Return all specialisations called from Python, compiled now or loaded from the cache."""
    kernels = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("fourlab.")
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    ]
    names = {kernel: f"{kernel.py_func.__module__}.{kernel.py_func.__name__}" for kernel in kernels}
    return {f"{name}{key}" for kernel, name in names.items() for key in kernel.overloads}


def act(scenario: str) -> None:
    """Do what a web request would do."""
    kind, _, spec = scenario.partition(" ")
    limit = Limit(simulations=8, seconds=0.05, stop=Stop())
    rng = np.random.default_rng(0)
    if kind == "move":
        with suppress(UserError):  # expectimax-random refuses: too many empty cells
            registry.make(spec).decide(POSITION, limit, rng)
    elif kind == "analysis":
        opinion.ask(registry.make(spec), POSITION, limit, rng, nodes=20)
    elif kind == "proof":
        opinion.solve(POSITION, limit)
    else:
        # Nothing is proven within a single node, so that everything is estimated.
        for board in ("7x6x4", "5x4x4"):
            review.review(Position(board=board), (2, 2, 2), Limit(nodes=1, seconds=0.05))


def kernels_of(scenario: str) -> tuple[str, ...]:
    """Return the declared kernel groups."""
    kind, _, spec = scenario.partition(" ")
    if kind == "review":
        return review.KERNELS
    return registry.kernels_of("perfect" if kind == "proof" else registry.parse_spec(spec)[0])


def measure(scenario: str) -> dict[str, Any]:
    """Load the declared groups, then act."""
    groups: dict[str, list[str]] = {}
    for name in kernels_of(scenario):
        before = loaded()
        warmup.load(name)
        groups[name] = sorted(loaded() - before)
    before = loaded()
    act(scenario)
    return {"groups": groups, "more": sorted(loaded() - before)}


def used(scenario: str) -> list[str]:
    """Return everything that is loaded without a warm-up; nothing for variants of an agent."""
    if not kernels_of(scenario) or not scenario.startswith("move ") or ":" in scenario:
        return []
    act(scenario)
    return sorted(loaded())


def forked(function: Any, scenario: str) -> Any:
    """Return what a function returns in a fork of this process."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        with os.fdopen(writing, "w") as stream:
            json.dump(function(scenario), stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    assert os.waitpid(child, 0)[1] == 0, scenario
    return json.loads(text)


if __name__ == "__main__":
    assert not loaded()
    answers = {name: forked(measure, name) for name in sys.argv[1:]}
    for name, answer in answers.items():
        answer["used"] = forked(used, name)
    print(json.dumps(answers))
