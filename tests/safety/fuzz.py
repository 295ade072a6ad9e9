"""Ask agents with random options about random positions on random boards.

    python -m tests.safety.fuzz SEED CASES

A case ends well if the spec is refused in one line, or if the agent plays legal columns and reports
only finite numbers. Anything else is printed, and the exit code is 1. The last line is a summary in
JSON. A crash, or a case of more than CASE_SECONDS, ends the process: the caller sees the exit code,
and the first line of the file named by FOURLAB_FUZZ_LAST is the case. `fuzz_soak.py` runs many such
processes.
"""

import faulthandler
import json
import math
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourlab.agent import Agent, Decision, Limit, Stop
from fourlab.agents import registry
from fourlab.errors import UserError
from fourlab.game.geometry import MAX_BITS
from fourlab.game.position import Position
from fourlab.options import Option, as_text

AGENTS = [
    name for name in registry.names() if registry.AGENTS.get(name, registry.Entry("")).repeatable
]
"""All agents but programs and people."""
CLASSIC = "7x6x4"
BOARDS = (
    *("5x4x4", "8x6x4", "6x5x4", "1x1x3", "1x1x4", "2x2x3", "1x62x63", "31x1x4", "21x2x9"),
    *("12x4x5", "4x3x3", "3x3x4", "10x5x4", "7x7x4", "1x7x4", "15x3x3", "9x5x62"),
    *("9x6x4", "9x6x5", "7x8x4", "3x20x4"),
)
HOSTILE = (
    *("nan", "inf", "-inf", "1e31", "1e39", "1e308", "-1e308", "5e-324", "1e-320", "0", "-0.0"),
    *("-1", "1", "2", "3.5", str(2**31), str(2**63), str(-(2**63)), str(10**30), "9" * 400),
    *("", "none", "true", "x", '"', "=", ":", "\x1b[2J", "\0", "é" * 50),
)
MEGABYTES = 64
"""Memory options are not set higher: an allocation that is allowed to be large is not a fault."""
CASE_SECONDS = 120
"""A case that takes longer counts as endless; the longest limit is a tenth of a second."""
ALARM_SECONDS = 1
"""The alarm for endless cases is set anew this often: setting it starts a thread."""


@dataclass(frozen=True)
class Case:
    """An agent, a position, a limit and how many moves of a game to decide."""

    spec: str
    board: str
    columns: tuple[int, ...]
    limit: Limit
    seed: int
    moves: int = 1
    stopped: bool = False
    """Whether the stop flag is set from the beginning."""

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
        spec = f"{name}:{_options(options[name], rng, hostile=0.1)}"
        # Most hostile specs are refused. Two of three cases are specs that the agent accepts.
        if rng.random() < 2 / 3:
            for share in (0.35, 0.35, 0.2, 0.2, 0.1):
                spec = f"{name}:{_options(options[name], rng, hostile=0, share=share)}"
                if not _is_refused(spec):
                    break
        board = _board(rng, is_classic=_knows_one_board(name) and rng.random() < 0.9)
        # Few cases think long enough to fill a tree of one megabyte.
        thinks = rng.random() < 0.02
        limit = Limit(
            seconds=0.1 if thinks else rng.choice([0.0005, 0.004, 0.004, 0.01]),
            simulations=20_000 if thinks else rng.choice([1, 2, 3, 10, 50, 500]),
            nodes=100_000 if thinks else rng.choice([1, 2, 10, 1000]),
            depth=rng.choice([None, 1, 3, 62]),
        )
        yield Case(
            spec,
            board,
            _moves(board, rng),
            limit,
            number,
            moves=rng.choice([1, 1, 1, 1, 3]),
            stopped=rng.random() < 0.03,
        )


def _options(options: list[Option], rng: random.Random, hostile: float, share: float = 0.35) -> str:
    """Return random values for a share of the options, as the part of a spec after the colon."""
    return ",".join(
        f'{option.name}="{_value(option, rng, hostile)}"'
        for option in options
        if rng.random() < share
    )


def _is_refused(spec: str) -> bool:
    try:
        registry.make(spec)
    except UserError:
        return True
    except Exception:
        return False  # a fault, which `fault` reports
    return False


def _knows_one_board(name: str) -> bool:
    preset = registry.preset(name)
    base = name if preset is None else registry.parse_spec(preset.spec)[0]
    return registry.AGENTS.get(base, registry.Entry("")).one_board


def _board(rng: random.Random, is_classic: bool) -> str:
    """Return the classic board, one of BOARDS, or any board that the rules allow."""
    if is_classic or rng.random() < 0.3:
        return CLASSIC
    if rng.random() < 0.5:
        return rng.choice(BOARDS)
    columns = rng.randint(1, MAX_BITS // 2)
    rows = rng.randint(1, MAX_BITS // columns - 1)
    return f"{columns}x{rows}x{rng.choice([3, 4, 4, 5, 6, 9, rng.randint(3, MAX_BITS)])}"


def _value(option: Option, rng: random.Random, hostile: float) -> str:
    """Return a value of an option: at or near the ends of its range, inside it, or hostile."""
    if rng.random() < hostile:
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
    """Run a case; return what is wrong with the answers, None if nothing is."""
    return run(case)[1]


def run(case: Case) -> tuple[int, str | None]:
    """Run a case; return the number of decisions, and what is wrong with them if anything is."""
    decided = 0
    try:
        agent = registry.make(case.spec)
        for decision, position in _decisions(agent, case):
            decided += 1
            if (why := fault_of(decision, position)) is not None:
                return decided, why
    except UserError as error:
        return decided, None if "\n" not in str(error) else "the refusal has several lines"
    except Exception as error:
        return decided, f"{type(error).__name__}: {error}"
    return decided, None


def _decisions(agent: Agent, case: Case) -> Iterator[tuple[Decision, Position]]:
    """Yield an agent's decisions with their positions; a random player replies."""
    rng = np.random.default_rng(case.seed)
    stop = Stop()
    if case.stopped:
        stop.set()
    limit = replace(case.limit, stop=stop) if case.stopped else case.limit
    position = case.position()
    for _ in range(case.moves):
        decision = agent.decide(position, limit, rng)
        yield decision, position
        position = position.play(decision.column)
        if position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is not None:
            return


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
    after = position
    for column in decision.line:
        if after.outcome() is not None or column not in after.legal_columns():
            return f"the line is {decision.line}"
        after = after.play(column)
    for entry in decision.analysis.columns:
        numbers = (entry.value, entry.bound, entry.prior, entry.estimate)
        if not all(number is None or math.isfinite(number) for number in numbers):
            return f"column {entry.column} has {numbers}"
    return None


def main(seed: int, count: int) -> dict[str, Any]:
    """Run cases; return how many there were, how many were answered, and how many had a fault."""
    faulthandler.enable()
    counts = Counter(cases=0, answered=0, decisions=0, faults=0)
    # Processor time, which other programs on a busy machine do not change.
    slowest, slowest_case = 0.0, ""
    next_alarm = 0.0
    with ExitStack() as stack:
        name = os.environ.get("FOURLAB_FUZZ_LAST", os.devnull)
        last = stack.enter_context(open(name, "wb", buffering=0))
        stack.callback(faulthandler.cancel_dump_traceback_later)
        for case in cases(seed, count):
            # In place: if a file is emptied first, some file systems write it to the disk at once.
            # Behind the line, the rest of a longer case may follow.
            last.seek(0)
            last.write(f"{case!r}\n".encode())
            if time.monotonic() >= next_alarm:
                faulthandler.dump_traceback_later(CASE_SECONDS + ALARM_SECONDS, exit=True)
                next_alarm = time.monotonic() + ALARM_SECONDS
            started = time.process_time()
            decided, why = run(case)
            spent = time.process_time() - started
            if spent > slowest:
                slowest, slowest_case = spent, repr(case)
            counts["cases"] += 1
            counts["answered"] += decided > 0
            counts["decisions"] += decided
            if why is not None:
                counts["faults"] += 1
                print(f"{why[:300]}\n    {case}", flush=True)
    return {**counts, "slowest": round(slowest, 3), "slowest_case": slowest_case}


if __name__ == "__main__":
    summary = main(int(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps(summary))
    sys.exit(1 if summary["faults"] else 0)
