"""Text on its way to the terminal: control characters are shown, not obeyed.

Names of agents, messages of engines and everything else that comes from files may contain escape
sequences, which can rewrite the screen, change the window title or imitate our own output. All
output of commands passes here: `print` through streams that `protect` replaces, rich through
`console`.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, without tab and newline
    "\u2028\u2029\u202a-\u202e\u2066-\u2069]"  # separators of lines, directions of writing
)

_RESET = "\x1b[0m"


def visible(text: str) -> str:
    """Return the text with control characters as escapes, which are also valid in JSON."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def one_line(text: object) -> str:
    """Return a text from a file with all control characters as escapes, line breaks and tabs too.

    A name with a line break could imitate a line of ours.
    """
    return visible(str(text)).replace("\n", "\\u000a").replace("\t", "\\u0009")


def in_one_line(data: Any) -> Any:
    """Return JSON data with all texts, names of entries too, as `one_line` shows them."""
    if isinstance(data, str):
        return one_line(data)
    if isinstance(data, Mapping):
        return {in_one_line(name): in_one_line(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [in_one_line(value) for value in data]
    return data


class VisibleStream:
    """A text stream that escapes control characters; otherwise it is the stream it wraps."""

    def __init__(self, stream: IO[str]) -> None:
        self.rich_proxied_file = stream
        """The stream that rich writes to, whose own escape sequences are obeyed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)

    def write(self, text: str) -> int:
        """Write text, escaped; returns the number of characters that were passed."""
        # By itself, the end of all colours does no harm; colorama, if it is installed, writes it at
        # the end of every program that has loaded Numba.
        self.rich_proxied_file.write(text if text == _RESET else visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines, escaped."""
        for line in lines:
            self.write(line)


def protect() -> None:
    """Let `print` escape control characters from now on."""
    if not isinstance(sys.stdout, VisibleStream):
        sys.stdout = VisibleStream(sys.stdout)
    if not isinstance(sys.stderr, VisibleStream):
        sys.stderr = VisibleStream(sys.stderr)


def console(file: IO[str] | None = None, stderr: bool = False, **options: Any) -> "Console":
    """Return a rich console that escapes control characters in the texts it prints.

    Markup, emoji codes and highlighting are off: a text may contain anything in brackets.
    """
    from rich.console import Console

    if file is None:
        # The stream itself: a live display replaces sys.stderr, and rich, which unwraps one stream
        # only, would send its own escape sequences through VisibleStream.
        stream = sys.stderr if stderr else sys.stdout
        file = getattr(stream, "rich_proxied_file", stream)

    class VisibleConsole(Console):
        def print(self, *objects: Any, **how: Any) -> None:
            """Print objects as rich does, texts escaped."""
            shown = [visible(item) if isinstance(item, str) else item for item in objects]
            super().print(*shown, **how)

    return VisibleConsole(
        file=file, stderr=stderr, highlight=False, markup=False, emoji=False, **options
    )


def may_be_terminal(stream: IO[str]) -> bool:
    """Return whether rich might treat the stream as a terminal, without importing rich.

    Like rich, it looks at the stream and at the variables with which users request colours.
    """
    return stream.isatty() or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
