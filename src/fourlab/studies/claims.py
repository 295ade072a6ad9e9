"""A claim of a report beside our values, with two verdicts: as data, and as people read it.

Values are numbers until a page is written: the fields of a claim are what the CSV and JSON files
hold, and `str` gives the words of the page.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourlab.analysis.overview import MAY_HAPPEN, POSSIBLE
from fourlab.arena.statistics import wilson
from fourlab.studies.compare import holm, moments, student_quantile

ANYTHING = (-math.inf, math.inf)
COUNTS = (0.0, math.inf)
RESULTS = (-1.0, 1.0)
SHARES = (0.0, 1.0)
"""Ranges that means can be in: numbers, counts, results of games, shares."""
ROUNDING = 1e-12
"""Relative to their mean, values that differ by less are equal."""
MOST_DECIMALS = 6
"""Numbers with more decimals are written with two significant digits and an exponent."""
TRAININGS = "trainings"
"""The note of a mean over trainings, after their number."""


class Source(StrEnum):
    """Where a reported number was found. All other numbers are ours."""

    TEXT = "report text"
    """In the words or a table of the report."""
    FIGURE = "report figure"
    """Read off a picture."""
    CODE = "author's code"
    NOTEBOOK = "author's notebook"
    OURS = "ours"
    """Not in the report: a comparison of our own."""


class Kind(StrEnum):
    """Whose statement a claim is; only those of reports are counted."""

    CLAIM = "claim"
    """Made by the report."""
    READING = "reading"
    """Another reading of an ambiguous report."""
    DIAGNOSTIC = "diagnostic"
    """Our own comparison."""


STORED_KIND = "made_as"
"""The name under which the kind of a claim is stored."""


class Answer(StrEnum):
    """What a test says about a claim."""

    AGREES = "agrees"
    DIFFERS = "differs"
    CANNOT_TELL = "cannot tell"
    NONE = "no verdict"
    """Nothing can be tested, for the reason that is in the place of the test's name."""


EQUALITY_CONFIDENCE = 90
DIRECTION_CONFIDENCE = 95
"""Confidence of the interval of a difference, in per cent, by what is claimed."""
REJECTED = 0.05
"""A test rejects if its p-value is below this."""
BAND = "central 95 %"
"""The note of a number whose brackets hold most of the values, not its interval."""


_LEADING_NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True)
class Verdict:
    """An answer, and the test behind it; `verdicts` has the tests."""

    answer: Answer
    test: str
    """The name of the test."""
    margin: str = ""
    """The smallest difference that matters, in words: "20 points"."""
    p: float | None = None
    power: float | None = None
    """Where equality is claimed, the probability of "agrees" if there is no difference.

    Otherwise the probability that the test notices a difference as large as the margin.
    """
    difference: float | None = None
    """The observed difference in the unit of the margin, ours less the reported value."""
    low: float | None = None
    """The lower end of the interval of the difference."""
    high: float | None = None
    confidence: int = 0
    """In per cent: EQUALITY_CONFIDENCE or DIRECTION_CONFIDENCE."""
    outcome: str = ""
    """The outcome whose share differs most, if the shares of several are compared."""

    @property
    def word(self) -> str:
        """What pages call the answer."""
        if self.answer is Answer.AGREES and self.test.startswith(MAY_HAPPEN):
            return POSSIBLE
        return str(self.answer)

    @property
    def qualification(self) -> str:
        """What the answer leaves out about a difference and the margin; mostly nothing.

        "Cannot tell" may mean that there certainly is a difference, if perhaps a small one, and
        "holds" that there certainly is one, but a small one.
        """
        size = _LEADING_NUMBER.match(self.margin)
        if size is None or self.p is None:
            return ""
        margin = float(size[0])
        if self.confidence == EQUALITY_CONFIDENCE:
            if self.answer is Answer.CANNOT_TELL and self.p < REJECTED:
                return "different, but perhaps by less than the margin"
        elif self.answer is Answer.AGREES and self.high is not None and 0 < self.high < margin:
            return "by less than the margin"
        return ""

    def qualified(self, word: str = "") -> str:
        """Return the answer, or another word for it, with what that leaves out."""
        between = ": " if self.answer is Answer.CANNOT_TELL else ", but "
        return between.join(filter(None, (word or self.word, self.qualification)))

    def __str__(self) -> str:
        return self.described()

    def described(self, word: str = "") -> str:
        """Return the answer, or another word for it, with the test behind it."""
        if self.answer is Answer.NONE:
            return f"{self.answer}: {self.test}" + (f", margin {self.margin}" * bool(self.margin))
        details = [self.test]
        if self.difference is not None:
            text = f"difference {_signless(self.difference)}"
            if self.outcome:
                text = f"{self.outcome}: {text}"
            if self.low is not None and self.high is not None:
                ends = f"{_signless(self.low)}, {_signless(self.high)}"
                text += f", {self.confidence} % interval [{ends}]"
            details.append(text)
        if self.margin:
            details.append(f"margin {self.margin}")
        if self.p is not None:
            details.append(p_in_words(self.p))
        if self.power is not None:
            details.append(f"power {100 * self.power:.0f} %")
        return f"{self.qualified(word)} ({', '.join(details)})"


@dataclass(frozen=True)
class Estimate:
    """One number with what is known about its precision."""

    value: float
    low: float | None = None
    """The lower end of the 95 % interval."""
    high: float | None = None
    n: int | None = None
    """Number of observations."""
    sd: float | None = None
    """Standard deviation of one observation."""
    unit: str = ""
    """Follows the number: "Elo", "games", "%"."""
    digits: int = 3
    """Decimals on the page; files keep more."""
    note: str = ""
    """Words that belong to the number, such as the fraction that it is."""

    @property
    def half(self) -> float:
        """Half the width of the 95 % interval; 0 without one."""
        return 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2

    def _decimal(self, number: float) -> str:
        """Return a number as pages have it."""
        if self.digits > MOST_DECIMALS:
            # 9e-09, not 0.000000009; an interval of such numbers may end at 0.
            return f"{number:.2g}"
        return f"{number:,.{self.digits}f}"

    def __str__(self) -> str:
        text = self._decimal(self.value)
        if self.unit:
            text += f" {self.unit}"
        if self.low is not None and self.high is not None:
            text += f" [{self._decimal(self.low)}, {self._decimal(self.high)}]"
        if self.n is not None:
            text += f" of {self.n:,}"
        if self.sd is not None:
            text += f", sd {self._decimal(self.sd)}"
        return f"{text} ({self.note})" if self.note else text

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield the columns `outcome` to `note` of CLAIMS_HEAD."""
        numbers = (self.value, self.low, self.high)
        yield ("", *map(rounded, numbers), self.n, rounded(self.sd), self.unit, self.note)


@dataclass(frozen=True)
class Counts:
    """How many of a number of games, or trials, had each outcome."""

    counts: Mapping[str, int]
    """By outcome, in the order of the page: won, lost, drawn."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By outcome: the 95 % interval of its share in per cent, where it is one over trainings.

    Where the trials are independent, it is empty: the interval is that of Wilson (1927).
    """
    trainings: int = 0
    """How many trainings the trials are of; 0 if nothing was trained."""

    @property
    def n(self) -> int:
        """The number of trials."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        if self.n == 0:
            return "none"
        shares = (f"{100 * count / self.n:.1f}" for count in self.counts.values())
        note = f" ({self.trainings} {TRAININGS})" if self.trainings else ""
        return f"{' / '.join(shares)} % of {self.n:,}{note}"

    def share(self, outcome: str) -> "Estimate":
        """Return the share of an outcome in per cent, with its 95 % interval."""
        count = self.counts[outcome]
        value = 100 * count / self.n if self.n else 0.0
        if not self.trainings:
            low, high = (100 * end for end in (wilson(count, self.n) if self.n else (0.0, 1.0)))
        elif outcome in self.intervals:
            low, high = self.intervals[outcome]
        else:
            # Equal shares, or a single training: its spread is unknown.
            return Estimate(value, n=self.n, unit="%", digits=1)
        return Estimate(value, low, high, self.n, unit="%", digits=1)

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield the columns `outcome` to `note` of CLAIMS_HEAD, one row per outcome."""
        for outcome, count in self.counts.items():
            one = self.share(outcome)
            percentages = (rounded(number) for number in (one.value, one.low, one.high))
            note = f"{count} of {self.n}"
            if self.trainings:
                note += f", {self.trainings} {TRAININGS}"
            yield (outcome, *percentages, self.n, "", "%", note)


Value = Estimate | Counts | str
"""What a column of a claim holds; a string is a statement without a number."""


@dataclass(frozen=True)
class Claim:
    """One claim of a report, and what became of it."""

    name: str
    """A slug that stays the same: "table-5-mc40-first". Summaries and tests refer to it."""
    quantity: str
    reported: Value
    """In the report's own form; an empty string if the report has no number."""
    source: Source
    """Where the reported value is; `Source.OURS` if the report has none."""
    faithful: Value = ""
    """Our value with the report's faults, at the report's own budget."""
    corrected: Value = ""
    """Our value without the faults."""
    exact: Value = ""
    """What the solved game says."""
    reproduced: Verdict | None = None
    """Does the faithful program give the reported number? None if nothing can be compared."""
    true: Verdict | None = None
    """Does the claim hold for the corrected program and the exact game?"""
    why: str = ""
    """The explanation of a difference: first the faults (B1 to B20) that cause it, if any."""
    kind: Kind = Kind.CLAIM
    """Whose statement it is; without a reported value it is ours."""
    statement: str = ""
    """The statement of the report that this is a row of; the claim's own name if it has one row.

    A statement agrees if all its rows agree, and differs if one of them does.
    """
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the columns `faithful` and `corrected` hold, where it is something else: "one thread".

    By version. Pages and data files call the value so.
    """

    def __post_init__(self) -> None:
        """Fill in what follows from other fields."""
        if self.reported == "" and self.kind is Kind.CLAIM:
            object.__setattr__(self, "kind", Kind.DIAGNOSTIC)
        if not self.statement:
            object.__setattr__(self, "statement", self.name)
        if not self.labels.keys() <= {"faithful", "corrected"}:
            raise ValueError(f"labels of {self.name}: {', '.join(self.labels)}")

    def label(self, version: str) -> str:
        """Return what pages and files call the value of a version."""
        return self.labels.get(version, version)

    def versions(self) -> dict[str, Value]:
        """Return the values that there are, by version."""
        values = {
            "reported": self.reported,
            "faithful": self.faithful,
            "corrected": self.corrected,
            "exact": self.exact,
        }
        return {name: value for name, value in values.items() if value != ""}

    def verdicts(self) -> dict[str, Verdict]:
        """Return the verdicts that there are, by question."""
        verdicts = {"reproduced": self.reproduced, "true": self.true}
        return {name: verdict for name, verdict in verdicts.items() if verdict is not None}

    def as_json(self) -> dict[str, Any]:
        """Return the claim as plain data, from which `stored_claims` restores it."""
        fields = asdict(self)
        # Parts of a page have a kind, too: that of this one is "claim".
        fields[STORED_KIND] = fields.pop("kind")
        return fields


def shares(won: int, lost: int, drawn: int) -> Counts:
    """Return the results of a match."""
    return Counts({"won": won, "lost": lost, "drawn": drawn})


def share(count: int, of: int, digits: int = 1) -> Estimate:
    """Return a share in per cent with its 95 % Wilson interval (Wilson, 1927)."""
    # Unlike the normal approximation, it is sound near 0 and 1, where many shares lie.
    low, high = wilson(count, of)
    return Estimate(100 * count / of, 100 * low, 100 * high, of, unit="%", digits=digits)


def mean_of(
    values: Sequence[float],
    digits: int = 3,
    unit: str = "",
    within: tuple[float, float] = ANYTHING,
) -> Estimate:
    """Return a mean with Student's 95 % interval and the standard deviation of one value.

    The interval does not leave what is `within` the range of the values; percentages have theirs. A
    single value has no interval, and neither have values that are all equal: their spread is 0, but
    that of others like them need not be.
    """
    middle, spread = moments(values)
    n = len(values)
    if n < 2:
        return Estimate(middle, n=n, unit=unit, digits=digits)
    if spread <= ROUNDING * abs(middle):
        return Estimate(middle, n=n, sd=0.0, unit=unit, digits=digits)
    low, high = mean_interval(middle, spread, n, unit, within)
    return Estimate(middle, low, high, n, spread, unit, digits)


def mean_interval(
    middle: float, spread: float, n: int, unit: str = "", within: tuple[float, float] = ANYTHING
) -> tuple[float, float]:
    """Return Student's 95 % interval of a mean of `n` values, without impossible ones."""
    half = student_quantile(0.975, n - 1) * spread / math.sqrt(n)
    least, most = (0.0, 100.0) if unit == "%" else within
    return max(middle - half, least), min(middle + half, most)


def over_trainings(
    values: Sequence[float],
    unit: str = "",
    digits: int = 1,
    within: tuple[float, float] = ANYTHING,
) -> Estimate:
    """Return the mean over trainings, with an interval that has the variance of training."""
    return replace(mean_of(values, digits, unit, within), note=TRAININGS)


def counts_over_trainings(trainings: Sequence[Counts]) -> Counts:
    """Return the sums over trainings, with intervals that have the variance of training.

    All trainings have the same outcomes, and as many trials each.
    """
    outcomes = list(trainings[0].counts)
    sums = {name: sum(one.counts[name] for one in trainings) for name in outcomes}
    intervals = {}
    for name in outcomes:
        mean = over_trainings([one.share(name).value for one in trainings], "%")
        if mean.low is not None and mean.high is not None:
            intervals[name] = (mean.low, mean.high)
    return Counts(sums, intervals, len(trainings))


def difference(one: Estimate, other: Estimate, unit: str = "points", digits: int = 1) -> Estimate:
    """Return the first number less the second, with the 95 % interval of the difference."""
    value = one.value - other.value
    if one.low is None or other.low is None:
        return Estimate(value, unit=unit, digits=digits)
    half = math.hypot(one.half, other.half)
    return Estimate(value, value - half, value + half, unit=unit, digits=digits)


def band_of(values: Sequence[float] | NDArray[np.float64], digits: int = 3) -> Estimate:
    """Return the mean of a distribution, with its central 95 % in place of an interval."""
    numbers = np.asarray(values, dtype=np.float64)
    low, high = np.quantile(numbers, [0.025, 0.975])
    middle = float(numbers.mean())
    return Estimate(middle, float(low), float(high), len(numbers), digits=digits, note=BAND)


def exactly(number: Fraction) -> Estimate:
    """Return a number that is known exactly, with its fraction."""
    note = "" if number.denominator == 1 else str(number)
    return Estimate(float(number), digits=0 if not note else 5, note=note)


def brief(value: Value) -> str:
    """Return a value as a sentence has it: the number and its interval only.

    Where the brackets are not an interval, the note that says so is kept.
    """
    if isinstance(value, Counts):
        return str(replace(value, trainings=0))
    if not isinstance(value, Estimate):
        return str(value)
    return str(replace(value, n=None, sd=None, note=value.note if value.note == BAND else ""))


def named(value: Value) -> str:
    """Return a value without its number of observations; its note may name what it is of."""
    return str(replace(value, n=None, sd=None) if isinstance(value, Estimate) else value)


def plain(value: Value) -> str:
    """Return a value as a summary has it: without its interval, and 84 % instead of 84.0 %."""
    if isinstance(value, Counts) and value.n:
        shares = (
            f"{100 * count / value.n:.1f}".removesuffix(".0") for count in value.counts.values()
        )
        return f"{' / '.join(shares)} %"
    if isinstance(value, Estimate):
        is_whole = value.digits == 1 and round(value.value, 1).is_integer()
        digits = 0 if is_whole else value.digits
        return str(Estimate(value.value, unit=value.unit, digits=digits))
    return str(value)


def for_many_tests(claims: Iterable[Claim]) -> dict[tuple[str, str], float]:
    """Return the p-values of all tests, corrected for their number, by claim and question."""
    chances = {
        (claim.name, question): verdict.p
        for claim in claims
        for question, verdict in claim.verdicts().items()
        if verdict.p is not None
    }
    return dict(zip(chances, holm(list(chances.values())), strict=True))


def _signless(number: float) -> str:
    """Return a number with three digits, and 0 without a sign."""
    text = f"{number:.3g}"
    return "0" if float(text) == 0 else text


def p_in_words(p: float) -> str:
    """Return a p-value as pages have it."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def rounded(number: float | None) -> float | None:
    """Return a number with six significant digits: enough for any use, and stable in files."""
    if number is None:
        return None
    # The ends of intervals at 0 are off by rounding errors.
    return 0.0 if abs(number) < 1e-12 else float(f"{number:.6g}")
