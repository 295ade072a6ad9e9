"""Whether a browser can be opened on this machine."""

import os
import sys


def has_display() -> bool:
    """Return whether a browser has a screen; one that draws in the terminal is not meant."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
