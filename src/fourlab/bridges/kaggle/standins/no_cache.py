"""Replaces compiled/_cache.py: compiled code is not kept on disk."""

from pathlib import Path

CACHE_FOLDER: Path | None = None


class KernelCache:
    """Not used without a folder."""
