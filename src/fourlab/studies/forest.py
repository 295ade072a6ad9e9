"""A picture of shares, or of Elo, with intervals, for experiments that draw none themselves."""

import textwrap
from collections.abc import Sequence
from functools import partial

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, SMALL, Figure, frame, panels
from fourlab.studies.claims import Claim, Counts, Estimate, share
from fourlab.studies.workbench import Part, Picture

KINDS = {"%": ("shares", "shares with 95 % intervals, of several outcomes the first")}
KINDS["Elo"] = ("gains", "Elo with 95 % intervals")
"""By unit: the name of the picture, and what it shows; the first unit that occurs is drawn."""
VERSIONS = ("reported", "faithful", "corrected", "exact")
WIDTH = 55
"""Characters per line of a claim's name."""


def with_picture(title: str, parts: Sequence[Part]) -> list[Part]:
    """Return the parts of an experiment, with a picture of its numbers if it has no picture.

    `title` is that of the experiment.
    """
    if any(isinstance(part, Picture) for part in parts):
        return list(parts)
    all_claims = [part for part in parts if isinstance(part, Claim)]
    for unit, (name, words) in KINDS.items():
        claims = [claim for claim in all_claims if numbers_of(claim, unit)]
        if claims:
            data = _data(claims, unit)
            return [*parts, Picture(name, f"{title}: {words}", partial(draw, claims, unit), data)]
    return list(parts)


def _data(claims: Sequence[Claim], unit: str) -> Table:
    rows = tuple(
        (claim.quantity, version, *(_cell(end) for end in (one.value, one.low, one.high)))
        for claim in claims
        for version, one in numbers_of(claim, unit).items()
    )
    return Table("", ("claim", "version", "share" if unit == "%" else unit, "low", "high"), rows)


def numbers_of(claim: Claim, unit: str) -> dict[str, Estimate]:
    """Return the values of a claim that have a unit, by version.

    Of counts, it is the share of the first outcome that the claim names, such as won games.
    """
    numbers: dict[str, Estimate] = {}
    for version, number in claim.versions().items():
        if isinstance(number, Counts) and number.n and unit == "%":
            numbers[version] = share(next(iter(number.counts.values())), number.n)
        elif isinstance(number, Estimate) and number.unit == unit:
            numbers[version] = number
    return numbers


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def draw(claims: Sequence[Claim], unit: str = "%") -> Figure:
    """Draw claims that have a unit, one below the other, all versions of each."""
    figure, (axes,) = panels(9, 1 + 0.6 * len(claims))
    labelled: set[str] = set()
    for place, claim in enumerate(claims):
        for version, one in numbers_of(claim, unit).items():
            at = VERSIONS.index(version)
            low, high = (one.value if end is None else end for end in (one.low, one.high))
            axes.errorbar(
                one.value,
                # Versions of a claim below each other.
                place + 0.15 * (at - 1),
                # Rounding can push an end of the interval past the share itself.
                xerr=[[max(0.0, one.value - low)], [max(0.0, high - one.value)]],
                marker="o",
                linestyle="",
                capsize=3,
                color=COLOURS[at],
                label=None if version in labelled else version,
            )
            labelled.add(version)
    names = [textwrap.fill(claim.quantity, WIDTH) for claim in claims]
    axes.set_yticks(range(len(claims)), names, fontsize=8)
    axes.set_ylim(len(claims) - 0.5, -0.5)  # the first claim above
    frame(axes, SMALL, "x", xlabel=unit, **({"xlim": (-2, 102)} if unit == "%" else {}))
    return figure
