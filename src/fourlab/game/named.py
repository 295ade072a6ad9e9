"""Named positions; a name is accepted wherever a position is.

Add your own from Python with `add`, or for every command in a TOML file of `name = "position"`
lines: the file named by FOURLAB_POSITIONS, or else `fourlab/positions.toml` in XDG_CONFIG_HOME or
`~/.config`.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from fourlab.errors import UserError
from fourlab.parsing import read_toml


@dataclass(frozen=True)
class NamedPosition:
    """A position that has a name."""

    text: str
    """The position, in a notation that includes the board size."""
    about: str
    """One line about its origin."""


def _sewell(figure: str) -> str:
    return f"SeWell, figure {figure}: a board shown with the value network's prediction"


BUILT_IN = {
    "empty": NamedPosition("7/7/7/7/7/7 r 4", "the start of a game on 7x6"),
    # Named after the reports that show them; all are in FEN, top row first.
    "vannucci-abril": NamedPosition(
        "yyyr1r1/yrrr1y1/ryyy1r1/yrrr1y1/rrry1y1/yyry1r1 r 4",
        "Vannucci & Abril: twelve empty cells, red to move; all columns but 5 and 7 are full",
    ),
    "sewell-2l": NamedPosition("3y3/3r3/3y3/3r3/2yy3/2rr3 r 4", _sewell("2 left")),
    "sewell-2r": NamedPosition("7/7/3y3/2rr3/2yy3/2rr2y r 4", _sewell("2 right")),
    "sewell-3l": NamedPosition("7/7/3r3/3y3/3y3/1yrryr1 r 4", _sewell("3 left")),
    "sewell-3r": NamedPosition("7/3r3/3y3/3y3/3y3/1yrr2r r 4", _sewell("3 right")),
    "sewell-4l": NamedPosition("3r3/3r3/3y3/3r3/2yy3/2yr3 r 4", _sewell("4 left")),
    "sewell-4r": NamedPosition("7/3r3/3y3/3r3/1y1y3/1yrr3 r 4", _sewell("4 right")),
}
_added: dict[str, NamedPosition] = {}


def add(name: str, text: str, about: str = "") -> None:
    """Name a position for the rest of this process."""
    _check_name(name)
    if name in BUILT_IN:
        raise UserError(f"the position {name!r} is built in and cannot be replaced")
    _added[name] = NamedPosition(text, about)


def named_positions() -> dict[str, NamedPosition]:
    """Return all named positions: built in, from the user's file, and added."""
    # Later entries win, so neither a file nor `add` replaces a built-in name.
    return {**_from_file(), **_added, **BUILT_IN}


def positions_file() -> Path | None:
    """Return the user's file of named positions, which need not exist."""
    if os.environ.get("FOURLAB_POSITIONS"):
        return Path(os.environ["FOURLAB_POSITIONS"])
    try:
        settings = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    except RuntimeError:  # no home folder
        return None
    return settings / "fourlab" / "positions.toml"


def _from_file() -> dict[str, NamedPosition]:
    file = positions_file()
    if file is None:
        return {}
    # Having no file, or none that may be read, is normal; a file with errors in it is reported.
    if not os.access(file, os.R_OK) or str(file) == os.devnull:
        return {}
    entries = read_toml(file)
    for name, text in entries.items():
        if not isinstance(text, str):
            raise UserError(f"{file}: {name} must be a position in quotes")
        _check_name(name)
    return {name: NamedPosition(text, f"from {file}") for name, text in entries.items()}


def _check_name(name: str) -> None:
    """Refuse a name that also reads as moves in digits or letters, since it would hide them."""
    if not name or any(letter.isspace() or letter in "/[,:" for letter in name):
        raise UserError(f"a position's name has no spaces and none of / [ , : ({name!r})")
    if name.isdigit() or (name.isalpha() and name not in BUILT_IN):
        raise UserError(
            "a position's name needs a hyphen or a digit among its letters, "
            f"or it reads as moves ({name!r})"
        )
