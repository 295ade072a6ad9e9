"""The solver as a teacher: it labels positions, in parallel and resumable."""

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
from fourlab.solver.many import Told, column_scores, result, solve_all

GAMES = 20_000
"""So many games are played between two looks at what they brought."""


def solve_uci8(journal: Path, executor: Executor, told: Told, earlier: Path | None = None) -> Labelled | None:
    """Solve the positions of the UCI data set without a book; None if the executor was stopped."""
    keys = quiet_positions(CLASSIC, UCI_PLIES)
    about = _heading("result", CLASSIC, keys)
    results = solve_all(keys, CLASSIC, result, journal, about, executor, told, earlier=earlier)
    return None if results is None else Labelled(CLASSIC, keys, results)


def solve_positions(
    rules: Rules,
    keys: np.ndarray,
    journal: Path,
    executor: Executor,
    told: Told,
    earlier: Path | None = None,
) -> Labelled | None:
    """Solve each column of some positions; None if the executor was stopped."""
    about = _heading("columns", rules, keys)
    columns = solve_all(keys, rules, column_scores, journal, about, executor, told, "shipped", earlier)
    if columns is None:
        return None
    return Labelled(rules, keys, np.sign(columns.max(axis=1)), columns)


def random_positions(rules: Rules, number: int, plies: tuple[int, int], seed: int) -> np.ndarray:
    """The sorted canonical keys of different positions from random games that go on, as many of each ply of the range.

    Half of the games are played at random; in the others, both sides win at once if they can, else block. A game gives one
    position at most.
    """
    first, last = plies
    if not 0 <= first <= last < rules.columns * rules.rows:
        raise UserError(f"positions with {first} to {last} discs in which the game goes on are not to be had on {rules}")
    share, rest = divmod(number, last - first + 1)
    found = [_of_ply(rules, ply, share + (ply - first < rest), seed) for ply in range(first, last + 1)]
    return np.sort(np.concatenate(found))


def _of_ply(rules: Rules, ply: int, number: int, seed: int) -> np.ndarray:
    """So many positions of one ply, the first that games of their own come to."""
    g, state = rules.geometry, seed_state(np.random.SeedSequence([seed, ply]))
    found: dict[int, None] = {}  # keeps the order of their discovery
    while len(found) < number:
        keys, state = sample(ply, GAMES, g, state)
        before = len(found)
        found.update(dict.fromkeys(canonical(keys, g).tolist()))
        if len(found) == before:
            raise UserError(f"only {before} different positions with {ply} discs were found on {rules}, {number} are wanted")
    return np.array(list(found)[:number], np.int64)


def _heading(question: str, rules: Rules, keys: np.ndarray) -> dict[str, Any]:
    """Names a piece of work for its journal."""
    checksum = hashlib.sha256(keys.astype("<i8").tobytes()).hexdigest()
    return {"question": question, "board": str(rules), "positions": len(keys), "sha256": checksum}
