"""The number of processors: affinity, and limits of containers from made-up files of cgroups."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fourlab import processors
from fourlab.processors import time_limit, usable_processors
from tests.conftest import ROOT


class Groups:
    """A folder with files as in /sys/fs/cgroup, and one as /proc/self/cgroup."""

    def __init__(self, folder: Path) -> None:
        self.groups = folder / "cgroup"
        self.groups.mkdir()
        self.membership = folder / "membership"

    def write(self, path: str, text: str) -> None:
        file = self.groups / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def limit(self, membership: str) -> float | None:
        self.membership.write_text(membership)
        return time_limit(self.groups, self.membership)


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    return Groups(tmp_path)


def test_version_2_has_a_quota_and_a_period(groups: Groups) -> None:
    groups.write("cpu.max", "150000 100000\n")
    assert groups.limit("0::/\n") == 1.5


def test_version_2_without_a_limit_says_max(groups: Groups) -> None:
    groups.write("cpu.max", "max 100000\n")
    assert groups.limit("0::/\n") is None


def test_the_tightest_limit_of_all_groups_above_counts(groups: Groups) -> None:
    groups.write("pod/cpu.max", "200000 100000\n")
    groups.write("pod/container/cpu.max", "400000 100000\n")
    groups.write("pod/container/inner/cpu.max", "max 100000\n")
    assert groups.limit("0::/pod/container/inner\n") == 2.0


def test_a_path_of_the_host_is_not_there_in_the_container(groups: Groups) -> None:
    groups.write("cpu.max", "50000 100000\n")
    assert groups.limit("0::/docker/0123456789abcdef\n") == 0.5
    assert groups.limit("0::/../other\n") == 0.5


@pytest.mark.parametrize("folder", ["cpu,cpuacct", "cpu"])
def test_version_1_has_a_hierarchy_for_processors(groups: Groups, folder: str) -> None:
    groups.write(f"{folder}/job/cpu.cfs_quota_us", "300000\n")
    groups.write(f"{folder}/job/cpu.cfs_period_us", "100000\n")
    groups.write(f"{folder}/cpu.cfs_quota_us", "-1\n")
    groups.write(f"{folder}/cpu.cfs_period_us", "100000\n")
    assert groups.limit("5:memory:/job\n4:cpu,cpuacct:/job\n0::/\n") == 3.0


@pytest.mark.parametrize(
    "text", ["", "100000", "0 100000", "100000 0", "-1 100000", "many 100000", "\xff", "1 2 3"]
)
def test_files_in_another_form_are_no_limit(groups: Groups, text: str) -> None:
    groups.write("cpu.max", text)
    assert groups.limit("0::/\n") is None


@pytest.mark.parametrize("membership", ["", "0", "0:", "0::", "nonsense\n", "1:name=systemd:/"])
def test_an_odd_membership_is_no_limit(groups: Groups, membership: str) -> None:
    assert groups.limit(membership) is None


def test_without_the_files_there_is_no_limit(tmp_path: Path) -> None:
    assert time_limit(tmp_path / "nothing", tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    ("allowed", "limit", "usable"),
    [(8, None, 8), (8, 1.5, 2), (8, 2.0, 2), (8, 0.1, 1), (2, 64.0, 2), (1, None, 1)],
)
def test_the_smaller_of_affinity_and_limit_counts(
    monkeypatch: pytest.MonkeyPatch, allowed: int, limit: float | None, usable: int
) -> None:
    monkeypatch.setattr(processors, "allowed_processors", lambda: allowed)
    monkeypatch.setattr(processors, "time_limit", lambda: limit)
    assert usable_processors() == usable


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds processes")
def test_a_bound_process_has_only_its_processors() -> None:
    script = (
        "import os\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from fourlab.jobs.job import Conduct\n"
        "print(Conduct().workers)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


def test_nobody_else_counts_processors() -> None:
    counting = re.compile(r"\b(cpu_count|process_cpu_count|sched_getaffinity)\b")
    files = (ROOT / "src" / "fourlab").rglob("*.py")
    counters = {file.name for file in files if counting.search(file.read_text(encoding="utf-8"))}
    assert counters == {"processors.py"}
