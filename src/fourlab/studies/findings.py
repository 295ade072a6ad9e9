"""What a study found, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from fourlab.analysis.overview import UNTESTED, count_answers
from fourlab.studies.catalogue import all_experiments, title_of


def title(name: str) -> str:
    """Return the title of an experiment; of one that this version does not know, its name."""
    catalogue = all_experiments()
    return title_of(catalogue[name]) if name in catalogue else name


def in_words(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many findings of every experiment agree with its report."""
    for name, parts in results["experiments"].items():
        answers = count_answers(parts)
        counts = [f"{answers['agrees']} agree", f"{answers['differs']} differ"]
        counts += [f"{answers[other]} {other}" for other in ("cannot tell", UNTESTED)]
        yield f"{title(name)}: {', '.join(counts)}"
