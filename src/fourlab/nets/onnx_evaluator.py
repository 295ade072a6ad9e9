"""Judging positions with a network in an ONNX file; needs onnxruntime, not torch."""

import hashlib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from fourlab.errors import UserError
from fourlab.evaluator import Evaluation
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.kernels.planes import encode
from fourlab.nets.network import Network

MOST_BYTES = 1 << 30
SHIPPED = files("fourlab.nets") / "weights"


class OnnxEvaluator:
    """An evaluator whose network is in an ONNX file.

    Values are -1 to +1 for the side to move, whatever labels the network was trained with. A network of purpose q has no
    value of its own: it is the greatest Q-value of an open column. One of purpose value has no policy: its logits are 0.
    """

    def __init__(self, data: bytes, name: str) -> None:
        import onnxruntime

        onnxruntime.set_default_logger_severity(3)  # warnings about the machine are of no use to a player
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has its own kinds for every way in which a file can be wrong
            raise UserError(f"{name} is not an ONNX network or is damaged: {str(error).splitlines()[0][:120]}") from None
        metadata = self._session.get_modelmeta().custom_metadata_map
        if not {"network", "bytes", "sha256"} <= metadata.keys():
            raise UserError(f"{name} is an ONNX file, but not one of Fourlab's networks")
        graph = data[: int(metadata["bytes"])] if metadata["bytes"].isdecimal() else b""
        if checksum(graph, metadata["network"]) != metadata["sha256"]:
            raise UserError(f"{name} is damaged: its checksum is wrong")
        self.network = Network.read(metadata["network"])
        self.rules = self.network.rules
        self.features = self.network.features
        self.has_policy = self.network.purpose != "value"
        self._heads = [output.name for output in self._session.get_outputs()]

    def planes(self, own: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """What the network sees of positions."""
        return encode(own, mask, self.rules.geometry, self.features)

    def heads(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """The network's own answers, by head: value[batch, 1 or 3] as its labels are, policy[batch, columns]."""
        return dict(zip(self._heads, self._session.run(self._heads, {"planes": planes}), strict=True))

    def evaluate(self, planes: np.ndarray) -> Evaluation:
        """Judge float32[batch, planes, rows, columns]."""
        found = self.heads(planes)
        if "value" not in found:
            closed = planes[:, :, 0][:, : 1 if self.features == "cells" else 2].any(axis=1)
            return Evaluation(np.where(closed, -np.inf, found["policy"]).max(axis=1).clip(-1, 1), found["policy"])
        logits = found["policy"] if "policy" in found else np.zeros((len(planes), self.rules.columns), np.float32)
        return Evaluation(self._values(found["value"]), logits)

    def _values(self, answers: np.ndarray) -> np.ndarray:
        """From what the labels are to -1 … +1."""
        if self.network.labels == "results":
            chances = np.exp(answers - answers.max(axis=1, keepdims=True))
            values: np.ndarray = (chances[:, 0] - chances[:, 2]) / chances.sum(axis=1)
            return values
        values = answers[:, 0] if self.network.labels == "signed" else 2 * answers[:, 0] - 1
        return values.clip(-1, 1)

    def judge(self, own: np.ndarray, mask: np.ndarray) -> Evaluation:
        """Judge positions given as int64[batch] each."""
        return self.evaluate(self.planes(own, mask))

    def check_board(self, position: Position) -> None:
        """Refuse a position on a board that the network does not know."""
        if position.rules != self.rules:
            raise UserError(f"the network knows the board {self.rules}, not {position.rules}")


def checksum(graph: bytes, network: str) -> str:
    """Names a graph and the form that it claims to have."""
    return hashlib.sha256(graph + network.encode()).hexdigest()


def probe_positions(rules: Rules, count: int = 64, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positions of random games, for comparing answers: `own` and `mask`, the empty board first."""
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
    return np.array(own, np.int64), np.array(mask, np.int64)


@lru_cache(maxsize=8)
def load(name: str) -> OnnxEvaluator:
    """The network of a file, or the shipped one of that name."""
    shipped = SHIPPED / f"{name}.onnx"
    if not name.endswith(".onnx") and shipped.is_file():
        return OnnxEvaluator(shipped.read_bytes(), name)
    file = Path(name)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise UserError(f"{file} is too large for a network")
        return OnnxEvaluator(file.read_bytes(), str(file))
    except OSError as error:
        names = sorted(each.name.removesuffix(".onnx") for each in SHIPPED.iterdir() if each.name.endswith(".onnx"))
        known = f"; with Fourlab come {', '.join(names)}" if names else ""
        raise UserError(f"cannot read the network {name}: {error.strerror}{known}") from None
