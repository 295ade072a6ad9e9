"""Texts whose places are filled with values of claims, and which say what they take for granted."""

import re
from collections.abc import Callable, Iterable, Mapping

from fourlab.analysis.overview import POSSIBLE
from fourlab.studies.claims import Answer, Claim, Value, Verdict, brief, named, plain

TRUTHS = {
    Answer.AGREES: "holds",
    Answer.DIFFERS: "does not hold",
    Answer.CANNOT_TELL: "cannot tell",
    Answer.NONE: "no verdict",
}
"""What the answer to "true?" is called on a page."""
_OPTIONAL = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
"""A passage of a summary that is left out if one of its values is not there."""
_PLACE = re.compile(r"\{([a-z0-9-]+)\.([a-z]+)(?::(brief|named|plain))?\}")
"""A place of a text that a value fills: {table-5-mc40-first.faithful}.

With `:named`, without the number of observations; with `:brief`, without its note, either; with
`:plain`, without its interval, either."""
FORMS: Mapping[str | None, Callable[[Value], str]] = {
    None: str,
    "named": named,
    "brief": brief,
    "plain": plain,
}
"""How values are written, by what follows the colon."""


def bears_out(claims: Mapping[str, Claim], expected: Iterable[str]) -> bool:
    """Return whether fields of claims have the values that a text takes for granted.

    Each is a place and a value as pages write it: "table-1-best.true holds".
    """
    for one in expected:
        place, _, value = one.strip().partition(" ")
        name, _, field = place.partition(".")
        shown = getattr(claims.get(name), field, None)
        # Only the answer itself: what it leaves out about the margin does not change it.
        words = word_of(shown, field) if isinstance(shown, Verdict) else str(shown)
        if shown is None or words != value:
            return False
    return True


def word_of(verdict: Verdict, question: str) -> str:
    """Return the answer to a question as sentences have it."""
    is_true = question == "true" and verdict.word != POSSIBLE
    return TRUTHS[verdict.answer] if is_true else verdict.word


def fill(text: str, claims: Mapping[str, Claim], in_short: bool = False) -> str | None:
    """Return a text with the values of claims in their places; None if one is not there yet.

    A passage in double brackets is left out if one of its own values is missing. Answers say what
    they leave out about the margin, unless the text is to be short.
    """
    missing = False
    text = _OPTIONAL.sub(lambda passage: fill(passage[1], claims, in_short) or "", text)

    def value(place: re.Match[str]) -> str:
        nonlocal missing
        name, field, form = place.groups()
        shown = getattr(claims.get(name), field, None)
        missing |= shown is None or shown == ""
        if isinstance(shown, Verdict):
            word = word_of(shown, field)
            return word if in_short else shown.qualified(word)
        return "" if shown is None else FORMS[form](shown)

    filled = _PLACE.sub(value, text)
    return None if missing else filled
