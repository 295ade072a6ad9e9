"""Alpha-beta with a table, deeper and deeper as long as the clock allows.

A win counts WIN plus the cells then empty, so that earlier wins are worth more; a draw counts 0. Where the depth ends, a position
is guessed at by the places of the discs and by the cells that would complete a line.
"""

from typing import Any

from fourlab.bridges.kaggle.templates.board import Shape, columns_of, count, landing, landings, winning_cells
from fourlab.bridges.kaggle.templates.compiled import alarm, compile_in_background, quickest, zeros

WIN = 1_000_000
THREAT = 20
"""What a cell that completes a line is worth in a guess; a disc is worth the lines through its cell."""
DEEPEST = 63
"""Greater depths have no room in the table."""
EXACT, AT_LEAST, AT_MOST = 0, 1, 2
ENTRIES = (262147, 1048583)
"""How many positions the table holds, without and with compiled code; primes."""
TABLES: dict[bool, tuple[Any, Any]] = {}
"""What has been found, from move to move: the keys of positions, and value << 8 | depth << 2 | kind."""


def negamax(
    own: int,
    mask: int,
    shape: Shape,
    depth: int,
    left: int,
    alpha: int,
    beta: int,
    balance: int,
    worth: Any,
    keys: Any,
    facts: Any,
    order: Any,
    stop: Any,
) -> int:
    """The value of a position `depth` discs ahead if it lies between alpha and beta, else a bound on that side of it.

    `left` cells are empty, `balance` is the worth of the discs of the side to move less that of the others, and `order` has room
    for the moves of every depth. Once stop[0] is set, values mean nothing.
    """
    if left == 0 or stop[0]:
        return 0
    threats = winning_cells(mask ^ own, mask, shape)
    if depth <= 0:
        if len(worth) == 0:
            return 0
        return balance + THREAT * (count(winning_cells(own, mask, shape)) - count(threats))
    moves = landings(mask, shape)
    if winning_cells(own, mask, shape) & moves:
        return WIN + left
    if depth >= 2:
        # Whoever does not block, or opens a cell to the other side, loses to the next disc; nothing is worse.
        blocks = threats & moves
        moves = (blocks if blocks else moves) & ~(threats >> 1)
        if blocks & (blocks - 1) or (moves == 0 and left > 1):
            return 1 - WIN - left
    # What is known from before? Of another depth only what is proven.
    key = own + mask + shape.bottom
    slot = key % len(keys)
    if keys[slot] == key:
        fact = facts[slot]
        value, kind, before = int(fact >> 8), fact & 3, (fact >> 2) & 63
        proven = (kind != AT_MOST and value >= WIN) or (kind != AT_LEAST and value <= -WIN)
        enough = kind == EXACT or (kind == AT_LEAST and value >= beta) or (kind == AT_MOST and value <= alpha)
        if enough and (before == depth or (proven and before < depth)):
            return value
    # List the moves: those that make most threats first, central ones first among equals.
    first, made = depth * shape.columns, 0
    for i in range(shape.columns):
        column = ((shape.columns - 1) >> 1) + ((i + 1) >> 1 if i & 1 else -(i >> 1))
        move = moves & (((1 << shape.rows) - 1) << column * shape.height)
        if move:
            looks = count(winning_cells(own | move, mask | move, shape)) if depth >= 3 else 0
            place = first + made
            while place > first and order[place - 1] >> 8 < looks:
                order[place] = order[place - 1]
                place -= 1
            order[place] = looks << 8 | column
            made += 1
    # Try them.
    best, floor = -2 * WIN, alpha
    for place in range(first, first + made):
        column = order[place] & 255
        move = moves & (((1 << shape.rows) - 1) << column * shape.height)
        gain = 0 if len(worth) == 0 else worth[count(move - 1)]
        value = -negamax(
            mask ^ own, mask | move, shape, depth - 1, left - 1, -beta, -floor, -balance - gain, worth, keys, facts, order, stop
        )
        if value > best:
            best = value
        if best > floor:
            floor = best
        if floor >= beta:
            break
    if stop[0] == 0:
        kind = AT_LEAST if best >= beta else AT_MOST if best <= alpha else EXACT
        keys[slot], facts[slot] = key, best << 8 | depth << 2 | kind
    return best


compile_in_background(
    [count, landings, winning_cells, negamax],
    lambda compiled: compiled(
        0, 0, Shape(4, 4, 4, 5, 33825, 507375), 2, 16, -2 * WIN, 2 * WIN, 0, *(zeros(99, True) for _ in range(4)), zeros(1, True)
    ),
)


def best_columns(own: int, mask: int, shape: Shape, deepest: int, seconds: float, guessing: bool, all_values: bool) -> list[int]:
    """The best columns by the deepest search that the time allows, the most central first.

    With `all_values` these are all that are equally good; without, a column is given up once it is known to be no better.
    """
    search, compiled = quickest(negamax, shape)
    if compiled not in TABLES:
        TABLES[compiled] = zeros(ENTRIES[compiled], compiled), zeros(ENTRIES[compiled], compiled)
    left = shape.columns * shape.rows - count(mask)
    lines = lines_through_cells(shape) if guessing else []
    balance = sum(lines[cell] * ((own >> cell & 1) - ((own ^ mask) >> cell & 1)) for cell in range(len(lines)))
    worth, order, stop = zeros(len(lines), compiled), zeros((left + 1) * shape.columns, compiled), zeros(1, compiled)
    worth[:] = lines
    wins = winning_cells(own, mask, shape)
    columns = best = columns_of(landings(mask, shape), shape)
    timer = alarm(seconds, stop)
    for depth in range(1, min(deepest, left, DEEPEST) + 1):
        values: dict[int, int] = {}
        for column in columns:
            move = landing(mask, column, shape)
            floor = -2 * WIN if all_values else max(values.values(), default=-2 * WIN)
            gain = lines[count(move - 1)] if guessing else 0
            value = WIN + left
            if not move & wins:
                value = -int(
                    search(
                        *(mask ^ own, mask | move, shape, depth - 1, left - 1, -2 * WIN, -floor, -balance - gain),
                        *(worth, *TABLES[compiled], order, stop),
                    )
                )
            if stop[0]:
                break
            values[column] = value
        if stop[0] and (all_values or not values):
            break
        most = max(values.values())
        best = [column for column in columns if values.get(column) == most]
        if not all_values:  # equal values may be bounds; and the next search begins with what is best now
            best = best[:1]
            columns = best + [column for column in columns if column not in best]
        if stop[0] or abs(most) >= WIN:  # nothing is better than the quickest win, and what is lost is lost
            break
    timer.cancel()
    return best


def lines_through_cells(shape: Shape) -> list[int]:
    """For every bit, how many lines could be made through that cell."""
    lines = [0] * (shape.columns * shape.height)
    for step in (1, shape.height, shape.height - 1, shape.height + 1):
        for start in range(len(lines)):
            cells = [start + i * step for i in range(shape.in_a_row)]
            if all(cell < len(lines) and shape.cells >> cell & 1 for cell in cells):
                for cell in cells:
                    lines[cell] += 1
    return lines
