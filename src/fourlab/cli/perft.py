"""`fourlab perft`: count the tree of the game, the classic test of a game's rules."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import typer

from fourlab.cli.options import AnyCountsOption, BoardOption, JsonOption, StartOption, print_json, progress
from fourlab.errors import UserError
from fourlab.game.position import Position

CHUNK_LEAVES = 4e7
"""Compiled code cannot be interrupted, so deep counts are made of pieces of at most so many leaves: some 50 ms each."""


def perft(
    depth: Annotated[int, typer.Argument(min=0, help="How many discs to play.")],
    board: BoardOption = None,
    start: StartOption = "",
    any_counts: AnyCountsOption = False,
    distinct: Annotated[bool, typer.Option("--distinct", help="Count distinct positions at every ply instead.")] = False,
    json: JsonOption = False,
) -> None:
    """Count the ways to play exactly DEPTH discs, by first column; ended games are not continued.

    With --distinct, count the different positions after 0, 1, …, DEPTH discs.
    """
    position = Position(start, board, check_counts=not any_counts)
    if position.outcome() is not None:
        raise UserError(f"the game is over ({position.outcome()}): {position!r}")
    if distinct:
        _distinct(position, depth, json)
    else:
        _divide(position, depth, json)


def _divide(position: Position, depth: int, json: bool) -> None:
    before = time.perf_counter()
    counts = dict.fromkeys(position.legal_columns() if depth else (), 0)
    if depth <= _empty_cells(position):
        beginnings = [(column, piece, left) for column in counts for piece, left in _split(position.play(column), depth - 1)]
        for column, piece, left in progress(beginnings, "counting"):
            counts[column] += _count(piece, left)
    total = sum(counts.values()) if depth else 1
    seconds = time.perf_counter() - before
    by_column = {str(column + 1): count for column, count in counts.items()}
    if json:
        result = {"board": str(position.rules), "start": position.write(), "depth": depth, "count": total}
        print_json({**result, "by_column": by_column, "seconds": round(seconds, 3)})
        return
    for name, count in by_column.items():
        print(f"column {name}: {count:,}")
    print(f"perft {depth}: {total:,}  ({seconds:.2f} s)")


def _empty_cells(position: Position) -> int:
    return position.rules.columns * position.rules.rows - position.ply


def _split(position: Position, depth: int) -> Iterator[tuple[Position, int]]:
    """The positions one ply on, each with the plies then left; an ended game or a leaf stands for itself."""
    if depth < 1 or position.outcome() is not None:
        yield position, depth
        return
    for column in position.legal_columns():
        yield position.play(column), depth - 1


def _count(position: Position, depth: int) -> int:
    """Count one subtree, in pieces small enough to be interrupted between them."""
    from fourlab.compiled.counting import perft as kernel

    if position.outcome() is not None:
        return int(depth == 0)
    if max(position.rules.columns, 2) ** depth <= CHUNK_LEAVES or position.rules.columns == 1:
        return kernel(position.own, position.mask, position.rules.geometry, depth)
    return sum(_count(position.play(column), depth - 1) for column in position.legal_columns())


def _distinct(position: Position, depth: int, json: bool) -> None:
    from fourlab.compiled.counting import distinct

    counts: list[int] = []
    for count in islice(distinct(position.own, position.mask, position.rules.geometry), min(depth, _empty_cells(position)) + 1):
        counts.append(count)
        if not json:
            print(f"ply {len(counts) - 1}: {count:,}", flush=True)
    if json:
        print_json({"board": str(position.rules), "start": position.write(), "distinct": counts, "total": sum(counts)})
    else:
        print(f"in all: {sum(counts):,}")
