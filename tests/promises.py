"""A pytest plugin: `make soak` ends with one table of what is promised and what was measured.

Every soak test is a promise, named by the test. A test that measures something reports it with the
fixture `figure`; the limit is asserted there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Figure:
    """Something measured, and the limit it must keep."""

    title: str
    value: float
    limit: float
    unit: str = ""
    at_least: bool = False
    """Whether the limit is the least allowed value, not the most."""

    @property
    def holds(self) -> bool:
        """Whether the value keeps the limit; a value that is no number does not."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "at least" if self.at_least else "at most"
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.title}: {self.value:,.4g}{unit} ({sign} {self.limit:,.4g})"


Report = Callable[..., None]


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Report:
    """Report a figure (see `Figure`) and fail the test if it misses its limit."""

    def report(title: str, value: float, limit: float, unit: str = "", at_least: bool = False) -> None:
        measured = Figure(title, float(value), float(limit), unit, at_least)
        record_property("figure", str(measured))
        assert measured.holds, str(measured)

    return report


def promise_of(nodeid: str) -> str:
    """Return what a test states, in words: its name, and its parameters in brackets."""
    name, bracket, parameters = nodeid.rpartition("::")[2].partition("[")
    return name.removeprefix("test_").replace("_", " ") + (f" [{parameters}" if bracket else "")


def table(reports: list[pytest.TestReport]) -> list[str]:
    """Return a line for every promise and below it one for each of its figures."""
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
