"""A replay buffer of recent moves, to train on in random order."""

import numpy as np


class Replay:
    """A ring buffer of moves: the position from the mover's point of view, and the column.

    Rewards and next positions are not stored: they follow from the rules.
    """

    def __init__(self, capacity: int) -> None:
        self.own = np.zeros(capacity, np.int64)
        self.mask = np.zeros(capacity, np.int64)
        self.columns = np.zeros(capacity, np.int64)
        self.added = 0
        """Number of moves added so far; the next one goes to index `added % capacity`."""

    def __len__(self) -> int:
        return min(self.added, len(self.own))

    def add(self, own: np.ndarray, mask: np.ndarray, columns: np.ndarray) -> None:
        """Add moves, overwriting the oldest if the buffer is full."""
        # Modulo the capacity; at most `capacity` moves at once, or some would share a place.
        places = (self.added + np.arange(len(own))) % len(self.own)
        self.own[places] = own
        self.mask[places] = mask
        self.columns[places] = columns
        self.added += len(own)

    def sample(
        self, count: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sample `count` moves uniformly with replacement: `own`, `mask` and `columns`."""
        # Indexing with an array copies, so callers may change the result.
        places = rng.integers(len(self), size=count)
        return self.own[places], self.mask[places], self.columns[places]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays for a checkpoint; `added` is saved separately."""
        return {"own": self.own, "mask": self.mask, "columns": self.columns}
