"""Where the pattern networks that come with Fourlab are; imports no compiler."""

from functools import cache

from fourlab import shipped

PACKAGE, FOLDER = "fourlab.nets", "weights"
PREFIX, SUFFIX = "patterns-", ".npz"
"""Shipped patterns are called patterns-7x6x4.npz, in this folder of this package."""


@cache  # reading a folder takes a part of a millisecond that a move may have
def shipped_boards() -> tuple[str, ...]:
    """Return the boards for which patterns come with Fourlab."""
    boards = (
        name.removeprefix(PREFIX).removesuffix(SUFFIX)
        for name in shipped.names(PACKAGE, FOLDER)
        if name.startswith(PREFIX) and name.endswith(SUFFIX)
    )
    return tuple(sorted(boards))


def shipped_file(board: str) -> str:
    """Return where the shipped patterns of a board are in PACKAGE."""
    return f"{FOLDER}/{PREFIX}{board}{SUFFIX}"
