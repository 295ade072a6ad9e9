"""Rollouts: uniformly random, with wins and blocks, against negamax, and vectorised in lanes."""

from collections.abc import Callable
from functools import cache

import numpy as np

from fourlab.compiled._jit import kernel
from fourlab.compiled.board import has_line, landing, landings
from fourlab.compiled.lines import line_starts
from fourlab.compiled.negamax import kaggle_negamax
from fourlab.compiled.random import advance, below, seed_state, seed_states
from fourlab.compiled.threats import winning_cells
from fourlab.game.geometry import Geometry, geometry_of

# Two registers of eight 64-bit numbers with AVX-512, four of four with AVX2: enough independent
# work to hide the latency of the multiplications.
LANES = 16
"""Games that are played at the same time."""


@kernel
def rollout(own: int, mask: int, g: Geometry, state: int) -> tuple[int, int, int]:
    """Play uniformly random columns until the game ends.

    The position must not be over. Returns the result from the point of view of the side to move at
    the start (+1, 0, -1), the number of discs played, and the random state.
    """
    sign, plies = 1, 0
    while mask != g.cells:
        state = advance(state)
        cell = landing(mask, below(g.columns, state), g)
        if cell == 0:
            continue  # a full column; sampling again keeps the others equally likely
        # `own` and `mask` belong to the side to move; after its disc, `own ^= mask` changes sides:
        # what is occupied but not own is the opponent's.
        own |= cell
        mask |= cell
        plies += 1
        if has_line(own, g.height, g.in_a_row):
            return sign, plies, state
        own ^= mask
        sign = -sign
    return 0, plies, state


@kernel
def rollouts(
    own: int, mask: int, g: Geometry, games: int, state: int
) -> tuple[int, int, int, int, int]:
    """Play many rollouts.

    Returns the wins, draws and losses of the side to move, the number of discs played, and the
    random state.
    """
    wins = draws = losses = discs = 0
    for _ in range(games):
        result, plies, state = rollout(own, mask, g, state)
        wins += result > 0
        draws += result == 0
        losses += result < 0
        discs += plies
    return wins, draws, losses, discs, state


@kernel
def rollout_with_wins_and_blocks(own: int, mask: int, g: Geometry, state: int) -> tuple[int, int]:
    """Play at random, but win at once if possible, else block the opponent's immediate win."""
    sign = 1
    while mask != g.cells:
        playable = landings(mask, g)
        # A win ends the rollout before its disc is played, so there is no need to test for lines.
        if winning_cells(own, mask, g) & playable:
            return sign, state
        forced = winning_cells(own ^ mask, mask, g) & playable
        cell = forced & -forced  # one of them: two threats cannot both be blocked
        while cell == 0:
            state = advance(state)
            cell = landing(mask, below(g.columns, state), g)
        mask |= cell
        own = (own | cell) ^ mask
        sign = -sign
    return 0, state


@kernel
def rollout_against_negamax(
    own: int, mask: int, g: Geometry, random_ties: bool, negamax_moves: bool, state: int
) -> tuple[int, int]:
    """Play one side at random and the other with Kaggle's negamax."""
    sign = 1
    while mask != g.cells:
        cell = 0
        if negamax_moves:
            # Depth 4 is Kaggle's default.
            _, column, state = kaggle_negamax(own, mask, g, 4, random_ties, state)
            cell = landing(mask, column, g)
        while cell == 0:
            state = advance(state)
            cell = landing(mask, below(g.columns, state), g)
        own |= cell
        mask |= cell
        if has_line(own, g.height, g.in_a_row):
            return sign, state
        own ^= mask
        sign = -sign
        negamax_moves = not negamax_moves
    return 0, state


def lane_rollouts(
    own: int, mask: int, g: Geometry, games: int, seed: int
) -> tuple[int, int, int, int]:
    """Play many rollouts in vector lanes, about two and a half times as fast as `rollouts`.

    Lane k plays exactly the games that `rollouts` plays from the k-th of `seed_states(seed,
    LANES)`. Every lane plays a fixed share of the games; counting whichever games finish first
    would favour short ones. The board size is compiled into the loop, so the first call for a new
    board takes a second or two. Returns the wins, draws and losses of the side to move, and the
    number of discs played.
    """
    # Example: 40 games in 16 lanes are 3 in the first eight lanes and 2 in the others.
    games_left = np.full(LANES, games // LANES, np.int64)
    games_left[: games % LANES] += 1
    lanes = np.zeros((8, LANES), np.int64)  # the rows are explained in `play_lanes`
    lanes[0] = own
    lanes[1] = mask
    lanes[2] = seed_states(seed, LANES)
    lanes[3] = games_left
    lanes[4] = 1
    _lane_kernel(g)(own, mask, lanes.reshape(-1))
    discs, wins, losses = (int(row.sum()) for row in lanes[5:])
    return wins, games - wins - losses, losses, discs


@cache
def _lane_kernel(g: Geometry) -> Callable[[int, int, np.ndarray], None]:
    """Return the lane loop for one board size.

    With the board size as constants, LLVM turns the inner loop into vector instructions.
    """
    columns, height, in_a_row, bottom, cells = g.columns, g.height, g.in_a_row, g.bottom, g.cells
    column_cells = (1 << g.rows) - 1

    @kernel
    def play_lanes(start_own: int, start_mask: int, lane: np.ndarray) -> None:
        # lane is int64[8 * LANES]: own, mask, random state, games left, 1 if the side to move is
        # the one that began, discs played, wins, losses. One flat array is one pointer, so the loop
        # needs no alias checks. The inner loop has no branches, only selections; a lane whose games
        # are all played keeps its state.
        busy = 1
        while busy > 0:
            busy = 0
            for j in range(LANES):
                own, mask, state = lane[j], lane[LANES + j], lane[2 * LANES + j]
                left, first = lane[3 * LANES + j], lane[4 * LANES + j]
                running = 1 if left > 0 else 0
                # A full column leaves the position as it is; the next step samples again.
                next_state = advance(state)
                cell = (mask + bottom) & (column_cells << below(columns, next_state) * height)
                played = 1 if cell != 0 else 0
                own |= cell
                mask |= cell
                lines = line_starts(own, 1, in_a_row) | line_starts(own, height, in_a_row)
                lines |= line_starts(own, height - 1, in_a_row) | line_starts(
                    own, height + 1, in_a_row
                )
                # Sums of 0 and 1 instead of booleans: LLVM vectorises them as 64-bit lanes.
                won = (1 if lines != 0 else 0) & played
                over = (1 if mask == cells else 0) | won
                # After the end of a game, the lane starts the next one.
                turned = own ^ mask if played == 1 else own
                lane[j] = start_own if over == 1 else turned
                lane[LANES + j] = start_mask if over == 1 else mask
                lane[2 * LANES + j] = next_state if running == 1 else state
                left = left - over if running == 1 else 0
                lane[3 * LANES + j] = left
                lane[4 * LANES + j] = 1 if over == 1 else first ^ played
                lane[5 * LANES + j] += played & running
                lane[6 * LANES + j] += won & first & running
                lane[7 * LANES + j] += won & (1 - first) & running
                # Lanes that have finished idle until the last one has: at most some games of about
                # 21 discs.
                busy += left

    return play_lanes


def warm_up() -> None:
    """Compile `rollouts`."""
    rollouts(0, 0, geometry_of(7, 6, 4), 10, seed_state(0))


def warm_up_lanes() -> None:
    """Compile `lane_rollouts`."""
    lane_rollouts(0, 0, geometry_of(7, 6, 4), 10, 0)
