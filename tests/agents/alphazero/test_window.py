"""The replay window."""

import numpy as np

from fourlab.agents.alphazero.self_play import Samples
from fourlab.agents.alphazero.window import Window


def samples(first: int, count: int) -> Samples:
    numbers = np.arange(first, first + count)
    values = numbers.astype(np.float32)
    return Samples(numbers, numbers, np.zeros((count, 7), np.float32), values, values)


def test_the_oldest_samples_are_dropped() -> None:
    window = Window(7)
    window.add(samples(0, 5), 100)
    window.add(samples(5, 5), 6)
    assert window.samples.own.tolist() == [4, 5, 6, 7, 8, 9]
    assert (len(window), window.added) == (6, 10)
    window.add(samples(10, 3), 8)
    assert window.samples.own.tolist() == list(range(5, 13))


def test_whole_rows_are_sampled_uniformly() -> None:
    window = Window(7)
    window.add(samples(0, 10), 10)
    drawn = window.draw(5000, np.random.default_rng(0))
    assert (drawn.own == drawn.mask).all()
    assert (drawn.own == drawn.values).all()
    counts = np.bincount(drawn.own, minlength=10)
    assert counts.min() > 400
    assert counts.max() < 600
