"""Monte Carlo tree search (UCT): games played at random from the leaves of a tree that grows where the results are good."""

import math
import random
from typing import Any

from fourlab.bridges.kaggle.templates.board import (
    Shape,
    columns_of,
    count,
    landings,
    read,
    seconds_to_think,
    urgent_columns,
    winning_cells,
)
from fourlab.bridges.kaggle.templates.compiled import alarm, compile_in_background, quickest, zeros

SIMULATIONS: int | None = None
"""Simulations a move at most; None: as many as the time allows."""
SECONDS: float | None = None
"""Seconds a move at most; None: as many as the clock allows."""
C = 1.4
"""Exploration: the bound is mean + C * sqrt(log N / n)."""
WINS_AND_BLOCKS = True
"""Whether games played at random win at once if they can, and else block."""
SOLVER = True
"""Whether to prove wins and losses and never search them again."""
ROOM = (100_000, 1_000_000)
"""How many positions the tree can hold, without and with compiled code; a full tree stops growing."""


def advance(state: int) -> int:
    """The next state of a random generator of 32 bits (xorshift)."""
    state ^= (state << 13) & 0xFFFFFFFF
    state ^= state >> 17
    return state ^ ((state << 5) & 0xFFFFFFFF)


def play_out(own: int, mask: int, shape: Shape, wins_and_blocks: bool, state: int) -> tuple[int, int]:
    """Play a game at random to its end; returns 1, 0 or -1 for the side to move first, and the random state."""
    sign = 1
    while True:
        moves = landings(mask, shape)
        if moves == 0:
            return 0, state
        wins = winning_cells(own, mask, shape) & moves
        if wins_and_blocks:
            if wins:
                return sign, state
            blocks = winning_cells(mask ^ own, mask, shape) & moves
            moves = blocks if blocks else moves
        state = advance(state)
        for _ in range((state * count(moves)) >> 32):
            moves &= moves - 1
        move = moves & -moves
        if move & wins:
            return sign, state
        own, mask, sign = mask ^ own, mask | move, -sign


def grow(
    own: int,
    mask: int,
    shape: Shape,
    most: int,
    c: float,
    wins_and_blocks: bool,
    solver: bool,
    children: Any,
    visits: Any,
    points: Any,
    proofs: Any,
    hopes: Any,
    path: Any,
    stop: Any,
    state: int,
) -> int:
    """Grow the tree by `most` simulations, or until stop[0] is set or the root is proven; returns how many were made.

    Node 0 is the root. `points` and `proofs` (1 won, -1 lost, 0 not proven) are for the side that moved to the node; `hopes` are
    the columns of a node that are not proven to lose.
    """
    used = 1
    for done in range(most):
        if stop[0] or proofs[0]:
            return done
        node, stones, discs, length, news = 0, own, mask, 1, 0
        path[0] = 0
        while True:
            # 1. Select: go down to a node that is new or where the game is over; `value` is for the side to move there.
            moves = landings(discs, shape)
            if moves == 0:
                value = 0
                break
            wins = winning_cells(stones, discs, shape) & moves
            if wins and solver:
                value, news = 1, -1
                proofs[node] = -1
                break
            if node > 0 and (visits[node] == 0 or used == len(visits)):
                # 2. Simulate.
                value, state = play_out(stones, discs, shape, wins_and_blocks, state)
                break
            if hopes[node] == 0:
                hopes[node] = count(moves)
            state = advance(state)
            best, chosen, columns = -2e9, 0, shape.columns
            for i in range(columns):
                column = (i + state) % columns  # begins anywhere, so that the first of equals is any
                if moves & (((1 << shape.rows) - 1) << column * shape.height):
                    child = children[node * columns + column]
                    bound = 1e9
                    if child:
                        bound = points[child] / visits[child] + c * math.sqrt(math.log(visits[node]) / visits[child])
                        if proofs[child]:
                            bound = 2e9 * proofs[child]
                    if bound > best:
                        best, chosen = bound, column
            # 3. Expand.
            place = node * columns + chosen
            if children[place] == 0:
                children[place] = used
                used += 1
            node = children[place]
            move = moves & (((1 << shape.rows) - 1) << chosen * shape.height)
            stones, discs = discs ^ stones, discs | move
            path[length] = node
            length += 1
            if move & wins:
                value = -1
                break
        # 4. Back up the value, and what was proven of the node below.
        for place in range(length - 1, -1, -1):
            node = path[place]
            value = -value
            visits[node] += 1
            points[node] += value
            if place < length - 1 and news != 0:
                if news == 1:
                    news = -1
                else:
                    hopes[node] -= 1
                    news = 0 if hopes[node] else 1
                proofs[node] = news
    return most


compile_in_background(
    [count, landings, winning_cells, advance, play_out, grow],
    lambda compiled: compiled(
        *(0, 0, Shape(4, 4, 4, 5, 33825, 507375), 9, 1.4, True, True, *(zeros(99, True) for _ in range(6)), zeros(1, True), 1)
    ),
)


def agent(observation: Any, configuration: Any) -> int:
    """Choose a column: a proven win, or else the column most visited that is not proven to lose."""
    own, mask, shape = read(observation, configuration)
    urgent = urgent_columns(own, mask, shape) if SOLVER else []
    if urgent:
        return urgent[0]
    search, compiled = quickest(grow, shape)
    room, stop = ROOM[compiled], zeros(1, compiled)
    children, path = zeros(room * shape.columns, compiled), zeros(shape.columns * shape.rows + 2, compiled)
    visits, points, proofs, hopes = (zeros(room, compiled) for _ in range(4))
    most = 1 << 40 if SIMULATIONS is None else SIMULATIONS
    seconds = seconds_to_think(configuration)
    timer = alarm(seconds if SECONDS is None else min(SECONDS, seconds), stop)
    search(
        *(own, mask, shape, most, C, WINS_AND_BLOCKS, SOLVER),
        *(children, visits, points, proofs, hopes, path, stop, random.getrandbits(31) + 1),
    )
    timer.cancel()
    open_columns = columns_of(landings(mask, shape), shape)
    return max(open_columns, key=lambda column: (proofs[children[column]] if children[column] else 0, visits[children[column]]))
