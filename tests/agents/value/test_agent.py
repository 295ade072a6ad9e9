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
    """A network for 4x3x3 that likes a position the better, the more of one's own discs are in the left column."""
    net = Net(Network("value", "4x3x3", "stones", (), ("dense 1",)))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.value[-1].weight.view(2, 3, 4)[0, :, 0] = 0.1
        net.value[-1].weight.view(2, 3, 4)[1, :, 0] = -0.1
    save_net(net, tmp_path / "left.onnx")
    return str(tmp_path / "left.onnx")


def test_the_position_after_the_move_is_judged_for_the_one_who_moved(likes_the_left: str) -> None:
    decision = Value(likes_the_left).decide(Position(board="4x3x3"), Limit(), np.random.default_rng(0))
    assert decision.column == 0
    assert decision.value == pytest.approx(0.1)
    assert list(decision.analysis.estimates.values()) == pytest.approx([0.1, 0.0, 0.0, 0.0])


def test_full_columns_are_not_judged(likes_the_left: str) -> None:
    decision = Value(likes_the_left).decide(Position("111", board="4x3x3"), Limit(), np.random.default_rng(0))
    assert decision.column == 1
    assert 0 not in decision.analysis.estimates
    assert decision.analysis.evaluations == 3


def test_a_win_needs_no_network(likes_the_left: str) -> None:
    decision = Value(likes_the_left).decide(Position("4343", board="4x3x3"), Limit(), np.random.default_rng(0))
    assert decision.column == 3
    assert decision.value == 1.0
    assert decision.proven is not None


def test_another_board_is_refused(likes_the_left: str) -> None:
    with pytest.raises(UserError, match="knows the board 4x3x3, not 7x6x4"):
        Value(likes_the_left).decide(Position(), Limit(), np.random.default_rng(0))


def test_a_network_that_is_not_there_is_told_at_once() -> None:
    with pytest.raises(UserError, match=r"cannot read the network nothing\.onnx"):
        make("value:net=nothing.onnx")
