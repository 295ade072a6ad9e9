"""A pytest plugin: skip tests that need a program which is not installed, and report it.

In CI a missing program fails the test. Elsewhere the run ends with a list of the skipped tests and
the commands that install what is missing.
"""

from collections import Counter

import pytest

from tests.system_parts import PARTS, command_for, find, in_ci

MARK = "MISSING PART: "


def require(name: str) -> str:
    """Return the path of a part of system_parts.py; without it skip or, in CI, fail the test."""
    path = find(name)
    if path is None:
        reason = f"{MARK}{name}"
        if in_ci():
            pytest.fail(f"{reason}; to fix this: {command_for(name)}")
        pytest.skip(reason)
    return path


def skipped_for(reports: list[pytest.TestReport]) -> Counter[str]:
    """Return the number of skipped tests by the part they need."""
    parts: Counter[str] = Counter()
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        _, mark, name = reason.partition(MARK)
        if mark:
            parts[name] += 1
    return parts


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which tests did not run and why."""
    parts = skipped_for(terminalreporter.stats.get("skipped", []))
    if not parts:
        return
    terminalreporter.section("NOT EVERYTHING WAS TESTED", sep="!", red=True, bold=True)
    for name, count in sorted(parts.items()):
        part = PARTS[name]
        line = f"{count} {part.tests} were skipped: {part.title} is missing here."
        terminalreporter.line(line, red=True)
        terminalreporter.line(f"    to fix this: {command_for(name)}", bold=True)
