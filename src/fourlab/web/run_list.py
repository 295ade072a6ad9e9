"""The list of all runs, read anew only where a run has changed."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from fourlab.web import run_folders
from fourlab.web.pool import Pool
from fourlab.web.run_folders import Stamp
from fourlab.web.settings import LIST_SECONDS, READ_SECONDS

MOST_AT_ONCE = 500
"""Runs that a worker describes in one answer."""


class RunList:
    """The rows of all runs in a folder.

    A row is kept until the names, times or sizes of its run's files change. Whether a process works
    on a run does not show there; the worker looks every time.
    """

    def __init__(self, home: Path, pool: Pool) -> None:
        self._home = home
        self._pool = pool
        self._rows: dict[str, tuple[Stamp, dict[str, Any]]] = {}
        self._locked: set[str] = set()
        self._answer = "[]"
        self._read_at = -float("inf")
        self._reading = asyncio.Lock()

    async def rows(self) -> str:
        """Return the rows as JSON; those of a second ago will do."""
        async with self._reading:
            if time.monotonic() - self._read_at > LIST_SECONDS:
                await self._read()
                self._read_at = time.monotonic()
            return self._answer

    async def _read(self) -> None:
        stamps = await asyncio.to_thread(self._stamps)
        changed = [
            name for name, stamp in stamps.items() if self._rows.get(name, ((), {}))[0] != stamp
        ]
        self._rows = {name: row for name, row in self._rows.items() if name in stamps}
        locked: set[str] = set()
        names = list(stamps)
        for start in range(0, len(names), MOST_AT_ONCE):
            part = names[start : start + MOST_AT_ONCE]
            wanted = [name for name in part if name in set(changed)]
            fields = {
                "home": str(self._home),
                "names": part,
                "changed": wanted,
                "locked": [name for name in part if name in self._locked],
            }
            answer = json.loads(await self._pool.run("rows", fields, READ_SECONDS))
            locked.update(answer["locked"])
            self._rows |= {name: (stamps[name], row) for name, row in answer["rows"].items()}
        self._locked = locked
        self._answer = await asyncio.to_thread(self._text, names)

    def _stamps(self) -> dict[str, Stamp]:
        names = run_folders.names(self._home)
        return {name: run_folders.stamp(self._home, name) for name in names}

    def _text(self, names: list[str]) -> str:
        rows = [self._rows[name][1] for name in names if name in self._rows]
        return json.dumps(rows)
