"""Labelling positions with the solver, in parallel and resumably."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.compiled.random import seed_state
from fourlab.datasets.labels import UCI_PLIES, Labelled, quiet_positions
from fourlab.datasets.sample import sample
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules
from fourlab.jobs.executors import Executor
from fourlab.solver.build import canonical
from fourlab.solver.many import OnProgress, column_scores, result, solve_all

GAMES = 20_000
"""Number of games sampled at a time."""


def solve_uci8(
    journal: Path, executor: Executor, on_progress: OnProgress, earlier: Path | None = None
) -> Labelled | None:
    """Solve the positions of the UCI data set without a book; None if the executor was stopped."""
    keys = quiet_positions(CLASSIC, UCI_PLIES)
    about = _heading("result", CLASSIC, keys)
    results = solve_all(
        keys, CLASSIC, result, journal, about, executor, on_progress, earlier=earlier
    )
    return None if results is None else Labelled(CLASSIC, keys, results)


def solve_positions(
    rules: Rules,
    keys: np.ndarray,
    journal: Path,
    executor: Executor,
    on_progress: OnProgress,
    earlier: Path | None = None,
) -> Labelled | None:
    """Solve every column of the positions; None if the executor was stopped."""
    about = _heading("columns", rules, keys)
    columns = solve_all(
        keys, rules, column_scores, journal, about, executor, on_progress, "shipped", earlier
    )
    if columns is None:
        return None
    return Labelled(rules, keys, np.sign(columns.max(axis=1)), columns)


def random_positions(rules: Rules, number: int, plies: tuple[int, int], seed: int) -> np.ndarray:
    """Return the sorted canonical keys, int64[number], of distinct unfinished positions.

    They are from random games and spread evenly over the plies from the first to the last of
    `plies`. In half of the games both sides win at once if they can, else block; in the others they
    move at random. A game contributes at most one position.
    """
    first, last = plies
    cells = rules.columns * rules.rows
    if not 0 <= first <= last < cells:
        raise UserError(
            f"unfinished positions on {rules} have 0 to {cells - 1} discs, not {first} to {last}"
        )
    # The first plies get one position more if the number cannot be divided evenly.
    share, remainder = divmod(number, last - first + 1)
    keys = [
        _positions_of_ply(rules, ply, share + (ply - first < remainder), seed)
        for ply in range(first, last + 1)
    ]
    return np.sort(np.concatenate(keys))


def _positions_of_ply(rules: Rules, ply: int, number: int, seed: int) -> np.ndarray:
    """Return the first `number` distinct positions that random games reach at a ply."""
    g = rules.geometry
    # A stream per ply: the range of plies does not change the positions of any of them.
    state = seed_state(np.random.SeedSequence([seed, ply]))
    # A dictionary keeps the order of insertion, which a set does not.
    distinct: dict[int, None] = {}
    while len(distinct) < number:
        keys, state = sample(ply, GAMES, g, state)
        before = len(distinct)
        distinct.update(dict.fromkeys(canonical(keys, g).tolist()))
        if len(distinct) == before:
            raise UserError(
                f"only {before} different positions with {ply} discs were found on {rules}, "
                f"{number} are wanted"
            )
    return np.array(list(distinct)[:number], np.int64)


def _heading(question: str, rules: Rules, keys: np.ndarray) -> dict[str, Any]:
    """Return the first line of a journal, which identifies the work."""
    checksum = hashlib.sha256(keys.astype("<i8").tobytes()).hexdigest()
    return {"question": question, "board": str(rules), "positions": len(keys), "sha256": checksum}
