"""Tell the user why the very first run takes a few seconds."""

import sys
from typing import Any


def announce_compilation() -> None:
    """Print one line to standard error if a kernel has to be compiled; a warm cache prints nothing."""
    from numba.core import event

    class Once(event.Listener):  # type: ignore[misc]
        told = False

        def on_start(self, happened: Any) -> None:
            if not self.told:
                self.told = True
                print("fourlab: compiling for this machine, once; `fourlab warmup` does it all in advance …", file=sys.stderr)

        def on_end(self, happened: Any) -> None:
            """Nothing to say."""

    event.register("numba:compile", Once())
