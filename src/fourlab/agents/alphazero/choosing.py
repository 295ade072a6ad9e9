"""How a network search chooses a column: by PUCT, or by Gumbel's schedule and plan."""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts.nodes import CLOSED, LEADS, LOSS, PENDING, PRIORS, SUMS, VISITS, place, proof_of, result_of
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.game.geometry import Geometry

PARTS = 4
"""Parts of a block that have a number for each column; the network's value follows them."""
SPREAD = 50.0
"""Gumbel search trusts values the more the oftener a column was visited, beginning with as much as after so many visits."""


class Switches(NamedTuple):
    """How to search."""

    gumbel: bool
    """Sequential halving by a schedule at the root and planned visits below, instead of PUCT."""
    c: float
    """PUCT: (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n)."""
    scale: float
    """Gumbel: the weight of values against priors."""
    fpu: float
    """PUCT: a column that was not played yet is worth so much less than its node."""
    noise: float
    """PUCT: the share of Dirichlet noise in the root's priors."""
    proving: bool
    """See wins and forced replies on the discs, and back up what is proven."""
    faithful: bool = False
    """Document 004: priors are shares of the columns that are open at the root; and without `proving` the network is asked about
    a finished game when it is first met, and believed, and games end one disc early."""


@inlined_kernel
def mean(words: np.ndarray, numbers: np.ndarray, block: int, column: int, columns: int) -> np.float32:
    """The mean result of a column that was played."""
    leads = words[block, place(LEADS, column, columns)]
    if leads < 0 and proof_of(leads) != PENDING:
        return np.float32(result_of(proof_of(leads)))
    return np.float32(numbers[block, place(SUMS, column, columns)] / np.float32(words[block, place(VISITS, column, columns)]))


@inlined_kernel
def is_out(words: np.ndarray, block: int, column: int, columns: int) -> bool:
    """Whether there is no sense in playing a column: it is full or proven to lose."""
    leads = words[block, place(LEADS, column, columns)]
    return bool(leads < 0 and LOSS <= proof_of(leads) <= CLOSED)


@kernel
def choose_by_puct(words: np.ndarray, numbers: np.ndarray, block: int, columns: int, s: Switches) -> int:
    """The column with the greatest (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n)."""
    total = 1
    for column in range(columns):
        total += words[block, place(VISITS, column, columns)]
    spread = np.float32(s.c * math.sqrt(total))
    unplayed = numbers[block, PARTS * columns] - np.float32(s.fpu)
    best, chosen = np.float32(-1e30), -1
    for column in range(columns):
        if is_out(words, block, column, columns):
            continue
        n = words[block, place(VISITS, column, columns)]
        q = mean(words, numbers, block, column, columns) if n > 0 else unplayed
        prior = numbers[block, place(PRIORS, column, columns)]
        bound = (q + np.float32(1)) * np.float32(0.5) + spread * prior / np.float32(1 + n)
        if bound > best:
            best, chosen = bound, column
    return chosen


@kernel
def complete(words: np.ndarray, numbers: np.ndarray, block: int, columns: int) -> tuple[np.float32, int, int]:
    """What a column that was not played is worth: between the network's value of the node and the mean of those that were.

    What is proven to lose does not count. Also returns how often the others were played, in all and at most.
    """
    total, most, weight, worth = 0, 0, np.float32(0), np.float32(0)
    for column in range(columns):
        n = words[block, place(VISITS, column, columns)]
        if n > 0 and not is_out(words, block, column, columns):
            total += n
            most = max(most, n)
            prior = numbers[block, place(PRIORS, column, columns)]
            weight += prior
            worth += prior * mean(words, numbers, block, column, columns)
    value = numbers[block, PARTS * columns]
    if weight > 0:
        value = (value + np.float32(total) * worth / weight) / np.float32(1 + total)
    return value, total, most


@kernel
def choose_as_planned(words: np.ndarray, numbers: np.ndarray, block: int, columns: int, s: Switches) -> int:
    """The column whose share of the visits lags most behind the improved policy, priors * exp(scale * value)."""
    unplayed, total, most = complete(words, numbers, block, columns)
    weight = np.float32(s.scale * (SPREAD + most) / 2)
    greatest = np.float32(-1e30)
    for column in range(columns):
        if not is_out(words, block, column, columns):
            n = words[block, place(VISITS, column, columns)]
            greatest = max(greatest, mean(words, numbers, block, column, columns) if n > 0 else unplayed)
    whole = np.float32(0)
    for column in range(columns):
        whole += improved(words, numbers, block, column, columns, unplayed, weight, greatest)
    best, chosen = np.float32(-1e30), -1
    for column in range(columns):
        if is_out(words, block, column, columns):
            continue
        share = improved(words, numbers, block, column, columns, unplayed, weight, greatest) / max(whole, np.float32(1e-30))
        lag = share - np.float32(words[block, place(VISITS, column, columns)]) / np.float32(1 + total)
        if lag > best:
            best, chosen = lag, column
    return chosen


@inlined_kernel
def improved(
    words: np.ndarray,
    numbers: np.ndarray,
    block: int,
    column: int,
    columns: int,
    unplayed: np.float32,
    weight: np.float32,
    greatest: np.float32,
) -> np.float32:
    """A column's weight in the improved policy, not yet divided by their sum."""
    if is_out(words, block, column, columns):
        return np.float32(0)
    q = mean(words, numbers, block, column, columns) if words[block, place(VISITS, column, columns)] > 0 else unplayed
    return np.float32(numbers[block, place(PRIORS, column, columns)] * np.float32(math.exp(weight * (q - greatest))))


@kernel
def choose_by_schedule(
    words: np.ndarray,
    numbers: np.ndarray,
    block: int,
    noise: np.ndarray,
    simulation: int,
    g: Geometry,
    s: Switches,
    left_at: np.ndarray,
) -> int:
    """The column that sequential halving plays next: of those that are left, the one played least, of equals the most promising.

    Left are those played most, of equals the most promising. So columns that are proven on the way, or a plan that changes, do
    no harm.
    """
    columns = g.columns
    unplayed, _, most = complete(words, numbers, block, columns)
    weight = np.float32(s.scale * (SPREAD + most) / 2)
    promise = np.empty(columns, np.float32)
    compared = 0
    for column in range(columns):
        if not is_out(words, block, column, columns):
            compared += 1
            q = unplayed
            if words[block, place(VISITS, column, columns)] > 0:
                q = mean(words, numbers, block, column, columns)
            prior = np.float32(math.log(max(numbers[block, place(PRIORS, column, columns)], np.float32(1e-30))))
            promise[column] = noise[column] + prior + weight * q
    left = left_at[compared, min(simulation - 1, left_at.shape[1] - 1)]
    fewest, best, chosen = 1 << 30, np.float32(-1e30), -1
    for column in range(columns):
        if is_out(words, block, column, columns):
            continue
        n, ahead = words[block, place(VISITS, column, columns)], 0
        for other in range(columns):
            if other != column and not is_out(words, block, other, columns):
                more = words[block, place(VISITS, other, columns)] - n
                better = promise[other] > promise[column] or (promise[other] == promise[column] and other < column)
                ahead += more > 0 or (more == 0 and better)
        if ahead < left and (n < fewest or (n == fewest and promise[column] > best)):
            fewest, best, chosen = n, promise[column], column
    return chosen
