"""The agent `dqn`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fourlab import Limit, Position, Rules, UserError, make
from fourlab.agents.dqn.agent import Dqn
from fourlab.agents.opponents import chooser
from fourlab.compiled.batches import open_columns
from fourlab.nets.evaluator import load, probe_positions
from fourlab.training.evaluation import Benchmark

RNG = np.random.default_rng


def probes(count: int) -> list[Position]:
    own, mask = probe_positions(Rules(), count)
    return [Position.from_key(key) for key in (own + mask + Rules().geometry.bottom).tolist()]


def test_it_plays_the_open_column_of_the_greatest_q_value() -> None:
    agent = make("dqn")
    evaluator = load("dqn")
    for position in probes(200):
        decision = agent.decide(position, Limit(), RNG(0))
        planes = evaluator.planes(np.array([position.own]), np.array([position.mask]))
        q = evaluator.heads(planes)["policy"][0].tolist()
        legal = position.legal_columns()
        assert decision.column == max(legal, key=lambda column: q[column])
        assert decision.value == min(1, max(-1, q[decision.column]))
        assert decision.policy == tuple(float(column == decision.column) for column in range(7))
        assert decision.analysis.estimates == {column: q[column] for column in legal}


def test_epsilon_is_the_probability_of_a_random_column() -> None:
    position = Position("4455")
    best = make("dqn").decide(position, Limit(), RNG(0)).column
    agent = make("dqn:epsilon=0.7")
    columns = [agent.decide(position, Limit(), RNG(seed)).column for seed in range(700)]
    frequencies = np.bincount(columns, minlength=7) / 700
    expected = [0.1 + 0.3 * (column == best) for column in range(7)]
    assert agent.decide(position, Limit(), RNG(0)).policy == pytest.approx(expected)
    assert frequencies == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize("text", ["121212", "445566", "12131", "11223"])
def test_it_plays_wins_and_blocks(text: str) -> None:
    """Red can win at once in the first two; in the others yellow must block."""
    position = Position(text)
    expected = {
        make("rules:otherwise=random").decide(position, Limit(), RNG(seed)).column
        for seed in range(20)
    }
    assert make("dqn").decide(position, Limit(), RNG(0)).column in expected


def test_the_shipped_network_beats_the_random_and_the_rules_agent() -> None:
    evaluator = load("dqn")
    rules = Rules()

    def choose(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        q = evaluator.heads(evaluator.planes(own, mask))["policy"]
        legal = open_columns(mask, rules.geometry)
        columns: np.ndarray = np.where(legal, q, -np.inf).argmax(axis=1)
        return columns

    opponents = {spec: chooser(spec, rules) for spec in ("random", "rules")}
    scores = Benchmark(rules, 400, 100, opponents).run(choose)
    assert scores["random"]["wins"] >= 0.95 * 400
    assert scores["rules"]["score"] > 0.5
    assert scores["exact"]["kept"] > 0.8


def test_it_needs_no_torch() -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'safetensors', 'onnx'): sys.modules[name] = None\n"
        "import numpy as np\n"
        "from fourlab import Limit, Position, make\n"
        "print(make('dqn').decide(Position('121212'), Limit(), np.random.default_rng(0)).column)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr


def test_another_board_is_refused() -> None:
    with pytest.raises(UserError, match="knows the board 7x6x4, not 5x4x4"):
        make("dqn").decide(Position(board="5x4x4"), Limit(), RNG(0))


def test_unusable_options_and_networks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="epsilon must be a number from 0 to 1, not 2"):
        Dqn(epsilon=2)
    with pytest.raises(UserError, match="cannot read the network nowhere"):
        make("dqn:net=nowhere")
    from fourlab.nets.modules import Net
    from fourlab.nets.network import Network
    from fourlab.nets.weights import save_net

    save_net(Net(Network("value", "7x6x4", "cells", value=("dense 1",))), tmp_path / "value.onnx")
    with pytest.raises(UserError, match="has no Q-values; it is for value"):
        make(f"dqn:net={tmp_path / 'value.onnx'}")
