"""Networks made to do harm: every one must be refused."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from fourlab.nets.onnx_graph import seal
from tests.safety.good_files import TOWER, resealed

Change = Callable[[onnx.ModelProto], Any]


def crafted_nets(exact: bytes, int8: bytes) -> Iterator[bytes]:
    """Yield files, nearly all with correct checksums."""
    for data in (exact, int8):
        for change in (*_frame_changes(), *_node_changes(data), *_weight_changes(data)):
            model = onnx.load_from_string(data)
            change(model)
            yield resealed(model.SerializeToString())
        yield from _descriptions(data)
        yield from (data[:-cut] for cut in (1, 10, 100, len(data) // 2, len(data) - 1))
    # A precision that the graph does not have.
    yield resealed(exact, int8="{}")
    yield resealed(int8, int8='{"value": "NaN..."}')
    yield resealed(int8, int8='{"another": 1}')
    yield resealed(int8, int8="[" * 900)
    yield resealed(exact, network=resealed_description(board="5x4x4"))
    yield exact + exact
    yield exact + int8
    yield exact + b"\x3a\x00"  # a second, empty graph
    yield exact + b"\x3a\xff\xff\xff\xff\x0f"
    yield exact + b"\xff" * 20
    yield from (b"", b"\0", b"\xff" * 1000, b"\x0a" * 1000, b"\x08\x08", b"PK\5\6" + bytes(18))
    yield from _known_attacks()


def resealed_description(**changes: Any) -> str:
    """Return the description of the network with other values."""
    return json.dumps({**json.loads(TOWER.write()), **changes})


def _known_attacks() -> Iterator[bytes]:
    """Yield the two networks that filled the memory and did not end."""
    claims = {"network": TOWER.write()}
    planes = helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["batch", 6, 3, 4])
    value = helper.make_tensor_value_info("value", TensorProto.FLOAT, None)
    # 4.6 GB of zeros from one kilobyte.
    sizes = helper.make_tensor("sizes", TensorProto.INT64, [2], [34000, 34000])
    fill = helper.make_node("ConstantOfShape", ["sizes"], ["value"])
    large = helper.make_graph([fill], "fourlab", [planes], [value], [sizes])
    # A loop without an end that constant folding runs when the file is loaded.
    condition = helper.make_tensor_value_info("on", TensorProto.BOOL, [])
    count = helper.make_tensor_value_info("count", TensorProto.INT64, [])
    state = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    out = [
        helper.make_tensor_value_info("still", TensorProto.BOOL, []),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1]),
    ]
    body = helper.make_graph(
        [helper.make_node("Identity", ["on"], ["still"]), helper.make_node("Neg", ["x"], ["y"])],
        "body",
        [count, condition, state],
        out,
    )
    loop = helper.make_node("Loop", ["", "true", "start"], ["value"], body=body)
    weights = [
        helper.make_tensor("true", TensorProto.BOOL, [], [True]),
        helper.make_tensor("start", TensorProto.FLOAT, [1], [1.0]),
    ]
    endless = helper.make_graph([loop], "fourlab", [planes], [value], weights)
    for graph in (large, endless):
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="fourlab"
        )
        model.ir_version = 8
        yield seal(model.SerializeToString(), claims)


def _frame_changes() -> Iterator[Change]:
    yield lambda model: setattr(model, "ir_version", 9)
    yield lambda model: setattr(model, "producer_name", "another")
    yield lambda model: setattr(model, "producer_version", "1")
    yield lambda model: setattr(model, "doc_string", "text")
    yield lambda model: setattr(model, "domain", "another")
    yield lambda model: setattr(model, "model_version", 1)
    yield lambda model: setattr(model.opset_import[0], "version", 18)
    yield lambda model: model.opset_import.append(helper.make_opsetid("another", 1))
    yield lambda model: model.functions.add(name="f", domain="another")
    yield lambda model: model.training_info.add()
    yield lambda model: model.graph.ClearField("name")
    yield lambda model: setattr(model.graph, "doc_string", "text")
    yield lambda model: model.graph.input.append(model.graph.input[0])
    yield lambda model: model.graph.ClearField("input")
    yield lambda model: model.graph.output.append(model.graph.output[0])
    yield lambda model: model.graph.ClearField("output")
    yield lambda model: model.graph.value_info.append(model.graph.input[0])
    yield lambda model: model.graph.sparse_initializer.add()
    yield lambda model: model.graph.quantization_annotation.add(tensor_name="planes")
    yield lambda model: model.graph.ClearField("node")
    yield lambda model: model.graph.ClearField("initializer")
    for size in (7, 1 << 40, -1):
        yield lambda model, size=size: setattr(
            model.graph.input[0].type.tensor_type.shape.dim[1], "dim_value", size
        )
        yield lambda model, size=size: setattr(
            model.graph.output[0].type.tensor_type.shape.dim[1], "dim_value", size
        )


def _node_changes(data: bytes) -> Iterator[Change]:
    count = len(onnx.load_from_string(data).graph.node)
    body = helper.make_graph([], "body", [], [])
    for place in range(0, count, 2):

        def node(model: onnx.ModelProto, place: int = place) -> onnx.NodeProto:
            return model.graph.node[place]

        for kind in ("Loop", "If", "Scan", "ConstantOfShape"):
            yield lambda model, kind=kind, node=node: setattr(node(model), "op_type", kind)
        yield lambda model, node=node: setattr(node(model), "domain", "another")
        yield lambda model, node=node: setattr(node(model), "name", "a name")
        yield lambda model, node=node: node(model).attribute.append(
            helper.make_attribute("body", body)
        )
        yield lambda model, node=node: node(model).attribute.append(
            helper.make_attribute("axis", 1 << 40)
        )
        yield lambda model, node=node: node(model).input.append("planes")
        yield lambda model, node=node: node(model).output.append("another")
        yield lambda model, node=node: model.graph.node.append(node(model))
        yield lambda model, node=node: model.graph.node.remove(node(model))


def _weight_changes(data: bytes) -> Iterator[Change]:
    weights = onnx.load_from_string(data).graph.initializer
    for place in range(0, len(weights), 3):

        def weight(model: onnx.ModelProto, place: int = place) -> onnx.TensorProto:
            return model.graph.initializer[place]

        for dims in ([-1], [1 << 40], [1 << 62, 1 << 62], [0], [1] * 9):
            yield lambda model, dims=dims, weight=weight: (
                weight(model).ClearField("dims"),
                weight(model).dims.extend(dims),
            )
        for data_type in (0, 8, 11, 99):
            yield lambda model, kind=data_type, weight=weight: setattr(
                weight(model), "data_type", kind
            )
        yield lambda model, weight=weight: weight(model).ClearField("raw_data")
        yield lambda model, weight=weight: setattr(weight(model), "raw_data", b"\0")
        yield lambda model, weight=weight: weight(model).float_data.append(1.0)
        yield lambda model, weight=weight: setattr(weight(model), "doc_string", "text")
        yield lambda model, weight=weight: setattr(weight(model), "name", "another")
        yield lambda model, weight=weight: (
            weight(model).external_data.add(key="location", value="/etc/passwd"),
            setattr(weight(model), "data_location", TensorProto.EXTERNAL),
        )
        yield lambda model, weight=weight: model.graph.initializer.append(weight(model))
        yield lambda model, weight=weight: model.graph.initializer.remove(weight(model))
        if weights[place].data_type == TensorProto.FLOAT:
            for number in (np.nan, np.inf, -np.inf):
                yield lambda model, number=number, weight=weight: setattr(
                    weight(model),
                    "raw_data",
                    np.full(len(weight(model).raw_data) // 4, number, np.float32).tobytes(),
                )


def _descriptions(data: bytes) -> Iterator[bytes]:
    for changes in (
        {"body": ["conv 99999"]},
        {"body": ["dense 99999"] * 3},
        {"body": ["relu"] * 501},
        {"body": ["conv 4"] * 100_000},
        {"body": ["conv " + "9" * 5000]},
        {"body": ["conv -4"]},
        {"body": 7},
        {"body": [7]},
        {"board": "62x1x4"},
        {"board": "99999x99999x4"},
        {"board": 7},
        {"board": "7x6x4"},
        {"features": []},
        {"features": "cells"},
        {"purpose": "value"},
        {"labels": "results"},
        {"about": []},
        {"about": {"text": "x" * (1 << 18)}},
        {"another": 1},
    ):
        yield resealed(data, network=resealed_description(**changes))
    nested = resealed_description().replace(
        '"about": {}', '"about": {"x": ' + "[" * 900 + "]" * 900
    )
    for text in ("", "[]", "{}", "null", "[" * 100_000, nested + "}", nested[:-1], "1" * 5000):
        yield resealed(data, network=text)
