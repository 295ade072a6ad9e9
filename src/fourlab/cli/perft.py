"""`fourlab perft`: count the game tree, the classic test of a move generator."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import typer

from fourlab.cli.options import (
    AnyCountsOption,
    BoardOption,
    JsonOption,
    StartOption,
    print_json,
    progress,
    unfinished_position,
)
from fourlab.game.position import Position

CHUNK_LEAVES = 4e7
"""Maximum number of leaves to count in one call, about 50 ms.

Compiled code cannot be interrupted, so deep counts are split into calls of at most this size.
"""


def perft(
    depth: Annotated[int, typer.Argument(min=0, help="Number of discs to play.")],
    board: BoardOption = None,
    start: StartOption = "",
    any_counts: AnyCountsOption = False,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Count distinct positions at every ply instead.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Count the move sequences of a given length.

    Counts the ways to play exactly DEPTH discs, by first column; finished games are not continued.
    With --distinct, counts the different positions after 0, 1, …, DEPTH discs.

    Example: fourlab perft 8
    """
    position = unfinished_position(start, board, any_counts)
    if distinct:
        _distinct(position, depth, json)
    else:
        _divide(position, depth, json)


def _divide(position: Position, depth: int, json: bool) -> None:
    """Print the number of sequences by first column, and their sum."""
    started = time.perf_counter()
    # No sequence is longer than the board has empty cells, and one sequence has no disc.
    counts = dict.fromkeys(position.legal_columns() if depth else (), 0)
    if depth <= _empty_cells(position):
        # Two plies of the tree are enough steps for the progress bar.
        subtrees = [
            (column, child, remaining)
            for column in counts
            for child, remaining in _children(position.play(column), depth - 1)
        ]
        for column, child, remaining in progress(subtrees, "counting"):
            counts[column] += _count(child, remaining)
    total = sum(counts.values()) if depth else 1
    seconds = time.perf_counter() - started
    by_column = {str(column + 1): count for column, count in counts.items()}
    if json:
        print_json(
            {
                "board": str(position.rules),
                "start": position.write(),
                "depth": depth,
                "count": total,
                "by_column": by_column,
                "seconds": round(seconds, 3),
            }
        )
        return
    for name, count in by_column.items():
        print(f"column {name}: {count:,}")
    print(f"perft {depth}: {total:,}  ({seconds:.2f} s)")


def _empty_cells(position: Position) -> int:
    return position.rules.columns * position.rules.rows - position.ply


def _children(position: Position, depth: int) -> Iterator[tuple[Position, int]]:
    """Yield the positions after one more disc, with the remaining depth.

    A finished game, or a leaf, yields itself.
    """
    if depth < 1 or position.outcome() is not None:
        yield position, depth
        return
    for column in position.legal_columns():
        yield position.play(column), depth - 1


def _count(position: Position, depth: int) -> int:
    """Count one subtree, in calls small enough for Ctrl-C to act between them."""
    from fourlab.compiled.counting import perft as kernel

    if position.outcome() is not None:
        return int(depth == 0)
    # The number of leaves is at most columns ** depth; one column has one sequence at any depth.
    columns = position.rules.columns
    if columns == 1 or columns**depth <= CHUNK_LEAVES:
        return kernel(position.own, position.mask, position.rules.geometry, depth)
    return sum(_count(position.play(column), depth - 1) for column in position.legal_columns())


def _distinct(position: Position, depth: int, json: bool) -> None:
    """Print the number of distinct positions at every ply as it is counted, and their sum."""
    from fourlab.compiled.counting import distinct

    by_ply = distinct(position.own, position.mask, position.rules.geometry)
    last = min(depth, _empty_cells(position))
    counts: list[int] = []
    for ply, count in enumerate(islice(by_ply, last + 1)):
        counts.append(count)
        if not json:
            print(f"ply {ply}: {count:,}", flush=True)
    if json:
        print_json(
            {
                "board": str(position.rules),
                "start": position.write(),
                "distinct": counts,
                "total": sum(counts),
            }
        )
    else:
        print(f"in all: {sum(counts):,}")
