"""Run folders of every kind with changed files give one line, never a traceback."""

import itertools
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from fourlab.jobs.kinds import KINDS
from fourlab.reporting import figures
from tests.cli.hostile_runs import (
    ALONE,
    SMALL,
    Changed,
    make_runs,
    mutations,
    run,
    stopping_after,
)

PER_FILE = 2
"""Changed versions of each file in `make test`; `make soak` has SOAK."""
SOAK = 40
EVENTS = 8
"""A changed configuration may ask for any amount of work, so it is stopped after this many."""
NOT_READ = (".svg", ".html", ".md", ".csv")
"""Files that no command reads: pages and their figures."""


@pytest.fixture(autouse=True)
def _no_figures() -> Iterator[None]:
    """Drawing figures takes most of the time, and reads nothing."""
    with patch.object(figures, "can_draw", lambda: False):
        yield


def test_every_kind_of_run_is_tested() -> None:
    assert set(SMALL) == set(KINDS)


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize(
    "count", [PER_FILE, pytest.param(SOAK, marks=pytest.mark.soak)], ids=["quick", "soak"]
)
def test_changed_files_of_a_run(kind: str, count: int, tmp_path: Path) -> None:
    make_runs(kind, tmp_path)
    for state in ("finished", "stopped"):
        changed = Changed(tmp_path / state / "run")
        unchanged = run("resume last --quiet", tmp_path, *ALONE, "--runs", state)
        assert unchanged.returncode == 0, unchanged
        changed.restore()
        checkpoints = {name.parent for name in changed.files if "checkpoints" in name.parts}
        newest = max(checkpoints, default=None)
        read = [
            name
            for name in changed.files
            if name.suffix not in NOT_READ
            and "tensorboard" not in name.parts
            and ("checkpoints" not in name.parts or name.parent == newest)
        ]
        assert read
        for name in read:
            rng = random.Random(f"{kind} {state} {_without_date(name)}")
            # Every file gets other versions of the endless list, which begins with simple ones.
            first = 0 if count == SOAK else rng.randrange(4)
            versions = mutations(changed.contents(name), rng)
            for data in itertools.islice(versions, first, first + count):
                changed.change(name, data)
                check_commands(tmp_path, state, changed, name, data)
        for name in changed.folders if state == "finished" else []:
            changed.swap(name)
            check_commands(tmp_path, state, changed, name, b"a file in place of a folder")
        rng = random.Random(f"{kind} {state}")
        for files in itertools.islice(changed.configurations(rng), 3 * count):
            for file, data in files.items():
                changed.change(Path(file), data)
            check_commands(tmp_path, state, changed, None, files["config.toml"])


def _without_date(name: Path) -> str:
    return name.as_posix().partition("tfevents")[0]


def check_commands(
    home: Path, state: str, changed: Changed, name: Path | None, data: bytes
) -> None:
    """Run the commands that read a run folder, and restore it."""
    context = (state, name, data[:2000])
    is_clean(run("runs --json", home, "--runs", state), (0,), context)
    is_clean(run("verify last", home, "--runs", state), (0, 1, 2), context)
    # A lock is a database that SQLite repairs; everything else stays as it is.
    assert changed.lost(name) == [], context
    with stopping_after(EVENTS):
        done = run("resume last --quiet", home, *ALONE, "--runs", state)
    is_clean(done, (0, 2, 130), context)
    if done.returncode == 2:
        assert changed.lost(name) == [], context
    changed.restore()


def is_clean(
    done: subprocess.CompletedProcess[str], codes: tuple[int, ...], context: object
) -> None:
    """Check the exit code and that an error is one line; a traceback raises its exception here."""
    assert done.returncode in codes, (done, context)
    errors = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    if done.returncode == 2:
        assert len(errors) == 1, (done, context)
        assert errors[0].startswith("fourlab: "), (done, context)
    elif done.returncode != 130:  # a stopped command prints how to resume it
        assert errors == [], (done, context)
