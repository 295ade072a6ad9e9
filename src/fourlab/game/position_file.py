"""Files of positions, one a line, perhaps with a known score as in Pascal Pons's test sets."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules

_WITH_SCORE = re.compile(r"(\d+)\s+([+-]?\d+)")


@dataclass(frozen=True)
class Line:
    """One position of a file."""

    text: str
    """As it was written, without the score."""
    position: Position
    score: int | None
    """What the file says the position is worth to the side to move, Pons's scale."""


def read_position_file(file: Path, board: str | Rules | None = None, check_counts: bool = True) -> Iterator[Line]:
    """Read the positions of a file."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
    return read_positions(lines, str(file), board, check_counts)


def read_positions(
    lines: Iterable[str], name: str, board: str | Rules | None = None, check_counts: bool = True
) -> Iterator[Line]:
    """Read positions one by one, in any notation of one line; empty lines and those beginning with # are passed over.

    An error tells the file and the line.
    """
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _WITH_SCORE.fullmatch(text)
        text, score = (match[1], int(match[2])) if match else (text, None)
        try:
            yield Line(text, Position(text, board, check_counts=check_counts), score)
        except UserError as error:
            raise UserError(f"{name}, line {number}: {error}") from None
