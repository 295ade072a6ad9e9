"""Ctrl-C in a command: one line and exit code 130, whatever the command is doing.

`fourlab._command` sets a first handler before anything is imported. While a command starts, that is
until its module is imported and its arguments are parsed, there is
nothing to clean up, and libraries that are being imported may swallow a KeyboardInterrupt or turn
it into another error. So the process simply exits. From then on Ctrl-C raises KeyboardInterrupt,
and commands that work on a job handle it themselves.
"""

import os
import signal
import threading

_starting = False
_received = False


def watch(early_handler: object = None) -> None:
    """Handle Ctrl-C from now on, unless it is ignored or handled already by another handler."""
    global _starting, _received
    _received = False
    is_main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    if is_main_thread and (handler is signal.default_int_handler or handler is early_handler):
        _starting = True
        signal.signal(signal.SIGINT, _on_interrupt)


def started() -> None:
    """Let Ctrl-C raise KeyboardInterrupt: the command begins."""
    global _starting
    _starting = False


def received() -> bool:
    """Return whether Ctrl-C was pressed: an exception may be a consequence of it."""
    return _received


def _on_interrupt(number: int, frame: object) -> None:
    global _received
    _received = True
    if _starting:
        os.write(2, b"fourlab: interrupted\n")  # print is not reentrant in a signal handler
        os._exit(130)
    raise KeyboardInterrupt
