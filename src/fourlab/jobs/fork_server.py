"""Imported by the fork server and nobody else.

A signal to the whole process group is for the main process, so the server itself ignores SIGTERM.
The processes it forks do not: they have the usual handler, or set their own.
"""

import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
