"""What a study found, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fourlab.analysis.overview import POSSIBLE, UNTESTED, count_answers
from fourlab.jobs.run import Run
from fourlab.studies.catalogue import all_experiments, items_named, title_of
from fourlab.studies.pages import item_words, picture_of
from fourlab.studies.parts import claims_of
from fourlab.studies.report import home_of


def title(name: str) -> str:
    """Return the title of an experiment; of one that this version does not know, its name."""
    catalogue = all_experiments()
    return title_of(catalogue[name]) if name in catalogue else name


def in_words(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many findings of every experiment agree with its report."""
    for name, parts in results["experiments"].items():
        answers = count_answers(parts)
        counts = [f"{answers['agrees']} agree", f"{answers[POSSIBLE]} possible"]
        counts += [f"{answers['differs']} differ"]
        counts += [f"{answers[other]} {other}" for other in ("cannot tell", UNTESTED)]
        yield f"{title(name)}: {', '.join(counts)}"


def of_items(run: Run, results: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """Yield what the tables and figures show that a command names, and where their pictures are."""
    for item in items_named(names):
        parts = results["experiments"][item.experiment]
        claims = {claim.name: claim for claim in claims_of(parts)}
        yield f"{item.title}. {' '.join(item_words(item, claims).split())}"
        picture = picture_of(item, parts)
        if picture is None:
            continue
        home = home_of(run, all_experiments()[item.experiment].document)
        drawn = home / "figures" / f"{picture}.svg"
        # Without matplotlib there are only its numbers.
        yield f"picture: {drawn if drawn.exists() else home / 'data' / f'{picture}.csv'}"
