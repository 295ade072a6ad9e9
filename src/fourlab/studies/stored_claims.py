"""Claims as rows of a file, and from their stored data, also from those of earlier versions."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fourlab.arena.tables import Table
from fourlab.studies.claims import (
    STORED_KIND,
    Answer,
    Claim,
    Counts,
    Estimate,
    Kind,
    Source,
    Value,
    Verdict,
    rounded,
)

CLAIMS_HEAD = (
    *("claim", "quantity", "version", "source", "outcome"),
    *("value", "low", "high", "n", "standard deviation", "unit", "note"),
    *("question", "answer", "test", "difference", "margin", "p", "power", "explanation"),
    *("kind", "statement"),
)
"""The columns of a file of claims: one row per version and outcome, then one per verdict.

In the row of a verdict, `low` and `high` are the ends of the interval of the difference. The
version is what the claim calls its column: "faithful", or one of its labels.
"""
EARLIER_SOURCES = {
    "text": Source.TEXT,
    "read off a figure": Source.FIGURE,
    "author's program": Source.CODE,
}
"""What earlier versions stored."""
LATER_FIELDS = {STORED_KIND, "statement", "labels"}
"""Stored fields that earlier versions do not have."""


def from_json(stored: Mapping[str, Any]) -> Claim:
    """Return a claim from the plain data of `as_json`."""
    fields = dict(stored)
    fields["kind"] = Kind(fields.pop(STORED_KIND, Kind.CLAIM))
    fields["source"] = EARLIER_SOURCES.get(fields["source"]) or Source(fields["source"])
    for version in ("reported", "faithful", "corrected", "exact"):
        fields[version] = _value_from(fields[version])
    for question in ("reproduced", "true"):
        if (verdict := fields[question]) is not None:
            fields[question] = Verdict(**{**verdict, "answer": Answer(verdict["answer"])})
    return Claim(**fields)


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a claim among those of a part; raise KeyError if one is missing."""
    names = (set(Claim.__dataclass_fields__) - {"kind"}) | LATER_FIELDS
    return {name: stored[name] for name in names if name in stored or name not in LATER_FIELDS}


def is_claim(stored: Mapping[str, Any]) -> bool:
    """Return whether data from a file are those of a claim, with values of the right types."""
    try:
        claim = from_json(fields_of(stored))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False
    texts: list[object] = [claim.name, claim.quantity, claim.why, claim.statement]
    texts += claim.labels.values()
    numbers: list[object] = []
    for value in claim.versions().values():
        if isinstance(value, Estimate):
            texts += [value.unit, value.note]
            numbers += [value.value, value.low, value.high, value.n, value.sd]
            if not isinstance(value.digits, int) or not 0 <= value.digits <= 20:
                return False
        elif isinstance(value, Counts):
            if not isinstance(value.counts, dict):
                return False
            counts = [*value.counts.values(), value.trainings]
            if not all(isinstance(count, int) and count >= 0 for count in counts):
                return False
            numbers += [end for ends in value.intervals.values() for end in ends]
    for verdict in claim.verdicts().values():
        texts += [verdict.test, verdict.margin, verdict.outcome]
        numbers += [verdict.p, verdict.power, verdict.difference, verdict.low, verdict.high]
        numbers.append(verdict.confidence)
    are_numbers = all(
        number is None or (isinstance(number, int | float) and math.isfinite(number))
        for number in numbers
    )
    return are_numbers and all(isinstance(text, str) for text in texts)


def _value_from(stored: Any) -> Value:
    if isinstance(stored, str):
        return stored
    if "counts" not in stored:
        return Estimate(**stored)
    ends = stored.get("intervals", {})
    intervals = {outcome: (float(low), float(high)) for outcome, (low, high) in ends.items()}
    return Counts(stored["counts"], intervals, stored.get("trainings", 0))


def table_of(claims: Sequence[Claim]) -> Table:
    """Return the claims as a table of CLAIMS_HEAD, with a number of its own in every cell."""
    rows: list[tuple[object, ...]] = []
    for claim in claims:
        for version, value in claim.versions().items():
            start = (claim.name, claim.quantity, claim.label(version))
            source = claim.source if version == "reported" else "ours"
            # A statement has no number; it goes into the note.
            numbers = [("",) * 7 + (value,)] if isinstance(value, str) else value.rows()
            rows += [(*start, source, *columns, *("",) * 10) for columns in numbers]
        for question, verdict in claim.verdicts().items():
            interval = f"{verdict.confidence} % interval of the difference"
            rows.append(
                (
                    *(claim.name, claim.quantity, "", "", verdict.outcome, ""),
                    *(rounded(verdict.low), rounded(verdict.high), "", "", ""),
                    interval if verdict.low is not None else "",
                    *(question, verdict.answer, verdict.test),
                    *(rounded(verdict.difference), verdict.margin),
                    *(rounded(verdict.p), rounded(verdict.power), claim.why),
                    *(claim.kind, claim.statement),
                )
            )
    cells = (tuple("" if cell is None else cell for cell in row) for row in rows)
    return Table("", CLAIMS_HEAD, tuple(cells))
