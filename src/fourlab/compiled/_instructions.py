"""The functions of `bits.py` and `atomic.py` as LLVM instructions, for use in kernels."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_untracked
from numba.extending import intrinsic, overload

from fourlab.compiled.atomic import atomic_add, atomic_replace
from fourlab.compiled.bits import bit_length, popcount, prefetch


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return a pointer to an element of an array."""
    data = context.make_array(array_type)(context, builder, array).data
    # No bounds check: callers index with numbers that they have computed themselves.
    return builder.gep(data, [index])


@intrinsic  # type: ignore[untyped-decorator]
def _ctpop(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _leading_zeros(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # The flag 0 says that the result for 0 is defined: 64. So bit_length(0) is 0.
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        byte_pointer = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        address = builder.bitcast(pointer, byte_pointer)
        # For reading, with the highest temporal locality, into the data cache.
        read, keep, data_cache = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(function, [address, read, keep, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _add(typing_context: Any, array: Any, index: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        width = ir.IntType(signature.args[0].dtype.bitwidth)
        # Kernels compute with 64 bits; llvmlite ignores casts between equal types.
        amount = builder.trunc(arguments[2], width)
        before = builder.atomic_rmw("add", pointer, amount, "seq_cst")
        before = builder.sext(before, ir.IntType(64))
        return impl_ret_untracked(context, builder, signature.return_type, before)

    return types.int64(array, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _replace(typing_context: Any, array: Any, index: Any, expected: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        width = ir.IntType(signature.args[0].dtype.bitwidth)
        expected, value = (builder.trunc(number, width) for number in arguments[2:])
        pair = builder.cmpxchg(pointer, expected, value, "seq_cst")  # (before, success)
        before = builder.sext(builder.extract_value(pair, 0), ir.IntType(64))
        return impl_ret_untracked(context, builder, signature.return_type, before)

    return types.int64(array, types.int64, types.int64, types.int64), generate


# Numba requires the same signatures as those of the Python functions, without annotations.


# `overload` replaces a Python function by a compiled one wherever a kernel calls it.
@overload(popcount)
def _compiled_popcount(bits):  # type: ignore[no-untyped-def]
    return lambda bits: _ctpop(bits)


@overload(bit_length)
def _compiled_bit_length(bits):  # type: ignore[no-untyped-def]
    return lambda bits: 64 - _leading_zeros(bits)


@overload(prefetch)
def _compiled_prefetch(array, index):  # type: ignore[no-untyped-def]
    return lambda array, index: _prefetch(array, index)


@overload(atomic_add)
def _compiled_add(array, index, amount):  # type: ignore[no-untyped-def]
    return lambda array, index, amount: _add(array, index, amount)


@overload(atomic_replace)
def _compiled_replace(array, index, expected, value):  # type: ignore[no-untyped-def]
    return lambda array, index, expected, value: _replace(array, index, expected, value)
