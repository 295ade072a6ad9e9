"""Which statements have which answers: in lists, with explanations, each sentence once."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fourlab.analysis.overview import POSSIBLE
from fourlab.reporting.blocks import Block, Paragraph
from fourlab.studies.claims import Answer, Claim, brief
from fourlab.studies.filling import TRUTHS

MOST_NAMED = 8
"""How many statements with the same answer a list names; a folded table has them all."""
LONG = 70
"""Longer quantities do not name a row of a statement in a list."""
REPRODUCED = {
    Answer.AGREES: "reproduced",
    Answer.DIFFERS: "not reproduced",
    Answer.CANNOT_TELL: "cannot tell whether reproduced",
    Answer.NONE: "no verdict on the number",
}
HOLDS = {
    **TRUTHS,
    Answer.CANNOT_TELL: "cannot tell whether it holds",
    Answer.NONE: "no verdict on the statement",
}
"""What the answers are called in sentences."""
DECIDED = {Answer.AGREES, Answer.DIFFERS}
GAINED = "Elo gained, "
"""Begins the quantity of a fix in an ablation."""
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_SYMBOL = re.compile(r"\S+ = |\S*\d")
_NUMBER = re.compile(r"\d")


def needs_words(claim: Claim) -> bool:
    """Return whether an answer is other than that all agrees."""
    return any(verdict.answer is not Answer.AGREES for verdict in claim.verdicts().values())


def findings(
    claims: Sequence[Claim], titles: Mapping[str, str]
) -> Iterator[str | tuple[str, Sequence[str]]]:
    """Yield which statements have which verdicts, a list for each combination of answers.

    `titles` are those of statements; without one, it is the quantity of the first row.
    """
    groups: dict[str, dict[str, list[Claim]]] = {}
    # In the order of the answers: what is reproduced and holds comes first.
    for claim in sorted(claims, key=_answers):
        if label := _label(claim):
            groups.setdefault(label, {}).setdefault(claim.statement, []).append(claim)
    tested = Counter(claim.statement for claim in claims if claim.verdicts())
    for label, statements in groups.items():
        lines = [
            _finding(rows, tested[statement], titles) for statement, rows in statements.items()
        ]
        if len(lines) > MOST_NAMED:
            lines[MOST_NAMED - 1 :] = [f"and {len(lines) - MOST_NAMED + 1} more"]
        if len(lines) == 1:
            yield f"**{_begun(label)}:** {lines[0]}."
        else:
            yield f"**{_begun(label)}:**", lines


def _label(claim: Claim) -> str:
    """Return what became of a claim, in words; empty if nothing was tested."""
    reproduced, true = (
        ""
        if verdict is None
        else (POSSIBLE if verdict.word == POSSIBLE else words[verdict.answer])
        + (f" ({verdict.qualification})" if verdict.qualification else "")
        for words, verdict in ((REPRODUCED, claim.reproduced), (HOLDS, claim.true))
    )
    if claim.reproduced is None or claim.true is None:
        return reproduced or true
    answers = (claim.reproduced.answer, claim.true.answer)
    if answers == (Answer.CANNOT_TELL, Answer.CANNOT_TELL):
        return f"{reproduced}, and {true}"
    if not DECIDED.issuperset(answers):
        # What is decided comes first.
        return "; ".join((reproduced, true) if answers[0] in DECIDED else (true, reproduced))
    return f"{reproduced}, {'and' if answers[0] is answers[1] else 'but'} {true}"


def _finding(rows: Sequence[Claim], tested: int, titles: Mapping[str, str]) -> str:
    """Return a statement, with how many of its tested rows are meant and values that differ."""
    first = rows[0]
    details = [f"{len(rows)} of {tested} rows"] if len(rows) < tested else []
    values = _values(first)
    if tested == 1:
        details += filter(None, [values])
    elif len(first.quantity) <= LONG and (values or len(rows) == 1):
        # Of several rows, the first is an example.
        details.append(", ".join(filter(None, [first.quantity, values])))
    title = title_of_statement(first, titles)
    return f"{title} ({'; '.join(details)})" if details else title


def title_of_statement(claim: Claim, titles: Mapping[str, str]) -> str:
    """Return what pages call the statement of a claim."""
    if title := titles.get(claim.statement):
        return title
    # Of a fix: first what it is, then in which program.
    program, _, fix = claim.quantity.removeprefix(GAINED).partition("; ")
    if claim.quantity.startswith(GAINED) and fix:
        return f"{fix} ({program})"
    return claim.quantity.rstrip(".")


def _values(claim: Claim) -> str:
    """Return the values of a claim where they differ from what is claimed."""
    values = claim.versions()
    # What is true may have been tested by either.
    differing = {
        "faithful": claim.reproduced,
        "corrected": claim.true,
        "exact": claim.true,
    }
    shown = [
        f"{claim.label(version)}: {brief(values[version])}"
        for version, verdict in differing.items()
        if verdict is not None
        and verdict.answer is Answer.DIFFERS
        and len(str(values.get(version, ""))) in range(1, LONG)
    ]
    reported = brief(claim.reported)
    # The title says what is claimed in words.
    if shown and _NUMBER.search(reported):
        shown = [f"reported: {reported}", *shown]
    return ", ".join(shown)


def _begun(text: str) -> str:
    """Return text with a capital letter at its beginning, unless that is a symbol or a name.

    Symbols have a value, as in "c = 2"; names of networks and players have digits.
    """
    if _SYMBOL.match(text):
        return text
    return text[:1].upper() + text[1:]


def _answers(claim: Claim) -> tuple[int, ...]:
    """Return the answers as numbers, agrees first and what was not asked last."""
    order = [*Answer, None]
    verdicts = (claim.reproduced, claim.true)
    return tuple(order.index(verdict.answer if verdict else None) for verdict in verdicts)


def reasons(claims: Sequence[Claim], given: set[str], titles: Mapping[str, str]) -> Iterator[Block]:
    """Yield the explanations, without sentences that the page has `given` already."""
    named: dict[str, list[str]] = {}
    for claim in claims:
        if claim.why:
            own = named.setdefault(claim.why, [])
            title = title_of_statement(claim, titles)
            if title not in own:
                own.append(title)
    paragraphs: dict[str, list[str]] = {}
    for reason, whose in named.items():
        end = "" if reason.endswith((".", "?", "!")) else "."
        sentences = _SENTENCE_END.split(f"{_begun(reason)}{end}")
        new = [sentence for sentence in sentences if sentence not in given]
        given.update(new)
        if new:
            others = f" and {len(whose) - 1} more" if len(whose) > 1 else ""
            paragraphs.setdefault(f"{_begun(whose[0])}{others}", []).extend(new)
    for lead, sentences in paragraphs.items():
        yield Paragraph(f"**{lead}.** {' '.join(sentences)}")
