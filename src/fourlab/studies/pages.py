"""The page of a report: summary, index of its tables and figures, then what was found."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from fourlab.reporting.blocks import (
    Block,
    Drawing,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
)
from fourlab.sources import AUTHOR_OF, SOURCES
from fourlab.studies.catalogue import Experiment, all_experiments, items_of, title_of
from fourlab.studies.claims import Answer, Claim, from_json
from fourlab.studies.workbench import Finding

Parts = Sequence[Mapping[str, Any]]
"""The parts of an experiment as stored: the fields of each one, and its kind."""
HEAD = (
    *("quantity", "report", "ours, faithful", "ours, corrected"),
    *("exact", "verdict", "explanation"),
)
"""The header of a page's table of findings without tests."""
CLAIM_HEAD = (
    *("claim", "reported", "faithful", "corrected", "exact"),
    *("reproduced?", "true?"),
)
VERDICTS = {True: "agrees", False: "differs", None: "–"}
STORED_NAMES = {"exact": "truth"}
"""Fields of a finding whose names in files differ; files of earlier versions stay readable."""
TRUTHS = {
    Answer.AGREES: "holds",
    Answer.DIFFERS: "does not hold",
    Answer.CANNOT_TELL: "cannot tell",
}
"""What the answer to "true?" is called on a page."""
_PLACE = re.compile(r"\{([a-z0-9-]+)\.([a-z]+)\}")
"""A place of a summary that a value fills: {table-5-mc40-first.faithful}."""


def blocks_of(document: str, home: Path, done: Mapping[str, Parts]) -> Iterator[Block]:
    """Yield the page of one report, from its complete experiments.

    `home` is the folder of its figures and data.
    """
    experiments = [all_experiments()[name] for name in done]
    own = [experiment for experiment in experiments if experiment.document == document]
    claims = {claim.name: claim for experiment in own for claim in claims_of(done[experiment.name])}
    author = AUTHOR_OF.get(document)
    if author is not None:
        yield from _source(author)
        yield from _summary(author, claims)
        yield from _index(author, own)
    for experiment in own:
        yield from _experiment(experiment, home, done[experiment.name])


def claims_of(parts: Parts) -> list[Claim]:
    """Return the claims among the parts of an experiment."""
    stored = (part for part in parts if part["kind"] == "claim")
    return [from_json({name: part[name] for name in Claim.__dataclass_fields__}) for part in stored]


def fill(text: str, claims: Mapping[str, Claim]) -> str | None:
    """Return a text with the values of claims in their places; None if one is not there yet."""
    missing = False

    def value(place: re.Match[str]) -> str:
        nonlocal missing
        claim = claims.get(place[1])
        shown = getattr(claim, place[2], None)
        missing |= shown is None or shown == ""
        if place[2] == "true" and shown is not None:
            return TRUTHS[shown.answer]
        return str(shown.answer) if place[2] == "reproduced" and shown is not None else str(shown)

    filled = _PLACE.sub(value, text)
    return None if missing else filled


def _source(author: str) -> Iterator[Block]:
    source = SOURCES[author]
    year = f", {source.year}" if source.year else ""
    yield Paragraph(
        f"{source.authors}: {source.title}{year} ({source.made}). Public besides the report: "
        f"{source.public}."
    )


def _summary(author: str, claims: Mapping[str, Claim]) -> Iterator[Block]:
    """Yield the summary, unless experiments that it refers to have not run."""
    file = files("fourlab.studies").joinpath(author.replace("-", "_"), "summary.md")
    if not file.is_file():
        return
    yield Heading("Summary")
    text = fill(file.read_text(encoding="utf-8"), claims)
    if text is None:
        yield Paragraph(f"`fourlab study {author}` runs all experiments that the summary needs.")
        return
    for paragraph in text.strip().split("\n\n"):
        yield Paragraph(" ".join(paragraph.splitlines()))


def _index(author: str, experiments: Sequence[Experiment]) -> Iterator[Block]:
    """Yield the index of the report's own tables and figures."""
    names = {experiment.name for experiment in experiments}
    rows = [
        (
            f"[{item.title}](#{item.experiment})" if item.experiment in names else item.title,
            f"`fourlab study {author} {item.name}`",
            item.sentence,
        )
        for item in items_of(author)
    ]
    if rows:
        yield Heading("Tables and figures of the report")
        yield Grid(("in the report", "command", "what it shows"), rows)


def _experiment(experiment: Experiment, home: Path, parts: Parts) -> Iterator[Block]:
    yield Heading(experiment.title, anchor=experiment.name)
    item = experiment.name.removeprefix(f"{experiment.document}-")
    claims = claims_of(parts)
    numbers = f" · [numbers](data/{item}-claims.csv)" if claims else ""
    yield Paragraph(f"`fourlab study {title_of(experiment)}`{numbers}")
    yield Paragraph(f"The report: {experiment.claim}")
    if claims:
        yield from _claims(claims)
    if rows := list(finding_rows(parts)):
        yield Grid(*_without_empty_columns(HEAD, rows))
    for part in parts:
        if part["kind"] == "picture":
            address = f"figures/{part['file']}.svg"
            data = f"data/{part['file']}.csv"
            yield Drawing(home / address, address, part["caption"], data)
    yield from _details(claims, parts)


def _claims(claims: Sequence[Claim]) -> Iterator[Block]:
    rows = []
    for claim in claims:
        reproduced = "–" if claim.reproduced is None else str(claim.reproduced.answer)
        true = "–" if claim.true is None else TRUTHS[claim.true.answer]
        reported = str(claim.reported)
        if reported and claim.source != "text":
            reported += f" ({claim.source})"
        values = (str(claim.faithful), str(claim.corrected), str(claim.exact))
        rows.append((claim.quantity, reported, *values, reproduced, true))
    yield Grid(*_without_empty_columns(CLAIM_HEAD, rows))
    # The same reason often explains several claims; it is given once.
    reasons: dict[str, list[str]] = {}
    for claim in claims:
        if claim.why:
            reasons.setdefault(claim.why, []).append(claim.quantity)
    for reason, quantities in reasons.items():
        named = f"**{'; '.join(quantities)}.** " if len(reasons) > 1 else ""
        yield Paragraph(f"{named}{reason[0].upper()}{reason[1:]}.")


def _details(claims: Sequence[Claim], parts: Parts) -> Iterator[Block]:
    """Yield what most readers skip: tests, further tables and transcripts, folded."""
    tests = [
        (claim.quantity, question, str(verdict))
        for claim in claims
        for question, verdict in claim.verdicts().items()
    ]
    if tests:
        yield Folded("The tests", [Grid(("claim", "question", "answer"), tests)])
    for part in parts:
        if part["kind"] == "table":
            data = Paragraph(f"[data](data/{part['file']})")
            yield Folded(part["title"], [Grid(part["head"], part["rows"]), data])
        elif part["kind"] == "text":
            yield Folded(part["title"], [Listing(part["lines"])])


def finding_rows(parts: Parts) -> Iterator[tuple[object, ...]]:
    """Yield the findings without tests in the columns of HEAD."""
    for part in parts:
        if part["kind"] == "finding":
            yield tuple(
                VERDICTS[part["agrees"]] if name == "agrees" else part[STORED_NAMES.get(name, name)]
                for name in Finding.__dataclass_fields__
            )


def _without_empty_columns(
    head: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return head and rows without the columns that are empty in every row."""
    # Most experiments have no exact value, many no corrected one.
    used = [column for column in range(len(head)) if any(row[column] for row in rows)]
    return tuple(head[column] for column in used), [
        tuple(row[column] for column in used) for row in rows
    ]
