"""A small finished and a small stopped run of every kind, and changed versions of their files."""

import json
import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fourlab.files import digest
from fourlab.jobs.job import Event, Session
from fourlab.jobs.run import toml
from fourlab.jobs.seal import SEAL_FILE
from tests.cli.hostile import DIGITS, places
from tests.in_process import run_in_process

SMALL = {
    "match": "match random rules --games 4 --board 5x4x4",
    "tournament": "tournament league.toml",
    "train-patterns": (
        "train patterns --board 4x3x3 --tuples 2 --cells 3 --games 60 --block 20 --batch 10"
        " --opening 4"
    ),
    "train-q": "train q --board 3x3x3 --games 60 --block 20 --exam-games 2",
    "train-dqn": (
        "train dqn --board 4x4x3 --moves 240 --games 8 --against rules --warmup 40 --replay 200"
        " --batch 8 --layers 'conv 2, relu' --piece 80 --exam-games 2 --exam-positions 2"
    ),
    "train-value": (
        "train value --data solved.npz --body 'conv 2, relu' --head 'dense 2, relu' --epochs 3"
    ),
    "train-alphazero": (
        "train alphazero --preset smoke --board 4x4x3 --networks 2x1 --games 60"
        " --exam-every 60 --exam-games 2"
    ),
    "reproduce": "study vannucci-abril exact figure-2 --scale smoke",
    "chess": "chess match random random --games 6",
    "book": "book build --plies 5 --board 5x4x4 --file book.npz",
    "replies": "book replies --plies 5 --board 5x4x4 --file replies.npz",
    "dataset": "dataset solved --positions 60 --board 5x4x4 --plies 4-9 -o set.npz",
}
"""A command for every kind of job."""
STOPPED_AT = {"match": 3, "tournament": 3, "reproduce": 3, "chess": 3, "book": 3, "dataset": 3}
"""The event after which a job is stopped; 2 by default, the second row of metrics."""
PREPARE = "dataset solved --positions 40 --board 4x4x3 --plies 4-9 -o solved.npz --quiet"
"""A command that makes the file which the training of a value network needs."""
LEAGUE = 'agents = ["random", "rules", "minimax:depth=1"]\nboards = ["5x4x4"]\nrounds = 2\n'
ALONE = ("--executor", "threads", "--workers", "1")
"""Options with which a command needs no other processes."""
IN_PARALLEL = ("train-q", "train-dqn", "train-value")
"""Kinds whose commands do not have these options."""

VALUES = [
    *("null", "true", "-1", "0", "0.5", "1e308", "1e999", "-1e999", "NaN", "Infinity"),
    *("9223372036854775807", "-9223372036854775808", "18446744073709551616", DIGITS),
    *('""', '"x"', '"\\u0000"', '"\\ud800"', '"9-9"', "[]", "{}", "[[1, [2, [3]]]]", '{"x": [1]}'),
    "[" * 40 + "]" * 40,
    "[" * 100_000,
]
"""JSON values that replace others."""
WHOLE = [b"", b"\n", b"\xff\xfe", b"null", b"7", b'"x"', b"[]", b"{}", b"[[[]]]\n", b"NaN\n"]
WHOLE += [b"[" * 100_000, DIGITS.encode(), b'{"a": 1}\n{"a": 2}\n', b"\0" * 100]
"""Contents that replace a whole file."""

WRITTEN_AGAIN = re.compile(
    r"(^|/)(lock|(manifest|progress|results|training|checkpoint)\.json|config\.toml)$"
    r"|report\.|figures/|/data/|tensorboard/|-(wal|shm)$"
)
"""Files that a resumed run writes, also if it then refuses something else."""


def run(words: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, inside this process."""
    return run_in_process([*shlex.split(words), *more], folder)


def stopping_after(events: int) -> Any:
    """Return a patch that stops sessions after a number of events."""
    emit = Session.emit
    left = events

    def counted(session: Session, event: Event) -> None:
        nonlocal left
        emit(session, event)
        left -= 1
        if left <= 0:
            session.stop()

    return patch.object(Session, "emit", counted)


def make_runs(kind: str, folder: Path) -> None:
    """Make a finished run in FOLDER/finished and a stopped one in FOLDER/stopped."""
    (folder / "league.toml").write_text(LEAGUE)
    if kind == "train-value":
        assert run(PREPARE, folder, *ALONE).returncode == 0
    words = [*([] if kind in IN_PARALLEL else ALONE), "--quiet"]
    with stopping_after(STOPPED_AT.get(kind, 2)):
        done = run(SMALL[kind], folder, *words, "--run", "stopped/run")
    assert done.returncode == 130, done
    done = run(SMALL[kind], folder, *words, "--run", "finished/run")
    assert done.returncode == 0, done.stderr


class Changed:
    """Changes files of a run folder one after another, and restores the folder after each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # A seal would reveal every change; somebody who changes files can leave it out.
        (folder / SEAL_FILE).unlink(missing_ok=True)
        self._kept = folder.with_name(f"{folder.name} kept")
        shutil.copytree(folder, self._kept)
        self.files = sorted(
            file.relative_to(folder) for file in folder.rglob("*") if file.is_file()
        )

    @property
    def folders(self) -> list[Path]:
        """The outermost folders within the run."""
        return sorted({Path(name.parts[0]) for name in self.files if len(name.parts) > 1})

    def swap(self, name: Path) -> None:
        """Put a file in the place of a folder."""
        shutil.rmtree(self.folder / name)
        (self.folder / name).write_bytes(b"")

    def contents(self, name: Path) -> bytes:
        """Return the original contents of a file."""
        return (self._kept / name).read_bytes()

    def change(self, name: Path, data: bytes) -> None:
        """Write a file; a file of a checkpoint gets the checksum that belongs to it."""
        (self.folder / name).write_bytes(data)
        about = self.folder / name.with_name("checkpoint.json")
        if about.exists() and name.name != "checkpoint.json":
            content = json.loads(about.read_bytes())
            content["sha256"][name.name] = digest(self.folder / name)
            about.write_text(json.dumps(content))

    def lost(self, changed: Path | None) -> list[str]:
        """Return the files, `changed` aside, that are no longer what they were.

        Those that a resumed run writes again do not count.
        """
        return [
            str(name)
            for name in self.files
            if changed not in (name, *name.parents)
            and not WRITTEN_AGAIN.search(name.as_posix())
            and (not (self.folder / name).exists() or self._differs(name))
        ]

    def _differs(self, name: Path) -> bool:
        return (self.folder / name).read_bytes() != self.contents(name)

    def configurations(self, rng: random.Random) -> Iterator[dict[str, bytes]]:
        """Yield changed configurations, alike in the manifest and in config.toml, without end."""
        while True:
            manifest = json.loads(self.contents(Path("manifest.json")))
            changed = _replaced(json.dumps(manifest["config"]), rng.choice(VALUES), rng)
            try:
                manifest["config"] = json.loads(changed or "")
                text = toml(manifest["config"]).encode()
            except (AttributeError, RecursionError, ValueError):
                continue
            yield {"manifest.json": json.dumps(manifest).encode(), "config.toml": text}

    def restore(self) -> None:
        """Restore all files that have changed, by their sizes and times."""
        for path in sorted(self.folder.rglob("*"), reverse=True):  # files before their folders
            kept = self._kept / path.relative_to(self.folder)
            if path.is_dir():
                if not kept.is_dir():
                    path.rmdir()
            elif not kept.is_file() or _state(path) != _state(kept):
                path.unlink()
        for kept in sorted(self._kept.rglob("*")):
            path = self.folder / kept.relative_to(self._kept)
            if kept.is_dir():
                path.mkdir(exist_ok=True)
            elif not path.exists():
                shutil.copy2(kept, path)


def _state(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def mutations(data: bytes, rng: random.Random) -> Iterator[bytes]:
    """Yield changed versions of a file, the simple ones first, without end."""
    yield b""
    if data:
        yield data[: rng.randrange(len(data))]
        yield data[: len(data) // 2] + b"\xff\xfe" + data[len(data) // 2 :]
    while True:
        yield rng.choice([_other, _value, _value, _value, _flip])(data, rng)


def _other(data: bytes, rng: random.Random) -> bytes:
    return rng.choice(WHOLE)


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _value(data: bytes, rng: random.Random) -> bytes:
    """Replace a value in JSON, in one line of JSON lines, or in one line of TOML."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _flip(data, rng)
    value = rng.choice(VALUES)
    if (changed := _replaced(text, value, rng)) is not None:
        return changed.encode()
    lines = text.splitlines(keepends=True)
    if not lines:
        return value.encode()
    number = rng.randrange(len(lines))
    line = lines[number]
    if (changed := _replaced(line, value, rng)) is not None:
        lines[number] = f"{changed}\n"
    elif "=" in line:
        lines[number] = f"{line.partition('=')[0]}= {value}\n"
    else:
        lines[number] = f"{value}\n"
    return "".join(lines).encode()


def _replaced(text: str, value: str, rng: random.Random) -> str | None:
    """Replace a value anywhere in the tree of a JSON text; None if it is not JSON."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    tree = [data]
    owner, key = rng.choice(list(places(tree)))
    mark = "replaced here"
    owner[key] = mark
    return json.dumps(tree[0]).replace(json.dumps(mark), value)
