"""Judging positions with a network in an ONNX file; needs onnxruntime, not torch."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.network import Network

MOST_BYTES = 1 << 30
PROBES = 8
"""A network that is read is asked about so many positions."""
SHIPPED = files("fourlab.nets") / "weights"
ONLY_IN_THE_REPOSITORY = ("arya-1000", "arya-5000")
"""Networks of the studies, 2.4 MB each, that the wheel leaves out (pyproject.toml)."""


class OnnxEvaluator(NetworkEvaluator):
    """An evaluator whose network is in an ONNX file.

    One of precision int8 (nets/quantise.py) knows its differences from the exact one.
    """

    def __init__(self, data: bytes, name: str) -> None:
        try:
            self._session = open_session(data)
            metadata = self._session.get_modelmeta().custom_metadata_map
        except Exception as error:  # onnxruntime has its own kinds for every way in which a file can be wrong
            raise UserError(f"{name} is not an ONNX network or is damaged: {str(error).splitlines()[0][:120]}") from None
        if not {"network", "bytes", "sha256"} <= metadata.keys():
            raise UserError(f"{name} is an ONNX file, but not one of Fourlab's networks")
        graph = data[: int(metadata["bytes"])] if metadata["bytes"].isdecimal() else b""
        if checksum(graph, metadata) != metadata["sha256"]:
            raise UserError(f"{name} is damaged: its checksum is wrong")
        super().__init__(Network.read(metadata["network"]))
        self.precision = "int8" if "int8" in metadata else "fp32"
        try:
            self.differences = {head: float(each) for head, each in json.loads(metadata.get("int8", "{}")).items()}
        except (ValueError, TypeError, AttributeError):
            raise UserError(f"{name} does not tell how exact it is") from None
        self._heads = [output.name for output in self._session.get_outputs()]
        self._check_answers(name)

    def _check_answers(self, name: str) -> None:
        """Refuse a graph that does not answer as its form says, or not in numbers."""
        expected = {
            head: (PROBES, layers[-1].outputs) for head, layers in self.network.parts().items() if head != "body" and layers
        }
        try:
            found = self.heads(self.planes(*probe_positions(self.rules, PROBES)))
        except Exception as error:  # onnxruntime's own kinds again
            raise UserError(f"{name} does not fit its description: {str(error).splitlines()[0][:120]}") from None
        if {head: answer.shape for head, answer in found.items()} != expected:
            raise UserError(f"{name} does not fit its description: its answers have another form")
        if not all(np.isfinite(answer).all() for answer in found.values()):
            raise UserError(f"{name} is damaged: it answers with numbers that are not finite")

    def heads(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """The network's own answers, by head: value[batch, 1 or 3] as its labels are, policy[batch, columns]."""
        return dict(zip(self._heads, self._session.run(self._heads, {"planes": planes}), strict=True))


def open_session(data: bytes) -> Any:
    """An ONNX file, ready to run in one thread."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)  # warnings about the machine are of no use to a player
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def checksum(graph: bytes, told: Mapping[str, str]) -> str:
    """Names a graph, the form that it claims to have and how exact it claims to be."""
    return hashlib.sha256(graph + (told["network"] + told.get("int8", "")).encode()).hexdigest()


def probe_positions(rules: Rules, count: int = 64, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positions of random games, for comparing answers: `own` and `mask`, the empty board first."""
    own, mask = _probe_positions(rules, count, seed).copy()
    return own, mask


@lru_cache(maxsize=8)
def _probe_positions(rules: Rules, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    own, mask = [0], [0]
    while len(own) < count:
        position = Position(board=rules)
        for _ in range(int(rng.integers(rules.rows * rules.columns))):
            if position.outcome() is not None:
                break
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            own.append(position.own)
            mask.append(position.mask)
    return np.array([own, mask], np.int64)


SHIPPED_AT = -1
"""When a network that comes with Fourlab was changed: never."""


def load(name: str) -> OnnxEvaluator:
    """The network of a file, or the shipped one of that name; one that was read before is not read again."""
    shipped = SHIPPED / f"{name}.onnx"
    if not name.endswith(".onnx") and shipped.is_file():
        return _loaded(name, SHIPPED_AT, 0)
    file = Path(name)
    try:
        status = file.stat()
        if status.st_size > MOST_BYTES:
            raise UserError(f"{file} is too large for a network")
        return _loaded(str(file.resolve()), status.st_mtime_ns, status.st_size)
    except OSError as error:
        check_shipped(name)
        names = sorted(each.name.removesuffix(".onnx") for each in SHIPPED.iterdir() if each.name.endswith(".onnx"))
        known = f"; with Fourlab come {', '.join(names)}" if names else ""
        raise UserError(f"cannot read the network {name}: {error.strerror}{known}") from None


def check_shipped(name: str) -> None:
    """Refuse a network that an installed wheel does not contain, and say where it is."""
    if name in ONLY_IN_THE_REPOSITORY and not (SHIPPED / f"{name}.onnx").is_file():
        raise UserError(
            f"the network {name} is not in the installed package: copy "
            f"src/fourlab/nets/weights/{name}.onnx from Fourlab's repository to {SHIPPED}"
        )


@lru_cache(maxsize=8)
def _loaded(name: str, changed_at: int, size: int) -> OnnxEvaluator:
    data = (SHIPPED / f"{name}.onnx").read_bytes() if changed_at == SHIPPED_AT else Path(name).read_bytes()
    return OnnxEvaluator(data, name)
