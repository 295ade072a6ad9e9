"""Replaces nets/evaluator.py: the submission's only network, evaluated by NumPy."""

from functools import cache

from fourlab import shipped
from fourlab.nets.numpy_evaluator import NumpyEvaluator, parse


@cache
def load(name: str) -> NumpyEvaluator:
    """Load the network; the name does not matter, since there is only one."""
    form = shipped.read("fourlab.nets", "network.json")
    numbers = shipped.read("fourlab.nets", "network.safetensors")
    assert form is not None
    assert numbers is not None
    return NumpyEvaluator(*parse(form, numbers))
