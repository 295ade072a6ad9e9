"""The same functions, compiled by Numba where it is installed.

Compiling takes seconds, so it is done in a thread from the moment the file is loaded, mostly while the other side thinks. Until
it is done, on boards of more than 62 bits, and without Numba the functions run as they are: the same answers, later.
"""

from collections.abc import Callable
from threading import Thread, Timer
from types import FunctionType
from typing import Any

from fourlab.bridges.kaggle.templates.board import Shape

try:
    import numba
    import numpy as np
except Exception:  # a broken installation can raise anything
    numba = None

COMPILED: dict[str, Any] = {}
"""Functions by name, once they are compiled."""


def count_bits(cells: int) -> int:
    """How many bits are set, in sums of two, four and eight bits; stands for `count` in compiled code."""
    cells = cells - ((cells >> 1) & 0x5555555555555555)
    cells = (cells & 0x3333333333333333) + ((cells >> 2) & 0x3333333333333333)
    cells = (cells + (cells >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (cells * 0x0101010101010101 >> 56) & 127


def compile_in_background(functions: list[Any], try_out: Callable[[Any], Any]) -> None:
    """Compile functions, those that are called by others first; `try_out` calls the last one in a small way."""
    if numba is not None:
        Thread(target=compile_now, args=(functions, try_out)).start()


def compile_now(functions: list[Any], try_out: Callable[[Any], Any]) -> None:
    """Compile copies of the functions that know each other instead of the originals."""
    names, jit = dict(functions[-1].__globals__), numba.njit(nogil=True, error_model="numpy")
    try:
        for function in functions:
            body = count_bits if function.__name__ == "count" else function
            names[function.__name__] = jit(FunctionType(body.__code__, names, function.__name__))
        try_out(names[functions[-1].__name__])
    except Exception:  # whatever goes wrong with Numba, the originals are there
        return
    COMPILED.update({function.__name__: names[function.__name__] for function in functions})


def quickest(function: Any, shape: Shape) -> tuple[Any, bool]:
    """The function, compiled if it is and if machine integers can hold the board; and whether it is compiled."""
    fits = shape.columns * shape.height <= 62 and (shape.in_a_row - 1) * (shape.height + 1) <= 62
    if fits and function.__name__ in COMPILED:
        return COMPILED[function.__name__], True
    return function, False


def zeros(length: int, compiled: bool) -> Any:
    """Whole numbers to write into: an array for compiled functions, a list for the others."""
    return np.zeros(length, np.int64) if compiled else [0] * length


def alarm(seconds: float, stop: Any) -> Timer:
    """Sets stop[0] when the time is up; to be cancelled by whoever is done before."""
    timer = Timer(seconds, stop.__setitem__, (0, 1))
    timer.daemon = True
    timer.start()
    return timer
