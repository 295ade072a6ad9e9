"""Single machine instructions that Python has no operator for."""

from typing import Any

from numba.core import types
from numba.extending import intrinsic, overload


def popcount(bits: int) -> int:
    """Count the ones."""
    return int(bits).bit_count()


@intrinsic  # type: ignore[untyped-decorator]
def _ctpop(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@overload(popcount)
def _compiled_popcount(bits):  # type: ignore[no-untyped-def]  # Numba compares the two signatures to the letter
    return lambda bits: _ctpop(bits)
