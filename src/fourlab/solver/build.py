"""Building a book: solve every position of the last ply, then reason back to the empty board."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from fourlab.compiled.counting import children, goes_on
from fourlab.compiled.threats import winning_cells
from fourlab.errors import UserError
from fourlab.game import bitboard as bit_rules
from fourlab.game.geometry import Geometry
from fourlab.game.rules import Rules
from fourlab.solver.book import Book
from fourlab.solver.many import Told, journal_of, score, solve_all


def build_book(file: Path, rules: Rules, plies: int, workers: int = 1, told: Told = lambda done, total: None) -> Book:
    """Build and save a book."""
    levels = list(islice(unfinished_positions(rules), plies + 1))
    if len(levels) <= plies:
        raise UserError(f"no game on {rules} lasts {plies} plies without an end")
    last = levels[-1]
    journal = journal_of(file)
    scores = solve_all(last, rules, score, journal, {"board": str(rules), "plies": plies}, workers, told)
    books = [scores]
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        books.append(_back_up(level, below, books[-1], rules.geometry))
    keys, values = np.concatenate(levels[::-1]), np.concatenate(books)
    order = np.argsort(keys)
    book = Book(rules, plies, keys[order], values[order])
    book.save(file)
    journal.unlink(missing_ok=True)
    return book


def unfinished_positions(rules: Rules) -> Iterator[np.ndarray]:
    """Yield the sorted canonical keys of the positions after 0, 1, 2, … discs in which the game goes on."""
    g = rules.geometry
    keys = np.array([bit_rules.key(0, 0, g)], np.int64)
    for _ in range(g.columns * g.rows):  # a full board is the end
        if not len(keys):
            return
        yield keys
        keys = np.unique(canonical(children(keys, g), g))
        keys = keys[goes_on(keys, g)]


def canonical(keys: np.ndarray, g: Geometry) -> np.ndarray:
    """The smaller key of each position and its mirror image."""
    return np.minimum(keys, bit_rules.mirror(keys, g))  # type: ignore[arg-type]  # shifts work on whole arrays too


def _back_up(keys: np.ndarray, below: np.ndarray, scores: np.ndarray, g: Geometry) -> np.ndarray:
    """The scores of one ply's positions from those of the next."""
    found = np.empty(len(keys), np.int8)
    for i, key in enumerate(keys):
        own, mask = bit_rules.from_key(int(key), g)
        left = g.columns * g.rows - mask.bit_count()
        if winning_cells(own, mask, g) & bit_rules.landings(mask, g):
            found[i] = (left + 1) // 2
            continue
        after = canonical(children(keys[i : i + 1], g), g)
        found[i] = -scores[np.searchsorted(below, after)].min() if left > 1 else 0
    return found
