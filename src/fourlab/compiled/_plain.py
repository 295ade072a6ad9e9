"""Replaces _jit.py where nothing is compiled: kernels run as plain Python.

The package takes it where Numba is missing (`__init__.py`), submissions to Kaggle where they play
before they are compiled.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
IS_COMPILED = False


def kernel(function: Function, inlined: bool = False) -> Function:
    """Leave a function as it is."""
    return function


def inlined_kernel(function: Function) -> Function:
    """Leave a function as it is."""
    return function
