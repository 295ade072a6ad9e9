"""Run folders: everything one experiment needs and makes, under one roof.

    runs/<date>_<name>_<hash>/
        config.toml     what was asked for; to be read, not to be edited
        manifest.json   the same resolved, with seed, versions, commit and command
        games.sqlite    the games
        results.json    what came out
        figures/*.svg
        report.html     all of it to look at, in one file

The hash is the configuration's, so the same command finds its folder again and goes on there.
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
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.version import __version__

PACKAGES = ("numpy", "numba", "ray", "torch")
LOCK_SECONDS = 0.2
"""Who wants to work on a run waits so long for another: long enough for somebody who only looks whether it is locked."""


@dataclass(frozen=True)
class Run:
    """One run folder."""

    folder: Path

    @property
    def name(self) -> str:
        """What the folder is called."""
        return self.folder.name

    @property
    def games_file(self) -> Path:
        """Where the games are."""
        return self.folder / "games.sqlite"

    @property
    def report_file(self) -> Path:
        """The page to look at."""
        return self.folder / "report.html"

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What is known of how the run came about."""
        try:
            manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{self.folder} is not a run folder: {getattr(error, 'strerror', None) or error}") from None
        if not isinstance(manifest, dict) or not isinstance(manifest.get("config"), dict):
            raise UserError(f"{self.folder} is not a run folder: its manifest tells no configuration")
        return manifest

    @property
    def config(self) -> dict[str, Any]:
        """What the run does."""
        config: dict[str, Any] = self.manifest["config"]
        return config

    @property
    def results(self) -> dict[str, Any] | None:
        """What came out, if the run has been completed."""
        try:
            results: dict[str, Any] = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return results

    @property
    def worked_at(self) -> float:
        """When the run was last begun or worked on."""
        files = (self.folder / "manifest.json", self.folder / "progress.json")
        return max(file.stat().st_mtime for file in files if file.exists())

    def extend(self, config: Mapping[str, Any], extent: Collection[str]) -> None:
        """Write down that more is done than the run was begun with: new values of the extent."""
        known = _json_form(config)
        new = {**self.config, **{name: known[name] for name in extent if name in known}}
        if new != self.config:
            # The results are of less than is wanted now; the job writes them again when it is done.
            (self.folder / "results.json").unlink(missing_ok=True)
            self.write("manifest.json", {**self.manifest, "config": new})
            self.write("config.toml", toml(new))
            self.__dict__.pop("manifest", None)  # is read anew

    def check(self, extent: Collection[str] = ()) -> None:
        """Refuse a configuration that was edited after the run began, the extent aside."""
        try:
            edited = tomllib.loads((self.folder / "config.toml").read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise UserError(f"cannot read {self.folder / 'config.toml'}: {error}") from None
        refuse_changes(self, edited, extent)

    def write(self, name: str, data: bytes | str | Mapping[str, Any]) -> None:
        """Write a file of the run, whole or not at all."""
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        if isinstance(data, Mapping):
            data = json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n"
        write_atomically(file, data.encode() if isinstance(data, str) else data)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from working on the same run; a lock dies with its process."""
        try:
            lock = sqlite3.connect(self.folder / "lock", timeout=LOCK_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise UserError(f"cannot write to {self.folder}: {error}") from None
        try:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
                raise UserError(
                    f"another process is working on {self.folder}" if busy else f"cannot write to {self.folder}: {error}"
                ) from None
            yield
        finally:
            lock.close()

    @property
    def is_locked(self) -> bool:
        """Whether somebody is working on the run; to ask does not get in the way of who begins at this moment."""
        try:
            lock = sqlite3.connect(f"file:{quote(str(self.folder / 'lock'))}?mode=ro", uri=True, timeout=0)
        except sqlite3.Error:
            return False  # nobody ever did
        try:
            lock.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            return error.sqlite_errorcode == sqlite3.SQLITE_BUSY
        finally:
            lock.close()
        return False


def open_run(
    home: Path,
    name: str,
    config: Mapping[str, Any],
    folder: Path | None = None,
    told: Callable[[str], None] | None = None,
    extent: Collection[str] = (),
) -> Run:
    """Find the run of this configuration, or begin it; a `folder` that holds another configuration is refused.

    Settings of the `extent`, such as the number of games, may differ: they are not part of a run's identity. `told` hears of
    runs that have the same name and another configuration.
    """
    known = _json_form(config)
    identity = {name: value for name, value in known.items() if name not in extent}
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    slug = re.sub(r"[^A-Za-z0-9.=-]+", "-", name).strip("-.")[:60] or "run"
    if folder is None:
        # Folders of before have another digest, of which the extent was a part; their manifests tell.
        differing = {}
        for file in sorted(home.glob(f"*_{slug}_????????/manifest.json")):
            with suppress(UserError):  # a damaged one is not this one
                differing[file.parent] = differences(Run(file.parent).config, known, extent)
        found = [each for each, changed in differing.items() if not changed]
        folder = found[-1] if found else home / f"{time.strftime('%Y-%m-%d')}_{slug}_{digest}"
        if not found and told is not None:
            for other, changed in differing.items():
                told(f"a new run; {other} of the same name differs in {', '.join(changed)}")
    run = Run(folder)
    if (folder / "manifest.json").exists():
        refuse_changes(run, known, extent)
        return run
    _begin(run, known)
    return run


def find_run(home: Path, text: str) -> Run:
    """The run that a text means: a folder, or in the home of runs a name or a part of one; `last` is the latest."""
    if (Path(text) / "manifest.json").exists():
        return Run(Path(text))
    runs = all_runs(home)
    if text == "last" and runs:
        return max(runs, key=lambda run: run.worked_at)
    found = [run for run in runs if text == run.name] or [run for run in runs if text in run.name]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"{text!r} could be {', '.join(run.name for run in found[:5])}")
    raise UserError(f"there is no run {text!r} here or in {home} (fourlab runs lists them)")


def all_runs(home: Path) -> list[Run]:
    """Every run, by name, which begins with its date."""
    return [Run(file.parent) for file in sorted(home.glob("*/manifest.json"))]


def refuse_changes(run: Run, config: Mapping[str, Any], extent: Collection[str] = ()) -> None:
    """Raise an error that names the first setting in which a configuration differs from the run's."""
    for field, (before, now) in differences(run.config, _json_form(config), extent).items():
        raise UserError(f"{run.folder} was begun with {field} = {before}, not {now}: a run keeps its configuration")


def differences(one: Mapping[str, Any], other: Mapping[str, Any], besides: Collection[str] = ()) -> dict[str, tuple[Any, Any]]:
    """The settings in which two configurations differ, as `agents.0.spec`, with both values; None where there is none."""
    first, second = (settings_of({name: value for name, value in each.items() if name not in besides}) for each in (one, other))
    return {
        name: (first.get(name), second.get(name)) for name in sorted({*first, *second}) if first.get(name) != second.get(name)
    }


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration as one flat table: `agents.0.spec` and so on."""
    return dict(_leaves(config))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(each, Mapping) for each in value)):
        for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(each, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _begin(run: Run, config: dict[str, Any]) -> None:
    try:
        run.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {run.folder}: {error.strerror}") from None
    manifest = {
        "config": config,
        "seed": config.get("seed"),
        "command": shlex.join(["fourlab", *sys.argv[1:]]),
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": _versions(),
        "commit": _commit(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }
    run.write("config.toml", toml(config))
    run.write("manifest.json", manifest)  # last, for it makes the folder a run


def _json_form(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration as it will be read back."""
    form: dict[str, Any] = json.loads(json.dumps(config))
    return form


def _versions() -> dict[str, str]:
    versions = {"fourlab": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _commit() -> str | None:
    """The commit of the source, if it is run from a checkout."""
    source = Path(__file__).parents[3]
    if not (source / ".git").exists():
        return None
    try:
        told = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=source, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip() or None


def toml(config: Mapping[str, Any]) -> str:
    """Write a configuration as TOML: plain settings first, then tables and lists of tables, one level deep."""
    plain, tables = [], []
    for name, value in config.items():
        if isinstance(value, Mapping):
            tables.append("\n".join([f"\n[{name}]", *_settings(value)]))
        elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
            tables += ["\n".join([f"\n[[{name}]]", *_settings(each)]) for each in value]
        else:
            plain += _settings({name: value})
    return "\n".join([*plain, *tables]) + "\n"


def _settings(table: Mapping[str, Any]) -> list[str]:
    # JSON's texts, numbers, booleans and lists are TOML's, but for one character.
    return [
        f"{name} = {json.dumps(value, ensure_ascii=False).replace(chr(127), chr(92) + 'u007f')}" for name, value in table.items()
    ]
