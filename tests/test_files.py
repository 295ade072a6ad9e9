"""Files are on the disk before they get their names."""

import os
from pathlib import Path

import pytest

from fourlab.files import write_atomically


def test_contents_are_on_the_disk_before_a_file_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []
    replace = os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: calls.append(os.fstat(handle).st_size))
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append("renamed"), replace(*names)))
    write_atomically(tmp_path / "file", b"12345")
    assert calls == [5, "renamed"]
    assert (tmp_path / "file").read_bytes() == b"12345"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
