"""A picture of shares with their intervals, for experiments that draw none themselves."""

import textwrap
from collections.abc import Sequence

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, SMALL, Figure, frame, panels
from fourlab.studies.claims import Claim, Counts, Estimate, share
from fourlab.studies.workbench import Part, Picture

NAME = "shares"
VERSIONS = ("reported", "faithful", "corrected", "exact")
WIDTH = 55
"""Characters per line of a claim's name."""


def with_picture(title: str, parts: Sequence[Part]) -> list[Part]:
    """Return the parts of an experiment, with a picture of its shares if it has no picture.

    `title` is that of the experiment.
    """
    if any(isinstance(part, Picture) for part in parts):
        return list(parts)
    claims = [part for part in parts if isinstance(part, Claim) and shares_of(part)]
    if not claims:
        return list(parts)
    rows = tuple(
        (claim.quantity, version, *(_cell(end) for end in (one.value, one.low, one.high)))
        for claim in claims
        for version, one in shares_of(claim).items()
    )
    data = Table("", ("claim", "version", "share", "low", "high"), rows)
    caption = f"{title}: shares with 95 % intervals, of several outcomes the first"
    return [*parts, Picture(NAME, caption, lambda: draw(claims), data)]


def shares_of(claim: Claim) -> dict[str, Estimate]:
    """Return the values of a claim that are shares in per cent, by version.

    Of counts, it is the share of the first outcome that the claim names, such as won games.
    """
    shares: dict[str, Estimate] = {}
    for version, number in claim.versions().items():
        if isinstance(number, Counts) and number.n:
            shares[version] = share(next(iter(number.counts.values())), number.n)
        elif isinstance(number, Estimate) and number.unit == "%":
            shares[version] = number
    return shares


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def draw(claims: Sequence[Claim]) -> Figure:
    """Draw claims that are shares, one below the other, all versions of each."""
    figure, (axes,) = panels(9, 1 + 0.6 * len(claims))
    labelled: set[str] = set()
    for place, claim in enumerate(claims):
        for version, one in shares_of(claim).items():
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
    frame(axes, SMALL, "x", xlabel="%", xlim=(-2, 102))
    return figure
