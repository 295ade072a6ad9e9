"""Signal handling of the fork server, the only process that imports this module.

A signal to the whole process group is meant for the main process, so the server ignores SIGTERM.
The workers it forks get the default handler back and may install their own.
"""

import os
import signal

# Python's fork server ignores SIGINT itself, and sets SIGINT back in the workers.
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
