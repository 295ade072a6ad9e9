"""Files from strangers are refused in one line, at once and with little memory."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fourlab.agents.q.table import QTable
from fourlab.agents.q.text import read_text
from fourlab.datasets import labels
from fourlab.errors import UserError
from fourlab.nets.evaluator import load
from fourlab.solver.book import Book
from tests.conftest import ROOT, Result
from tests.promises import Report
from tests.safety.crafted_files import crafted_descriptions, crafted_files
from tests.safety.crafted_nets import crafted_nets
from tests.safety.good_files import Files, description_of, good_files, mutations

MAX_EXTRA_BYTES = 100_000_000
"""Memory that loading may take above twice the size of the file and the idle process."""
MAX_SECONDS = 5.0
CRAFTED = 1000
"""There are more crafted files than this."""
MUTATIONS = 2000
SOAK_MUTATIONS = 20_000


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return good_files(tmp_path_factory.mktemp("good"))


def load_all(folder: Path, files: Iterator[tuple[str, bytes]] | Files) -> list[dict[str, Any]]:
    """Write files to a folder, and load them in another process; returns a row for every file."""
    for name, data in files.items() if isinstance(files, dict) else files:
        (folder / name).write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-m", "tests.safety.loader", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    # A crash, or the limit of processor time, ends the process at the file that comes next.
    assert done.returncode == 0, f"{done.stderr[-2000:]} after {rows[-1:]}"
    assert {row["file"] for row in rows} == {
        file.name for file in folder.iterdir() if file.suffix != ".json"
    }
    return rows


def assert_harmless(rows: list[dict[str, Any]]) -> None:
    """Check that files were accepted or refused in one line, with little memory."""
    for row in rows:
        if row["outcome"]:
            stem = row["file"].partition(".")[0]
            assert row["outcome"].startswith("refused: "), row
            assert stem in row["outcome"], row
            assert "\n" not in row["outcome"], row
        assert row["memory"] <= 2 * row["bytes"] + MAX_EXTRA_BYTES, row


def crafted(good: Files) -> Iterator[tuple[str, bytes]]:
    """Yield crafted files by name, and the good ones, which loaders must accept."""
    yield from good.items()
    for number, data in enumerate(crafted_nets(good["net-good.onnx"], good["net-good8.onnx"])):
        yield f"net-{number}.onnx", data
    for number, (name, data) in enumerate(crafted_files(good)):
        kind, _, suffix = name.partition(".")
        yield f"{kind}-{number}.{suffix}", data
        if kind in ("weights", "kaggle"):
            yield f"{kind}-{number}.json", description_of(data)
    for number, text in enumerate(crafted_descriptions()):
        for kind in ("weights", "kaggle"):
            yield f"{kind}-text{number}.safetensors", good["weights-good.safetensors"]
            yield f"{kind}-text{number}.json", text


@pytest.fixture(scope="module")
def rows(good: Files, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Rows of crafted, mutated and good files, from one process, which imports torch once."""
    mutated = mutations(good, MUTATIONS, seed=1)
    files = {**dict(crafted(good)), **dict(mutated)}
    return load_all(tmp_path_factory.mktemp("files"), files)


def is_mutated(row: dict[str, Any]) -> bool:
    """Return whether a file is one of `mutations`, whose names have two numbers."""
    return row["file"].count("-") == 2


def test_crafted_files_are_refused(good: Files, rows: list[dict[str, Any]]) -> None:
    rows = [row for row in rows if not is_mutated(row)]
    assert len(rows) > CRAFTED + len(good)
    accepted = {row["file"] for row in rows if not row["outcome"]}
    assert accepted == {name for name in good if not name.endswith(".json")}
    assert_harmless(rows)


def test_mutated_files_are_harmless(rows: list[dict[str, Any]]) -> None:
    rows = [row for row in rows if is_mutated(row)]
    assert len(rows) == MUTATIONS
    assert_harmless(rows)
    # The deeper checks are reached: many files with a correct checksum are refused by them.
    refused = [row["outcome"] for row in rows if row["outcome"]]
    assert len(refused) > MUTATIONS / 2
    assert sum("checksum" not in outcome for outcome in refused) > MUTATIONS / 2


@pytest.mark.soak
def test_files_from_strangers_are_refused_within_five_seconds(
    good: Files, tmp_path: Path, figure: Report
) -> None:
    rows = []
    for seed in range(SOAK_MUTATIONS // MUTATIONS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        files = dict(mutations(good, MUTATIONS, seed=100 + seed))
        rows += load_all(folder, {**good, **files})
    (tmp_path / "crafted").mkdir()
    rows += load_all(tmp_path / "crafted", crafted(good))
    assert_harmless(rows)
    figure("slowest file", max(row["seconds"] for row in rows), MAX_SECONDS, "s")
    worst = max(row["memory"] - 2 * row["bytes"] for row in rows)
    figure("memory above twice the size", worst / 1e6, MAX_EXTRA_BYTES / 1e6, "MB")


# --- links and devices --------------------------------------------------------------------------

READERS: dict[str, Callable[[Path], Any]] = {
    "net.onnx": lambda file: load(str(file)),
    "book.npz": Book.load,
    "data.npz": labels.load,
    "data.gz": labels.load,
    "table.q": QTable.load,
    "text.gz": read_text,
}


@pytest.mark.parametrize("name", READERS)
def test_devices_pipes_and_folders_are_refused(name: str, tmp_path: Path) -> None:
    """A pipe without a writer would block, and /dev/zero has no end."""
    file = tmp_path / name
    os.mkfifo(file)
    for place in (file, tmp_path):
        if place is tmp_path:
            file.unlink()
            file.mkdir()
        with pytest.raises(UserError, match="is not a file"):
            READERS[name](file)
    file.rmdir()
    file.symlink_to("/dev/zero")
    with pytest.raises(UserError, match="is not a file"):
        READERS[name](file)


def test_a_file_that_the_user_names_may_be_a_link(good: Files, tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(good["book-good.npz"])
    (tmp_path / "b.npz").symlink_to("a.npz")
    assert len(Book.load(tmp_path / "b.npz")) == len(Book.load(tmp_path / "a.npz"))


def test_commands_refuse_a_crafted_file_with_exit_code_2(
    fourlab: Callable[..., Result], good: Files, tmp_path: Path
) -> None:
    (tmp_path / "bad.onnx").write_bytes(good["net-good.onnx"][:-1])
    (tmp_path / "bad.q").write_bytes(good["table-good.q"][:-1])
    for arguments in (
        ("play", "--yellow", "alphazero:net=bad.onnx"),
        ("qtable", "info", "bad.q"),
    ):
        done = fourlab(*arguments)
        assert done.returncode == 2
        assert "bad." in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
