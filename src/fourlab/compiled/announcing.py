"""Announce slow compilations: the first run of a kernel takes a few seconds."""

import logging
import sys
from typing import TextIO


class _CurrentStderr(logging.StreamHandler[TextIO]):
    """A handler that looks up `sys.stderr` for every record, since tests replace it."""

    @property
    def stream(self) -> TextIO:
        return sys.stderr

    @stream.setter
    def stream(self, stream: TextIO) -> None:
        """Ignore the stream that the base class sets."""


def announce_compilation() -> None:
    """Print a line to standard error for every kernel that is slow to compile.

    Kernels that come from the cache print nothing.
    """
    logger = logging.getLogger("fourlab.kernels")
    if not any(isinstance(handler, _CurrentStderr) for handler in logger.handlers):
        handler = _CurrentStderr()
        handler.setFormatter(logging.Formatter("fourlab: %(message)s"))
        logger.addHandler(handler)
