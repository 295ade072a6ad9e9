"""Single machine instructions that Python has no operator for."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload


def popcount(bits: int) -> int:
    """Count the ones."""
    return int(bits).bit_count()


@intrinsic  # type: ignore[untyped-decorator]
def _ctpop(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


def bit_length(bits: int) -> int:
    """How many binary digits a number that is not negative has."""
    return int(bits).bit_length()


@intrinsic  # type: ignore[untyped-decorator]
def _leading_zeros(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


def prefetch(array: np.ndarray, index: int) -> None:
    """Ask the memory for a word that will be read soon."""


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), "llvm.prefetch.p0"
        )
        read, keep, data_cache = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(function, [builder.bitcast(builder.gep(data, [arguments[1]]), byte), read, keep, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@overload(popcount)
def _compiled_popcount(bits):  # type: ignore[no-untyped-def]  # Numba compares the two signatures to the letter
    return lambda bits: _ctpop(bits)


@overload(bit_length)
def _compiled_bit_length(bits):  # type: ignore[no-untyped-def]
    return lambda bits: 64 - _leading_zeros(bits)


@overload(prefetch)
def _compiled_prefetch(array, index):  # type: ignore[no-untyped-def]
    return lambda array, index: _prefetch(array, index)
