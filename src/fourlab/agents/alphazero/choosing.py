"""Column selection in a network search: PUCT, or the two rules of Gumbel AlphaZero.

Gumbel AlphaZero (Danihelka et al., 2022) uses sequential halving at the root and, at every other
node, the column whose visits lag furthest behind the improved policy.
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts.nodes import (
    CLOSED,
    LEADS,
    LOSS,
    PENDING,
    PRIORS,
    SUMS,
    VISITS,
    place,
    proof_of,
    result_of,
)
from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.game.geometry import Geometry

PARTS = 4
"""Parts of a block with one number per column; the network's value follows them."""
VISIT_OFFSET = 50.0
"""Added to the largest visit count in the weight of values against priors.

That weight grows with visits; the offset keeps it from vanishing at a new node. mctx calls the
offset `maxvisit_init` and uses the same value.
"""


class Switches(NamedTuple):
    """The options of a search."""

    gumbel: bool
    """Use Gumbel AlphaZero's two rules instead of PUCT."""
    c: float
    """PUCT: exploration constant in (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n)."""
    scale: float
    """Gumbel: weight of values against priors."""
    fpu: float
    """PUCT: how far below its parent's value an unvisited column is assumed to be."""
    noise: float
    """PUCT: share of Dirichlet noise in the root's priors, 0 to 1."""
    proving: bool
    """Detect immediate wins and forced replies on the board, and back up proofs."""
    faithful: bool = False
    """Reproduce Arya's search with its faults.

    Priors are normalised over the columns that are open at the root, not at the node. Without
    `proving`, the first visit to a finished game backs up the network's value instead of the
    result, and games end one disc before the board is full.
    """


@inlined_kernel
def mean(
    words: np.ndarray, numbers: np.ndarray, block: int, column: int, columns: int
) -> np.float32:
    """Return a visited column's proven result or mean result, -1 to +1 for the side to move."""
    leads = words[block, place(LEADS, column, columns)]
    if leads < 0 and proof_of(leads) != PENDING:
        return np.float32(result_of(proof_of(leads)))
    return np.float32(
        numbers[block, place(SUMS, column, columns)]
        / np.float32(words[block, place(VISITS, column, columns)])
    )


@inlined_kernel
def is_excluded(words: np.ndarray, block: int, column: int, columns: int) -> bool:
    """Return whether a column is full or proven to lose."""
    leads = words[block, place(LEADS, column, columns)]
    return bool(leads < 0 and LOSS <= proof_of(leads) <= CLOSED)


@kernel
def choose_by_puct(
    words: np.ndarray, numbers: np.ndarray, block: int, columns: int, s: Switches
) -> int:
    """Return the column with the greatest (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n)."""
    # N counts the node's own evaluation too, so that priors matter on the first visit.
    total = 1
    for column in range(columns):
        total += words[block, place(VISITS, column, columns)]
    spread = np.float32(s.c * math.sqrt(total))
    unvisited = numbers[block, PARTS * columns] - np.float32(s.fpu)
    best = np.float32(-1e30)
    chosen = -1
    for column in range(columns):
        if is_excluded(words, block, column, columns):
            continue
        n = words[block, place(VISITS, column, columns)]
        q = mean(words, numbers, block, column, columns) if n > 0 else unvisited
        prior = numbers[block, place(PRIORS, column, columns)]
        score = (q + np.float32(1)) * np.float32(0.5) + spread * prior / np.float32(1 + n)
        if score > best:
            best = score
            chosen = column
    return chosen


@kernel
def mixed_value(
    words: np.ndarray, numbers: np.ndarray, block: int, columns: int
) -> tuple[np.float32, int, int]:
    """Return the value assumed for unvisited columns, the visits in all and the most visits.

    The value mixes the network's value of the node with the prior-weighted mean of the visited
    columns (v_mix in Danihelka et al., 2022). Columns proven to lose do not count.
    """
    total = 0
    most = 0
    weight = np.float32(0)
    weighted_sum = np.float32(0)
    for column in range(columns):
        n = words[block, place(VISITS, column, columns)]
        if n > 0 and not is_excluded(words, block, column, columns):
            total += n
            most = max(most, n)
            prior = numbers[block, place(PRIORS, column, columns)]
            weight += prior
            weighted_sum += prior * mean(words, numbers, block, column, columns)
    value = numbers[block, PARTS * columns]
    if weight > 0:
        value = (value + np.float32(total) * weighted_sum / weight) / np.float32(1 + total)
    return value, total, most


@kernel
def choose_by_improved_policy(
    words: np.ndarray, numbers: np.ndarray, block: int, columns: int, s: Switches
) -> int:
    """Return the column whose share of visits lags furthest behind the improved policy.

    The improved policy is prior * exp(weight * Q), normalised.
    """
    unvisited, total, most = mixed_value(words, numbers, block, columns)
    # Dividing by 2 rescales values from the range -1 to +1 to a span of 1.
    weight = np.float32(s.scale * (VISIT_OFFSET + most) / 2)
    # Subtracting the greatest value keeps exp() from overflowing.
    greatest = np.float32(-1e30)
    for column in range(columns):
        if not is_excluded(words, block, column, columns):
            n = words[block, place(VISITS, column, columns)]
            greatest = max(
                greatest, mean(words, numbers, block, column, columns) if n > 0 else unvisited
            )
    whole = np.float32(0)
    for column in range(columns):
        whole += improved_weight(
            words, numbers, block, column, columns, unvisited, weight, greatest
        )
    best = np.float32(-1e30)
    chosen = -1
    for column in range(columns):
        if is_excluded(words, block, column, columns):
            continue
        share = improved_weight(
            words, numbers, block, column, columns, unvisited, weight, greatest
        ) / max(whole, np.float32(1e-30))
        n = words[block, place(VISITS, column, columns)]
        lag = share - np.float32(n) / np.float32(1 + total)
        if lag > best:
            best = lag
            chosen = column
    return chosen


@inlined_kernel
def improved_weight(
    words: np.ndarray,
    numbers: np.ndarray,
    block: int,
    column: int,
    columns: int,
    unvisited: np.float32,
    weight: np.float32,
    greatest: np.float32,
) -> np.float32:
    """Return a column's share of the improved policy before normalisation."""
    if is_excluded(words, block, column, columns):
        return np.float32(0)
    q = (
        mean(words, numbers, block, column, columns)
        if words[block, place(VISITS, column, columns)] > 0
        else unvisited
    )
    return np.float32(
        numbers[block, place(PRIORS, column, columns)]
        * np.float32(math.exp(weight * (q - greatest)))
    )


def schedule(columns: int, simulations: int) -> np.ndarray:
    """Return sequential halving as int32[columns + 1, simulations].

    Entry [m, i] says how many of m candidate columns are left at simulation i. In every round the
    columns that are left get equally many visits, and the better half stays, two at least.
    """
    left_at = np.ones((columns + 1, simulations), np.int32)
    for candidates in range(2, columns + 1):
        rounds = math.ceil(math.log2(candidates))
        left = candidates
        start = 0
        while start < simulations:
            visits = left * max(1, simulations // (rounds * left))
            left_at[candidates, start : start + visits] = left
            start += visits
            left = max(2, left // 2)
    return left_at


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
    """Return the column that sequential halving visits next.

    The columns left are the most visited ones, ties broken by score: Gumbel noise plus log prior
    plus weighted value. Of these, the least visited is next, ties again broken by score. The set
    is computed afresh at every simulation, so columns proven on the way and schedules that change
    do no harm.
    """
    columns = g.columns
    unvisited, _, most = mixed_value(words, numbers, block, columns)
    weight = np.float32(s.scale * (VISIT_OFFSET + most) / 2)
    scores = np.empty(columns, np.float32)
    candidates = 0
    for column in range(columns):
        if not is_excluded(words, block, column, columns):
            candidates += 1
            q = unvisited
            if words[block, place(VISITS, column, columns)] > 0:
                q = mean(words, numbers, block, column, columns)
            log_prior = np.float32(
                math.log(max(numbers[block, place(PRIORS, column, columns)], np.float32(1e-30)))
            )
            scores[column] = noise[column] + log_prior + weight * q
    left = left_at[candidates, min(simulation - 1, left_at.shape[1] - 1)]
    fewest = 1 << 30
    best = np.float32(-1e30)
    chosen = -1
    for column in range(columns):
        if is_excluded(words, block, column, columns):
            continue
        n = words[block, place(VISITS, column, columns)]
        # A column is left if fewer than `left` others rank before it.
        ahead = 0
        for other in range(columns):
            if other != column and not is_excluded(words, block, other, columns):
                more = words[block, place(VISITS, other, columns)] - n
                better = scores[other] > scores[column] or (
                    scores[other] == scores[column] and other < column
                )
                ahead += more > 0 or (more == 0 and better)
        if ahead < left and (n < fewest or (n == fewest and scores[column] > best)):
            fewest = n
            best = scores[column]
            chosen = column
    return chosen
