"""Imported by the fork server and nobody else."""

import signal

# A signal to the whole process group is for the main process; workers have their own handlers.
signal.signal(signal.SIGTERM, signal.SIG_IGN)
