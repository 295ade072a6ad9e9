"""TOML and JSON that cannot be used are refused in one line."""

import json
from pathlib import Path

import pytest

from fourlab.errors import UserError
from fourlab.parsing import MAX_BYTES, MAX_DEPTH, parse_json, parse_toml, read_json, read_toml

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "is not JSON: it is nested too deeply"),
        ("[" * 100 + "]" * 100, f"is nested more than {MAX_DEPTH} levels deep"),
        (DIGITS, "is not JSON: a number has too many digits"),
        (str(2**63), "has a whole number beyond 64 bits"),
        ("{", "is not JSON: Expecting property name"),
    ],
)
def test_json_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=f"^FILE {reason}"):
        parse_json(text, "FILE")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = " + "[" * 5000 + "]" * 5000, "is not TOML: it is nested too deeply"),
        ("x = " + "{a=" * 5000, "is not TOML: it is nested too deeply"),
        ("x = " + "[" * 100 + "]" * 100, f"is nested more than {MAX_DEPTH} levels deep"),
        (f"x = {DIGITS}", "is not TOML: a number has too many digits"),
        ("x = 0x" + "f" * 5000, "has a whole number beyond 64 bits"),
        ("x = -9223372036854775809", "has a whole number beyond 64 bits"),
        ("x =", "is not TOML: Invalid value"),
    ],
)
def test_toml_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=f"^FILE {reason}"):
        parse_toml(text, "FILE")


def test_limits_are_allowed() -> None:
    data = {"x": [2**63 - 1, -(2**63), 1.5, True, None, "text"]}
    assert parse_json(json.dumps(data), "FILE") == data
    parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "FILE")


def test_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x = '\xff'")
    with pytest.raises(UserError, match="is not TOML: 'utf-8' codec can't decode byte 0xff"):
        read_toml(file)
    with pytest.raises(UserError, match="is not JSON: 'utf-8' codec"):
        read_json(file)
    with file.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(UserError, match="has more than 67,108,864 bytes"):
        read_json(file)
    with pytest.raises(UserError, match=r"^cannot read .*: Is a directory"):
        read_toml(tmp_path)
    with pytest.raises(UserError, match="embedded null"):
        read_toml(Path("a\0b"))
