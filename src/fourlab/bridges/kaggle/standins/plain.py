"""Replaces compiled/_jit.py: kernels run as plain Python."""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function, inlined: bool = False) -> Function:
    """Leave a function as it is."""
    return function


def inlined_kernel(function: Function) -> Function:
    """Leave a function as it is."""
    return function
