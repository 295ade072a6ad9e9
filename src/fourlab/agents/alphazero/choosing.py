"""Column selection in a network search: PUCT, or the two rules of Gumbel AlphaZero.

Gumbel AlphaZero (Danihelka et al., 2022) uses sequential halving at the root and, at every other
node, the column whose visits lag furthest behind the improved policy.
"""

import math
from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts.nodes import (
    CLOSED,
    LOSS,
    PENDING,
    Nodes,
    edge_of,
    leads_of,
    prior_of,
    proof_of,
    result_of,
    sum_of,
    value_of,
    visits_of,
)
from fourlab.compiled._jit import inlined_kernel

VISIT_OFFSET = 50.0
"""Added to the largest visit count in the weight of values against priors.

That weight grows with visits; the offset keeps it from vanishing at a new node. mctx calls the
offset `maxvisit_init` and uses the same value.
"""


# The parts of Arya's search that `Switches.fixed` replaces, one at a time.
FIX_PRIORS, FIX_FINISHED, FIX_UNVISITED = 1, 2, 3
FIXES = {"nothing": 0, "priors": FIX_PRIORS, "finished": FIX_FINISHED, "unvisited": FIX_UNVISITED}
"""The codes by their names in specs."""


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

    An unvisited column counts as even, whatever its position is worth. Priors are those of the
    columns that are open at the root: once a column below fills up, they belong to the wrong
    columns and do not sum to 1. Noise falls on full columns too. Mirror images are evaluated
    separately. Without `proving`, the first visit to a finished game backs up the network's value
    instead of the result, and the game's node keeps both. Gumbel's rules have no such form.
    """
    fixed: int = 0
    """One of FIXES: what is correct although the search is `faithful`.

    FIX_PRIORS: below the root they are a softmax over the columns that are open there.
    FIX_FINISHED: the result of a finished game is backed up from the first visit on, and nothing
    else. FIX_UNVISITED: an unvisited column is assumed to be worth what its position is worth, less
    `fpu`.
    """
    solver_nodes: int = 0
    """Maximum number of solver nodes per leaf; leaves that take more are evaluated."""


@inlined_kernel
def mean(nodes: Nodes, edge: int, unvisited: np.float32) -> np.float32:
    """Return a column's mean or proven result, -1 to +1 for the side that plays it.

    Without visits this is `unvisited`, even if the column is proven.
    """
    visits = visits_of(nodes, edge)
    if visits == 0:
        return unvisited
    leads = leads_of(nodes, edge)
    if leads < 0 and proof_of(leads) != PENDING:
        return np.float32(result_of(proof_of(leads)))
    # Virtual losses of queued simulations count in both numbers.
    return np.float32(sum_of(nodes, edge) / np.float32(visits))


@inlined_kernel
def is_excluded(nodes: Nodes, edge: int) -> bool:
    """Return whether a column is full or proven to lose."""
    return bool(LOSS <= proof_of(leads_of(nodes, edge)) <= CLOSED)


# The rules are inlined: as calls with all their arguments they cost 6 to 9 % of the work in a tree.
# The first two begin with a column that may be played and replace it by a better one. A comparison
# with NaN is false, so starting from -1 could leave no column, and -1 as an index reads foreign
# memory.


@inlined_kernel
def choose_by_puct(nodes: Nodes, block: int, s: Switches) -> int:
    """Return the column with the greatest (Q + 1) / 2 + c * prior * sqrt(N) / (1 + n).

    This is the rule of AlphaZero (Silver et al., 2018) with a constant c, values scaled to 0 to 1.
    """
    first = edge_of(nodes, block, 0)
    # N counts the node's own evaluation too, so that priors matter on the first visit.
    total = 1
    for column in range(nodes.columns):
        total += visits_of(nodes, first + column)
    spread = np.float32(s.c * math.sqrt(total))
    # A constant reduction; KataGo's (Wu, 2019) grows with the prior that has been visited.
    unvisited = value_of(nodes, block) - np.float32(s.fpu)
    best = np.float32(-1e30)
    chosen = -1
    for column in range(nodes.columns):
        edge = first + column
        if is_excluded(nodes, edge):
            continue
        q = (mean(nodes, edge, unvisited) + np.float32(1)) * np.float32(0.5)
        score = q + spread * prior_of(nodes, edge) / np.float32(1 + visits_of(nodes, edge))
        if chosen < 0 or score > best:
            best = score
            chosen = column
    return max(chosen, 0)


@inlined_kernel
def listed_mean(nodes: Nodes, edge: int, unvisited: float, s: Switches) -> float:
    """Return a column's mean in Arya's search, for the side that plays it.

    A finished game adds its result once to what was backed up, so the mean may be beyond 1.
    """
    visits = visits_of(nodes, edge)
    if visits == 0:
        return unvisited
    total = float(sum_of(nodes, edge))
    leads = leads_of(nodes, edge)
    if leads < 0 and proof_of(leads) != PENDING:
        if s.proving:
            return float(result_of(proof_of(leads)))
        if s.fixed != FIX_FINISHED:
            total += float(result_of(proof_of(leads)))
    return total / visits


@inlined_kernel
def choose_as_listed(nodes: Nodes, block: int, s: Switches) -> int:
    """Return the column that Arya's PUCT chooses, the first of equals, in float64."""
    first = edge_of(nodes, block, 0)
    total = 1
    for column in range(nodes.columns):
        total += visits_of(nodes, first + column)
    root = math.sqrt(total)
    unvisited = 0.0
    if s.fixed == FIX_UNVISITED:
        unvisited = float(value_of(nodes, block)) - s.fpu
    best = -1e30
    chosen = -1
    for column in range(nodes.columns):
        edge = first + column
        if is_excluded(nodes, edge):
            continue
        # In the listing's order of operations, where a child's value is for the other side.
        exploitation = 1 - (1 - listed_mean(nodes, edge, unvisited, s)) / 2
        exploration = float(prior_of(nodes, edge)) * root / (visits_of(nodes, edge) + 1)
        score = exploitation + s.c * exploration
        if chosen < 0 or score > best:
            best = score
            chosen = column
    return max(chosen, 0)


@inlined_kernel
def mixed_value(nodes: Nodes, block: int) -> tuple[np.float32, int, int]:
    """Return the value assumed for unvisited columns, the visits in all and the most visits.

    The value mixes the network's value of the node with the prior-weighted mean of the visited
    columns (v_mix in Danihelka et al., 2022). Columns proven to lose do not count.
    """
    # Columns proven to lose are left out: the side to move will not play them.
    total = 0
    most = 0
    weight = np.float32(0)
    weighted_sum = np.float32(0)
    for column in range(nodes.columns):
        edge = edge_of(nodes, block, column)
        n = visits_of(nodes, edge)
        if n > 0 and not is_excluded(nodes, edge):
            total += n
            most = max(most, n)
            prior = prior_of(nodes, edge)
            weight += prior
            weighted_sum += prior * mean(nodes, edge, np.float32(0))
    value = value_of(nodes, block)
    if weight > 0:
        value = (value + np.float32(total) * weighted_sum / weight) / np.float32(1 + total)
    return value, total, most


@inlined_kernel
def choose_by_improved_policy(nodes: Nodes, block: int, s: Switches) -> int:
    """Return the column whose share of visits lags furthest behind the improved policy.

    The improved policy is prior * exp(weight * Q), normalised.
    """
    first = edge_of(nodes, block, 0)
    unvisited, total, most = mixed_value(nodes, block)
    # Dividing by 2 rescales values from the range -1 to +1 to a span of 1.
    weight = np.float32(s.scale * (VISIT_OFFSET + most) / 2)
    # Subtracting the greatest value keeps exp() from overflowing.
    greatest = np.float32(-1e30)
    for column in range(nodes.columns):
        if not is_excluded(nodes, first + column):
            greatest = max(greatest, mean(nodes, first + column, unvisited))
    whole = np.float32(0)
    for column in range(nodes.columns):
        whole += improved_weight(nodes, first + column, unvisited, weight, greatest)
    best = np.float32(-1e30)
    chosen = -1
    for column in range(nodes.columns):
        edge = first + column
        if is_excluded(nodes, edge):
            continue
        share = improved_weight(nodes, edge, unvisited, weight, greatest) / max(
            whole, np.float32(1e-30)
        )
        # Danihelka et al. (2022): the visits then follow the improved policy without randomness.
        lag = share - np.float32(visits_of(nodes, edge)) / np.float32(1 + total)
        if chosen < 0 or lag > best:
            best = lag
            chosen = column
    return max(chosen, 0)


@inlined_kernel
def improved_weight(
    nodes: Nodes, edge: int, unvisited: np.float32, weight: np.float32, greatest: np.float32
) -> np.float32:
    """Return a column's share of the improved policy before normalisation."""
    if is_excluded(nodes, edge):
        return np.float32(0)
    q = mean(nodes, edge, unvisited)
    return np.float32(prior_of(nodes, edge) * np.float32(math.exp(weight * (q - greatest))))


def schedule(columns: int, simulations: int) -> np.ndarray:
    """Return sequential halving as int32[columns + 1, simulations].

    Entry [m, i] says how many of m candidate columns are left at simulation i. In every round the
    columns that are left get equally many visits, and the better half stays, two at least.
    """
    left_at = np.ones((columns + 1, simulations), np.int32)
    for candidates in range(2, columns + 1):
        # Karnin et al. (2013). Example: of 42 simulations, 7 columns get 2 visits each, then 3 get
        # 4 and 2 get 7; the two simulations that are left continue with the last pair.
        rounds = math.ceil(math.log2(candidates))
        left = candidates
        start = 0
        while start < simulations:
            visits = left * max(1, simulations // (rounds * left))
            left_at[candidates, start : start + visits] = left
            start += visits
            left = max(2, left // 2)
    return left_at


@inlined_kernel
def choose_by_schedule(
    nodes: Nodes,
    block: int,
    noise: np.ndarray,  # float32[columns]
    simulation: int,
    s: Switches,
    left_at: np.ndarray,
) -> int:
    """Return the column that sequential halving visits next.

    The columns left are the most visited ones, ties broken by score: Gumbel noise plus log prior
    plus weighted value. Of these, the least visited is next, ties again broken by score. The set
    is computed afresh at every simulation, so columns proven on the way and schedules that change
    do no harm.
    """
    columns = nodes.columns
    first = edge_of(nodes, block, 0)
    unvisited, _, most = mixed_value(nodes, block)
    weight = np.float32(s.scale * (VISIT_OFFSET + most) / 2)
    scores = np.empty(columns, np.float32)
    candidates = 0
    for column in range(columns):
        edge = first + column
        if not is_excluded(nodes, edge):
            candidates += 1
            # A prior may underflow to 0, whose logarithm is -inf.
            log_prior = np.float32(math.log(max(prior_of(nodes, edge), np.float32(1e-30))))
            scores[column] = noise[column] + log_prior + weight * mean(nodes, edge, unvisited)
    # Simulation 0 has evaluated the root. After the end of the plan its last entry holds.
    left = left_at[candidates, min(simulation - 1, left_at.shape[1] - 1)]
    fewest = 1 << 30  # more than any column has
    best = np.float32(-1e30)
    chosen = -1
    for column in range(columns):
        if is_excluded(nodes, first + column):
            continue
        n = visits_of(nodes, first + column)
        # A column is left if fewer than `left` others rank before it.
        ahead = 0
        for other in range(columns):
            if other != column and not is_excluded(nodes, first + other):
                more = visits_of(nodes, first + other) - n
                better = scores[other] > scores[column] or (
                    scores[other] == scores[column] and other < column
                )
                ahead += more > 0 or (more == 0 and better)
        is_next = n < fewest or (n == fewest and scores[column] > best)
        # Some column has nobody ahead, even with NaN among the scores, and its n is below the first
        # `fewest`, so one is always chosen.
        if ahead < left and is_next:
            fewest = n
            best = scores[column]
            chosen = column
    return max(chosen, 0)
