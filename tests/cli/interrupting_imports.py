"""Run the console script of `fourlab` and press Ctrl-C at its Nth import.

    python interrupting_imports.py N raise|signal ARGUMENTS...

With `raise`, the import raises KeyboardInterrupt, as if the signal had come at that moment. The
number of imports that the command makes is printed at its end.
"""

import _signal  # not `signal`, whose own imports would no longer be counted
import sys

CONSOLE_SCRIPT = """
import sys
from fourlab import _command
if __name__ == "__main__":
    sys.exit(_command())
"""
"""As pip and uv write it for the entry point `fourlab:_command`."""


def main() -> None:
    """Watch the imports, then run the script."""
    last, how, *arguments = sys.argv[1:]
    count = 0

    def on_event(event: str, values: tuple[object, ...]) -> None:
        nonlocal count
        if event != "import":
            return
        count += 1
        if count == int(last):
            if how == "raise":
                raise KeyboardInterrupt
            _signal.raise_signal(_signal.SIGINT)

    sys.argv = ["fourlab", *arguments]
    sys.addaudithook(on_event)
    try:
        exec(compile(CONSOLE_SCRIPT, "fourlab", "exec"), {"__name__": "__main__"})
    finally:
        if count < int(last):
            sys.__stdout__.write(f"imports: {count}\n")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
