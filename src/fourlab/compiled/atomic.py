"""Additions and exchanges that several threads may make at once on one array."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.imputils import impl_ret_untracked
from numba.extending import intrinsic, overload


def atomic_add(array: np.ndarray, index: int, amount: int) -> int:
    """Add to one number and return what it was before."""
    before = int(array[index])
    array[index] = before + amount
    return before


def atomic_replace(array: np.ndarray, index: int, expected: int, value: int) -> int:
    """Write the value if the number is what was expected; return what it was before."""
    before = int(array[index])
    if before == expected:
        array[index] = value
    return before


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic  # type: ignore[untyped-decorator]
def _add(typing_context: Any, array: Any, index: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        width = ir.IntType(signature.args[0].dtype.bitwidth)
        amount = builder.trunc(arguments[2], width) if width.width < 64 else arguments[2]
        before = builder.atomic_rmw("add", pointer, amount, "seq_cst")
        before = builder.sext(before, ir.IntType(64)) if width.width < 64 else before
        return impl_ret_untracked(context, builder, signature.return_type, before)

    return types.int64(array, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _replace(typing_context: Any, array: Any, index: Any, expected: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        width = ir.IntType(signature.args[0].dtype.bitwidth)
        words = arguments[2:] if width.width == 64 else [builder.trunc(word, width) for word in arguments[2:]]
        pair = builder.cmpxchg(pointer, *words, "seq_cst")
        before = builder.extract_value(pair, 0)
        before = builder.sext(before, ir.IntType(64)) if width.width < 64 else before
        return impl_ret_untracked(context, builder, signature.return_type, before)

    return types.int64(array, types.int64, types.int64, types.int64), generate


@overload(atomic_add)
def _compiled_add(array, index, amount):  # type: ignore[no-untyped-def]
    return lambda array, index, amount: _add(array, index, amount)


@overload(atomic_replace)
def _compiled_replace(array, index, expected, value):  # type: ignore[no-untyped-def]
    return lambda array, index, expected, value: _replace(array, index, expected, value)
