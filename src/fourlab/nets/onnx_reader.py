"""Reading networks in ONNX files that anyone may have written.

onnxruntime would run whatever graph a file has: endless loops, nodes that make gigabytes of a few
bytes, weights in other files. So the file is read here first, and accepted only if its graph is
node for node the one that its description implies (graph.py), with finite weights of the implied
shapes. What is read is bounded by the size of the file.

An ONNX file is a protobuf message. A message is a sequence of fields, and a field a tag (its number
and how it is encoded) followed by its contents: an integer, four bytes, or a length and that many
bytes, which may be a message again.
"""

import hashlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from fourlab.arrays import is_finite
from fourlab.errors import UserError
from fourlab.nets.graph import IR_VERSION, Attribute, ExactGraph, Graph, Int8Graph, Node, Tensor
from fourlab.nets.network import MAX_DESCRIPTION, Network
from fourlab.parsing import parse_description

VARINT = 0
BYTES = 2
FOUR_BYTES = 5
# The fields of the messages that our files have, by tag: number and encoding.
MODEL = {
    (1, VARINT): "ir_version",
    (2, BYTES): "producer_name",
    (7, BYTES): "graph",
    (8, BYTES): "opset_import",
    (14, BYTES): "metadata_props",
}
OPSET_ID = {(1, BYTES): "domain", (2, VARINT): "version"}
METADATA = {(1, BYTES): "key", (2, BYTES): "value"}
GRAPH = {
    (1, BYTES): "node",
    (2, BYTES): "name",
    (5, BYTES): "initializer",
    (11, BYTES): "input",
    (12, BYTES): "output",
}
NODE = {
    (1, BYTES): "input",
    (2, BYTES): "output",
    (4, BYTES): "op_type",
    (5, BYTES): "attribute",
    (7, BYTES): "domain",
}
ATTRIBUTE = {
    (1, BYTES): "name",
    (2, FOUR_BYTES): "f",
    (3, VARINT): "i",
    (8, VARINT): "ints",
    (20, VARINT): "type",
}
TENSOR = {
    (1, VARINT): "dims",
    (2, VARINT): "data_type",
    (8, BYTES): "name",
    (9, BYTES): "raw_data",
}
VALUE_INFO = {(1, BYTES): "name", (2, BYTES): "type"}
TYPE = {(1, BYTES): "tensor_type"}
TENSOR_TYPE = {(1, VARINT): "elem_type", (2, BYTES): "shape"}
SHAPE = {(1, BYTES): "dim"}
DIMENSION = {(1, VARINT): "dim_value", (2, BYTES): "dim_param"}
DATA_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
METADATA_LENGTHS = {"network": MAX_DESCRIPTION, "int8": 1000, "bytes": 20, "sha256": 64}
MAX_NODE_FIELDS = 32
"""More than any node of ours has: nine inputs, an output and a few attributes."""
Message = dict[str, list[int | memoryview]]


@dataclass(frozen=True)
class OnnxFile:
    """A network read from an ONNX file."""

    network: Network
    metadata: dict[str, str]
    graph: Graph
    arrays: dict[str, np.ndarray]
    """The weights by name, as views of the file."""

    @property
    def differences(self) -> dict[str, float] | None:
        """How far an int8 network is from the exact one, by head; None for an exact one."""
        return _differences(self.metadata) if "int8" in self.metadata else None


def read_onnx(data: bytes, name: str) -> OnnxFile:
    """Read a network; raise UserError unless it is exactly what its description implies."""
    try:
        model = _message(memoryview(data), MODEL, most=16)
        metadata = _metadata(model)
    except ValueError as error:
        raise UserError(f"{name} is not an ONNX network or is damaged: {error}") from None
    if not {"network", "bytes", "sha256"} <= metadata.keys():
        raise UserError(f"{name} is an ONNX file, but not one of Fourlab's networks")
    # The metadata follow the graph in the file; a wrong size makes the checksum wrong, too.
    size = metadata["bytes"]
    graph = memoryview(data)[: int(size)] if size.isascii() and size.isdecimal() else b""
    if checksum(graph, metadata) != metadata["sha256"]:
        raise UserError(f"{name} is damaged: its checksum is wrong")
    try:
        network = Network.read(metadata["network"])
    except UserError as error:
        raise UserError(f"{name} does not describe a network: {error}") from None
    is_int8 = "int8" in metadata
    try:
        if is_int8:
            _differences(metadata)
    except (ValueError, TypeError):
        raise UserError(f"{name} does not say how exact it is") from None
    try:
        return OnnxFile(network, metadata, *_read_graph(model, network, is_int8))
    except ValueError as error:
        raise UserError(f"{name} does not fit its description: {error}") from None


def checksum(graph: bytes | memoryview, metadata: Mapping[str, str]) -> str:
    """Return the SHA-256 over a graph, its declared architecture and its declared precision."""
    claims = metadata["network"] + metadata.get("int8", "")
    result = hashlib.sha256(graph)
    result.update(claims.encode())
    return result.hexdigest()


# --- protobuf -----------------------------------------------------------------------------------


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return an integer of at most 64 bits, seven per byte, and the place after it."""
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("it ends too early")
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number & (1 << 64) - 1, at
    raise ValueError("it has a number of more than 64 bits")


def _fields(data: memoryview) -> Iterator[tuple[tuple[int, int], int | memoryview]]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        encoding = tag & 7
        if encoding == VARINT:
            number, at = _varint(data, at)
            yield (tag >> 3, encoding), number
            continue
        if encoding == BYTES:
            length, at = _varint(data, at)
        elif encoding == FOUR_BYTES:
            length = 4
        else:
            raise ValueError(f"it has a field of encoding {encoding}")
        if length > len(data) - at:
            raise ValueError("it ends too early")
        yield (tag >> 3, encoding), data[at : at + length]
        at += length


def _message(
    data: int | memoryview, names: Mapping[tuple[int, int], str], most: int = MAX_NODE_FIELDS
) -> Message:
    """Return the contents of at most `most` fields by name; other fields are refused."""
    if isinstance(data, int):
        raise ValueError("it has a number where a message belongs")
    message: Message = {name: [] for name in names.values()}
    for count, (tag, contents) in enumerate(_fields(data)):
        if tag not in names:
            raise ValueError(f"it has a field {tag[0]}, which no network of Fourlab's has")
        if count >= most:
            raise ValueError("it has more fields than a network of Fourlab's")
        message[names[tag]].append(contents)
    return message


def _one(message: Message, name: str) -> int | memoryview:
    """Return the contents of a field that must be there once: readers differ about repeats."""
    contents = message[name]
    if len(contents) != 1:
        raise ValueError(f"it has {name} {len(contents)} times instead of once")
    return contents[0]


def _text(contents: int | memoryview, max_length: int = 200) -> str:
    if isinstance(contents, int) or len(contents) > max_length:
        raise ValueError("it has a text that is too long")
    return bytes(contents).decode()


def _texts(message: Message, name: str) -> tuple[str, ...]:
    return tuple(_text(contents) for contents in message[name])


# --- the model ----------------------------------------------------------------------------------


def _metadata(model: Message) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for contents in model["metadata_props"]:
        entry = _message(contents, METADATA)
        key = _text(_one(entry, "key"))
        if key in metadata or key not in METADATA_LENGTHS:
            raise ValueError(f"its metadata have {key[:40]!r}, or have it twice")
        metadata[key] = _text(_one(entry, "value"), METADATA_LENGTHS[key])
    return metadata


def _differences(metadata: Mapping[str, str]) -> dict[str, float]:
    differences = {
        head: float(number) for head, number in parse_description(metadata["int8"].encode()).items()
    }
    if not differences.keys() <= {"value", "policy"}:
        raise ValueError("there are no such heads")
    return differences


def _read_graph(
    model: Message, network: Network, is_int8: bool
) -> tuple[Graph, dict[str, np.ndarray]]:
    """Return the graph and its weights; raise ValueError if it is not the network's."""
    exact = ExactGraph(network)
    # A bound on the fields before any of them is kept; unfolded normalisations and codes have more.
    most = 4 * (len(exact.nodes) + len(exact.tensors)) + 100
    contents = _message(_one(model, "graph"), GRAPH, most)
    tensors = _tensors(contents)
    if any(name.endswith(".running_mean") for name in tensors.keys() - exact.tensors.keys()):
        exact = ExactGraph(network, fold=False)
    graph: Graph = exact
    if is_int8:
        graph = Int8Graph(exact)
        graph.build({name: _zero(tensors, name) for name in graph.observed})
    _check_frame(model, contents, graph)
    _check_nodes(contents, graph)
    if tensors.keys() != graph.tensors.keys():
        name = min(tensors.keys() ^ graph.tensors.keys())
        raise ValueError(f"{name[:80]!r} is in only one of them")
    arrays = {name: _array(tensors[name], name, form) for name, form in graph.tensors.items()}
    return graph, arrays


def _check_frame(model: Message, contents: Message, graph: Graph) -> None:
    """Raise ValueError unless versions, names, inputs and outputs are those of the graph."""
    opsets = {}
    for entry in model["opset_import"]:
        opset = _message(entry, OPSET_ID)
        domain = _texts(opset, "domain")
        opsets["".join(domain)] = _one(opset, "version")
    if _one(model, "ir_version") != IR_VERSION or opsets != graph.opsets:
        raise ValueError("it is of another version of ONNX")
    if _text(_one(model, "producer_name")) != "fourlab" or _text(_one(contents, "name")) != (
        "fourlab"
    ):
        raise ValueError("it was not written by Fourlab")
    if [_value_info(entry) for entry in contents["input"]] != [("planes", graph.input_shape)]:
        raise ValueError("its input has another shape")
    outputs = [(head, (size,)) for head, size in graph.outputs.items()]
    if [_value_info(entry) for entry in contents["output"]] != outputs:
        raise ValueError("its outputs have another shape")


def _value_info(contents: int | memoryview) -> tuple[str, tuple[int, ...]]:
    """Return the name of an input or output, and its shape without the batch."""
    info = _message(contents, VALUE_INFO)
    kind = _message(_one(_message(_one(info, "type"), TYPE), "tensor_type"), TENSOR_TYPE)
    if _one(kind, "elem_type") != DATA_TYPES["float32"]:
        raise ValueError("its inputs and outputs must be float32")
    dimensions = _message(_one(kind, "shape"), SHAPE)["dim"]
    if not dimensions:
        raise ValueError("its inputs and outputs must be batches")
    batch, *sizes = dimensions
    if _text(_one(_message(batch, DIMENSION), "dim_param")) != "batch":
        raise ValueError("its inputs and outputs must be batches")
    shape = []
    for size in sizes:
        dimension = _one(_message(size, DIMENSION), "dim_value")
        assert isinstance(dimension, int)
        shape.append(dimension)
    return _text(_one(info, "name")), tuple(shape)


# --- nodes --------------------------------------------------------------------------------------


def _check_nodes(contents: Message, graph: Graph) -> None:
    if len(contents["node"]) != len(graph.nodes):
        raise ValueError(f"it has {len(contents['node'])} nodes instead of {len(graph.nodes)}")
    for number, (entry, expected) in enumerate(zip(contents["node"], graph.nodes, strict=True)):
        if not _is_equal(_node(entry), expected):
            raise ValueError(f"node {number} should be {expected.kind} of {expected.inputs[0]}")


def _node(contents: int | memoryview) -> Node:
    message = _message(contents, NODE)
    attributes: dict[str, Attribute] = {}
    for entry in message["attribute"]:
        name, value = _attribute(entry)
        if name in attributes:
            raise ValueError(f"a node has the attribute {name[:40]!r} twice")
        attributes[name] = value
    return Node(
        _text(_one(message, "op_type")),
        _texts(message, "input"),
        _text(_one(message, "output")),
        attributes,
        "".join(_texts(message, "domain")[:1]),
    )


def _attribute(contents: int | memoryview) -> tuple[str, Attribute]:
    """Return the name and value of an attribute: an integer, a float or integers."""
    message = _message(contents, ATTRIBUTE)
    kind = _one(message, "type")
    value: Attribute
    if kind == 1:
        four_bytes = _one(message, "f")
        assert isinstance(four_bytes, memoryview)
        (value,) = struct.unpack("<f", four_bytes)
    elif kind == 2:
        number = _one(message, "i")
        assert isinstance(number, int)
        value = number
    elif kind == 7:
        value = tuple(number for number in message["ints"] if isinstance(number, int))
    else:
        raise ValueError("a node has an attribute of another type")
    used = {1: "f", 2: "i", 7: "ints"}[kind]
    if any(message[name] for name in ("f", "i", "ints") if name != used):
        raise ValueError("a node has an attribute of two types")
    return _text(_one(message, "name")), value


def _is_equal(node: Node, expected: Node) -> bool:
    # Files have floats of 32 bits.
    attributes = {
        name: float(np.float32(value)) if isinstance(value, float) else value
        for name, value in expected.attributes.items()
    }
    return node == expected._replace(attributes=attributes)


# --- weights ------------------------------------------------------------------------------------


def _tensors(contents: Message) -> dict[str, Message]:
    tensors: dict[str, Message] = {}
    for entry in contents["initializer"]:
        message = _message(entry, TENSOR)
        name = _text(_one(message, "name"))
        if name in tensors:
            raise ValueError(f"it has {name[:80]!r} twice")
        tensors[name] = message
    return tensors


def _array(message: Message, name: str, expected: Tensor) -> np.ndarray:
    raw = _one(message, "raw_data")
    assert isinstance(raw, memoryview)
    dtype = np.dtype(expected.dtype).newbyteorder("<")
    if (
        _one(message, "data_type") != DATA_TYPES[expected.dtype]
        or tuple(message["dims"]) != expected.shape
        or len(raw) != prod(expected.shape) * dtype.itemsize
    ):
        raise ValueError(f"{name!r} is not {expected.dtype}{list(expected.shape)}")
    array = np.frombuffer(raw, dtype).reshape(expected.shape)
    if expected.constant is not None and not np.array_equal(array, expected.constant):
        raise ValueError(f"{name!r} has other numbers than it must have")
    if dtype.kind == "f" and not is_finite(array):
        raise ValueError(f"{name!r} has a number that is not finite")
    return array


def _zero(tensors: Mapping[str, Message], name: str) -> int:
    """Return the zero of a value's codes."""
    if f"{name}.zero" not in tensors:
        raise ValueError(f"there are no codes of {name!r}")
    raw = _one(tensors[f"{name}.zero"], "raw_data")
    if not isinstance(raw, memoryview) or bytes(raw[:1]) not in (b"\0", b"\x80"):
        raise ValueError(f"the zero of {name!r} is neither 0 nor 128")
    return raw[0]
