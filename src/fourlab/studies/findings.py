"""Findings without a test, beside the claims that replace them: as stored and as shown.

Nothing else knows how findings are stored, so the last experiment that has some takes this module
with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fourlab.arena.tables import Table
from fourlab.studies import data
from fourlab.studies.workbench import Finding

KIND = "finding"
HEAD = (
    *("quantity", "report", "ours, faithful", "ours, corrected"),
    *("exact", "verdict", "explanation"),
)
"""The header of a page's table of findings."""
VERDICTS = {True: "agrees", False: "differs", None: "–"}
STORED_NAMES = {"exact": "truth"}
"""Fields of a finding whose names in files differ; files of earlier versions stay readable."""
_FIELDS = {name: STORED_NAMES.get(name, name) for name in Finding.__dataclass_fields__}


def stored(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain data."""
    return {"kind": KIND, **{_FIELDS[name]: value for name, value in asdict(finding).items()}}


def is_finding(part: Mapping[str, Any]) -> bool:
    """Return whether data from a file have the fields of a finding, with values of their types."""
    texts = (field for name, field in _FIELDS.items() if name != "agrees")
    return all(isinstance(part.get(field), str) for field in texts) and (
        part.get("agrees", "") in (True, False, None)
    )


def rows(parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Yield the findings among the parts of an experiment in the columns of HEAD."""
    for part in parts:
        if part["kind"] == KIND:
            yield tuple(
                VERDICTS[part["agrees"]] if name == "agrees" else part[field]
                for name, field in _FIELDS.items()
            )


def table_of(parts: Sequence[Mapping[str, Any]]) -> Table | None:
    """Return the findings with a number of its own in every cell; None if there are none."""
    shown = list(rows(parts))
    return data.findings(shown) if shown else None
