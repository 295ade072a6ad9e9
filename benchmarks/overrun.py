"""How late agents answer after a deadline and after a stop flag is set.

    python benchmarks/overrun.py [--clock cpu] [--cases N] [--seed N] [--json] [AGENT ...]

Every agent is asked about random positions on small, classic, wide, tall and largest boards, half
of the time with a limit of seconds, half of the time with a flag that another thread sets. Late is
the time from the deadline, or from the setting of the flag, to the answer. Answers before the
deadline are not late. Kernels, networks and programs are loaded before. Between the questions a
control waits for a deadline in short sleeps: what it is late by is the machine's doing.

On a busy machine everything is late. With `--clock cpu` all times are processor time of this
process, all its threads together, also the time that agents read, so that other programs do not
count. That leaves out programs, which have processes of their own.
"""

import argparse
import contextlib
import json
import random
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.agent import Agent, Forfeit, Limit, Startable, Stop, close
from fourlab.agents import registry
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC

ALLOWED = 0.05
"""Seconds by which 99 % of the answers may be late."""
BOARDS = (
    *("5x4x4", "6x5x4", "7x6x4", "7x6x4", "7x6x4", "8x6x4", "7x7x4", "10x5x4", "9x5x5", "15x3x3"),
    *("21x2x9", "31x1x4", "31x1x31", "1x62x4", "2x30x4", "3x20x5", "12x4x5", "9x6x5", "9x6x63"),
)
"""From small ones to the largest, whose cells and one row more fill 63 bits."""
SECONDS = (0.001, 0.02, 0.1, 0.3)
WARM_UP = Limit(seconds=0.01, simulations=10, nodes=100, depth=1)
WALL = time.perf_counter
PROGRAMS = ("engine", "kaggle")
SUBMISSION = "def agent(observation, configuration):\n    while True:\n        pass\n"
"""A submission to Kaggle that never answers."""
ENGINE = [sys.executable, "-m", "fourlab", "engine", "serve", "mcts"]
MORE = (
    "mcts:threads=2",
    "mcts:runs=3",
    "mcts:transpositions=1",
    "mcts:reuse=moves",
    "mcts:reuse=games",
    "mcts:rollouts=uniform,solver=0,terminal=past-wins",
    "mcts:opponent=negamax,rollouts=uniform,solver=0",
    "textbook:simulations=1000000",
    "alphazero:batch=1024",
    "alphazero:reuse=1",
    "guided:batch=4096,depth=none",
    "minimax:depth=62",
    "minimax:faithful=1,depth=4",
    "negamax:depth=7",
    "expectimax-random:positions=100000000",
    "perfect:threads=2",
    "perfect:book=0,megabytes=1000",
    "openspiel-mcts:rollouts=100",
)
"""Options with which a look at the clock comes later than by default."""


@dataclass
class Lateness:
    """What was measured for one agent, in seconds."""

    answers: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)
    refused: int = 0
    worst: str = ""

    def add(self, late: float, case: str) -> None:
        """Add an answer."""
        if late > max(self.answers, default=0.0):
            self.worst = case
        self.answers.append(late)


def quantile(numbers: Sequence[float], share: float) -> float:
    """Return the smallest number that at least this share of all do not exceed."""
    if not numbers:
        return 0.0
    return sorted(numbers)[max(int(np.ceil(share * len(numbers))) - 1, 0)]


def specs(folder: Path) -> dict[str, str]:
    """Return the agents to ask, by name; programs get the grace that their answers must keep."""
    file = folder / "endless.py"
    file.write_text(SUBMISSION, encoding="utf-8")
    special = {
        "engine": f'engine:cmd="{shlex.join(ENGINE)}",start_seconds=600,grace=600',
        "kaggle": f'kaggle:file="{file}",grace=0',
    }
    names = [name for name in registry.names() if name != "human"]
    return {**{name: special.get(name, name) for name in names}, **{spec: spec for spec in MORE}}


def positions(rng: random.Random, count: int, one_board: bool) -> Iterator[Position]:
    """Yield positions of random games that are not over."""
    for number in range(count):
        board = str(CLASSIC) if one_board else BOARDS[number % len(BOARDS)]
        position = Position(board=board)
        for _ in range(rng.choice([0, 0, 2, 5, 10, 20])):
            after = position.play(rng.choice(position.legal_columns()))
            if after.outcome() is None:
                position = after
        yield position


def late_by_clock(decide: Callable[[Limit], Any], seconds: float) -> float:
    """Return how late an answer comes after its seconds."""
    started = time.perf_counter()
    decide(Limit(seconds=seconds))
    return time.perf_counter() - started - seconds


def late_by_flag(decide: Callable[[Limit], Any], seconds: float) -> float:
    """Return how late an answer comes after another thread sets the stop flag."""
    stop = Stop()
    moment = [float("inf")]
    answered: list[float] = []

    def set_flag() -> None:
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline and not answered:
            time.sleep(min(seconds, 0.001))
        # Noted before the flag is set: if this thread is suspended in between, that counts.
        moment[0] = time.perf_counter()
        stop.set()

    thread = threading.Thread(target=set_flag)
    thread.start()
    decide(Limit(stop=stop))
    answered.append(time.perf_counter())
    thread.join()
    return answered[0] - moment[0]


def control(seconds: float) -> float:
    """Return how late a loop of short sleeps notices a deadline."""
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        time.sleep(0.001)
    return time.perf_counter() - deadline


def measure(spec: str, cases: int, seed: int) -> Lateness:
    """Ask an agent about positions."""
    rng = random.Random(seed)
    result = Lateness()
    preset = registry.preset(spec)
    base = registry.parse_spec(spec if preset is None else preset.spec)[0]
    one_board = registry.AGENTS.get(base, registry.Entry("")).one_board
    agent = registry.make(spec)
    try:
        for number, position in enumerate(positions(rng, cases, one_board)):
            ways = ((late_by_clock, "seconds"), (late_by_flag, "stop"))
            way, name = ways[number % 2]
            seconds = rng.choice(SECONDS)
            generator = np.random.default_rng(number)
            if not _is_warm(agent, position):
                result.refused += 1
                continue

            def decide(
                limit: Limit,
                position: Position = position,
                generator: np.random.Generator = generator,
            ) -> None:
                # An exact search refuses, and a program forfeits, when the time is up.
                with contextlib.suppress(UserError, Forfeit):
                    agent.decide(position, limit, generator)

            late = max(way(decide, seconds), 0.0)
            result.add(late, f"{name} {seconds:g} on {position.rules} at ply {position.ply}")
            result.control.append(control(0.02) if time.perf_counter is WALL else 0.0)
    finally:
        close(agent)
    return result


def _is_warm(agent: Agent, position: Position) -> bool:
    """Load what the agent needs for a board; return whether it plays there at all."""
    try:
        agent.decide(position, WARM_UP, np.random.default_rng(0))
    except Forfeit:
        pass
    except UserError as error:
        # An exact search refuses because of the limit, and not because of the board.
        if "time" not in str(error) and "positions" not in str(error):
            return False
    if isinstance(agent, Startable):
        agent.start()
    return True


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("agents", nargs="*", help="specs of agents (default: all)")
    parser.add_argument("--cases", type=int, default=100, help="questions per agent")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print figures in milliseconds")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    arguments = parser.parse_args()
    if arguments.clock == "cpu":
        time.perf_counter = time.process_time
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        specs_by_name = specs(Path(folder))
        if not arguments.json:
            print(f"{'late, in ms':44} answers   p50    p99    max   control p99    max")
        if arguments.clock == "cpu":
            specs_by_name = {
                name: spec for name, spec in specs_by_name.items() if name not in PROGRAMS
            }
        for name in arguments.agents or specs_by_name:
            result = measure(specs_by_name.get(name, name), arguments.cases, arguments.seed)
            milliseconds = {
                key: 1000 * quantile(numbers, share)
                for key, numbers, share in (
                    ("p50", result.answers, 0.5),
                    ("p99", result.answers, 0.99),
                    ("max", result.answers, 1),
                    ("control p99", result.control, 0.99),
                    ("control max", result.control, 1),
                )
            }
            rows[name] = {"answers": len(result.answers), **milliseconds, "worst": result.worst}
            if not arguments.json:
                numbers = (
                    "{p50:6.1f} {p99:6.1f} {max:6.1f}   {control p99:11.1f} {control max:6.1f}"
                )
                print(
                    f"{name[:44]:44} {len(result.answers):7}",
                    numbers.format(**milliseconds),
                    result.worst,
                    flush=True,
                )
    if arguments.json:
        print(json.dumps({"allowed": 1000 * ALLOWED, "agents": rows}))


if __name__ == "__main__":
    main()
