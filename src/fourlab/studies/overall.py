"""The overall page: what the authors wanted to know, the answers, and the verdicts counted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fourlab.analysis.overview import ANSWERS, POSSIBLE, UNTESTED, count_answers
from fourlab.reporting.blocks import Block, Bullets, Folded, Grid, Heading, Paragraph
from fourlab.sources import AUTHOR_OF, SOURCES
from fourlab.studies.catalogue import DOCUMENTS, FOLDERS, SCALES, all_experiments, title_of
from fourlab.studies.made import Made
from fourlab.studies.parts import Parts, claims_of
from fourlab.studies.questions import answers_of

TITLE = "The experiments of the five reports, replicated"
COUNT_HEAD = (
    *("report", "claims"),
    *("reproduced: agrees", POSSIBLE, "differs", "cannot tell", UNTESTED),
    *("true: holds", "does not hold", "cannot tell", UNTESTED),
)
EXPERIMENT_HEAD = ("experiment", "claim of the report", *ANSWERS)
MADE_HEAD = ("report", "experiments, by scale", "seed", "date")
UNDECIDED = "Not decided by these data:"
"""Precedes the questions without an answer."""


def overall_blocks(
    done: Mapping[str, Parts],
    made: Mapping[str, Made],
    suffix: str,
    folders: Mapping[str, str] = FOLDERS,
    others: Sequence[str] = (),
) -> Iterator[Block]:
    """Yield the page of all reports: verdicts, questions and answers, experiments.

    `suffix` is that of the pages of the reports, `folders` has their folders by number. `others`
    are the numbers of reports that an earlier version published: only their pages are known.
    """
    own = {
        document: {name: parts for name, parts in done.items() if _document(name) == document}
        for document in DOCUMENTS
    }
    yield Heading(TITLE, 1)
    yield Paragraph(
        "Every experiment of five student reports on Connect Four was run again: with the faults "
        "of the reports' programs, without them, and beside the exact values of the game. Every "
        "claim has two verdicts. It is **reproduced** if the faithful program, with the faults and "
        "at the report's own budget, gives the reported number. It **holds** if it is true of the "
        "corrected program and the exact game."
    )
    yield Grid(
        COUNT_HEAD,
        [
            (f"[{_name(document)}]({folders[document]}/report{suffix})", *_counts(own[document]))
            for document in DOCUMENTS
            if own[document] or document in others
        ],
    )
    if others:
        yield Paragraph("An earlier version published the reports without numbers in this table.")
    for document, title in DOCUMENTS.items():
        if own[document]:
            yield Heading(title)
            yield from _answers(document, own[document])
    yield from _how_claims_are_judged()
    rows = [_experiment_row(name, parts) for name, parts in done.items()]
    title = "All experiments, and how many of their claims are reproduced"
    yield Folded(title, [Grid(EXPERIMENT_HEAD, rows)])
    yield Heading("How it was made")
    described = [
        _made_row(document, own[document], made) for document in DOCUMENTS if own[document]
    ]
    yield Grid(MADE_HEAD, described)
    if any(one.created for one in made.values()):
        yield Paragraph(
            "The end of every page has the scale, seed, commit and date of each experiment, and "
            "why it is not of full scale."
        )


def _how_claims_are_judged() -> Iterator[Block]:
    """Yield the rules of verdicts, of the first table, and of numbers on all pages."""
    rules = [
        "Two values **agree** if the 90 % interval of their difference lies within a margin; they "
        "**differ** if a test rejects equality at 5 % and they are further apart than the margin; "
        "otherwise the data **cannot tell**.",
        "A claim that one value is larger **holds** if the 95 % interval of the difference is "
        "above 0, and does not hold if it is below the margin. A claim of a bound holds if the "
        "95 % interval is beyond it, and does not if the interval is on the other side. That one "
        "player beats another holds if it wins more than half of the games that are not drawn.",
        "A margin is at most half of the value, or a quarter of a bounded scale; where the data "
        "would need a larger one, there is no verdict. Tests and margins were fixed before the "
        "data were made that they judge.",
        "What a report saw once is **possible** if it occurs in at least 1 % of our trials, a weak "
        "test.",
        "The table above counts what the reports claim, one statement once, however many rows it "
        "has: it agrees if all of them do, and differs if one does; if a row allows no verdict, "
        "the statement cannot agree. Other readings of a report and our own comparisons do not "
        "count.",
        "Brackets are 95 % intervals, unless they are marked as the central 95 % of our values. "
        "Columns count from 1; Vannucci and Abril's actions 4 and 6 are the columns 5 and 7.",
    ]
    yield Heading("How claims are judged")
    yield Bullets(rules)


def _name(document: str) -> str:
    """Return the authors of a report; for experiments across reports, what they are about."""
    author = AUTHOR_OF.get(document)
    return DOCUMENTS[document] if author is None else SOURCES[author].authors


def _document(name: str) -> str:
    return all_experiments()[name].document


def _counts(experiments: Mapping[str, Parts]) -> Iterator[object]:
    """Yield the number of statements of a report, and of every answer to both questions."""
    made = [part for parts in experiments.values() for part in parts]
    if not count_answers(made).total():
        yield from ("–",) * (len(COUNT_HEAD) - 1)
        return
    for question in ("reproduced", "true"):
        answers = count_answers(made, question)
        if question == "reproduced":
            yield answers.total()
            yield from (answers[answer] for answer in ANSWERS)
        else:
            # What may happen is no question about what is true.
            answers["agrees"] += answers.pop(POSSIBLE, 0)
            yield from (answers[answer] for answer in ANSWERS if answer != POSSIBLE)


def _answers(document: str, experiments: Mapping[str, Parts]) -> Iterator[Block]:
    """Yield the questions of a report with their answers, a paragraph each."""
    claims = {claim.name: claim for parts in experiments.values() for claim in claims_of(parts)}
    open_questions = []
    for question, answer in answers_of(FOLDERS[document], claims).items():
        if answer is None:
            open_questions.append(question)
        else:
            yield Paragraph(f"**{question}** {' '.join(answer.split())}")
    if open_questions:
        yield Paragraph(f"{UNDECIDED} {' '.join(open_questions)}")


def _made_row(
    document: str, experiments: Mapping[str, Parts], made: Mapping[str, Made]
) -> tuple[object, ...]:
    """Return how the experiments of a report were made, as a row of a table."""
    own = [made[name] for name in experiments]
    scales = Counter(one.scale for one in own)
    seeds = ", ".join(str(seed) for seed in sorted({one.seed for one in own}))
    days = sorted({one.day for one in own if one.day})
    return (
        _name(document),
        ", ".join(f"{scales[scale]} {scale}" for scale in reversed(SCALES) if scales[scale]),
        seeds,
        " to ".join(dict.fromkeys([days[0], days[-1]])) if days else "–",
    )


def _experiment_row(name: str, parts: Parts) -> tuple[object, ...]:
    answers = count_answers(parts)
    counts = (answers[answer] for answer in ANSWERS)
    experiment = all_experiments()[name]
    return title_of(experiment), experiment.claim, *counts
