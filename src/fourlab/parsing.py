"""TOML and JSON from anybody: what cannot be read is one UserError, whatever is wrong with it.

Besides the syntax, size, depth and numbers are bounded. Deep nesting exhausts Python's stack, here
or later; Python refuses to convert numbers of thousands of digits from and to text; SQLite and
compiled code take 64 bits. The number of values is counted before they are made, since three bytes
of JSON can become a hundred bytes of memory.
"""

import json
import re
from pathlib import Path
from typing import Any

from fourlab.errors import UserError
from fourlab.files import read_bounded

MEGABYTE = 1024 * 1024
# The largest files that are read, by kind. With these limits, reading a file takes at most 300 MB,
# and reading stored work at most MAX_WORK_VALUES / MAX_VALUES times as much.
MAX_TOML_BYTES = 2 * MEGABYTE
"""Tournaments, settings and the configurations of runs."""
MAX_MANIFEST_BYTES = 4 * MAX_TOML_BYTES
"""A manifest has its run's configuration, too, up to three times as long as in TOML."""
MAX_RESULTS_BYTES = 24 * MEGABYTE
"""Results of a run; those of a match list up to 140,000 mistakes."""
MAX_METRICS_BYTES = 24 * MEGABYTE
"""Metrics of a training, one JSON object per line."""
MAX_SEAL_BYTES = 16 * MEGABYTE
MAX_POSITIONS_BYTES = 16 * MEGABYTE
"""Files of positions, one per line."""
MAX_VALUES = 1_000_000
"""Most tables, lists and values in a JSON text."""
MAX_WORK_BYTES = 64 * MEGABYTE
"""Stored work of a study, which is read when the study is resumed."""
MAX_WORK_VALUES = 6_000_000
"""The same in stored work: 150,000 searches of seven columns have 3.3 million."""
MAX_TOML_VALUES = 200_000
"""The same in a TOML text, whose parser is slower: this many take seconds."""
MAX_DESCRIPTION_BYTES = 256 * 1024
"""Most bytes of the description inside a binary file."""
MAX_DEPTH = 32
"""Most levels of tables and lists inside each other; our own files have up to six."""
LEAST = -(2**63)
MOST = 2**63 - 1
"""The range of whole numbers, as TOML's standard has it."""
# Strings and comments of TOML, in the order in which they must be tried.
_TOML_TEXTS = re.compile(
    r""""{3}(?:[^"\\]++|\\.|"(?!""))*+"{3,5}|'{3}(?:[^']++|'(?!''))*+'{3,5}"""
    r"""|"(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+'|#[^\n]*+""",
    re.DOTALL,
)
# Python's parser takes time in the square of the length of a dotted key.
_LONG_KEY = re.compile(rf"(?:\.[ \t\w-]*){{{MAX_DEPTH}}}")


def read_toml(file: Path) -> dict[str, Any]:
    """Return the contents of a TOML file."""
    return parse_toml(_text_of(file, "TOML", MAX_TOML_BYTES), file)


def parse_toml(text: str, source: object) -> dict[str, Any]:
    """Return the contents of a TOML text; `source` is the subject of error messages."""
    import tomllib  # deferred: most commands read no TOML

    if sum(map(text.count, ",=[{")) > MAX_TOML_VALUES:
        raise UserError(f"{source} has more than {MAX_TOML_VALUES:,} values")
    bare = _TOML_TEXTS.sub("s", text)
    # A dotted key or header makes a table for every dot.
    if bare.count(".") > MAX_TOML_VALUES:
        raise UserError(f"{source} has more than {MAX_TOML_VALUES:,} values")
    if _LONG_KEY.search(bare):
        raise UserError(f"{source} is nested more than {MAX_DEPTH} levels deep")
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{source} is not TOML: {_reason(error)}") from None
    _check(data, source)
    return data


def read_json(file: Path, max_bytes: int = MAX_MANIFEST_BYTES, max_values: int = MAX_VALUES) -> Any:
    """Return the contents of a JSON file."""
    return parse_json(_text_of(file, "JSON", max_bytes), file, max_values)


def parse_json(text: str, source: object, max_values: int = MAX_VALUES) -> Any:
    """Return the contents of a JSON text; `source` is the subject of error messages."""
    if sum(map(text.count, ",[{")) > max_values:
        raise UserError(f"{source} has more than {max_values:,} values")
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


def read_json_lines(file: Path, max_bytes: int) -> list[dict[str, Any]]:
    """Return the objects of a file with one JSON object per line; none if there is no such file.

    What follows the last newline is left out: a crash may have cut it short.
    """
    if not file.exists():
        return []
    lines = _text_of(file, "JSON", max_bytes).split("\n")[:-1]
    # As one list, so that the bounds are those of the whole file.
    rows: list[dict[str, Any]] = parse_json(f"[{','.join(lines)}]", file)
    if not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{file} is not a file of JSON objects")
    return rows


def _text_of(file: Path, form: str, max_bytes: int) -> str:
    try:
        return read_bounded(file, max_bytes).decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not {form}: {error}") from None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


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
