"""The replay window: positions of the latest games, sampled for training."""

from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from fourlab.agents.alphazero.self_play import Samples


class Window:
    """Samples in order of arrival; the oldest are dropped when the window is full."""

    def __init__(self, columns: int) -> None:
        no_boards = np.zeros(0, np.int64)
        no_values = np.zeros(0, np.float32)
        no_policies = np.zeros((0, columns), np.float32)
        self.samples = Samples(no_boards, no_boards, no_policies, no_values, no_values)
        self.added = 0
        """Positions added since the beginning, dropped ones included."""

    def __len__(self) -> int:
        return len(self.samples)

    def add(self, samples: Samples, size: int) -> None:
        """Append samples and drop all but the last `size`."""
        # Copies the window, once per generation.
        joined = Samples.joined([self.samples, samples])
        self.samples = Samples(*(getattr(joined, field.name)[-size:] for field in fields(Samples)))
        self.added += len(samples)

    def draw(self, count: int, rng: np.random.Generator) -> Samples:
        """Sample positions uniformly, with replacement."""
        # Selecting by indices copies, so callers may change the samples.
        places = rng.integers(len(self), size=count)
        return Samples(*(getattr(self.samples, field.name)[places] for field in fields(Samples)))

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Set the samples to what `arrays` returned; raises ValueError for anything else."""
        count = len(arrays["own"]) if "own" in arrays else 0
        kinds = {
            name: (array.dtype, (count, *array.shape[1:])) for name, array in self.arrays().items()
        }
        if {name: (array.dtype, array.shape) for name, array in arrays.items()} != kinds:
            raise ValueError("the window has other arrays, or they differ in length")
        self.samples = Samples(**arrays)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the samples by field name for a checkpoint, without `added`."""
        return {field.name: getattr(self.samples, field.name) for field in fields(Samples)}
