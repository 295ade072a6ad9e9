"""The rules of the verdicts: when values agree, when a claim holds, and which margins count.

Every test has three answers, and its rule is fixed before a study runs.

- *Equality*: our value agrees with a reported one if the 90 % interval of the difference lies
  within the margin (two one-sided tests at 5 %; Schuirmann, 1987). It differs if the test of
  equality rejects at 5 % and the difference exceeds the margin. Otherwise the data cannot tell. The
  power is the probability of "agrees" if there is no difference. A match agrees if the share of
  every outcome does. For one number that is compared with our distribution of such numbers, the
  interval is the central 90 % of the differences, and for a whole curve it is that of the root mean
  square difference.
- *Direction*: a claim that one value is larger holds if the 95 % interval of the difference is
  above 0. It does not hold if the interval is below the margin, so that the difference, if any, is
  smaller than that or has the opposite sign. Otherwise the data cannot tell. The p-value is
  two-sided, like the interval; a direction is thus tested at 2.5 %. The power is for a difference
  of the margin.
- *Bound*: a share is at least a bound if its 95 % interval is, and is not if the interval is below.

A margin that is as large as the value says nothing. It may be at most half of the value, or a
quarter of the range of a bounded scale; `no_verdict` stands for tests whose margin is larger.
"""

import math
from typing import NamedTuple

from fourlab.studies.claims import (
    DIRECTION_CONFIDENCE,
    EQUALITY_CONFIDENCE,
    Answer,
    Verdict,
)
from fourlab.studies.compare import (
    NORMAL,
    direction_power,
    equivalence_power,
    student_quantile,
    student_tail,
)
from fourlab.studies.proportions import LEVEL

Scale = tuple[float, float]
"""The smallest and the largest possible value of a quantity."""
PERCENT = (0.0, 100.0)
POINTS_UNIT = "points"
"""The unit of differences of percentages."""
ELO_UNIT = "Elo"
OF_VALUE = 0.5
"""The largest margin, as a part of the value that it belongs to."""
OF_SCALE = 0.25
"""The largest margin, as a part of the range of a bounded scale."""
SAYS_NOTHING = "any margin that could be tested here is as large as the value"


class Difference(NamedTuple):
    """The difference of two means, with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: int | None
    """None for the normal distribution."""

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval of the difference."""
        probability = (1 + confidence) / 2
        if self.freedom is None:
            quantile = NORMAL.inv_cdf(probability)
        else:
            quantile = student_quantile(probability, self.freedom)
        return self.value - quantile * self.error, self.value + quantile * self.error

    def p(self) -> float:
        """Return the two-sided p-value of no difference."""
        ratio = ratio_of(self.value, self.error)
        if self.freedom is None:
            return 2 * NORMAL.cdf(-abs(ratio))
        return student_tail(ratio, self.freedom)


def says_something(
    margin: float, value: float | None = None, scale: Scale | None = None, unit: str = ""
) -> bool:
    """Return whether a margin is small beside what it belongs to.

    This is the range of the scale, if it is bounded and the value may be anywhere on it, or else
    the value. Percentages have a scale, and Elo that of the expected score.
    """
    if margin == 0:
        return True
    if unit == ELO_UNIT and value is None:
        # The score that the margin is worth between equal players.
        return 1 / (1 + 10 ** (-margin / 400)) - 0.5 <= OF_SCALE
    if unit == POINTS_UNIT and scale is None:
        scale = PERCENT
    # Despite rounding, exactly half of the value is allowed.
    if scale is not None:
        return margin <= OF_SCALE * (scale[1] - scale[0]) * (1 + 1e-9)
    if value is None:
        raise ValueError("a margin needs a value or a scale")
    return margin <= OF_VALUE * abs(value) * (1 + 1e-9)


def no_verdict(test: str, margin: str) -> Verdict:
    """Return what takes the place of a verdict whose margin says nothing."""
    return Verdict(Answer.NONE, f"{SAYS_NOTHING}: {test}", margin)


def within_error(
    test: str,
    difference: Difference,
    margin: float,
    value: float | None = None,
    scale: Scale | None = None,
    unit: str = "",
) -> Verdict:
    """Compare a difference, ours less the reported value, with its standard error."""
    power = equivalence_power(ratio_of(margin, difference.error), difference.freedom, LEVEL)
    estimate = (difference.value, *difference.interval(1 - 2 * LEVEL))
    return claimed_equal(test, difference.p(), estimate, margin, power, value, scale, unit)


def claimed_equal(
    test: str,
    p: float,
    estimate: tuple[float, float, float],
    margin: float,
    power: float,
    value: float | None = None,
    scale: Scale | None = None,
    unit: str = "",
) -> Verdict:
    """Return the verdict on the claim that there is no difference.

    `estimate` is the difference, ours less the reported value, with the ends of its 90 % interval.
    Without a value and a scale, differences are in percentage points.
    """
    if value is None and scale is None:
        unit = unit or POINTS_UNIT
    words = f"{margin:g} {unit}".strip()
    if not says_something(margin, value, scale, unit):
        return no_verdict(test, words)
    difference, low, high = estimate
    answer = Answer.CANNOT_TELL
    if -margin <= low and high <= margin:
        # Also if the test rejects equality: a difference within the margin does not matter.
        answer = Answer.AGREES
    elif p < LEVEL and abs(difference) > margin and not math.isclose(abs(difference), margin):
        # A difference of just the margin is no further, however it is rounded.
        answer = Answer.DIFFERS
    bounded = math.isfinite(low) and math.isfinite(high)
    return Verdict(
        answer,
        test,
        words,
        p,
        power,
        difference,
        low if bounded else None,
        high if bounded else None,
        EQUALITY_CONFIDENCE,
    )


def directed(
    test: str,
    difference: Difference,
    margin: float,
    unit: str = "",
    value: float | None = None,
    scale: Scale | None = None,
) -> Verdict:
    """Test the claim that a difference is positive."""
    power = direction_power(ratio_of(margin, difference.error), difference.freedom, LEVEL)
    estimate = (difference.value, *difference.interval(1 - LEVEL))
    return claimed_different(test, difference.p(), estimate, margin, power, unit, value, scale)


def claimed_different(
    test: str,
    p: float,
    estimate: tuple[float, float, float],
    margin: float,
    power: float,
    unit: str = "",
    value: float | None = None,
    scale: Scale | None = None,
) -> Verdict:
    """Return the verdict on the claim that there is a positive difference.

    `estimate` is the difference with the ends of its 95 % interval.
    """
    words = f"{margin:g} {unit}".strip()
    if not says_something(margin, value, scale, unit):
        return no_verdict(test, words)
    difference, low, high = estimate
    answer = Answer.CANNOT_TELL
    if low > 0:
        answer = Answer.AGREES
    elif high < margin:
        # Smaller than the margin, or opposite.
        answer = Answer.DIFFERS
    return Verdict(answer, test, words, p, power, difference, low, high, DIRECTION_CONFIDENCE)


def ratio_of(numerator: float, denominator: float) -> float:
    """Return a quotient; infinite, with the right sign, if there is no error at all."""
    if denominator == 0:
        return math.copysign(math.inf, numerator) if numerator else 0.0
    return numerator / denominator
