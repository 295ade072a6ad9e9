"""Simulations or nodes per second of Kaggle submissions and of the same agents in the lab.

Both search the same position for the same time, in turns and in two processes, so that a busy
machine slows down both. The submission is measured compiled and as plain Python (for a Kaggle
without Numba). For network search, the lab is measured with the submission's network, which NumPy
computes, and with its own 8-bit network, which onnxruntime computes.

    OPENBLAS_NUM_THREADS=1 python benchmarks/kaggle.py [SECONDS]
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

MOVES = "4444443335"
ROUNDS = 5
ROWS = [
    ("mcts:seconds=60", "mcts:seconds=60", MOVES),
    ("minimax:depth=62", "minimax:depth=62", MOVES),
    ("perfect:book=0", "perfect:book=0", ""),
    ("patterns:seconds=60", "patterns:seconds=60", ""),
    ("anytime:seconds=60,book=0", "anytime:seconds=60,book=0", ""),
    ("alphazero:seconds=60", "NumPy", MOVES),
    ("alphazero:seconds=60", "alphazero:seconds=60", MOVES),
]
"""The exported agent, the lab's agent to compare it with, and the position."""


def rate(agent: Any, position: Any, limit: Any) -> float:
    """Return simulations, or else nodes, per second."""
    before = time.perf_counter()
    analysis = agent.decide(position, limit, np.random.default_rng(1)).analysis
    return float(analysis.simulations or analysis.nodes) / (time.perf_counter() - before)


def serve_submission(file: str, moves: str, seconds: float) -> None:
    """Load a submission and print the seconds until it is compiled.

    Then print a rate for every line of the input, which is "plain" or "compiled".
    """
    before = time.perf_counter()
    names: dict[str, Any] = {}
    exec(Path(file).read_text(encoding="utf-8"), names)
    while len(names["PLAYERS"]) < 2:
        time.sleep(0.05)
    print(time.perf_counter() - before, flush=True)
    plain, fast = names["PLAYERS"]
    for line in sys.stdin:
        player = plain if line.strip() == "plain" else fast
        limit = player.contract.Limit(seconds=seconds)
        print(rate(player.agents[0], player.game(moves), limit), flush=True)


def lab_agent(spec: str) -> Any:
    """Return the lab's agent; "NumPy" is AlphaZero with the network of a submission."""
    from fourlab import make
    from fourlab.agents.alphazero.agent import AlphaZero
    from fourlab.bridges.kaggle.weights import read
    from fourlab.nets.numpy_evaluator import NumpyEvaluator, parse

    if spec != "NumPy":
        return make(spec)
    return AlphaZero(seconds=60, evaluator=NumpyEvaluator(*parse(*read("alphazero"))))


def measure(spec: str, lab_spec: str, moves: str, seconds: float) -> None:
    """Print one row of the table."""
    from fourlab import Limit, Position
    from fourlab.bridges.kaggle.export import source_of

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "main.py"
        file.write_text(source_of(spec), encoding="utf-8")
        command = [sys.executable, __file__, str(seconds), str(file), moves]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            ready = float(child.stdout.readline())
            agent = lab_agent(lab_spec)
            samples: dict[str, list[float]] = {"lab": [], "compiled": [], "plain": []}
            for number in range(ROUNDS):
                samples["lab"].append(rate(agent, Position(moves), Limit(seconds=seconds)))
                for kind in ("compiled", "plain") if number == 0 else ("compiled",):
                    child.stdin.write(f"{kind}\n")
                    child.stdin.flush()
                    samples[kind].append(float(child.stdout.readline()))
            child.stdin.close()
    lab, compiled, plain = (statistics.median(values) for values in samples.values())
    pairs = zip(samples["lab"], samples["compiled"], strict=True)
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    print(
        f"{spec:26} {lab_spec:26} {lab:12,.0f} {compiled:12,.0f} {ratio:6.2f} "
        f"{plain:10,.0f} {ready:6.1f} s",
        flush=True,
    )


def main() -> None:
    """Measure every agent that searches."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(
        f"{'exported':26} {'lab':26} {'lab':>12} {'compiled':>12} {'ratio':>6} "
        f"{'plain':>10} {'ready after':>8}"
    )
    for row in ROWS:
        measure(*row, seconds)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        serve_submission(sys.argv[2], sys.argv[3], float(sys.argv[1]))
    else:
        main()
