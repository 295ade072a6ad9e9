"""The opening for submissions: what to play in every position that can come about, by the book of exact results."""

import base64
import zlib

from fourlab.game.position import Position
from fourlab.solver import centre_first
from fourlab.solver.book import Book

WON = 99
"""More than any score."""


def opening_of(book: Book) -> dict[int, int]:
    """The most central best column, by the key, of every position of the book that can come about if one side plays so.

    The column's worth must be in the book too, so the last ply is missing.
    """
    found: dict[int, int] = {}
    ours, theirs = [Position(board=book.rules)], [Position(board=book.rules)]  # with us, and with the other side, to move
    for _ in range(book.plies):
        answers = [position.play(found.setdefault(position.key, _best(position, book))) for position in ours]
        ours, theirs = _all_replies(theirs), answers
    return found


def pack(opening: dict[int, int]) -> str:
    """An opening as `templates/perfect.py` reads it."""
    words = " ".join(f"{key:x}{column}" for key, column in sorted(opening.items()))
    return base64.b64encode(zlib.compress(words.encode(), 9)).decode()


def _best(position: Position, book: Book) -> int:
    def worth(column: int) -> int:
        after = position.play(column)
        score = book.score(after)
        return WON if score is None else -score  # only finished games are not in the book

    return max(centre_first(position), key=worth)


def _all_replies(positions: list[Position]) -> list[Position]:
    after = {position.play(column) for position in positions for column in position.legal_columns()}
    return [position for position in after if position.outcome() is None]
