"""ONNX networks of other people, in every layout that is accepted, made here with `onnx`."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fourlab import Limit, Position, Stop, UserError, make
from fourlab.agent import Forfeit
from fourlab.bridges.onnx_host import Network, RefusedError, arrangement
from tests.processes import children, wait_until

POSITION = Position("4455")
Shape = Sequence[int | str]


def save(
    file: Path,
    shape: Shape,
    outputs: dict[str, int],
    weights: np.ndarray | None = None,
    kind: int = TensorProto.FLOAT,
    loops: bool = False,
) -> str:
    """Write a network whose outputs are sums of the flat input times weights; return its spec.

    `weights` is float[input size, all outputs together], by default one that counts discs.
    """
    size = int(np.prod([dimension for dimension in shape[1:] if isinstance(dimension, int)]))
    width = sum(outputs.values())
    if weights is None:
        weights = np.tile(np.arange(width, dtype=np.float32), (size, 1))
    nodes = [
        helper.make_node("Cast", ["input"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["real", "flat"], ["rows"]),
        helper.make_node("MatMul", ["rows", "weights"], ["all"]),
        helper.make_node("Split", ["all", "sizes"], list(outputs), axis=1),
    ]
    constants = {
        "flat": np.array([-1, size], np.int64),
        "weights": weights.astype(np.float32),
        "sizes": np.array(list(outputs.values()), np.int64),
        "yes": np.array(True),
    }
    names = list(outputs)
    if loops:
        nodes.append(_endless_loop())
        names.append("endless")
    graph = helper.make_graph(
        nodes,
        "foreign",
        [helper.make_tensor_value_info("input", kind, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    file.write_bytes(model.SerializeToString())
    return f'onnx:file="{file}"'


def _endless_loop() -> onnx.NodeProto:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["condition"], ["again"]),
            helper.make_node("Add", ["sum", "sum"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("number", TensorProto.INT64, []),
            helper.make_tensor_value_info("condition", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, None),
        ],
    )
    return helper.make_node("Loop", ["", "yes", "all"], ["endless"], body=body)


def numbers(spec: str, options: str = "", position: Position = POSITION) -> Any:
    agent = make(f"{spec}{options}")
    try:
        return agent.decide(position, Limit(), np.random.default_rng(0))
    finally:
        agent.close()  # type: ignore[attr-defined]


# --- layouts, without a process ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "layout", "expected"),
    [
        (("N", 2, 6, 7), "auto", ("nchw", 2)),
        ((1, 3, 6, 7), "auto", ("nchw", 3)),
        (("N", 2, "h", "w"), "auto", ("nchw", 2)),
        ((None, 6, 7, 2), "auto", ("nhwc", 2)),
        (("N", 6, 7), "auto", ("nchw", 1)),
        (("N", 84), "auto", ("flat", 2)),
        (("N", 84), "flat-nhwc", ("flat-nhwc", 2)),
        (("N", 126), "auto", ("flat", 3)),
        (("N", 6, 7, 7), "nhwc", ("nhwc", 7)),
    ],
)
def test_a_layout_follows_from_the_shape(
    shape: Shape, layout: str, expected: tuple[str, int]
) -> None:
    assert arrangement(shape, 6, 7, layout) == expected


@pytest.mark.parametrize(
    ("shape", "layout", "message"),
    [
        (("N", 2, 7, 6), "auto", "is not for a board of 7x6"),
        (("N", 83), "auto", "is not for a board of 7x6"),
        (("N",), "auto", "is not for a board"),
        ((), "auto", "is not for a board"),
        (("N", 2, 6, 7), "nhwc", "with the layout nhwc"),
        ((8, 2, 6, 7), "auto", "is for 8 positions at a time"),
        (("N", 2, "h", "w", 3), "auto", "is not for a board"),
        (("N", "c", 6, 7), "auto", "is not for a board"),
    ],
)
def test_other_shapes_are_refused(shape: Shape, layout: str, message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        arrangement(shape, 6, 7, layout)


def test_a_shape_with_two_meanings_is_refused() -> None:
    with pytest.raises(RefusedError, match="could be nchw or nhwc; say which: layout=nchw"):
        arrangement(("N", 4, 4, 4), 4, 4)
    assert arrangement(("N", 4, 4, 4), 4, 4, "nhwc") == ("nhwc", 4)


SETTINGS = {"planes": [], "layout": "auto", "top_row": "first", "policy": "auto", "value": "auto"}


def read_input(file: Path, shape: Shape, settings: dict[str, Any], position: Position) -> Any:
    """Return what a network in this process sees, in the shape of its input."""
    size = int(np.prod([dimension for dimension in shape[1:] if isinstance(dimension, int)]))
    save(file, shape, {"seen": size}, np.eye(size))
    network = Network(file.read_bytes(), {**SETTINGS, **settings})
    boards = np.array([position.grid()])
    return network._inputs(boards, np.array([position.to_move]))[0]


def test_planes_are_what_they_are_called(tmp_path: Path) -> None:
    position = Position("44553")  # yellow to move
    grid = np.array(position.grid())
    names = [
        *("own", "opponent", "empty", "red", "yellow"),
        *("signed", "red-to-move", "ones", "open"),
    ]
    seen = read_input(tmp_path / "n.onnx", ("N", 9, 6, 7), {"planes": names}, position)
    planes = dict(zip(names, seen, strict=True))
    for name, expected in {
        "own": grid == 2,
        "opponent": grid == 1,
        "empty": grid == 0,
        "red": grid == 1,
        "yellow": grid == 2,
        "signed": (grid == 2).astype(int) - (grid == 1),
        "red-to-move": np.zeros((6, 7)),
        "ones": np.ones((6, 7)),
    }.items():
        assert (planes[name] == expected).all(), name
    heights = [int(np.argmax(column)) for column in planes["open"].T]
    assert heights == [5, 5, 4, 3, 3, 5, 5]
    assert planes["open"].sum() == 7


@pytest.mark.parametrize(
    ("shape", "settings", "back"),
    [
        (("N", 2, 6, 7), {}, lambda seen: seen),
        (("N", 6, 7, 2), {}, lambda seen: seen.transpose(2, 0, 1)),
        (("N", 84), {}, lambda seen: seen.reshape(2, 6, 7)),
        (
            ("N", 84),
            {"layout": "flat-nhwc"},
            lambda seen: seen.reshape(6, 7, 2).transpose(2, 0, 1),
        ),
        (("N", 2, 6, 7), {"top_row": "last"}, lambda seen: seen[:, ::-1]),
    ],
)
def test_every_layout_has_the_same_discs(
    tmp_path: Path, shape: Shape, settings: dict[str, Any], back: Callable[[Any], Any]
) -> None:
    position = Position("44553")
    grid = np.array(position.grid())
    seen = back(read_input(tmp_path / "net.onnx", shape, settings, position))
    assert (seen == np.array([grid == 2, grid == 1])).all()


# --- agents -------------------------------------------------------------------------------------


def test_a_policy_is_played_and_full_columns_are_not(tmp_path: Path) -> None:
    spec = save(tmp_path / "net.onnx", ("N", 2, 6, 7), {"policy": 7, "value": 1})
    decision = numbers(spec)
    # Numbers grow with the column; the value is 7 times the number of discs, cut to 1.
    assert (decision.column, decision.value) == (6, 1.0)
    assert decision.policy is not None
    assert sum(decision.policy) == pytest.approx(1)
    full = Position("777777")
    assert numbers(spec, position=full).column == 5
    assert numbers(spec, position=full).policy[6] == 0


def test_a_value_alone_looks_one_ply_ahead(tmp_path: Path) -> None:
    # The value counts the mover's discs in the first column, so the best reply leaves few there.
    weights = np.zeros((2, 6, 7, 1))
    weights[1, :, 2] = -0.1  # discs of the other side, which has just moved, in the third column
    spec = save(tmp_path / "net.onnx", (1, 2, 6, 7), {"v": 1}, weights.reshape(84, 1))
    assert numbers(spec).column == 2
    assert numbers(spec).value == pytest.approx(0.1)
    for_red = numbers(spec, ",value_for=red", Position("4455"))
    assert for_red.column != 2  # red's own disc there makes the position worse for red
    win = numbers(spec, position=Position("112233"))
    assert (win.column, win.value) == (3, 1.0)


def test_outputs_can_be_named(tmp_path: Path) -> None:
    weights = np.zeros((84, 14))
    weights[:, 1] = 1
    weights[:, 7 + 5] = 1
    spec = save(tmp_path / "net.onnx", ("N", 84), {"one": 7, "two": 7}, weights)
    with pytest.raises(UserError, match="one and two could be the policy; say which: policy=one"):
        numbers(spec)
    assert numbers(spec, ",policy=one").column == 1
    assert numbers(spec, ",policy=two").column == 5


@pytest.mark.parametrize("kind", [TensorProto.INT8, TensorProto.DOUBLE, TensorProto.BOOL])
def test_inputs_of_other_types(tmp_path: Path, kind: int) -> None:
    assert numbers(save(tmp_path / "n.onnx", ("N", 3, 6, 7), {"p": 7}, kind=kind)).column == 6


@pytest.mark.parametrize(
    ("shape", "outputs", "options", "message"),
    [
        (("N", 2, 4, 5), {"p": 7}, "", r"\(N, 2, 4, 5\) is not for a board of 7x6"),
        (("N", 5, 6, 7), {"p": 7}, "", "has 5 planes; say which: planes="),
        (("N", 2, 6, 7), {"p": 7}, ",planes=own", "has 2 planes; not 1"),
        (("N", 2, 6, 7), {"p": 7}, ",planes=mine", "there is no plane 'mine'; planes are own, opp"),
        (("N", 2, 6, 7), {"p": 7}, ",policy=q", "it has no output 'q'; its outputs are p"),
        (("N", 2, 6, 7), {"p": 7}, ",value=p", "'p' has 7 numbers per position; a value has 1"),
        (("N", 2, 6, 7), {"p": 5}, "", "a policy has 7 numbers on this board and a value one"),
        (("N", 2, 6, 7), {"p": 7}, ",policy=none,value=none", "needs a policy or a value"),
    ],
)
def test_networks_for_other_games_are_refused(
    tmp_path: Path, shape: Shape, outputs: dict[str, int], options: str, message: str
) -> None:
    spec = save(tmp_path / "net.onnx", shape, outputs)
    with pytest.raises(UserError, match=message):
        numbers(spec, options)


def test_what_is_no_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"which file\? write onnx:file=net\.onnx"):
        make("onnx")
    with pytest.raises(UserError, match=r"cannot read .*nowhere\.onnx: No such file"):
        make(f'onnx:file="{tmp_path}/nowhere.onnx"')
    with pytest.raises(UserError, match="is not a file"):
        make("onnx:file=/dev/zero")
    file = tmp_path / "net.onnx"
    file.write_bytes(b"no network")
    with pytest.raises(UserError, match=r"net\.onnx cannot be used: .*"):
        make(f'onnx:file="{file}"')
    with file.open("wb") as stream:
        stream.truncate(600 * 2**20)
    with pytest.raises(UserError, match="has more than 536,870,912 bytes"):
        make(f'onnx:file="{file}"')


def test_numbers_that_are_none_forfeit_the_game(tmp_path: Path) -> None:
    weights = np.full((84, 7), np.nan)
    with pytest.raises(Forfeit, match="answered nan, which is not a finite number"):
        numbers(save(tmp_path / "net.onnx", ("N", 84), {"p": 7}, weights))


def test_an_endless_network_is_ended(tmp_path: Path) -> None:
    spec = save(tmp_path / "net.onnx", ("N", 84), {"p": 7}, loops=True)
    agent = make(f"{spec},seconds=0.2,grace=0.2")
    with pytest.raises(Forfeit, match=r"had not answered after 0\.4 s"):
        agent.decide(POSITION)
    stop = Stop()
    stop.set()
    assert agent.decide(POSITION, Limit(stop=stop)).column in range(7)
    agent.close()  # type: ignore[attr-defined]


def test_the_process_ends_with_the_agent(tmp_path: Path) -> None:
    before = set(children(os.getpid()))  # some of the tests above may still be ending
    agent = make(save(tmp_path / "net.onnx", ("N", 84), {"p": 7}))
    assert set(children(os.getpid())) - before
    agent.close()  # type: ignore[attr-defined]
    wait_until(lambda: not set(children(os.getpid())) - before)
