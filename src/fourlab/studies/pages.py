"""The page of a report: summary, index of its tables and figures, then what was found."""

import json
import re
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from fourlab.faults import FAULTS
from fourlab.reporting.blocks import (
    Block,
    Bullets,
    Drawing,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
)
from fourlab.sources import AUTHOR_OF, SOURCES
from fourlab.studies.answers import findings, needs_words, reasons
from fourlab.studies.catalogue import (
    DOCUMENTS,
    FOLDERS,
    NO_PICTURE,
    SCALES,
    Experiment,
    Item,
    all_experiments,
    items_of,
    statement_titles,
    title_of,
)
from fourlab.studies.claims import (
    Claim,
    Kind,
    Source,
    for_many_tests,
    p_in_words,
)
from fourlab.studies.filling import bears_out as bears_out
from fourlab.studies.filling import fill as fill
from fourlab.studies.filling import word_of
from fourlab.studies.made import HOUR, Made, in_words
from fourlab.studies.parts import Parts, claims_of, item_of
from fourlab.studies.proportions import LEVEL
from fourlab.studies.questions import answers_of

CLAIM_HEAD = (
    *("claim", "reported", "faithful", "corrected", "exact"),
    *("reproduced?", "true?"),
)
FEWEST_TESTS = 5
"""With fewer tests on a page, nothing is said about their number."""
OTHERS = {
    Kind.READING: "Other readings of the report",
    Kind.DIAGNOSTIC: "Our own comparisons",
}
"""What pages call claims that the report does not make."""
DECIDED = "decided games"
"""In the name of a test of a match: what it is about."""
_FAULT = re.compile(r"\bB\d{1,2}\b")
_EXPECTS = re.compile(r"<!-- (expects|if):(.*?)-->\s*", re.DOTALL)
"""What the words of a paragraph take for granted; one with "if" is left out where it is not so."""
NOT_BORNE_OUT = "The published words are not borne out by these data; the claims below say more."
"""Takes the place of a paragraph of the summary, as at small scales."""


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
    if author is None:
        yield from _answered(FOLDERS[document], claims)
    if author is not None:
        yield from _source(author, list(claims.values()))
        yield from _summary(author, claims)
        parts = {experiment.name: done[experiment.name] for experiment in own}
        yield from _index(author, parts, claims, made)
    faults: set[str] = set()
    given: set[str] = set()
    corrected = for_many_tests(claims.values())
    for experiment in own:
        name = experiment.name
        yield from _experiment(experiment, home, done[name], made.get(name), given, corrected)
        faults.update(_FAULT.findall(json.dumps(done[name], ensure_ascii=False)))
    yield from _faults(faults)
    yield from _many_tests(claims, corrected)
    yield from _how_it_was_made({name: made[name] for name in done if name in made})


def _many_tests(
    claims: Mapping[str, Claim], corrected: Mapping[tuple[str, str], float]
) -> Iterator[Block]:
    """Yield what a correction for the number of tests on the page changes."""
    if len(corrected) < FEWEST_TESTS:
        return
    rows = []
    rejected = 0
    for (name, question), chance in corrected.items():
        p = claims[name].verdicts()[question].p
        if p is None or p >= LEVEL:
            continue
        rejected += 1
        if chance >= LEVEL:
            rows.append((claims[name].quantity, question, f"{p:.2g}", f"{chance:.2g}"))
    yield Heading("The number of tests")
    inside: list[Block] = [
        Paragraph(
            f"At {100 * LEVEL:g} %; corrected for their number by the method of Holm (1979). The "
            "answers rest on the uncorrected values, which the margins and the power belong to; "
            "the tables of tests have both."
        )
    ]
    if rows:
        inside.append(Grid(("claim", "question", "p", "p (Holm)"), rows))
    yield Folded(
        f"{rejected} of the {len(corrected)} tests of this page reject what they test, "
        f"{rejected - len(rows)} also if corrected for their number",
        inside,
    )


def _how_it_was_made(made: Mapping[str, Made]) -> Iterator[Block]:
    """Yield the scale, seed, commit and date of each experiment of a published report."""
    made = {name: one for name, one in made.items() if one.created}
    if not made:
        return
    groups: dict[tuple[object, ...], list[str]] = {}
    for name, one in made.items():
        group = (one.scale, str(one.seed), one.commit or "–", one.day, one.judged_by)
        groups.setdefault(group, []).append(item_of(all_experiments()[name]))
    yield Heading("How it was made")
    rows = [(", ".join(items), *group) for group, items in groups.items()]
    head = ("experiments", "scale", "seed", "commit", "date", "judged by")
    details: list[Block] = [Grid(*_without_empty_columns(head, rows))]
    if any(one.judged for one in made.values()):
        details.append(
            Paragraph(
                "Where a commit is named under *judged by*, verdicts, intervals or words were "
                "written again from the stored numbers, without a new run."
            )
        )
    machines = dict.fromkeys(
        f"{one.machine}; "
        + ", ".join(f"{package} {version}" for package, version in one.versions.items())
        for one in made.values()
    )
    details.append(Paragraph(f"Made on {' and '.join(machines)}."))
    yield from _smaller_than_full(made)
    yield Folded("Scale, seed, commit, date and machine", details)
    yield Paragraph(
        "All results of this page are in [parts.json](parts.json), from which it is written. "
        "[claims.json](claims.json) has a row for every value and verdict, and "
        "[manifest.json](manifest.json) how they were made."
    )


def _smaller_than_full(made: Mapping[str, Made]) -> Iterator[Block]:
    """Yield which experiments of a page are not of full scale, and why."""
    lines = [
        f"{item_of(all_experiments()[name])}: {one.why_not_full}"
        for name, one in made.items()
        if one.why_not_full
    ]
    if not lines:
        return
    experiments = [(all_experiments()[name].seconds, one.scale) for name, one in made.items()]
    everything = sum(seconds[SCALES.index("full")] for seconds, _ in experiments)
    spent = sum(seconds[SCALES.index(scale)] for seconds, scale in experiments)
    budget = (
        f"At full scale, all experiments of this page would take {in_words(everything)} on two "
        "cores, which is more than the hour that a report has; at the scales above they take "
        f"{in_words(spent)}."
        if everything > HOUR
        else ""
    )
    if budget:
        yield Paragraph(budget)
    number = f"The {len(lines)} experiments" if len(lines) > 1 else "The experiment"
    yield Folded(f"{number} at a smaller scale than full, and why", [Bullets(lines)])


def _source(author: str, claims: Sequence[Claim]) -> Iterator[Block]:
    """Yield where the report and its numbers come from, and how its page counts columns."""
    source = SOURCES[author]
    year = f", {source.year}" if source.year else ", year not stated"
    links = ", ".join(f"[{link.removeprefix('https://')}]({link})" for link in source.addresses)
    yield Paragraph(
        f"{source.names or source.authors}: {source.title}{year} ({source.made}). "
        f"Public besides the report: {source.public}{f' ({links})' if links else ''}."
        + (f" Not available: {source.unseen}." if source.unseen else "")
    )
    origins = Counter(claim.source for claim in claims if claim.reported != "")
    counted = ", ".join(f"{origins[one]} {one}" for one in Source if origins[one])
    provenance = f" Sources of the reported values: {counted}. All other numbers are ours."
    tests = [verdict.test for claim in claims for verdict in claim.verdicts().values()]
    match = (
        " That one player beats another holds if it wins more than half of the games that are not "
        "drawn."
    )
    yield Paragraph(
        f"{source.columns}{provenance if counted else ''}"
        f"{match if any(DECIDED in test for test in tests) else ''}"
    )


def _summary(author: str, claims: Mapping[str, Claim]) -> Iterator[Block]:
    """Yield the summary, unless experiments that it refers to have not run.

    A paragraph may begin with a comment of what its words take for granted.
    """
    file = files("fourlab.studies").joinpath(author.replace("-", "_"), "summary.md")
    if not file.is_file():
        return
    yield Heading("Summary")
    text = fill(file.read_text(encoding="utf-8"), claims, in_short=True)
    if text is None:
        yield Paragraph(f"`fourlab study {author}` runs all experiments that the summary needs.")
        return
    for paragraph in text.strip().split("\n\n"):
        expected = _EXPECTS.match(paragraph)
        words = " ".join(_EXPECTS.sub("", paragraph).split())
        if expected and not bears_out(claims, expected[2].split(";")):
            if expected[1] == "if":
                continue
            # Only the bold word at its beginning is still right.
            words = f"{words[: words.find('**', 2) + 2]} {NOT_BORNE_OUT}"
        yield Paragraph(words)


def _answered(folder: str, claims: Mapping[str, Claim]) -> Iterator[Block]:
    """Yield the summary of experiments that belong to no report: the answers to its questions."""
    answers = [answer for answer in answers_of(folder, claims).values() if answer is not None]
    if answers:
        yield Heading("Summary")
        yield from (Paragraph(" ".join(answer.split())) for answer in answers)


def _index(
    author: str, done: Mapping[str, Parts], claims: Mapping[str, Claim], made: Mapping[str, Made]
) -> Iterator[Block]:
    """Yield the index of the report's own tables and figures, with links to what is there."""
    rows = []
    for item in items_of(author):
        title = item.title
        if item.experiment in done:
            picture = picture_of(item, done[item.experiment])
            anchor = item.experiment if picture is None else anchor_of(picture)
            title = f"[{title}](#{anchor})"
        rows.append((title, f"`fourlab study {author} {item.name}`", item_words(item, claims)))
    if rows:
        yield Heading("Tables and figures of the report")
        how = {(one.scale, one.seed) for one in made.values()}
        if how - {("quick", 0)}:
            seeds = " and ".join(sorted({str(seed) for _, seed in how}))
            yield Paragraph(
                "These commands run at the scale quick with seed 0. The numbers of this page have "
                f"seed {seeds}; the command below each heading repeats them."
            )
        yield Grid(("in the report", "command", "what it shows"), rows)


def item_words(item: Item, claims: Mapping[str, Claim]) -> str:
    """Return what a table or figure shows, and what came of it if the claims bear that out."""
    if item.outcome and bears_out(claims, item.expects):
        return f"{item.sentence} {item.outcome}"
    return item.sentence


def picture_of(item: Item, parts: Parts) -> str | None:
    """Return the file of the picture of a table or figure; None if it has none.

    It is the picture with the item's name, or else the first one of its experiment.
    """
    if item.picture == NO_PICTURE:
        return None
    names = [part["file"] for part in parts if part["kind"] == "picture"]
    wanted = item.picture or item.name
    same = [name for name in names if name == wanted or name.endswith(f"-{wanted}")]
    return next(iter([*same, *names]), None)


def anchor_of(picture: str) -> str:
    """Return what links to a picture name."""
    return f"picture-{picture}"


def _experiment(
    experiment: Experiment,
    home: Path,
    parts: Parts,
    made: Made | None,
    given: set[str],
    corrected: Mapping[tuple[str, str], float],
) -> Iterator[Block]:
    """Yield an experiment; `given` are the explanations of those before it.

    `corrected` are the p-values of the whole page, corrected for their number.
    """
    yield Heading(experiment.title, anchor=experiment.name)
    item = item_of(experiment)
    claims = claims_of(parts)
    command = made.command(experiment) if made else f"fourlab study {title_of(experiment)}"
    numbers = f" · [numbers](data/{item}-claims.csv)" if claims else ""
    yield Paragraph(f"`{command}`{numbers}")
    lead = "The report: " if experiment.document in AUTHOR_OF else ""
    yield Paragraph(f"{lead}{experiment.claim}")
    if experiment.changed:
        yield Paragraph(f"Changed after numbers were seen: {experiment.changed}")
    titles = statement_titles(FOLDERS[experiment.document])
    own = [claim for claim in claims if claim.kind is Kind.CLAIM]
    # Where the report claims nothing that was tested, our own comparisons are the result.
    shown = own if any(claim.verdicts() for claim in own) else claims
    if lines := list(findings(shown, titles)):
        yield Bullets(lines)
    # One row speaks for its statement; the other explanations are folded.
    explained: dict[str, Claim] = {}
    for claim in shown:
        if claim.why and needs_words(claim):
            explained.setdefault(claim.statement, claim)
    yield from reasons(list(explained.values()), given, titles)
    more = yield from _pictures(experiment, home, parts, command)
    yield from _others(claims, shown, given, titles)
    if claims:
        number = f"All {len(claims)} claims" if len(claims) > 1 else "The claim"
        yield Folded(number, list(_claims(claims)))
    yield from _details(claims, parts, corrected)
    if more:
        yield Folded("More pictures", more)


def _others(
    claims: Sequence[Claim], shown: Sequence[Claim], given: set[str], titles: Mapping[str, str]
) -> Iterator[Block]:
    """Yield the answers to what is not the report's own, and all other explanations, folded."""
    blocks: list[Block] = []
    names = []
    for kind, name in OTHERS.items():
        lines = list(
            findings([one for one in claims if one.kind is kind and one not in shown], titles)
        )
        if lines:
            names.append(name)
            blocks += [Paragraph(f"**{name}**"), Bullets(lines)]
    if notes := list(reasons(claims, given, titles)):
        blocks += notes
        names.append("Notes")
    if blocks:
        title = ", ".join([names[0], *(name[:1].lower() + name[1:] for name in names[1:])])
        yield Folded(title, blocks)


def _pictures(
    experiment: Experiment, home: Path, parts: Parts, command: str
) -> Generator[Block, None, list[Block]]:
    """Yield one picture for each table or figure of the report; return the others."""
    author = AUTHOR_OF.get(experiment.document, "")
    items = [item for item in items_of(author) if item.experiment == experiment.name]
    shown = {picture_of(item, parts) for item in items} - {None}
    names = [part["file"] for part in parts if part["kind"] == "picture"]
    if not shown:
        shown.update(names[:1])
    more: list[Block] = []
    for part in parts:
        if part["kind"] != "picture":
            continue
        file = part["file"]
        drawing = Drawing(
            home / "figures" / f"{file}.svg",
            f"figures/{file}.svg",
            part["caption"],
            f"data/{file}.csv",
            command,
            anchor_of(file),
        )
        if file in shown:
            yield drawing
        else:
            more.append(drawing)
    return more


def _claims(claims: Sequence[Claim]) -> Iterator[Block]:
    """Yield the values and answers of claims: a table for each meaning of its columns."""
    tables: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
    for claim in claims:
        reproduced, true = (
            "–" if verdict is None else verdict.qualified(word_of(verdict, question))
            for question, verdict in (("reproduced", claim.reproduced), ("true", claim.true))
        )
        reported = str(claim.reported)
        if reported and claim.source != Source.TEXT:
            reported += f" ({claim.source})"
        values = (str(claim.faithful), str(claim.corrected), str(claim.exact))
        head = tuple(claim.label(name) for name in CLAIM_HEAD)
        row = (claim.quantity, reported, *values, reproduced, true)
        tables.setdefault(head, []).append(row)
    for head, rows in tables.items():
        yield Grid(*_without_empty_columns(head, rows))


def _details(
    claims: Sequence[Claim], parts: Parts, corrected: Mapping[tuple[str, str], float]
) -> Iterator[Block]:
    """Yield what most readers skip: tests, further tables and transcripts, folded."""
    tests = []
    for claim in claims:
        for question, verdict in claim.verdicts().items():
            chance = corrected.get((claim.name, question))
            for_many = "" if chance is None else p_in_words(chance).removeprefix("p = ")
            answer = verdict.described(word_of(verdict, question))
            tests.append((claim.quantity, question, answer, for_many.removeprefix("p ")))
    if tests:
        head = ("claim", "question", "answer", "p (Holm)")
        yield Folded("The tests", [Grid(*_without_empty_columns(head, tests))])
    for part in parts:
        if part["kind"] == "table":
            data = Paragraph(f"[data](data/{part['file']})")
            yield Folded(part["title"], [Grid(part["head"], part["rows"]), data])
        elif part["kind"] == "text":
            yield Folded(part["title"], [Listing(part["lines"])])


def _faults(named: Collection[str]) -> Iterator[Block]:
    """Yield what the numbers of faults on the page mean."""
    rows = [
        (name, fault.faulty, fault.corrected) for name, fault in FAULTS.items() if name in named
    ]
    if rows:
        yield Heading("Faults named on this page")
        yield Grid(("fault", "faithful", "corrected"), rows)


def _without_empty_columns(
    head: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return head and rows without the columns that are empty in every row."""
    # Most experiments have no exact value, many no corrected one.
    used = [column for column in range(len(head)) if any(row[column] for row in rows)]
    return tuple(head[column] for column in used), [
        tuple(row[column] for column in used) for row in rows
    ]
