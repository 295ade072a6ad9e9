"""Damaged entries of the cache of compiled code are compiled again."""

import hashlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab.compiled import _cache, _jit


def misses(folder: Path) -> int:
    """Call a tiny kernel with its cache in a folder; return how often it was compiled."""

    def double(x: int) -> int:
        return 2 * x

    compiled = _jit.Kernel(double, inlined=False)
    compiled._cache = _cache.KernelCache(double, folder)
    assert compiled(21) == 42
    return sum(compiled.stats.cache_misses.values())


def with_checksum(file: Path, data: bytes) -> bytes:
    """Return an entry that has a correct checksum, whatever its contents."""
    return hashlib.sha256(file.name.encode() + b"\0" + data).digest() + data


class Exploding:
    """An object whose unpickling fails."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return int, ("not a number",)


@pytest.mark.parametrize(
    "damage",
    [
        lambda file, data: b"",
        lambda file, data: data[:-1],
        lambda file, data: b"x" + data[1:],
        # An entry of another kernel.
        lambda file, data: with_checksum(file.with_name("another.kernel"), data[32:]),
        lambda file, data: with_checksum(file, b""),
        lambda file, data: with_checksum(file, b"not a pickle"),
        lambda file, data: with_checksum(file, data[32:-100]),
        lambda file, data: with_checksum(file, pickle.dumps(None)),
        lambda file, data: with_checksum(file, pickle.dumps(("too", "few"))),
        lambda file, data: with_checksum(file, pickle.dumps(tuple("0123456789"))),
        lambda file, data: with_checksum(file, pickle.dumps(Exploding())),
    ],
)
def test_a_damaged_entry_is_compiled_again(
    damage: Callable[[Path, bytes], bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert misses(tmp_path) == 1
    (file,) = tmp_path.glob("*.kernel")
    file.write_bytes(damage(file, file.read_bytes()))
    assert_compiled_again(file, caplog)


@pytest.mark.parametrize(
    "make",
    [
        Path.mkdir,
        lambda file: file.touch() or os.truncate(file, 2 << 40),
        pytest.param(
            lambda file: os.mkfifo(file),
            marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names"),
        ),
    ],
)
def test_what_is_no_entry_is_removed(
    make: Callable[[Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert misses(tmp_path) == 1
    (file,) = tmp_path.glob("*.kernel")
    file.unlink()
    make(file)
    assert_compiled_again(file, caplog)


def assert_compiled_again(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Check that a damaged entry is announced and replaced."""
    assert misses(file.parent) == 1
    # A busy machine may also announce that the compilation takes long.
    (message,) = (text for text in caplog.messages if "damaged" in text)
    assert f"compiling again, since {file} is damaged" in message
    assert "\n" not in message
    assert misses(file.parent) == 0
    assert sum("damaged" in text for text in caplog.messages) == 1
