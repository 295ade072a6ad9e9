"""The page of a report: summary, index of its tables and figures, then what was found."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

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
from fourlab.studies import findings
from fourlab.studies.catalogue import (
    DOCUMENTS,
    Experiment,
    all_experiments,
    items_of,
    title_of,
)
from fourlab.studies.claims import Answer, Claim, Verdict, brief
from fourlab.studies.made import Made
from fourlab.studies.parts import Parts, claims_of, item_of

CLAIM_HEAD = (
    *("claim", "reported", "faithful", "corrected", "exact"),
    *("reproduced?", "true?"),
)
TRUTHS = {
    Answer.AGREES: "holds",
    Answer.DIFFERS: "does not hold",
    Answer.CANNOT_TELL: "cannot tell",
}
"""What the answer to "true?" is called on a page."""
_PLACE = re.compile(r"\{([a-z0-9-]+)\.([a-z]+)(:brief)?\}")
"""A place of a summary that a value fills: {table-5-mc40-first.faithful}.

With `:brief`, without the number of observations and the like."""


def blocks_of(
    document: str,
    home: Path,
    done: Mapping[str, Parts],
    made: Mapping[str, Made] | None = None,
) -> Iterator[Block]:
    """Yield the page of one report, from its complete experiments and how they were made.

    `home` is the folder of its figures and data.
    """
    made = made or {}
    experiments = [all_experiments()[name] for name in done]
    own = [experiment for experiment in experiments if experiment.document == document]
    claims = {claim.name: claim for experiment in own for claim in claims_of(done[experiment.name])}
    author = AUTHOR_OF.get(document)
    yield Heading(DOCUMENTS[document], 1)
    if author is not None:
        yield from _source(author)
        yield from _summary(author, claims)
        yield from _index(author, own)
    for experiment in own:
        name = experiment.name
        yield from _experiment(experiment, home, done[name], made.get(name))
    yield from _how_it_was_made({name: made[name] for name in done if name in made})


def _how_it_was_made(made: Mapping[str, Made]) -> Iterator[Block]:
    """Yield the scale, seed, commit and date of each experiment of a published report."""
    made = {name: one for name, one in made.items() if one.created}
    if not made:
        return
    groups: dict[tuple[object, ...], list[str]] = {}
    for name, one in made.items():
        group = (one.scale, one.seed, one.commit or "–", one.day)
        groups.setdefault(group, []).append(item_of(all_experiments()[name]))
    yield Heading("How it was made")
    rows = [(", ".join(items), *group) for group, items in groups.items()]
    yield Grid(("experiments", "scale", "seed", "commit", "date"), rows)
    reasons: dict[str, list[str]] = {}
    for name, one in made.items():
        if one.why_not_full:
            reasons.setdefault(one.why_not_full, []).append(item_of(all_experiments()[name]))
    if reasons:
        lines = [f"{', '.join(items)}: {reason}" for reason, items in reasons.items()]
        yield Paragraph(f"Smaller than full: {'; '.join(lines)}.")
    machines = dict.fromkeys(
        f"{one.machine}; "
        + ", ".join(f"{package} {version}" for package, version in one.versions.items())
        for one in made.values()
    )
    yield Paragraph(f"Made on {' and '.join(machines)}.")
    yield Paragraph(
        "All numbers, tests and tables of this page are in [parts.json](parts.json), from which it "
        "is written; [manifest.json](manifest.json) has how they were made."
    )


def fill(text: str, claims: Mapping[str, Claim]) -> str | None:
    """Return a text with the values of claims in their places; None if one is not there yet."""
    missing = False

    def value(place: re.Match[str]) -> str:
        nonlocal missing
        name, field, short = place.groups()
        shown = getattr(claims.get(name), field, None)
        missing |= shown is None or shown == ""
        if isinstance(shown, Verdict):
            return TRUTHS[shown.answer] if field == "true" else str(shown.answer)
        return brief(shown) if short and shown is not None else str(shown)

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


def _experiment(
    experiment: Experiment, home: Path, parts: Parts, made: Made | None
) -> Iterator[Block]:
    yield Heading(experiment.title, anchor=experiment.name)
    item = item_of(experiment)
    claims = claims_of(parts)
    shown = list(findings.rows(parts))
    command = made.command(experiment) if made else f"fourlab study {title_of(experiment)}"
    numbers = f" · [numbers](data/{item}-claims.csv)" if claims else ""
    numbers += f" · [findings](data/{item}-findings.csv)" if shown else ""
    yield Paragraph(f"`{command}`{numbers}")
    yield Paragraph(f"The report: {experiment.claim}")
    if claims:
        yield from _claims(claims)
    if shown:
        yield Grid(*_without_empty_columns(findings.HEAD, shown))
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


def _without_empty_columns(
    head: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return head and rows without the columns that are empty in every row."""
    # Most experiments have no exact value, many no corrected one.
    used = [column for column in range(len(head)) if any(row[column] for row in rows)]
    return tuple(head[column] for column in used), [
        tuple(row[column] for column in used) for row in rows
    ]
