"""Files that come with the package."""

from importlib.resources import files


def read(package: str, name: str) -> bytes | None:
    """Return the contents of a file in a package; None if this copy does not have it."""
    file = files(package) / name
    return file.read_bytes() if file.is_file() else None


def is_there(package: str, name: str) -> bool:
    """Return whether this copy of a package has a file."""
    return (files(package) / name).is_file()


def names(package: str, folder: str) -> list[str]:
    """Return the names of the files in a folder of a package."""
    return sorted(file.name for file in (files(package) / folder).iterdir())
