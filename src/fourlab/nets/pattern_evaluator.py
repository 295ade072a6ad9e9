"""Pattern networks as evaluators, for searches that were made for neural networks."""

from functools import cache

import numpy as np

from fourlab.compiled.patterns import Patterns, evaluate_positions, warm_up
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.rules import Rules
from fourlab.nets.patterns import load, load_for

TEMPERATURE = 0.2
"""The policy is a softmax of values divided by this (docs/measurements.md)."""

_load_kernels = cache(warm_up)
"""Compile or load the kernel before the clock of a move starts."""


class PatternEvaluator:
    """An evaluator whose values are those of pattern networks, one for each board.

    The logits of the policy are the values of the positions after each column, divided by a
    temperature. A column that wins at once is worth 1, one after which the opponent wins at once
    is worth -1, and so is a full one.
    """

    def __init__(self, file: str | None = None, temperature: float = TEMPERATURE) -> None:
        """Take a file of patterns; None for those that come with Fourlab."""
        if file is not None:
            load(file)  # refused now, not at the first position
        self._file = file
        self._temperature = temperature
        self._patterns: dict[Rules, Patterns] = {}
        _load_kernels()

    def evaluate(self, batch: Batch) -> Evaluation:
        """Evaluate positions that are not over; raise UserError for a board without patterns."""
        if batch.rules not in self._patterns:
            self._patterns[batch.rules] = load_for(batch.rules, self._file).patterns
        patterns = self._patterns[batch.rules]
        values = np.empty(len(batch), np.float32)
        after = np.empty((len(batch), batch.rules.columns), np.float32)
        g = batch.rules.geometry
        evaluate_positions(batch.own, batch.mask, patterns, g, values, after)
        after /= np.float32(self._temperature)
        return Evaluation(values, after)
