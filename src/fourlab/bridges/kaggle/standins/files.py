"""Replaces shipped.py: the files are text in this module."""

import base64
import zlib

FILES: dict[str, str] = {}
"""Contents by "package/name", compressed with zlib and encoded in base64."""


def read(package: str, name: str) -> bytes | None:
    """Unpack a file; None if there is no such file."""
    packed = FILES.get(f"{package}/{name}")
    return None if packed is None else zlib.decompress(base64.b64decode(packed))


def names(package: str, folder: str) -> list[str]:
    """Return the names of the files in a folder of a package."""
    start = f"{package}/{folder}/"
    return sorted(name.removeprefix(start) for name in FILES if name.startswith(start))
