"""Evaluators by name: neural networks and patterns."""

from fourlab.evaluator import Evaluator
from fourlab.nets import evaluator

PATTERNS = "patterns"
"""The name of the patterns that come with Fourlab."""


def load(name: str) -> Evaluator:
    """Load the evaluator of a name: a shipped network, `patterns`, an ONNX file or an .npz file."""
    if name == PATTERNS or name.endswith(".npz"):
        # Here, since exported files contain what a module imports, and have no patterns.
        from fourlab.nets.pattern_evaluator import PatternEvaluator

        return PatternEvaluator(None if name == PATTERNS else name)
    return evaluator.load(name)
