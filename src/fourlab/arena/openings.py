"""The positions that games begin from.

Every opening is played twice with colours swapped, so it need not be balanced, only undecided.
"""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules

if TYPE_CHECKING:
    import numpy as np

MOST_PLIES = {"random": 60, "all": 8, "balanced": 60}
"""The kinds of generated openings and the largest K each accepts; all:8 yields 77,715."""
MOST_OPENINGS = 100_000
"""Most openings in a list or of all:K; more would take minutes and gigabytes."""
MOST_RANDOM_OPENINGS = 1_000_000
"""Most random openings of a tournament; further rounds use them again."""
MOST_TRIES = 200
"""Give up after this many random games in a row that yield no new opening."""


def openings(
    source: str | Sequence[str], board: str, number: int | None, seed: int
) -> list[Position]:
    """Return the positions that games begin from, possibly fewer than `number`.

    `source` is one of:

    - `empty`: the empty board;
    - `random:K`: distinct positions after K plies of random play;
    - `all:K`: every position after K plies;
    - `balanced:K`: random positions after K plies that are draws under perfect play;
    - a position in any notation, or a list of positions.

    Generated positions are distinct up to mirror images, and none lets the side to move win
    immediately.
    """
    if not isinstance(source, str):
        return [_read_opening(text, board) for text in source]
    kind, _, plies = source.partition(":")
    if kind not in MOST_PLIES:
        return [Position(board=board) if source == "empty" else _read_opening(source, board)]
    if not plies.isdecimal() or len(plies) > 9 or int(plies) > MOST_PLIES[kind]:
        raise UserError(
            f"openings {source!r}: write {kind}:K with K plies, at most {MOST_PLIES[kind]}"
        )
    if kind == "all":
        positions = _all(int(plies), board)
    else:
        positions = _random(int(plies), board, number or 1, seed, balanced=kind == "balanced")
    if not positions:
        raise UserError(f"there is no opening {kind}:{int(plies)} on a {board} board")
    return positions


def random_play(position: Position, plies: int, rng: "np.random.Generator") -> Position:
    """Return the position after random moves, with `plies` discs or fewer if the game ends."""
    while position.ply < plies and position.outcome() is None:
        position = position.play(int(rng.choice(position.legal_columns())))
    return position


def is_undecided(position: Position) -> bool:
    """Return whether the game is not over and the side to move cannot win immediately."""
    return position.outcome() is None and not any(
        position.makes_line(column, position.to_move) for column in position.legal_columns()
    )


def _read_opening(text: str, board: str) -> Position:
    position = Position(text, board)
    if (outcome := position.outcome()) is not None:
        raise UserError(f"opening {text!r} is over ({outcome})")
    return position


def _all(plies: int, board: str) -> list[Position]:
    """Return all undecided positions after `plies` moves, by breadth-first enumeration."""
    # Positions by canonical key: transpositions and mirror images are merged at every ply.
    layer = {0: Position(board=board)}
    _refuse_too_many(plies, board)
    for _ in range(plies):
        next_layer: dict[int, Position] = {}
        for position in layer.values():
            for column in position.legal_columns():
                child = position.play(column)
                next_layer.setdefault(child.canonical_key, child)
        layer = next_layer
    return [position for position in layer.values() if is_undecided(position)]


def _refuse_too_many(plies: int, board: str) -> None:
    """Raise UserError if there are more than MOST_OPENINGS unfinished positions."""
    rules = Rules.parse(board)
    if rules.columns**plies <= MOST_OPENINGS:
        return
    from fourlab.solver.build import unfinished_positions

    # Compiled code counts in milliseconds what takes seconds to list.
    for keys in itertools.islice(unfinished_positions(rules), plies + 1):
        if len(keys) > MOST_OPENINGS:
            raise UserError(
                f"openings all:{plies}: there are more than {MOST_OPENINGS:,} on a {board} board"
            )


def _random(plies: int, board: str, number: int, seed: int, balanced: bool) -> list[Position]:
    """Play random games until there are enough distinct openings or no new ones turn up."""
    import numpy as np

    # The seeds of games are [seed, number, side] with side 0 or 1, so 2 cannot collide with them.
    rng = np.random.default_rng([seed, plies, 2])
    is_balanced = _balance_test() if balanced else None
    positions: dict[int, Position] = {}  # by canonical key
    tries = 0  # since the last new opening
    while len(positions) < number and tries < MOST_TRIES:
        position = random_play(Position(board=board), plies, rng)
        tries += 1
        # The exact test comes last, since it takes by far the longest.
        if (
            is_undecided(position)
            and position.canonical_key not in positions
            and (is_balanced is None or is_balanced(position))
        ):
            positions[position.canonical_key] = position
            tries = 0
    return list(positions.values())


def _balance_test() -> Callable[[Position], bool]:
    """Return a function that says whether a position is a draw under perfect play."""
    from fourlab.solver import Solver

    solver = Solver()
    # Only the sign matters, so a weak solution (win, draw or loss) is enough.
    return lambda position: solver.solve(position, weak=True).result == 0


def read_openings(source: str, folder: Path, board: str | None) -> str | tuple[str, ...]:
    """Read `file:FILE`, relative to `folder`, into a list of positions; return others unchanged."""
    from fourlab.game.position_file import read_position_file

    if not source.startswith("file:"):
        return source
    name = source.removeprefix("file:")
    lines = read_position_file(folder / name, board)
    positions = [line.position for line in itertools.islice(lines, MOST_OPENINGS + 1)]
    if not positions:
        raise UserError(f"there are no positions in {name}")
    if len(positions) > MOST_OPENINGS:
        raise UserError(f"{name} has more than {MOST_OPENINGS:,} positions")
    # A position without known moves, such as one given as a diagram, can only be kept as a FEN.
    return tuple(
        position.write("fen" if position.moves is None else "moves") for position in positions
    )
