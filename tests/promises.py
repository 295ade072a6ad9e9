"""A pytest plugin: `make soak` ends with a table of promises and measured figures.

Every soak test is a promise, and its name states it. A test that measures something reports it with
the fixture `figure`, which also asserts the limit.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Figure:
    """A measured value and its limit."""

    title: str
    value: float
    limit: float
    unit: str = ""
    at_least: bool = False
    """Whether the limit is the smallest allowed value instead of the largest."""

    @property
    def holds(self) -> bool:
        """Whether the value is within the limit; NaN never is."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "at least" if self.at_least else "at most"
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.title}: {self.value:,.4g}{unit} ({sign} {self.limit:,.4g})"


Report = Callable[..., None]


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Report:
    """Return a function that reports a `Figure` and asserts that it is within its limit."""

    def report(
        title: str, value: float, limit: float, unit: str = "", at_least: bool = False
    ) -> None:
        measured = Figure(title, float(value), float(limit), unit, at_least)
        record_property("figure", str(measured))
        assert measured.holds, str(measured)

    return report


def promise_of(nodeid: str) -> str:
    """Return a test's name in words, with its parameters in brackets."""
    name, bracket, parameters = nodeid.rpartition("::")[2].partition("[")
    return name.removeprefix("test_").replace("_", " ") + (f" [{parameters}" if bracket else "")


def table(reports: list[pytest.TestReport]) -> list[str]:
    """Return a line for every promise, followed by one line for each of its figures."""
    lines = []
    for report in sorted(reports, key=lambda report: report.nodeid):
        verdict = {"passed": "holds", "failed": "BROKEN"}.get(report.outcome, report.outcome)
        lines.append(f"{verdict:8} {report.duration:8.1f} s  {promise_of(report.nodeid)}")
        for name, measured in report.user_properties:
            if name == "figure":
                lines.append(f"{'':21}{measured}")
    return lines


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table if soak tests ran."""
    outcomes = ("passed", "failed", "skipped")
    reports = [
        report
        for outcome in outcomes
        for report in terminalreporter.stats.get(outcome, [])
        if "soak" in report.keywords and (report.when == "call" or report.outcome != "passed")
    ]
    if reports:
        terminalreporter.section("promises")
        for line in table(reports):
            terminalreporter.line(line)
