"""The largest TOML and JSON that is read takes bounded memory and processor time."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fourlab.parsing import (
    MAX_DEPTH,
    MAX_RESULTS_BYTES,
    MAX_TOML_BYTES,
    MAX_TOML_VALUES,
    MAX_VALUES,
)

MEGABYTES = 300
"""Most memory that reading a file may take; docs/security.md promises this."""
SECONDS = 60
"""Processor time for all files together; they take about 10 s."""

READ = """
import resource, sys
from pathlib import Path
from fourlab.errors import UserError
from fourlab.parsing import MAX_RESULTS_BYTES, read_json, read_toml

def peak():
    # Not getrusage, whose figure begins with that of the parent.
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM:")]
    return int(line.split()[1]) // 1024

resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))
read_toml(Path(sys.argv[2])), read_json(Path(sys.argv[3]))
before = peak()
for name in sys.argv[4:]:
    try:
        if name.endswith(".toml"):
            read_toml(Path(name))
        else:
            read_json(Path(name), MAX_RESULTS_BYTES)
        verdict = "read"
    except UserError as error:
        verdict = f"refused: {error}"
    print(peak() - before, verdict)
"""


def json_texts() -> Iterator[str]:
    """Yield JSON texts of the greatest size, with many small values or long ones."""
    for value, weight in (("[]", 2), ("{}", 2), ("1.5", 1), ('"ab"', 1), ('{"a":[]}', 3)):
        count = min(MAX_VALUES // weight, MAX_RESULTS_BYTES // (len(value) + 1)) - 1
        text = f"[{','.join([value] * count)}]"
        yield text + " " * (MAX_RESULTS_BYTES - len(text))
    entries = (f'"{number:x}":{number}' for number in range(MAX_VALUES - 1))
    yield "{" + ",".join(entries) + "}"
    # One wide character makes a text take four bytes per character.
    yield '["' + "a" * (MAX_RESULTS_BYTES - 10) + '\U0001f600"]'
    yield "9" * MAX_RESULTS_BYTES
    yield f"0.{'9' * (MAX_RESULTS_BYTES - 2)}"


def toml_texts() -> Iterator[str]:
    """Yield TOML texts of the greatest size or the greatest number of values."""
    most = MAX_TOML_VALUES
    yield f"x = [{'1,' * (most - 2)}]"
    yield f"x = [{'{},' * (most // 2 - 2)}]"
    yield "[[a]]\n" * (most // 2)
    key = ".".join(["a"] * (MAX_DEPTH - 1))
    yield "\n".join(f"{key}{number} = 1" for number in range(MAX_TOML_BYTES // (len(key) + 11)))
    # Every dot of a header makes a table; the second text has more than are allowed.
    for count in (most, 4 * most):
        headers = (f"[a.{number}.{'.'.join('b' * 26)}]" for number in range(count // 28))
        yield "\n".join(headers)
    yield "x = '''" + "\n" * (MAX_TOML_BYTES - 10) + "'''"
    yield 'x = "' + "\\n" * (MAX_TOML_BYTES // 2 - 6) + '"'
    yield "x = " + "9" * (MAX_TOML_BYTES - 4)
    yield "x = '''" + '"""' * (MAX_TOML_BYTES // 3 - 10)  # without an end
    yield ".".join(["a"] * (MAX_TOML_BYTES // 2))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux reports it")
def test_the_largest_files_take_bounded_memory_and_time(tmp_path: Path) -> None:
    files = []
    for suffix, texts in (("toml", toml_texts()), ("json", json_texts())):
        (tmp_path / f"small.{suffix}").write_text("{}" if suffix == "json" else "")
        for number, text in enumerate(texts):
            files.append(tmp_path / f"{number}.{suffix}")
            files[-1].write_text(text)
    small = [str(tmp_path / "small.toml"), str(tmp_path / "small.json")]
    done = subprocess.run(
        [sys.executable, "-c", READ, str(SECONDS), *small, *map(str, files)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(files)
    assert max(int(line.split()[0]) for line in lines) <= MEGABYTES, done.stdout
    # Most are read: the limits are those of real memory, not of these examples.
    assert sum(line.endswith(" read") for line in lines) >= 10, done.stdout
