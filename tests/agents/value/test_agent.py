"""The agent `value`."""

import numpy as np
import pytest
import torch

from fourlab import Limit, Position, make
from fourlab.agents.value.agent import Value
from fourlab.errors import UserError
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.weights import save_net


@pytest.fixture
def likes_the_left(tmp_path) -> str:  # type: ignore[no-untyped-def]
    """Save a 4x3x3 network that gives 0.1 for every disc of the side to move in column 1."""
    net = Net(Network("value", "4x3x3", "stones", (), ("dense 1",)))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.value[-1].weight.view(2, 3, 4)[0, :, 0] = 0.1
        net.value[-1].weight.view(2, 3, 4)[1, :, 0] = -0.1
    save_net(net, tmp_path / "left.onnx")
    return str(tmp_path / "left.onnx")


def test_the_next_position_is_evaluated_for_the_side_that_moved(likes_the_left: str) -> None:
    decision = Value(likes_the_left).decide(
        Position(board="4x3x3"), Limit(), np.random.default_rng(0)
    )
    assert decision.column == 0
    assert decision.value == pytest.approx(0.1)
    assert list(decision.analysis.estimates.values()) == pytest.approx([0.1, 0.0, 0.0, 0.0])


def test_full_columns_are_not_evaluated(likes_the_left: str) -> None:
    decision = Value(likes_the_left).decide(
        Position("111", board="4x3x3"), Limit(), np.random.default_rng(0)
    )
    assert decision.column == 1
    assert 0 not in decision.analysis.estimates
    assert decision.analysis.evaluations == 3


def test_a_winning_column_is_exact(likes_the_left: str) -> None:
    decision = Value(likes_the_left).decide(
        Position("4343", board="4x3x3"), Limit(), np.random.default_rng(0)
    )
    assert decision.column == 3
    assert decision.value == 1.0
    assert decision.proven is not None


def test_another_board_is_refused(likes_the_left: str) -> None:
    with pytest.raises(UserError, match="knows the board 4x3x3, not 7x6x4"):
        Value(likes_the_left).decide(Position(), Limit(), np.random.default_rng(0))


def test_a_missing_network_is_refused_at_once() -> None:
    with pytest.raises(UserError, match=r"cannot read the network nothing\.onnx"):
        make("value:net=nothing.onnx")
