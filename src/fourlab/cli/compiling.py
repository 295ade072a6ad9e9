"""Tell the user why the very first run takes a few seconds."""

import logging
import sys
from typing import TextIO


class _CurrentError(logging.StreamHandler[TextIO]):
    """Prints to whatever standard error is now."""

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, stream: TextIO) -> None:
        """Part of the base class; there is nothing to set."""


def announce_compilation() -> None:
    """Print a line to standard error for a kernel that takes long to compile; a warm cache prints nothing."""
    logger = logging.getLogger("fourlab.kernels")
    if not any(isinstance(handler, _CurrentError) for handler in logger.handlers):
        handler = _CurrentError()
        handler.setFormatter(logging.Formatter("fourlab: %(message)s"))
        logger.addHandler(handler)
