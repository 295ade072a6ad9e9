"""A pytest plugin: tests that need a missing part of the machine are skipped, and the run says so.

In CI a missing part fails the test. Elsewhere the run ends with a list of what did not run and the
command that installs what is missing.
"""

from collections import Counter

import pytest

from tests.system_parts import PARTS, command_for, find, in_ci

MARK = "MISSING PART: "


def require(name: str) -> str:
    """The path of a part of tests/system_parts.py; skips or, in CI, fails the test without it."""
    path = find(name)
    if path is None:
        reason = f"{MARK}{name}"
        if in_ci():
            pytest.fail(f"{reason}; to fix this: {command_for(name)}")
        pytest.skip(reason)
    return path


def skipped_for(reports: list[pytest.TestReport]) -> Counter[str]:
    """How many tests were skipped, by the part they need."""
    parts: Counter[str] = Counter()
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        _, found, name = reason.partition(MARK)
        if found:
            parts[name] += 1
    return parts


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what did not run."""
    parts = skipped_for(terminalreporter.stats.get("skipped", []))
    if not parts:
        return
    terminalreporter.section("NOT EVERYTHING WAS TESTED", sep="!", red=True, bold=True)
    for name, count in sorted(parts.items()):
        part = PARTS[name]
        line = f"{count} {part.tests} were skipped: {part.title} is missing here."
        terminalreporter.line(line, red=True)
        terminalreporter.line(f"    to fix this: {command_for(name)}", bold=True)
