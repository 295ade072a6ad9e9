"""Evaluating positions with a network in an ONNX file; needs onnxruntime, not torch."""

from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.errors import UserError
from fourlab.files import read_bounded
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.nets.base import NetworkEvaluator
from fourlab.nets.onnx_reader import read_onnx

# Loading takes at most twice the size of a file and 100 MB, and onnxruntime needs up to four times
# that size. Ten million weights, or 40 million in int8, are more than a CPU evaluates quickly.
MAX_BYTES = 40 << 20
PROBES = 8
"""Number of positions on which a network is tested when it is loaded."""
SHIPPED = files("fourlab.nets") / "weights"
ONLY_IN_THE_REPOSITORY = "arya-*"
"""Names of networks of Arya's size, 2.5 MB each, that the wheel leaves out (pyproject.toml)."""


class OnnxEvaluator(NetworkEvaluator):
    """An evaluator whose network is in an ONNX file.

    `differences` holds, by head, the mean distance of an int8 network (nets/quantise.py) from the
    fp32 one: absolute for values, total variation for policies. It is empty for precision fp32.
    """

    def __init__(self, data: bytes, name: str) -> None:
        # Before onnxruntime sees anything of the file.
        file = read_onnx(data, name)
        super().__init__(file.network)
        self.precision = "fp32" if file.differences is None else "int8"
        self.differences = file.differences or {}
        try:
            self._session = open_session(data)
        except UserError:
            raise
        except Exception as error:  # onnxruntime raises many exceptions of its own
            raise UserError(
                f"{name} is not an ONNX network or is damaged: {_first_line(error)}"
            ) from None
        self._heads = [output.name for output in self._session.get_outputs()]
        self._check_outputs(name)

    def _check_outputs(self, name: str) -> None:
        """Raise UserError unless the outputs have the described shapes and are finite."""
        # Heads by their shapes: [positions, outputs of the last layer].
        expected = {
            head: (PROBES, layers[-1].outputs)
            for head, layers in self.network.parts().items()
            if head != "body" and layers
        }
        try:
            outputs = self.heads(self.planes(*probe_positions(self.rules, PROBES)))
        except Exception as error:  # onnxruntime's own exceptions again
            raise UserError(f"{name} does not fit its description: {_first_line(error)}") from None
        if {head: output.shape for head, output in outputs.items()} != expected:
            raise UserError(f"{name} does not fit its description: its outputs have another shape")
        if not all(np.isfinite(output).all() for output in outputs.values()):
            raise UserError(f"{name} is damaged: it answers with numbers that are not finite")

    def heads(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """Return the raw outputs by head."""
        outputs = self._session.run(self._heads, {"planes": planes})
        return dict(zip(self._heads, outputs, strict=True))


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:120]


def _runtime() -> Any:
    """Import onnxruntime; without it, say so in one line."""
    try:
        return import_module("onnxruntime")
    except ImportError as error:
        reason = (str(error) or "it cannot be imported").splitlines()[0][:200]
        raise UserError(
            f"networks need onnxruntime ({reason}): pip install onnxruntime; agents without a "
            "network work without it"
        ) from None


def open_session(data: bytes) -> Any:
    """Return an onnxruntime session for an ONNX file, on one thread of the CPU."""
    onnxruntime = _runtime()
    onnxruntime.set_default_logger_severity(3)  # errors only, no warnings about the hardware
    options = onnxruntime.SessionOptions()
    # Small networks gain nothing from more threads, and matches run several processes.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def probe_positions(rules: Rules, count: int = 64, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return `own` and `mask`, int64[count] each, of random games; the empty board comes first.

    Outputs of networks are compared on these positions. In none of them is the game over.
    """
    # A copy, since the cached arrays must not change.
    own, mask = _probe_positions(rules, count, seed).copy()
    return own, mask


@lru_cache(maxsize=8)
def _probe_positions(rules: Rules, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    own = [0]
    mask = [0]
    while len(own) < count:
        # Games have a random length; those that end before are dropped.
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
"""Stands for the modification time of a network that comes with Fourlab."""


def load(name: str) -> OnnxEvaluator:
    """Load a network from a file, or a shipped network by name.

    The last few networks are cached until their files change.
    """
    file = Path(name)
    try:
        if is_shipped(f"{name}.onnx"):
            return _load(name, SHIPPED_AT, 0)
        # Time and size are part of the key of the cache, so a replaced file is loaded again.
        status = file.stat()
        return _load(str(file.resolve()), status.st_mtime_ns, status.st_size)
    except OSError as error:
        check_shipped(name)
        names = sorted(
            file.name.removesuffix(".onnx")
            for file in SHIPPED.iterdir()
            if file.name.endswith(".onnx")
        )
        choices = f"; Fourlab comes with {', '.join(names)}" if names else ""
        raise UserError(f"cannot read the network {name}: {error.strerror}{choices}") from None


def is_shipped(file_name: str) -> bool:
    """Return whether a file is among the networks that come with Fourlab.

    Names are compared: a path to look up could be too long, or lead elsewhere.
    """
    return any(file.name == file_name for file in SHIPPED.iterdir())


def check_shipped(name: str) -> None:
    """Raise UserError for a network that is only in the repository, saying where it is."""
    if not is_shipped(f"{name}.onnx") and fnmatchcase(name, ONLY_IN_THE_REPOSITORY):
        raise UserError(
            f"the network {name} is not in the installed package: copy "
            f"src/fourlab/nets/weights/{name}.onnx from Fourlab's repository to {SHIPPED}"
        )


@lru_cache(maxsize=8)
def _load(name: str, changed_at: int, size: int) -> OnnxEvaluator:
    """Load a network; a changed modification time or size makes a new cache entry."""
    file = SHIPPED / f"{name}.onnx" if changed_at == SHIPPED_AT else Path(name)
    if not isinstance(file, Path):  # in an archive, from which Python imports packages, too
        return OnnxEvaluator(file.read_bytes(), name)
    return OnnxEvaluator(read_bounded(file, MAX_BYTES), name)
