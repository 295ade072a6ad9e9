"""`fourlab perft`: count the tree of the game, the classic test of a game's rules."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import typer

from fourlab.cli.compiling import announce_compilation
from fourlab.cli.options import BoardOption, JsonOption, StartOption, print_json
from fourlab.errors import UserError
from fourlab.game.position import Position

CHUNK_DEPTH = 9
"""Compiled code cannot be interrupted, so deep counts are made of pieces this deep: tens of milliseconds each."""


def perft(
    depth: Annotated[int, typer.Argument(min=0, help="How many discs to play.")],
    board: BoardOption = None,
    start: StartOption = "",
    distinct: Annotated[bool, typer.Option("--distinct", help="Count distinct positions at every ply instead.")] = False,
    json: JsonOption = False,
) -> None:
    """Count the ways to play exactly DEPTH discs, by first column; ended games are not continued.

    With --distinct, count the different positions after 0, 1, …, DEPTH discs.
    """
    position = Position(start, board)
    if position.outcome() is not None:
        raise UserError(f"the game is over ({position.outcome()}): {position!r}")
    announce_compilation()
    if distinct:
        _distinct(position, depth, json)
    else:
        _divide(position, depth, json)


def _divide(position: Position, depth: int, json: bool) -> None:
    from rich.console import Console
    from rich.progress import track

    before = time.perf_counter()
    columns = position.legal_columns() if depth else ()
    pieces = [(column, piece, left) for column in columns for piece, left in _pieces(position.play(column), depth - 1)]
    counts = dict.fromkeys(columns, 0)
    console = Console(stderr=True)
    for column, piece, left in track(pieces, "counting", console=console, transient=True, disable=not console.is_terminal):
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


def _pieces(position: Position, depth: int) -> Iterator[tuple[Position, int]]:
    """Split a deep count into subtrees of CHUNK_DEPTH."""
    if depth <= CHUNK_DEPTH:
        yield position, depth
    else:
        for column in position.legal_columns():
            yield from _pieces(position.play(column), depth - 1)


def _count(position: Position, depth: int) -> int:
    from fourlab.kernels.count import perft as kernel

    if position.outcome() is not None:
        return int(depth == 0)
    return kernel(position.own, position.mask, position.rules.geometry, depth)


def _distinct(position: Position, depth: int, json: bool) -> None:
    from fourlab.kernels.count import distinct

    counts: list[int] = []
    for count in islice(distinct(position.own, position.mask, position.rules.geometry), depth + 1):
        counts.append(count)
        if not json:
            print(f"ply {len(counts) - 1}: {count:,}", flush=True)
    if json:
        print_json({"board": str(position.rules), "start": position.write(), "distinct": counts, "total": sum(counts)})
    else:
        print(f"in all: {sum(counts):,}")
