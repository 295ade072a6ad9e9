"""Files of positions, one per line, optionally with a score as in Pascal Pons's test sets."""

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fourlab.errors import UserError
from fourlab.files import read_bounded
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.parsing import MAX_POSITIONS_BYTES

# Pons's files have moves from 1, a space and the score.
_WITH_SCORE = re.compile(r"(\d+)\s+([+-]?\d{1,9})")

MAX_LINE = 1000
"""Most characters of a position; on the largest board they are a few hundred."""


@dataclass(frozen=True)
class Line:
    """One position of a file."""

    text: str
    """The position as written, without the score."""
    position: Position
    score: int | None
    """The score in the file, for the side to move and on Pons's scale; None if there is none."""


def read_position_file(
    file: Path, board: str | Rules | None = None, check_counts: bool = True
) -> Iterator[Line]:
    """Yield the positions of a file."""
    try:
        data = read_bounded(file, MAX_POSITIONS_BYTES)
        data.decode()
    except (OSError, UnicodeDecodeError) as error:
        # An OSError's own text would repeat the file name; a UnicodeDecodeError has no strerror.
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"cannot read {file}: {reason}") from None
    # Line by line: a list of millions of short lines would take far more memory than the file.
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
    return read_positions(lines, str(file), board, check_counts)


def read_positions(
    lines: Iterable[str], name: str, board: str | Rules | None = None, check_counts: bool = True
) -> Iterator[Line]:
    """Yield the positions of lines, in any one-line notation.

    Empty lines and lines that start with # are skipped. Errors state `name` and the line number.
    """
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if len(text) > MAX_LINE:
            raise UserError(f"{name}, line {number}: it has more than {MAX_LINE:,} characters")
        score = None
        if match := _WITH_SCORE.fullmatch(text):
            text = match[1]
            score = int(match[2])
        try:
            yield Line(text, Position(text, board, check_counts=check_counts), score)
        except UserError as error:
            raise UserError(f"{name}, line {number}: {error}") from None
