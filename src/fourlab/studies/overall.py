"""The overall page: what the authors wanted to know, the answers, and the verdicts counted."""

from collections.abc import Iterator, Mapping, Sequence

from fourlab.analysis.overview import ANSWERS, POSSIBLE, UNTESTED, count_answers
from fourlab.reporting.blocks import Block, Folded, Grid, Heading, Paragraph
from fourlab.sources import AUTHOR_OF, SOURCES
from fourlab.studies.catalogue import DOCUMENTS, FOLDERS, all_experiments, title_of
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
        "Every claim has two verdicts. It is **reproduced** if the faithful program, with the "
        "report's faults and at its own budget, gives the reported number. It **holds** if it is "
        "true of the corrected program and the exact game. Two values agree if the 90 % interval "
        "of their difference lies within a margin; they differ if a test rejects equality at 5 % "
        "and they are further apart than the margin; otherwise the data cannot tell. A claim that "
        "one value is larger holds if the 95 % interval of the difference is above 0, and does not "
        "hold if it is below the margin. A claim of a bound holds if the 95 % interval is beyond "
        "it, and does not if the interval is on the other side. A margin is at most half of the "
        "value, or a quarter of a bounded scale; where the data would need a larger one, there is "
        "no verdict. Tests and margins were fixed before the data were made that they judge."
    )
    yield Paragraph(
        "The table counts what the reports claim, one statement once, however many rows it has: it "
        "agrees if all of them do, and differs if one does; if a row allows no verdict, the "
        "statement cannot agree. What a report saw once is *possible* if it occurs in at least 1 % "
        "of our trials, a weak test. Other readings of a report and our own comparisons do not "
        "count. That one player beats another holds if it wins more than half of the games that "
        "are not drawn. "
        "Brackets are 95 % intervals, unless they are marked as the central 95 % of our values. "
        "Columns count from 1; Vannucci and Abril's actions 4 and 6 are the columns 5 and 7."
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
            yield Paragraph(_made_line(document, own[document], made))
    rows = [_experiment_row(name, parts) for name, parts in done.items()]
    title = "All experiments, and how many of their claims are reproduced"
    yield Folded(title, [Grid(EXPERIMENT_HEAD, rows)])


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


def _made_line(document: str, experiments: Mapping[str, Parts], made: Mapping[str, Made]) -> str:
    """Return how the experiments of a report were made, in one sentence."""
    own = [made[name] for name in experiments]
    scales = " and ".join(dict.fromkeys(one.scale for one in own))
    seeds = ", ".join(dict.fromkeys(str(one.seed) for one in own))
    text = f"{_name(document)}: scale {scales}, seed {seeds}"
    if commits := list(dict.fromkeys(one.commit for one in own if one.commit)):
        text += f", commit {', '.join(commits)}"
    if days := sorted({one.day for one in own if one.day}):
        text += f", {days[0]}" if len(days) == 1 else f", {days[0]} to {days[-1]}"
    if judged := list(dict.fromkeys(one.judged_commit for one in own if one.judged_commit)):
        text += f"; verdicts of some written again at commit {', '.join(judged)}"
    return f"{text}."


def _experiment_row(name: str, parts: Parts) -> tuple[object, ...]:
    answers = count_answers(parts)
    counts = (answers[answer] for answer in ANSWERS)
    experiment = all_experiments()[name]
    return title_of(experiment), experiment.claim, *counts
