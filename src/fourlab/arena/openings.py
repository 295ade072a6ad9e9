"""Where games begin. Every opening is played twice with colours swapped, so it need not be fair, only undecided."""

from collections.abc import Callable, Sequence
from pathlib import Path

from fourlab.errors import UserError
from fourlab.game.position import Position

KINDS = ("random", "all", "balanced")
MOST_PLIES = {"random": 60, "all": 8, "balanced": 60}
MOST_TRIES = 200
"""So many random games per opening wanted are tried before we settle for fewer."""


def openings(asked: str | Sequence[str], board: str, number: int | None, seed: int) -> list[Position]:
    """The positions that games begin from.

    `asked` is `empty`; `random:K`, different positions of K plies of random play; `all:K`, every position of K plies;
    `balanced:K`, such random positions as perfect play draws; a position in any notation, or a list of positions. Mirror
    images count as one, and positions in which a side wins at once are left out. There may be fewer than `number`.
    """
    if not isinstance(asked, str):
        return [_given(text, board) for text in asked]
    kind, _, plies = asked.partition(":")
    if kind not in KINDS:
        return [Position(board=board) if asked == "empty" else _given(asked, board)]
    if not plies.isdecimal() or int(plies) > MOST_PLIES[kind]:
        raise UserError(f"openings {asked!r}: write {kind}:K with K plies, at most {MOST_PLIES[kind]}")
    if kind == "all":
        return _all(int(plies), board)
    return _random(int(plies), board, number or 1, seed, balanced=kind == "balanced")


def is_undecided(position: Position) -> bool:
    """Whether the game goes on and the side to move cannot win at once."""
    if position.outcome() is not None:
        return False
    return not any(position.makes_line(column, position.to_move) for column in position.legal_columns())


def _given(text: str, board: str) -> Position:
    position = Position(text, board)
    if (outcome := position.outcome()) is not None:
        raise UserError(f"opening {text!r} is over ({outcome})")
    return position


def _all(plies: int, board: str) -> list[Position]:
    """Ply by ply, in the order of the columns."""
    layer = {0: Position(board=board)}
    for _ in range(plies):
        after: dict[int, Position] = {}
        for position in layer.values():
            for column in position.legal_columns():
                following = position.play(column)
                after.setdefault(following.canonical_key, following)
        layer = after
    return _some([position for position in layer.values() if is_undecided(position)], f"all:{plies}", board)


def _random(plies: int, board: str, number: int, seed: int, balanced: bool) -> list[Position]:
    """Draw games until there are enough different positions, or no more are found."""
    import numpy as np

    rng, found = np.random.default_rng([seed, plies, 2]), dict[int, Position]()  # games have [seed, number, side]
    is_balanced = _balanced_test() if balanced else None
    since_last = 0
    while len(found) < number and since_last < MOST_TRIES:
        position = Position(board=board)
        while position.ply < plies and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        since_last += 1
        if is_undecided(position) and position.canonical_key not in found and (is_balanced is None or is_balanced(position)):
            found[position.canonical_key], since_last = position, 0
    return _some(list(found.values()), f"{'balanced' if balanced else 'random'}:{plies}", board)


def _balanced_test() -> Callable[[Position], bool]:
    from fourlab.solver import Solver

    solver = Solver()
    return lambda position: solver.solve(position, weak=True).result == 0


def _some(found: list[Position], asked: str, board: str) -> list[Position]:
    if not found:
        raise UserError(f"there is no opening {asked} on a {board} board")
    return found


def read_openings(asked: str, beside: Path, board: str | None) -> str | tuple[str, ...]:
    """Read file:FILE into a list of positions; everything else is left as it is."""
    from fourlab.game.position_file import read_position_file

    if not asked.startswith("file:"):
        return asked
    name = asked.removeprefix("file:")
    positions = [line.position for line in read_position_file(beside / name, board)]
    if not positions:
        raise UserError(f"there are no positions in {name}")
    return tuple(each.write("fen" if each.moves is None else "moves") for each in positions)
