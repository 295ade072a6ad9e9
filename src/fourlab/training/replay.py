"""A memory of the last moves played, to learn from in any order."""

import numpy as np


class Replay:
    """A ring of moves: the position as the mover saw it, and the column.

    Nothing else is kept, for the rules tell what came of a move.
    """

    def __init__(self, capacity: int) -> None:
        self.own = np.zeros(capacity, np.int64)
        self.mask = np.zeros(capacity, np.int64)
        self.columns = np.zeros(capacity, np.int64)
        self.added = 0
        """How many moves there ever were; the next takes the place `added % capacity`."""

    def __len__(self) -> int:
        return min(self.added, len(self.own))

    def add(self, own: np.ndarray, mask: np.ndarray, columns: np.ndarray) -> None:
        """Remember moves, forgetting the oldest if there is no room."""
        places = (self.added + np.arange(len(own))) % len(self.own)
        self.own[places], self.mask[places], self.columns[places] = own, mask, columns
        self.added += len(own)

    def sample(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw moves, each with the same chance, perhaps some twice: `own`, `mask`, `columns`."""
        places = rng.integers(len(self), size=count)
        return self.own[places], self.mask[places], self.columns[places]

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it, for a checkpoint; `added` apart."""
        return {"own": self.own, "mask": self.mask, "columns": self.columns}
