"""Many independent searches of one position, made anywhere, and what their means say."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourlab.agent import Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.studies.workbench import Workbench

RESAMPLES = 4000
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """One way to search one position, tried so often."""

    spec: str
    position: Position
    sets: int
    runs: int
    """How many searches a set has."""


@dataclass(frozen=True)
class Searched:
    """What a line found, by set, run and open column."""

    means: Floats
    """-1 to +1; float64[sets, runs, columns]. A search of as many simulations as columns has tried them all."""
    visits: Floats
    """float64[sets, runs, columns]."""

    @property
    def runs(self) -> Floats:
        """The means of all runs, whatever their set; float64[runs, columns]."""
        return self.means.reshape(-1, self.means.shape[2])

    def share_first(self, column: int) -> tuple[int, int]:
        """In how many runs the column, by its place among the open ones, is the best one; of how many."""
        return int((best_places(self.runs) == column).sum()), len(self.runs)

    def sets_first(self, column: int) -> tuple[int, int]:
        """The same of the means of sets."""
        return int((best_places(self.means.mean(axis=1)) == column).sum()), len(self.means)


@dataclass(frozen=True)
class _Sets:
    """The work: sets of searches by their numbers."""

    lines: tuple[Line, ...]
    """The line of every number."""
    seed: int

    def __call__(self, number: int) -> list[Any]:
        line = self.lines[number]
        agent = make(line.spec)
        assert isinstance(agent, MCTS)
        found = replace(agent, runs=line.runs).search(line.position, Limit(), np.random.default_rng([self.seed, number]))
        return [[[round(each.value or 0.0, 6), each.visits] for each in tree.columns()] for tree in found.trees]


def search_all(bench: Workbench, name: str, lines: Mapping[str, Line]) -> dict[str, Searched]:
    """Search by all lines; together, since processes take their time to start."""
    sets = tuple(line for line in lines.values() for _ in range(line.sets))
    results, found = bench.repeat(name, _Sets(sets, bench.seed), len(sets)), {}
    for key, line in lines.items():
        numbers = np.array(results[: line.sets], dtype=np.float64)  # [sets, runs, columns, mean and visits]
        results = results[line.sets :]
        found[key] = Searched(numbers[..., 0], numbers[..., 1])
    return found


def best_places(means: Floats) -> NDArray[np.intp]:
    """Which column, by its place, has the greatest mean in each row."""
    return np.asarray(means.argmax(axis=-1))


def means_of_so_many(runs: Floats, number: int, seed: int) -> Floats:
    """What means of so many runs look like: drawn from those there are; float64[RESAMPLES, columns]."""
    return np.array(drawn(runs, number, seed).mean(axis=1), dtype=np.float64)


def drawn(runs: Floats, number: int, seed: int) -> Floats:
    """Sets of so many runs, drawn with replacement; float64[RESAMPLES, number, columns]."""
    rng = np.random.default_rng([seed, number])
    return runs[rng.integers(len(runs), size=(RESAMPLES, number))]


def middle(values: Floats, share: float = 0.95) -> tuple[float, float]:
    """Between which ends the middle part of some values lies."""
    low, high = np.quantile(values, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)


def within(value: float, values: Floats, share: float = 0.99) -> bool:
    """Whether a document's number may well be one of ours: it lies in their middle part."""
    low, high = middle(values, share)
    return low <= value <= high


def band(values: Floats, digits: int = 3) -> str:
    """The middle 95 % of some values, for people."""
    low, high = middle(values)
    return f"{values.mean():.{digits}f}, 95 % of them in [{low:.{digits}f}, {high:.{digits}f}]"
