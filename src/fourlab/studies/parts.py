"""The parts of an experiment's result as plain data, and the files that belong to them."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fourlab.arena.tables import Table
from fourlab.studies import claims, data, stored_claims
from fourlab.studies.catalogue import Experiment
from fourlab.studies.claims import Claim
from fourlab.studies.workbench import Part, Text

Parts = Sequence[Mapping[str, Any]]
"""The parts of an experiment as stored: the fields of each one, and its kind."""
HOLM = "p (Holm)"
"""The key of corrected p-values."""
_FILE_NAME = re.compile(r"[\w.,+=-]{1,200}")


def item_of(experiment: Experiment) -> str:
    """Return the name of an experiment within its report: table-5."""
    return experiment.name.removeprefix(f"{experiment.document}-")


def stored(experiment: Experiment, part: Part) -> dict[str, Any]:
    """Return a part as plain data; tables and pictures also get the name of their file."""
    item = item_of(experiment)
    match part:
        case Claim():
            return {"kind": "claim", **part.as_json()}
        case Text():
            return {"kind": type(part).__name__.lower(), **asdict(part)}
        case Table():
            name = data.file_name(item, part.title, "table")
            return {"kind": "table", "file": f"{name}.csv", **asdict(part)}
    name = data.file_name(item, part.name)
    digest = digest_of(csv_of(data.numeric(part.data)))
    return {"kind": "picture", "file": name, "caption": part.caption, "data": digest}


def digest_of(content: bytes) -> str:
    """Return by what a picture refers to its data, which are in a file of their own."""
    return hashlib.sha256(content).hexdigest()


def is_part(part: Any) -> bool:
    """Return whether data have the fields of a stored part, with values of their types."""
    if not isinstance(part, dict) or not isinstance(kind := part.get("kind"), str):
        return False
    if kind == "claim":
        return stored_claims.is_claim(part)
    texts = {
        "text": ["title", "lines"],
        "table": ["title", "file"],
        "picture": ["caption", "file"],
    }
    if kind not in texts or not all(isinstance(part.get(name), str) for name in texts[kind]):
        return False
    # Pages are made with names of files; these must not lead elsewhere.
    if kind in ("table", "picture") and not _FILE_NAME.fullmatch(part["file"]):
        return False
    if kind == "table":
        head, rows = part.get("head"), part.get("rows")
        return (
            isinstance(head, list | tuple)
            and all(isinstance(cell, str) for cell in head)
            and isinstance(rows, list | tuple)
            and all(isinstance(row, list | tuple) and len(row) == len(head) for row in rows)
        )
    return True


def claims_of(parts: Parts) -> list[Claim]:
    """Return the claims among the parts of an experiment."""
    return [
        stored_claims.from_json(stored_claims.fields_of(part))
        for part in parts
        if part["kind"] == "claim"
    ]


def data_files(experiment: Experiment, parts: Parts) -> dict[str, bytes]:
    """Return the data files that follow from the parts, by name: claims and tables."""
    item = item_of(experiment)
    files = {}
    if stated := claims_of(parts):
        files[f"{item}-claims.csv"] = csv_of(stored_claims.table_of(stated))
    for part in parts:
        if part["kind"] == "table":
            rows = tuple(tuple(row) for row in part["rows"])
            table = Table(part["title"], tuple(part["head"]), rows)
            files[part["file"]] = csv_of(data.numeric(table))
    return files


def claims_json(done: Mapping[str, Parts]) -> bytes:
    """Return the rows of all files of claims as JSON: one object per row, without empty cells.

    Rows of tests also have the p-value corrected for the number of tests in all experiments.
    """
    corrected = claims.for_many_tests(
        claim for parts in done.values() for claim in claims_of(parts)
    )
    rows = []
    for name, parts in done.items():
        table = stored_claims.table_of(claims_of(parts))
        for row in table.rows:
            cells = zip(table.head, row, strict=True)
            filled = {head: cell for head, cell in cells if cell != ""}
            if "p" in filled:
                chance = corrected[str(filled["claim"]), str(filled["question"])]
                filled[HOLM] = float(f"{chance:.6g}")
            rows.append({"experiment": name, **filled})
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n".encode()


def picture_files(parts: Parts) -> Iterator[str]:
    """Yield the addresses of the drawings and of their data, within the folder of the report."""
    for part in parts:
        if part["kind"] == "picture":
            yield f"figures/{part['file']}.svg"
            yield f"data/{part['file']}.csv"


def csv_of(content: Table) -> bytes:
    """Return a table as a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(content.head)
    writer.writerows(content.rows)
    return text.getvalue().encode()
