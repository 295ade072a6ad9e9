"""TOML and JSON that cannot be used are refused in one line."""

import json
from pathlib import Path

import pytest

from fourlab.errors import UserError
from fourlab.parsing import (
    MAX_DEPTH,
    MAX_MANIFEST_BYTES,
    MAX_TOML_VALUES,
    MAX_VALUES,
    parse_json,
    parse_toml,
    read_json,
    read_json_lines,
    read_toml,
)

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "is not JSON: it is nested too deeply"),
        ("[" * 100 + "]" * 100, f"is nested more than {MAX_DEPTH} levels deep"),
        (DIGITS, "is not JSON: a number has too many digits"),
        (str(2**63), "has a whole number beyond 64 bits"),
        ("{", "is not JSON: Expecting property name"),
        (f"[{','.join(['[]'] * MAX_VALUES)}]", "has more than 1,000,000 values"),
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
        # Python's own parser takes time in the square of the length of such a key: hours.
        (".".join(["a"] * 200_000) + " = 1", f"is nested more than {MAX_DEPTH} levels deep"),
        ("x = [{ " + '"a" . ' * 90_000 + "b = 1 }]", f"is nested more than {MAX_DEPTH} levels"),
        (f"x = [{'1,' * MAX_TOML_VALUES}]", "has more than 200,000 values"),
    ],
)
def test_toml_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=f"^FILE {reason}"):
        parse_toml(text, "FILE")


def test_limits_are_allowed() -> None:
    data = {"x": [2**63 - 1, -(2**63), 1.5, True, None, "text"]}
    assert parse_json(json.dumps(data), "FILE") == data
    parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "FILE")


def test_dots_in_texts_and_comments_are_no_keys() -> None:
    dots = "a." * 100
    lines = [
        f"# {dots}",
        f'x = "{dots}\\" {dots}" # {dots}',
        f"'{dots}' = '''\n{dots}' '''",
        f'y = """{dots}" \\" \n{dots}"""',
        f'z = [0.1, 1.5, "{dots}", 1979-05-27T07:32:00.5]',
    ]
    text = "\n".join(lines)
    assert set(parse_toml(text, "FILE")) == {"x", "y", "z", dots}
    with pytest.raises(UserError, match="levels deep"):
        parse_toml(f"{text}\n{dots}a = 1", "FILE")


def test_lines_of_json(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert read_json_lines(file, 100) == []
    file.write_text('{"a": 1}\n{"a": 2}\n{"a":')
    assert read_json_lines(file, 100) == [{"a": 1}, {"a": 2}]
    for text in ("1\n", "[]\n", "{\n", "\n\n", '{"a": 1}], [{}\n', "x" * 101):
        file.write_text(text)
        with pytest.raises(UserError, match=str(file)):
            read_json_lines(file, 100)


def test_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x = '\xff'")
    with pytest.raises(UserError, match="is not TOML: 'utf-8' codec can't decode byte 0xff"):
        read_toml(file)
    with pytest.raises(UserError, match="is not JSON: 'utf-8' codec"):
        read_json(file)
    with file.open("wb") as stream:
        stream.truncate(MAX_MANIFEST_BYTES + 1)
    with pytest.raises(UserError, match="has more than 8,388,608 bytes"):
        read_json(file)
    with pytest.raises(UserError, match="has more than 2,097,152 bytes"):
        read_toml(file)
    with pytest.raises(UserError, match="is not a file"):
        read_toml(tmp_path)
    with pytest.raises(UserError, match=r"^cannot read .*: No such file"):
        read_toml(tmp_path / "none")
    with pytest.raises(UserError, match="embedded null"):
        read_toml(Path("a\0b"))
