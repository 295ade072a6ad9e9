"""The weights of networks, for submissions."""

from importlib.resources.abc import Traversable
from pathlib import Path

from fourlab.errors import UserError
from fourlab.files import read_bounded
from fourlab.nets import patterns
from fourlab.nets.evaluator import SHIPPED, is_shipped
from fourlab.nets.numpy_evaluator import parse
from fourlab.parsing import MAX_DESCRIPTION_BYTES

MAX_WEIGHT_BYTES = 1 << 28
"""Most bytes of weights; a submission may have 100 MB."""


def read(net: str) -> tuple[bytes, bytes]:
    """Read a network's form (JSON) and exact weights (safetensors).

    They lie beside its ONNX file, under its name or, if that is of int8, as NAME-fp32.
    """
    shipped = is_shipped(f"{net}.onnx")
    folder, name = (SHIPPED, net) if shipped else (Path(net).parent, Path(net).stem)
    # NumPy evaluates the weights from which an 8-bit graph was made.
    for stem in (name, f"{name}-fp32"):
        form, numbers = folder / f"{stem}.json", folder / f"{stem}.safetensors"
        if form.is_file() and numbers.is_file():
            break
    else:
        raise UserError(
            f"cannot export {net}: its weights, {name}.safetensors and {name}.json,"
            " are not beside it"
        )
    try:
        data = _read(form, MAX_DESCRIPTION_BYTES), _read(numbers, MAX_WEIGHT_BYTES)
        parse(*data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"cannot read the weights {numbers}: {error}") from None
    return data


def read_patterns(file: str | None, board: str) -> bytes:
    """Read the patterns of a board: from a file, or None for those that come with Fourlab."""
    network = patterns.load(board if file is None else file)
    if str(network.rules) != board:
        raise UserError(
            f"cannot export {file}: its patterns are for the board {network.rules}, and Kaggle"
            f" plays {board}"
        )
    return network.to_bytes()


def _read(file: Path | Traversable, max_bytes: int) -> bytes:
    # Files that come with Fourlab may be in an archive.
    return read_bounded(file, max_bytes) if isinstance(file, Path) else file.read_bytes()
