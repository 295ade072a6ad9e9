"""The replay window: the positions of the latest games, to learn from in any order."""

from dataclasses import fields

import numpy as np

from fourlab.agents.alphazero.self_play import Samples


class Window:
    """Positions in the order in which they came; the oldest are forgotten as the window's size demands."""

    def __init__(self, columns: int) -> None:
        none, nothing = np.zeros(0, np.int64), np.zeros(0, np.float32)
        self.samples = Samples(none, none, np.zeros((0, columns), np.float32), nothing, nothing)
        self.added = 0
        """How many positions there ever were."""

    def __len__(self) -> int:
        return len(self.samples)

    def add(self, samples: Samples, size: int) -> None:
        """Remember positions and forget all but the last `size`."""
        joined = Samples.joined([self.samples, samples])
        self.samples = Samples(*(getattr(joined, field.name)[-size:] for field in fields(Samples)))
        self.added += len(samples)

    def draw(self, count: int, rng: np.random.Generator) -> Samples:
        """Draw positions, each with the same chance."""
        places = rng.integers(len(self), size=count)
        return Samples(*(getattr(self.samples, field.name)[places] for field in fields(Samples)))

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it, for a checkpoint; `added` apart."""
        return {field.name: getattr(self.samples, field.name) for field in fields(Samples)}
