"""Many independent searches of one position, and the distribution of their means."""

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
"""The number of bootstrap resamples."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A search of one position, repeated in sets of independent runs."""

    spec: str
    position: Position
    sets: int
    runs: int
    """Searches per set."""


@dataclass(frozen=True)
class Searched:
    """The results of a line, by set, run and legal column."""

    means: Floats
    """Mean results of the root's columns, -1 to +1; float64[sets, runs, columns].

    A search with at least as many simulations as legal columns has tried them all.
    """
    visits: Floats
    """Visits of the root's columns; float64[sets, runs, columns]."""

    @property
    def runs(self) -> Floats:
        """The means of all runs of all sets; float64[runs, columns]."""
        return self.means.reshape(-1, self.means.shape[2])

    def share_first(self, column: int) -> tuple[int, int]:
        """Return in how many runs a column has the best mean, and the number of runs.

        `column` is an index into the legal columns.
        """
        return int((best_places(self.runs) == column).sum()), len(self.runs)

    def sets_first(self, column: int) -> tuple[int, int]:
        """Return in how many sets a column has the best mean of means, and the number of sets."""
        return int((best_places(self.means.mean(axis=1)) == column).sum()), len(self.means)


def _search_set(lines: tuple[Line, ...], seed: int, number: int) -> list[Any]:
    """Search one set, whose line is `lines[number]`; return mean and visits by run and column."""
    line = lines[number]
    agent = make(line.spec)
    assert isinstance(agent, MCTS)
    # The seed depends on the number alone, so that results do not depend on who searches what.
    rng = np.random.default_rng([seed, number])
    search = replace(agent, runs=line.runs).search(line.position, Limit(), rng)
    return [
        # Six digits are far below the spread of a mean, and keep the files small.
        [[round(column.value or 0.0, 6), column.visits] for column in tree.columns()]
        for tree in search.trees
    ]


def search_all(bench: Workbench, name: str, lines: Mapping[str, Line]) -> dict[str, Searched]:
    """Run all lines as one piece of work, because worker processes are slow to start."""
    sets = tuple(line for line in lines.values() for _ in range(line.sets))
    results = bench.repeat(name, _search_set, len(sets), sets, bench.seed)
    searched = {}
    for key, line in lines.items():
        # float64[sets, runs, columns, 2]: mean and visits
        numbers = np.array(results[: line.sets], dtype=np.float64)
        results = results[line.sets :]
        searched[key] = Searched(numbers[..., 0], numbers[..., 1])
    return searched


def best_places(means: Floats) -> NDArray[np.intp]:
    """Return the index of the greatest value along the last axis."""
    return np.asarray(means.argmax(axis=-1))


def resampled_means(runs: Floats, number: int, seed: int) -> Floats:
    """Return bootstrap means of `number` runs; float64[RESAMPLES, columns]."""
    return np.array(resampled(runs, number, seed).mean(axis=1), dtype=np.float64)


def resampled(runs: Floats, number: int, seed: int) -> Floats:
    """Sample sets of `number` runs with replacement; float64[RESAMPLES, number, columns]."""
    rng = np.random.default_rng([seed, number])
    return runs[rng.integers(len(runs), size=(RESAMPLES, number))]


def central_interval(values: Floats, share: float = 0.95) -> tuple[float, float]:
    """Return the ends of the interval that holds the central `share` of the values."""
    # Percentiles of the bootstrap distribution (Efron 1979).
    low, high = np.quantile(values, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)
