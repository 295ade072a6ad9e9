"""The sentences of a page in Markdown, to find those that it has twice."""

import re
from collections import Counter

SHORT = 4
"""Fewer words are no sentence but a label."""


def repeated_sentences(page: str) -> list[str]:
    """Return the sentences that a page has more than once, but for tables, lists and listings."""
    prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    # Items of lists are names of statements, which may have rows with several answers.
    skipped = ("|", "#", "<", "!", "`", "- ", "  - ")
    lines = [line for line in prose.splitlines() if not line.startswith(skipped)]
    # What precedes a sentence in bold names its subject, and links and commands are no words.
    text = re.sub(r"\*\*[^*]+\*\*|\[[^\]]*\]\([^)]*\)|`[^`]*`", " ", "\n".join(lines))
    sentences = Counter(
        " ".join(sentence.split()) for sentence in re.split(r"(?<=[.?!])\s+|\n", text)
    )
    return [
        sentence
        for sentence, count in sentences.items()
        if count > 1 and len(sentence.split()) > SHORT
    ]
