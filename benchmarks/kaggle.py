"""How fast a Kaggle submission searches, beside the same agent in the lab: simulations or nodes per second.

Both search the same position for the same time in turns, each in a process of its own, so that a
busy machine slows both. The submission is measured compiled and as plain Python (where Kaggle has
no Numba). For the network's search, the lab is measured with the submission's network, which NumPy
computes, and with its own, of 8-bit numbers, which onnxruntime computes.

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
    ("alphazero:seconds=60", "NumPy", MOVES),
    ("alphazero:seconds=60", "alphazero:seconds=60", MOVES),
]
"""What is exported, what the lab has beside it, and the position."""


def rate(agent: Any, position: Any, limit: Any) -> float:
    """Simulations, or else nodes, per second."""
    before = time.perf_counter()
    analysis = agent.decide(position, limit, np.random.default_rng(1)).analysis
    return float(analysis.simulations or analysis.nodes) / (time.perf_counter() - before)


def serve_submission(file: str, moves: str, seconds: float) -> None:
    """Load a submission, say how long it took to compile, and then measure the player asked for by each line."""
    before = time.perf_counter()
    names: dict[str, Any] = {}
    exec(Path(file).read_text(encoding="utf-8"), names)
    while len(names["PLAYERS"]) < 2:
        time.sleep(0.05)
    print(time.perf_counter() - before, flush=True)
    plain, fast = names["PLAYERS"]
    for line in sys.stdin:
        player = plain if line.strip() == "plain" else fast
        print(rate(player.agents[0], player.game(moves), player.contract.Limit(seconds=seconds)), flush=True)


def lab_agent(spec: str) -> Any:
    """The lab's agent, or its network search with the network that a submission has."""
    from fourlab import make
    from fourlab.agents.alphazero.agent import AlphaZero
    from fourlab.bridges.kaggle.weights import read
    from fourlab.nets.numpy_evaluator import NumpyEvaluator, parse

    if spec != "NumPy":
        return make(spec)
    return AlphaZero(seconds=60, evaluator=NumpyEvaluator(*parse(*read("alphazero"))))


def measure(spec: str, beside: str, moves: str, seconds: float) -> None:
    """Print one row."""
    from fourlab import Limit, Position
    from fourlab.bridges.kaggle.export import source_of

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "main.py"
        file.write_text(source_of(spec), encoding="utf-8")
        command = [sys.executable, __file__, str(seconds), str(file), moves]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            ready = float(child.stdout.readline())
            agent = lab_agent(beside)
            found: dict[str, list[float]] = {"lab": [], "compiled": [], "plain": []}
            for number in range(ROUNDS):
                found["lab"].append(rate(agent, Position(moves), Limit(seconds=seconds)))
                for kind in ("compiled", "plain") if number == 0 else ("compiled",):
                    child.stdin.write(f"{kind}\n")
                    child.stdin.flush()
                    found[kind].append(float(child.stdout.readline()))
            child.stdin.close()
    lab, compiled, plain = (statistics.median(each) for each in found.values())
    ratio = statistics.median(theirs / ours for ours, theirs in zip(found["lab"], found["compiled"], strict=True))
    print(f"{spec:22} {beside:22} {lab:12,.0f} {compiled:12,.0f} {ratio:6.2f} {plain:10,.0f} {ready:6.1f} s", flush=True)


def main() -> None:
    """Measure every agent that searches."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(f"{'exported':22} {'lab':22} {'lab':>12} {'compiled':>12} {'ratio':>6} {'plain':>10} {'ready after':>8}")
    for row in ROWS:
        measure(*row, seconds)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        serve_submission(sys.argv[2], sys.argv[3], float(sys.argv[1]))
    else:
        main()
