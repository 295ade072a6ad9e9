"""The state of a checkpoint beside its arrays, which somebody else may have written.

Checksums do not vouch for it: whoever changes a file can compute them again. Every value is
therefore read with the range that a training can reach, and refused in one line that names the file
and the field.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fourlab.errors import UserError
from fourlab.files import read_bounded
from fourlab.parsing import parse_description

if TYPE_CHECKING:
    import numpy as np

MAX_STATE_BYTES = 1 << 22
MOST = 2**63 - 1


@dataclass(frozen=True)
class State:
    """The values of a state, by name; `prefix` is that of names in a table inside it."""

    file: Path
    values: Mapping[str, Any]
    prefix: str = ""

    @classmethod
    def read(cls, file: Path) -> "State":
        """Read a state; the file may not be a link."""
        try:
            data = read_bounded(file, MAX_STATE_BYTES, follow_links=False)
            return cls(file, parse_description(data, MAX_STATE_BYTES))
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror}") from None
        except ValueError as error:
            raise UserError(f"{file} is damaged: {error}") from None

    def refuse(self, name: str, reason: str = "") -> NoReturn:
        """Raise UserError for a value that no training writes."""
        reason = reason or f"cannot be {self.values.get(name)!r:.60}"
        raise UserError(f"{self.file} is damaged: {self.prefix}{name} {reason}")

    def value(self, name: str) -> Any:
        """Return a value of any type."""
        if name not in self.values:
            self.refuse(name, "is missing")
        return self.values[name]

    def count(self, name: str, most: int = MOST) -> int:
        """Return a whole number from 0 to `most`."""
        value = self.value(name)
        if not _is_whole(value, 0, most):
            self.refuse(name)
        return int(value)

    def counts(self, name: str, length: int | None = None, most: int = MOST) -> list[int]:
        """Return a list of whole numbers from 0 to `most`, of a given length or any."""
        value = self.value(name)
        if not isinstance(value, list) or len(value) != (len(value) if length is None else length):
            self.refuse(name)
        for number in value:
            if not _is_whole(number, 0, most):
                self.refuse(name)
        return value

    def number(self, name: str, most: float = math.inf) -> float:
        """Return a finite number from 0 to `most`."""
        value = self.value(name)
        if not _is_number(value, most):
            self.refuse(name)
        return float(value)

    def numbers(self, name: str, most: tuple[float, ...]) -> list[float]:
        """Return a list of finite numbers from 0 to the numbers in `most`."""
        value = self.value(name)
        if not isinstance(value, list) or len(value) != len(most):
            self.refuse(name)
        if not all(map(_is_number, value, most)):
            self.refuse(name)
        return [float(number) for number in value]

    def table(self, name: str) -> "State":
        """Return a table inside the state."""
        value = self.value(name)
        if not isinstance(value, dict):
            self.refuse(name)
        return State(self.file, value, f"{self.prefix}{name}.")

    def restore_generator(self, name: str, rng: "np.random.Generator") -> None:
        """Give a generator the state that `rng.bit_generator.state` was."""
        generator = self.table(name)
        kind = rng.bit_generator.state["bit_generator"]
        if generator.value("bit_generator") != kind:
            generator.refuse("bit_generator")
        words = generator.table("state")
        state = {"state": words.count("state", 2**128 - 1), "inc": words.count("inc", 2**128 - 1)}
        # PCG64 has its full period only with an odd increment, and NumPy makes no other.
        if not state["inc"] % 2:
            words.refuse("inc")
        rng.bit_generator.state = {
            "bit_generator": kind,
            "state": state,
            "has_uint32": generator.count("has_uint32", 1),
            "uinteger": generator.count("uinteger", 2**32 - 1),
        }


def _is_whole(value: object, least: int, most: int) -> bool:
    # Not isinstance: true is an int, too.
    return type(value) is int and least <= value <= most


def _is_number(value: object, most: float) -> bool:
    return (type(value) is int or type(value) is float) and 0 <= value <= most and value < math.inf
