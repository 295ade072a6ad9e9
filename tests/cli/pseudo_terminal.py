"""A command on a pseudo-terminal: type to it, and read what it shows."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """The screen and the keyboard of a running command."""

    def __init__(self, number: int, process: "subprocess.Popen[bytes]") -> None:
        self._number = number
        self.process = process
        self.shown = ""
        """Everything shown so far, with its escape sequences."""

    @property
    def text(self) -> str:
        """What was shown, without escape sequences."""
        return ESCAPES.sub("", self.shown)

    def wait_for(self, text: str, after: int = 0) -> None:
        """Read until a text is shown; `after` is an index into what was shown."""
        while text not in self.text[after:]:
            assert self._read(), f"{text!r} was not shown:\n{self.text}"

    def type(self, keys: str) -> int:
        """Type; return the length of the text shown before."""
        before = len(self.text)
        os.write(self._number, keys.encode())
        return before

    def end(self) -> int:
        """Read to the end; return the exit code."""
        while self._read():
            pass
        return self.process.wait()

    def _read(self) -> bool:
        try:
            data = os.read(self._number, 65536)
        except OSError:  # Linux, when the command has ended
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)


@contextmanager
def on_a_terminal(
    *arguments: str, folder: Path, columns: int = 80, rows: int = 30, **variables: str
) -> Iterator[Terminal]:
    """Run `fourlab` on a pseudo-terminal of a given size."""
    import fcntl
    import pty
    import struct
    import termios

    number, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    left_out = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    with subprocess.Popen(
        [sys.executable, "-m", "fourlab", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
        env={**environment, "TERM": "xterm-256color", **variables},
        start_new_session=True,
        # The terminal becomes the one whose Ctrl-C reaches the command.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    ) as process:
        os.close(terminal)
        try:
            yield Terminal(number, process)
        finally:
            if process.poll() is None:
                process.kill()
            os.close(number)
