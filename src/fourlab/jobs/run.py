"""Run folders: the configuration, data and results of one experiment.

    runs/<date>_<name>_<hash>/
        config.toml     the configuration, for reading; edits are refused
        manifest.json   the same, with seed, versions, commit and command
        games.sqlite    the games
        results.json    the results
        figures/*.svg
        report.html     everything on one page

The hash is of the configuration, so the same command finds its folder again and resumes the run.
"""

import hashlib
import json
import os
import platform
import re
import shlex
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fourlab.errors import UserError
from fourlab.files import make_folder, read_bounded, require_regular, write_atomically
from fourlab.jobs.links import refuse_links
from fourlab.jobs.renamed import current_names
from fourlab.options import perhaps
from fourlab.parsing import MAX_RESULTS_BYTES, MAX_TOML_BYTES, read_json, read_toml
from fourlab.processors import usable_processors
from fourlab.version import __version__

PACKAGES = ("numpy", "numba", "ray", "torch")
LOCK_SECONDS = 0.2
"""How long to wait for a lock: long enough for a process that only reads `is_locked`."""


@dataclass(frozen=True)
class Run:
    """A run folder: the configuration, manifest, lock, state and results of one job."""

    folder: Path

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def games_file(self) -> Path:
        """The database of games."""
        return self.folder / "games.sqlite"

    @property
    def report_file(self) -> Path:
        """The report, an HTML page."""
        return self.folder / "report.html"

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The configuration with seed, versions, commit and command."""
        try:
            manifest = read_json(self.folder / "manifest.json")
        except UserError as error:
            raise UserError(f"{self.folder} is not a run folder: {error}") from None
        if not isinstance(manifest, dict) or not isinstance(manifest.get("config"), dict):
            raise UserError(f"{self.folder} is not a run folder: its manifest has no configuration")
        try:
            current_names(manifest["config"])
        except UserError as error:
            raise UserError(f"{self.folder} is not a run folder: {error}") from None
        return manifest

    @property
    def config(self) -> dict[str, Any]:
        """The configuration, under the current names of its settings."""
        return current_names(self.manifest["config"])

    @property
    def results(self) -> dict[str, Any] | None:
        """The results, or None if the run is not complete."""
        try:
            file = self.folder / "results.json"
            results: dict[str, Any] = read_json(file, MAX_RESULTS_BYTES)
        except UserError:
            return None
        return results

    @property
    def worked_at(self) -> float:
        """When the run was created or last worked on, in seconds since the epoch."""
        files = (self.folder / "manifest.json", self.folder / "progress.json")
        return max(file.stat().st_mtime for file in files if file.exists())

    def extend(self, config: Mapping[str, Any], extent: Collection[str]) -> None:
        """Record new values of the settings in `extent`, such as a larger number of games."""
        requested = _as_json(config)
        extension = {name: requested[name] for name in extent if name in requested}
        new = {**self.config, **extension}
        if new != self.config:
            # The old results cover less than is wanted now; the job writes new ones at its end.
            (self.folder / "results.json").unlink(missing_ok=True)
            # A crash between the two writes leaves settings of the extent different, which `check`
            # allows.
            self.write("manifest.json", {**self.manifest, "config": new})
            self.write("config.toml", toml(new))
            self.__dict__.pop("manifest", None)  # drop the cached property

    def check(self, extent: Collection[str] = ()) -> None:
        """Raise UserError if config.toml was edited since the run began, `extent` aside."""
        refuse_changes(self, read_toml(self.folder / "config.toml"), extent)

    def write(self, name: str, data: bytes | str | Mapping[str, Any]) -> None:
        """Write a file of the run atomically; a mapping is written as JSON."""
        file = self.folder / name
        make_folder(file.parent)
        if isinstance(data, Mapping):
            data = json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n"
        write_atomically(file, data.encode() if isinstance(data, str) else data)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run's lock, which no two processes can; raises UserError if it is taken.

        An SQLite transaction serves as the lock, because it ends with its process.
        """
        file = self.folder / "lock"
        require_regular(file)
        try:
            # isolation_level None: sqlite3 begins no transactions of its own.
            lock = sqlite3.connect(file, timeout=LOCK_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise UserError(f"cannot write to {self.folder}: {error}") from None
        with closing(lock):
            try:
                # EXCLUSIVE also keeps readers out, which is how `is_locked` notices it.
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                    raise UserError(f"another process is working on {self.folder}") from None
                raise UserError(f"cannot write to {self.folder}: {error}") from None
            yield  # outside the try, so that errors of the work are not taken for the lock's

    @property
    def is_locked(self) -> bool:
        """Whether a process is working on the run.

        Reading this does not keep another process from taking the lock at the same moment.
        """
        file = self.folder / "lock"
        require_regular(file)
        address = f"file:{quote(str(file))}?mode=ro"
        try:
            lock = sqlite3.connect(address, uri=True, timeout=0)
        except sqlite3.Error:
            return False  # the lock file does not exist: the run was never worked on
        with closing(lock):
            try:
                lock.execute("SELECT 1 FROM sqlite_master").fetchone()
            except sqlite3.Error as error:
                return error.sqlite_errorcode == sqlite3.SQLITE_BUSY
        return False


WRITTEN = (
    *("config.toml", "games.sqlite", "metrics.jsonl", "progress.json", "report.html"),
    *("report.md", "results.json", "seal.json", "checkpoints", "figures"),
)
"""What runs write into their folders, whatever they do."""


def open_run(
    home: Path,
    name: str,
    config: Mapping[str, Any],
    folder: Path | None = None,
    on_note: Callable[[str], None] = lambda text: None,
    extent: Collection[str] = (),
) -> Run:
    """Return the run with this configuration, creating it if there is none.

    Settings in `extent`, such as the number of games, are not part of a run's identity and may
    differ. If `folder` holds another configuration, UserError is raised. `on_note` is called with a
    line for every run of the same name whose configuration differs.
    """
    wanted = _as_json(config)
    if folder is None:
        folder = _folder_of(home, name, wanted, on_note, extent)
    run = Run(folder)
    if (folder / "manifest.json").exists():
        refuse_changes(run, wanted, extent)
    else:
        _refuse_other_files(folder, wanted)
        _create(run, wanted)
    return run


def _refuse_other_files(folder: Path, config: dict[str, Any]) -> None:
    """Raise UserError if a folder that is to become a run has files that a run would overwrite.

    A run that was interrupted while it began may have its own configuration.
    """
    begun = folder / "config.toml"
    with suppress(OSError, UserError):
        if read_bounded(begun, MAX_TOML_BYTES) == toml(config).encode():
            return
    in_the_way = [name for name in WRITTEN if os.path.lexists(folder / name)]
    if in_the_way:
        raise UserError(
            f"{folder} has files but is no run, and a run would overwrite {in_the_way[0]}: "
            "name a new folder"
        )


def _folder_of(
    home: Path,
    name: str,
    config: dict[str, Any],
    on_note: Callable[[str], None],
    extent: Collection[str],
) -> Path:
    """Return the latest folder with this configuration, or a new name."""
    # Safe in file names and shells, and in the glob below.
    slug = re.sub(r"[^A-Za-z0-9.=-]+", "-", name).strip("-.")[:60] or "run"
    # The manifests are compared, not the hashes: older versions hashed the extent, too.
    changes = {}
    for file in sorted(home.glob(f"*_{slug}_????????/manifest.json")):
        with suppress(UserError):  # a damaged manifest
            changes[file.parent] = differences(Run(file.parent).config, config, extent)
    matches = [folder for folder, changed in changes.items() if not changed]
    if matches:
        return matches[-1]
    for folder, changed in changes.items():
        on_note(f"a new run; {folder} of the same name differs in {', '.join(changed)}")
    # 32 bits tell apart the runs of one name; the manifests decide if they do not.
    identity = {setting: value for setting, value in config.items() if setting not in extent}
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    return home / f"{time.strftime('%Y-%m-%d')}_{slug}_{digest}"


def find_run(home: Path, text: str) -> Run:
    """Return the run that `text` refers to.

    It may be a folder, the name of a run in `home` or a unique part of it, or `last`, the run that
    was worked on most recently. Raises UserError if there is none, or if it has links that lead out
    of its folder.
    """
    run = _named(home, text)
    refuse_links(run.folder)
    return run


def _named(home: Path, text: str) -> Run:
    if (Path(text) / "manifest.json").exists():
        return Run(Path(text))
    runs = all_runs(home)
    if text == "last" and runs:
        return max(runs, key=lambda run: run.worked_at)
    matches = [run for run in runs if text == run.name] or [run for run in runs if text in run.name]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UserError(f"{text!r} could be {', '.join(run.name for run in matches[:5])}")
    if not runs:
        raise UserError(
            f"there is no run {text!r}, and none at all in {home}; a match, tournament, training "
            "or study makes one, for example: fourlab match mcts rules --games 20"
        )
    suggestion = perhaps(text, [run.name for run in runs])
    raise UserError(
        f"there is no run {text!r} here or in {home}{suggestion} (fourlab runs lists them)"
    )


def all_runs(home: Path) -> list[Run]:
    """Return every run in `home`, sorted by name, which begins with the date."""
    return [Run(file.parent) for file in sorted(home.glob("*/manifest.json"))]


def refuse_changes(run: Run, config: Mapping[str, Any], extent: Collection[str] = ()) -> None:
    """Raise UserError naming the first setting in which `config` differs from the run's."""
    try:
        wanted = current_names(_as_json(config))
    except UserError as error:
        raise UserError(f"{run.folder}: {error}") from None
    for setting, (before, now) in differences(run.config, wanted, extent).items():
        raise UserError(
            f"{run.folder} was begun with {setting} = {before}, not {now}: "
            "a run keeps its configuration"
        )


def differences(
    one: Mapping[str, Any], other: Mapping[str, Any], ignored: Collection[str] = ()
) -> dict[str, tuple[Any, Any]]:
    """Return the settings in which two configurations differ, with both values.

    Names are flat, such as `agents.0.spec`. A missing setting has the value None. The top-level
    settings in `ignored` may differ.
    """
    first, second = (
        settings_of({name: value for name, value in config.items() if name not in ignored})
        for config in (one, other)
    )
    return {
        name: (first.get(name), second.get(name))
        for name in sorted({*first, *second})
        if first.get(name) != second.get(name)
    }


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration as a flat table, with names such as `agents.0.spec`."""
    return dict(_leaves(config))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    children: Iterable[tuple[Any, Any]]
    if isinstance(value, Mapping):
        children = value.items()
    elif isinstance(value, list) and any(isinstance(element, Mapping) for element in value):
        children = enumerate(value)
    else:
        yield name, value  # a list of plain values is one setting
        return
    for key, child in children:
        yield from _leaves(child, f"{name}.{key}" if name else str(key))


def _create(run: Run, config: dict[str, Any]) -> None:
    settings = toml(config)
    if len(settings.encode()) > MAX_TOML_BYTES:
        # It could not be read again.
        raise UserError(f"the configuration of a run may have {MAX_TOML_BYTES:,} bytes")
    make_folder(run.folder)
    manifest = {
        "config": config,
        "seed": config.get("seed"),
        "command": _command(),
        **environment(),
    }
    run.write("config.toml", settings)
    # Written last, because the manifest is what makes the folder a run.
    run.write("manifest.json", manifest)


def _command() -> str:
    """Return the command that began the run, or the name of the Python program that did."""
    if "fourlab.cli" in sys.modules:
        return shlex.join(["fourlab", *sys.argv[1:]])
    # A notebook's arguments are files of its own.
    return shlex.join(["python", *filter(None, [Path(sys.argv[0]).name])])


def _as_json(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration as it will be read back from JSON: tuples become lists."""
    converted: dict[str, Any] = json.loads(json.dumps(config))
    return converted


def environment() -> dict[str, Any]:
    """Return the time, the versions of packages, the commit of the source and the machine."""
    return {
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": _versions(),
        "commit": _commit(),
        "machine": f"{platform.system()} {platform.machine()}, {usable_processors()} processors",
    }


def _versions() -> dict[str, str]:
    versions = {"fourlab": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def _commit() -> str | None:
    """Return the commit of the source, or None outside a checkout."""
    source = Path(__file__).parents[3]
    # In site-packages, git would describe the repository that happens to be around it.
    if not (source / ".git").exists():
        return None
    with suppress(OSError, subprocess.SubprocessError):  # no git, or a slow disk
        commit = _git(source, "describe", "--always")
        # Other files, such as published pages, have no influence on results.
        changed = _git(source, "status", "--porcelain", "--", "src")
        return f"{commit}-dirty" if changed else commit or None
    return None


def _git(folder: Path, *arguments: str) -> str:
    """Return what git prints about the repository of a folder; empty if there is none."""
    process = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10
    )
    return process.stdout.strip()


def toml(config: Mapping[str, Any]) -> str:
    """Format a configuration as TOML.

    Plain settings come first, then tables and lists of tables, one level deep.
    """
    plain = []
    tables = []
    for name, value in config.items():
        if isinstance(value, Mapping):
            tables.append("\n".join([f"\n[{name}]", *_settings(value)]))
        elif isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
            tables += ["\n".join([f"\n[[{name}]]", *_settings(row)]) for row in value]
        else:
            plain += _settings({name: value})
    return "\n".join([*plain, *tables]) + "\n"


def _settings(table: Mapping[str, Any]) -> list[str]:
    # JSON's strings, numbers, booleans and lists are valid TOML, except that TOML must escape
    # the character 127.
    return [
        f"{name} = {json.dumps(value, ensure_ascii=False).replace(chr(127), chr(92) + 'u007f')}"
        for name, value in table.items()
    ]
