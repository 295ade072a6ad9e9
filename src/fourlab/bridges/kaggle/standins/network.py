"""Stands for nets/evaluator.py: the submission's one network, computed by NumPy."""

from functools import cache

from fourlab import shipped
from fourlab.nets.numpy_evaluator import NumpyEvaluator, parse


@cache
def load(name: str) -> NumpyEvaluator:
    """Read the network, whatever it is called."""
    form = shipped.read("fourlab.nets", "network.json")
    numbers = shipped.read("fourlab.nets", "network.safetensors")
    assert form is not None
    assert numbers is not None
    return NumpyEvaluator(*parse(form, numbers))
