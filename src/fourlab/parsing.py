"""TOML and JSON from anybody: what cannot be read is one UserError, whatever is wrong with it.

Besides the syntax, size, depth and numbers are bounded. Deep nesting exhausts Python's stack, here
or later; Python refuses to convert numbers of thousands of digits from and to text; SQLite and
compiled code take 64 bits.
"""

import json
from pathlib import Path
from typing import Any

from fourlab.errors import UserError

MAX_BYTES = 64 * 1024 * 1024
MAX_DESCRIPTION_BYTES = 256 * 1024
"""Most bytes of the description inside a binary file."""
MAX_DEPTH = 32
"""Most levels of tables and lists inside each other; our own files have up to six."""
LEAST = -(2**63)
MOST = 2**63 - 1
"""The range of whole numbers, as TOML's standard has it."""


def read_toml(file: Path) -> dict[str, Any]:
    """Return the contents of a TOML file."""
    return parse_toml(_text_of(file, "TOML"), file)


def parse_toml(text: str, source: object) -> dict[str, Any]:
    """Return the contents of a TOML text; `source` is the subject of error messages."""
    import tomllib  # deferred: most commands read no TOML

    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{source} is not TOML: {_reason(error)}") from None
    _check(data, source)
    return data


def read_json(file: Path) -> Any:
    """Return the contents of a JSON file."""
    return parse_json(_text_of(file, "JSON"), file)


def parse_json(text: str, source: object) -> Any:
    """Return the contents of a JSON text; `source` is the subject of error messages."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{source} is not JSON: {_reason(error)}") from None
    _check(data, source)
    return data


def parse_description(data: bytes, max_bytes: int = MAX_DESCRIPTION_BYTES) -> dict[str, Any]:
    """Return the JSON object that describes a binary file.

    Raises ValueError, since the caller knows the file. Numbers may be large: the states of random
    generators have 128 bits.
    """
    if len(data) > max_bytes:
        raise ValueError(f"its description has more than {max_bytes:,} bytes")
    try:
        content = json.loads(data)
        _check_depth(content, "its description")
    except (RecursionError, UserError):
        raise ValueError("its description is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("its description is not an object")
    return content


def _text_of(file: Path, form: str) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UserError(f"{file} has more than {MAX_BYTES:,} bytes")
        return data.decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not {form}: {error}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    except ValueError as error:  # a null character in the path
        raise UserError(f"cannot read {str(file)!r}: {error}") from None


def _check(data: Any, source: object) -> None:
    """Raise UserError if data are nested too deeply or have a number beyond 64 bits."""
    for value in _check_depth(data, source):
        if isinstance(value, int) and not LEAST <= value <= MOST:
            raise UserError(f"{source} has a whole number beyond 64 bits")


def _check_depth(data: Any, source: object) -> list[Any]:
    """Return all values that are neither tables nor lists; raise UserError if one is too deep."""
    values: list[Any] = []
    level = [data]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += value.values()
            elif isinstance(value, list):
                below += value
            else:
                values.append(value)
        level = below
    if level:
        raise UserError(f"{source} is nested more than {MAX_DEPTH} levels deep")
    return values


def _reason(error: Exception) -> str:
    """Return what is wrong, in words for users."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if "int string conversion" in str(error) or "integer string conversion" in str(error):
        return "a number has too many digits"
    return str(error)
