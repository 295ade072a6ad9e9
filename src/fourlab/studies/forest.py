"""A picture of shares, or of Elo, with intervals, for experiments that draw none themselves."""

import itertools
import textwrap
from collections.abc import Sequence
from functools import partial

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, SMALL, Figure, frame, panels
from fourlab.studies.claims import Claim, Counts, Estimate
from fourlab.studies.workbench import Part, Picture

KINDS = {"%": "shares", "Elo": "gains"}
"""By unit: the name of the picture; the first unit that occurs is drawn."""
WON = "share of games won (first number of each row)"
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
    for unit, name in KINDS.items():
        claims = [claim for claim in all_claims if numbers_of(claim, unit)]
        if claims:
            data = _data(claims, unit)
            caption = f"{title}: {_words(claims, unit)}, with 95 % intervals."
            return [*parts, Picture(name, caption, partial(draw, claims, unit), data)]
    return list(parts)


def _words(claims: Sequence[Claim], unit: str) -> str:
    """Return what the numbers of claims are."""
    if unit != "%":
        return unit
    counted = [
        any(isinstance(value, Counts) for value in claim.versions().values()) for claim in claims
    ]
    if all(counted):
        return WON
    return f"shares; of games, the {WON}" if any(counted) else "shares"


def _data(claims: Sequence[Claim], unit: str) -> Table:
    rows = tuple(
        (claim.quantity, version, *(_cell(end) for end in (one.value, one.low, one.high)))
        for claim in claims
        for version, one in numbers_of(claim, unit).items()
    )
    return Table("", ("claim", "version", "share" if unit == "%" else unit, "low", "high"), rows)


def numbers_of(claim: Claim, unit: str) -> dict[str, Estimate]:
    """Return the values of a claim that have a unit, by what the claim calls the version.

    Of counts, it is the share of the first outcome that the claim names, such as won games.
    """
    numbers: dict[str, Estimate] = {}
    for version, number in claim.versions().items():
        if isinstance(number, Counts) and number.n and unit == "%":
            numbers[claim.label(version)] = number.share(next(iter(number.counts)))
        elif isinstance(number, Estimate) and number.unit == unit:
            numbers[claim.label(version)] = number
    return numbers


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def draw(claims: Sequence[Claim], unit: str = "%") -> Figure:
    """Draw claims that have a unit, one below the other, all versions of each.

    There is a legend only where versions differ: where nothing was corrected, it would mislead.
    """
    figure, (axes,) = panels(9, 1 + 0.6 * len(claims))
    labelled: set[str] = set()
    numbers = [numbers_of(claim, unit) for claim in claims]
    # Labels take the colour of the version that they stand for.
    colours = {
        claim.label(version): place for claim in claims for place, version in enumerate(VERSIONS)
    }
    shown = sorted(dict.fromkeys(itertools.chain(*numbers)), key=lambda name: colours[name])
    for place, own in enumerate(numbers):
        for version, one in own.items():
            at = colours[version]
            low, high = (one.value if end is None else end for end in (one.low, one.high))
            axes.errorbar(
                one.value,
                # Versions of a claim below each other, around its line.
                place + 0.15 * (shown.index(version) - (len(shown) - 1) / 2),
                # Rounding can push an end of the interval past the share itself.
                xerr=[[max(0.0, one.value - low)], [max(0.0, high - one.value)]],
                marker="o",
                linestyle="",
                capsize=3,
                color=REPORTED_COLOUR if version == "reported" else COLOURS[at],
                label=None if version in labelled else version,
            )
            labelled.add(version)
    names = [textwrap.fill(claim.quantity, WIDTH) for claim in claims]
    axes.set_yticks(range(len(claims)), names, fontsize=8)
    axes.set_ylim(len(claims) - 0.5, -0.5)  # the first claim above
    legend = SMALL if len(shown) > 1 else None
    frame(axes, legend, "x", xlabel=unit, **({"xlim": (-2, 102)} if unit == "%" else {}))
    return figure
