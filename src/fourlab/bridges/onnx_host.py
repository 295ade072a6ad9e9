"""The process in which an ONNX network is evaluated: `onnx_host.main(FILE, SETTINGS)`.

    > {"boards": [[[0, ...], ...]], "to_move": [0], "open": [[0, 1, ...]]}
    < {"policy": [[0.1, ...]], "value": [0.3]}      or {"refused": "why not on this board"}

Boards are rows from the top: 0 empty, 1 red, 2 yellow. `networks.py` is the other side.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourlab.bridges.host import Answer, serve

if TYPE_CHECKING:
    import numpy as np

PLANES = {
    "own": "discs of the side to move",
    "opponent": "discs of the other side",
    "empty": "empty cells",
    "red": "red discs",
    "yellow": "yellow discs",
    "signed": "+1 for discs of the side to move, -1 for the other's",
    "red-to-move": "1 everywhere if red is to move, else 0",
    "ones": "1 everywhere",
    "open": "the cells into which a disc can fall",
}
"""The input planes that can be named, and what is 1 in them."""
DEFAULT_PLANES = {1: ("signed",), 2: ("own", "opponent"), 3: ("own", "opponent", "empty")}
"""The planes of a network by their number."""
TYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(bool)": "bool",
}
"""The types of an input, as NumPy calls them."""
POLICY_WORDS = ("policy", "prob", "logit", "action", "pi")
VALUE_WORDS = ("value", "score")
"""What outputs are called, if several have the right size."""


class RefusedError(Exception):
    """The network is not for such boards; the message says why."""


def main(file: str, settings: str) -> None:
    """Load a network and answer questions."""

    def load() -> tuple[dict[str, Any], Answer]:
        network = Network(Path(file).read_bytes(), json.loads(settings))
        return {}, network.answer

    serve(load)


class Network:
    """A network with one input, and what is known about its outputs."""

    def __init__(self, data: bytes, settings: dict[str, Any]) -> None:
        import onnxruntime  # takes a while to load, and the other side needs only the names above

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # From bytes, so that a file cannot name further files to read.
        self._session = onnxruntime.InferenceSession(
            data, options, providers=["CPUExecutionProvider"]
        )
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            names = ", ".join(entry.name for entry in inputs) or "none"
            raise ValueError(f"a network with one input is needed; its inputs are {names}")
        self._input = inputs[0]
        if self._input.type not in TYPES:
            raise ValueError(f"its input is of the type {self._input.type}")
        self._outputs = [entry.name for entry in self._session.get_outputs()]
        self._settings = settings
        for kind in ("policy", "value"):
            if settings[kind] not in ("auto", "none", *self._outputs):
                listed = ", ".join(self._outputs)
                raise ValueError(f"it has no output {settings[kind]!r}; its outputs are {listed}")

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return policies and values of boards, as far as the network has them."""
        import numpy as np

        boards = np.array(question["boards"])
        try:
            inputs = self._inputs(boards, np.array(question["to_move"]))
        except RefusedError as refusal:
            return {"refused": str(refusal)}
        # Most networks take batches; a fixed batch of one is fed one by one.
        batches = np.split(inputs, len(inputs)) if self._input.shape[0] == 1 else [inputs]
        results = [self._session.run(None, {self._input.name: batch}) for batch in batches]
        sizes = {
            name: np.size(results[0][i]) // len(batches[0]) for i, name in enumerate(self._outputs)
        }
        answer = {}
        try:
            policy = self._output("policy", sizes, boards.shape[2], POLICY_WORDS)
            value = self._output("value", sizes, 1, VALUE_WORDS)
        except RefusedError as refusal:
            return {"refused": str(refusal)}
        if policy is None and value is None:
            described = ", ".join(f"{name} with {size} numbers" for name, size in sizes.items())
            return {
                "refused": f"a policy has {boards.shape[2]} numbers on this board and a value one; "
                f"the outputs are {described}"
            }
        for kind, index, width in (("policy", policy, boards.shape[2]), ("value", value, 1)):
            if index is not None:
                rows = [np.reshape(result[index], (-1, width)) for result in results]
                numbers = np.concatenate(rows).astype(float)
                answer[kind] = (numbers if kind == "policy" else numbers[:, 0]).tolist()
        return answer

    def _output(
        self, kind: str, sizes: dict[str, int], numbers: int, words: Sequence[str]
    ) -> int | None:
        """Return the place of the policy or the value among the outputs, None if there is none."""
        named = self._settings[kind]
        if named == "none":
            return None
        if named != "auto":
            if sizes[named] != numbers:
                raise RefusedError(
                    f"the output {named!r} has {sizes[named]} numbers per position; "
                    f"a {kind} has {numbers} on this board"
                )
            return self._outputs.index(named)
        fitting = [name for name, size in sizes.items() if size == numbers]
        likely = [name for name in fitting if any(word in name.lower() for word in words)]
        if len(fitting) > 1 and len(likely) != 1:
            raise RefusedError(
                f"{' and '.join(fitting)} could be the {kind}; say which: {kind}={fitting[0]}"
            )
        chosen = likely if len(fitting) > 1 else fitting
        return self._outputs.index(chosen[0]) if chosen else None

    def _inputs(self, boards: "np.ndarray", to_move: "np.ndarray") -> "np.ndarray":
        """Return the input for boards, int[boards, rows, columns]."""
        import numpy as np

        _, rows, columns = boards.shape
        shape = self._input.shape
        layout, channels = arrangement(shape, rows, columns, self._settings["layout"])
        names = tuple(self._settings["planes"]) or DEFAULT_PLANES.get(channels, ())
        if len(names) != channels:
            which = f"not {len(names)}" if names else 'say which: planes="own;opponent;…"'
            raise RefusedError(f"the input {_shown(shape)} has {channels} planes; {which}")
        planes = np.stack([_plane(name, boards, to_move) for name in names], axis=1)
        if self._settings["top_row"] == "last":
            planes = planes[:, :, ::-1]
        if layout in ("nhwc", "flat-nhwc"):
            planes = planes.transpose(0, 2, 3, 1)
        if len(shape) == 2:
            planes = planes.reshape(len(boards), -1)
        elif len(shape) == 3:
            planes = planes.reshape(len(boards), rows, columns)
        return np.ascontiguousarray(planes.astype(TYPES[self._input.type]))


def arrangement(
    shape: Sequence[Any], rows: int, columns: int, layout: str = "auto"
) -> tuple[str, int]:
    """Return the layout of an input, nchw, nhwc, flat or flat-nhwc, and its number of planes.

    Dimensions that are texts or None may have any size. Raises RefusedError if the shape is not
    one for this board, or if it could be two layouts.
    """
    batch, *rest = shape or (None,)
    if isinstance(batch, int) and batch > 1:
        raise RefusedError(f"the input {_shown(shape)} is for {batch} positions at a time")

    def fits(size: Any, number: int) -> bool:
        return not isinstance(size, int) or size == number

    if len(rest) == 1 and isinstance(rest[0], int) and rest[0] % (rows * columns) == 0:
        if layout in ("auto", "flat", "flat-nhwc"):
            return ("flat" if layout == "auto" else layout), rest[0] // (rows * columns)
    elif len(rest) == 2 and fits(rest[0], rows) and fits(rest[1], columns):
        return "nchw", 1
    elif len(rest) == 3:
        possible = {
            "nchw": (rest[0], fits(rest[1], rows) and fits(rest[2], columns)),
            "nhwc": (rest[2], fits(rest[0], rows) and fits(rest[1], columns)),
        }
        fitting = {
            name: channels
            for name, (channels, is_fitting) in possible.items()
            if is_fitting and isinstance(channels, int) and layout in ("auto", name)
        }
        if len(fitting) > 1:
            raise RefusedError(
                f"the input {_shown(shape)} could be nchw or nhwc; say which: layout=nchw"
            )
        if fitting:
            return next(iter(fitting.items()))
    raise RefusedError(
        f"the input {_shown(shape)} is not for a board of {columns}x{rows} "
        f"with the layout {layout}; docs/agents/onnx.md lists what is accepted"
    )


def _shown(shape: Sequence[Any]) -> str:
    return f"({', '.join(str(size) if isinstance(size, int) else 'N' for size in shape)})"


def _plane(name: str, boards: "np.ndarray", to_move: "np.ndarray") -> "np.ndarray":
    """Return one plane of boards, int8[boards, rows, columns]."""
    import numpy as np

    mover = (1 + to_move)[:, None, None]  # the number of the mover's discs
    own = (boards == mover).astype(np.int8)
    opponent = (boards == 3 - mover).astype(np.int8)
    empty = boards == 0
    # A cell is open if it is empty and the one below, or the floor, is not.
    floor = np.zeros_like(empty[:, :1])
    planes: dict[str, np.ndarray] = {
        "own": own,
        "opponent": opponent,
        "empty": empty,
        "red": boards == 1,
        "yellow": boards == 2,
        "signed": own - opponent,
        "red-to-move": np.broadcast_to(mover == 1, boards.shape),
        "ones": np.ones_like(boards),
        "open": empty & ~np.concatenate([empty[:, 1:], floor], axis=1),
    }
    return planes[name].astype(np.int8)
