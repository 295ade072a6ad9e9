"""Ask agents with random options about random positions on random boards.

    python -m tests.safety.fuzz SEED CASES

Every case is printed to standard error before it runs if FOURLAB_FUZZ_VERBOSE is set. A case ends
well if the spec is refused in one line, or if the agent plays a legal column and reports only
finite numbers. Anything else is printed, and the exit code is 1. A crash ends the process: the
caller sees the exit code, and the file named by FOURLAB_FUZZ_LAST has the case.
"""

import faulthandler
import math
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fourlab.agent import Decision, Limit
from fourlab.agents import registry
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.options import Option, as_text

AGENTS = [
    name
    for name in registry.names()
    if registry.AGENTS.get(name, registry.Entry("")).repeatable and name != "openspiel-mcts"
]
"""All agents but programs, people and OpenSpiel's own search."""
BOARDS = (
    *["7x6x4"] * 6,
    *("5x4x4", "8x6x4", "6x5x4", "1x1x3", "1x1x4", "2x2x3", "1x61x62", "31x1x4", "20x2x9"),
    *("12x4x5", "4x3x3", "3x3x4", "10x5x4", "7x7x4", "1x7x4", "15x3x3", "9x5x62"),
)
HOSTILE = (
    *("nan", "inf", "-inf", "1e31", "1e39", "1e308", "-1e308", "5e-324", "1e-320", "0", "-0.0"),
    *("-1", "1", "2", "3.5", str(2**31), str(2**63), str(-(2**63)), str(10**30), "9" * 400),
    *("", "none", "true", "x", '"', "=", ":", "\x1b[2J", "\0", "é" * 50),
)
MEGABYTES = 64
"""Memory options are not set higher: an allocation that is allowed to be large is not a fault."""


@dataclass(frozen=True)
class Case:
    """An agent, a position and a limit."""

    spec: str
    board: str
    columns: tuple[int, ...]
    limit: Limit
    seed: int

    def position(self) -> Position:
        """Play the moves."""
        position = Position(board=self.board)
        for column in self.columns:
            position = position.play(column)
        return position


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yield random cases, the same ones for the same seed."""
    rng = random.Random(seed)
    options = {name: registry.options_of(name) for name in AGENTS}
    for number in range(count):
        name = rng.choice(AGENTS)
        spec = ",".join(
            f'{option.name}="{_value(option, rng)}"'
            for option in options[name]
            if rng.random() < 0.35
        )
        board = rng.choice(BOARDS)
        limit = Limit(
            seconds=0.004,
            simulations=rng.choice([1, 2, 3, 10, 50]),
            nodes=rng.choice([1, 2, 10, 1000]),
            depth=rng.choice([None, 1, 3, 62]),
        )
        yield Case(f"{name}:{spec}", board, _moves(board, rng), limit, number)


def _value(option: Option, rng: random.Random) -> str:
    """Return a value of an option: at or near the ends of its range, inside it, or hostile."""
    if rng.random() < 0.1:
        return rng.choice(HOSTILE).replace('"', "")
    if option.choices:
        return as_text(rng.choice(option.choices))
    if bool in option.kinds:
        return rng.choice(["0", "1"])
    if not {int, float} & set(option.kinds):
        return as_text(option.default)
    least = option.least if option.least is not None else option.above
    low = -1e300 if least is None else float(least)
    high = 1e300 if option.most is None else float(option.most)
    if option.unit == "MB":
        high = min(high, MEGABYTES)
    if option.name in ("runs", "threads"):
        high = min(high, 3)
    small = 10 ** rng.uniform(-300 if rng.random() < 0.2 else -3, 3)
    value = rng.choice([low, high, low + small, high - small, rng.uniform(low / 2, high / 2)])
    value = min(max(value, low), high)
    return str(int(value)) if int in option.kinds else repr(value)


def _moves(board: str, rng: random.Random) -> tuple[int, ...]:
    """Return the moves of a random game that is not over."""
    position = Position(board=board)
    moves: list[int] = []
    for _ in range(rng.choice([0, 1, 4, 10, 20, 40, 60])):
        column = rng.choice(position.legal_columns())
        after = position.play(column)
        if after.outcome() is not None:
            break
        position = after
        moves.append(column)
    return tuple(moves)


def fault(case: Case) -> str | None:
    """Run a case; return what is wrong with the answer, None if nothing is."""
    try:
        position = case.position()
        agent = registry.make(case.spec)
        decision = agent.decide(position, case.limit, np.random.default_rng(case.seed))
    except UserError as error:
        return None if "\n" not in str(error) else "the refusal has several lines"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return fault_of(decision, position)


def fault_of(decision: Decision, position: Position) -> str | None:
    """Return what is wrong with a decision, None if nothing is."""
    if decision.column not in position.legal_columns():
        return f"column {decision.column} is not legal"
    if decision.value is not None and not -1 <= decision.value <= 1:
        return f"the value is {decision.value}"
    policy = decision.policy
    if policy is not None and not (
        len(policy) == position.rules.columns
        and all(0 <= probability <= 1 for probability in policy)
        and math.isclose(sum(policy), 1, abs_tol=1e-3)
    ):
        return f"the policy is {policy}"
    for column in decision.analysis.columns:
        numbers = (column.value, column.bound, column.prior, column.estimate)
        if not all(number is None or math.isfinite(number) for number in numbers):
            return f"column {column.column} has {numbers}"
    return None


def main(seed: int, count: int) -> int:
    """Run cases; return how many had a fault."""
    faulthandler.enable()
    last = os.environ.get("FOURLAB_FUZZ_LAST")
    faults = 0
    for case in cases(seed, count):
        if last:
            Path(last).write_text(repr(case), encoding="utf-8")
        why = fault(case)
        if why is not None:
            faults += 1
            print(f"{why[:300]}\n    {case}", flush=True)
    return faults


if __name__ == "__main__":
    faults = main(int(sys.argv[1]), int(sys.argv[2]))
    print(f"{faults} faults")
    sys.exit(min(faults, 1))
