"""Programs that the tests need are found, installed or reported, never with a password."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import system_parts
from tests.conftest import ROOT, Result

WORKS = "exit 0"
FAILS = "exit 1"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fakes are shell scripts")


@dataclass(frozen=True)
class Machine:
    """A machine with only the programs that a test puts on it; every call is logged."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def program(self, name: str, body: str = WORKS, folder: Path | None = None) -> Path:
        file = (folder or self.folder / "bin") / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.folder}/calls"\n{body}\n')
        file.chmod(0o755)
        return file

    @property
    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def is_root(self, answer: bool) -> None:
        self.monkeypatch.setattr(system_parts, "_is_root", lambda: answer)

    def playwright(self, body: str) -> None:
        self.monkeypatch.setattr(sys, "executable", str(self.program("python", body)))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine without any part, package manager or network, whose user is not root."""
    made = Machine(tmp_path, monkeypatch)
    env = shutil.which("env")
    assert env is not None
    made.playwright(FAILS)
    (tmp_path / "bin" / "env").symlink_to(env)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "downloads"))
    monkeypatch.setattr(system_parts, "MAC_BROWSERS", ())
    monkeypatch.delenv("CI", raising=False)
    made.is_root(False)
    return made


def installs(machine: Machine, program: str) -> str:
    """Return the body of a package manager that puts a program on the machine."""
    file = machine.folder / "bin" / program
    return f'case "$*" in *install*) : > "{file}"; /bin/chmod 755 "{file}";; esac'


def with_all_but(machine: Machine, *missing: str) -> None:
    programs = {"browser": "chromium", "compiler": "cc", "node": "node"}
    for part, program in programs.items():
        if part not in missing:
            machine.program(program)


PLAYWRIGHT = "python -m playwright install --only-shell chromium"
APT = "apt-get install -y -qq --no-install-recommends"


def test_nothing_is_installed_if_nothing_is_missing(machine: Machine) -> None:
    with_all_but(machine)
    machine.program("apt-get")
    machine.is_root(True)
    assert system_parts.main() == 0
    assert machine.calls == []


@pytest.mark.parametrize(
    ("part", "program"),
    [
        ("browser", "chromium-browser"),
        ("browser", "google-chrome"),
        ("browser", "google-chrome-stable"),
        ("compiler", "gcc"),
        ("compiler", "clang"),
        ("node", "nodejs"),
    ],
)
def test_a_part_has_several_names(machine: Machine, part: str, program: str) -> None:
    assert system_parts.find(part) is None
    file = machine.program(program)
    assert system_parts.find(part) == str(file)


def test_playwrights_own_download_comes_first(machine: Machine) -> None:
    with_all_but(machine, "browser")
    machine.program("apt-get")
    machine.is_root(True)
    folder = machine.folder / "downloads" / "chromium_headless_shell-1254" / "chrome-linux64"
    browser = machine.program("chrome-headless-shell", folder=machine.folder / "made")
    machine.playwright(f'/bin/mkdir -p "{folder}" && /bin/cp "{browser}" "{folder}"')
    assert system_parts.main() == 0
    assert machine.calls == [PLAYWRIGHT, "chrome-headless-shell --version"]
    assert system_parts.find("browser") == str(folder / "chrome-headless-shell")


def test_the_newest_download_that_starts_is_taken(machine: Machine) -> None:
    downloads = machine.folder / "downloads"
    machine.program("chrome", folder=downloads / "chromium-999" / "chrome-linux")
    newer = machine.program("chrome", folder=downloads / "chromium-1200" / "chrome-linux64")
    machine.program("chrome", FAILS, folder=downloads / "chromium-1300" / "chrome-linux64")
    assert system_parts.find("browser") == str(newer)


def test_a_download_that_lacks_libraries_is_not_enough(machine: Machine) -> None:
    with_all_but(machine, "browser")
    folder = machine.folder / "downloads" / "chromium-1254" / "chrome-linux64"
    machine.program("chrome", "exit 127", folder=folder)
    machine.playwright(WORKS)
    machine.program("apt-get", installs(machine, "chromium"))
    machine.is_root(True)
    assert system_parts.main() == 0
    assert machine.calls[-2:] == ["apt-get update -qq", f"{APT} chromium"]


@pytest.mark.parametrize(
    ("part", "program", "packages"),
    [
        ("browser", "chromium", "chromium"),
        ("compiler", "cc", "gcc libc6-dev"),
        ("node", "node", "nodejs"),
    ],
)
def test_root_installs_the_system_package(
    machine: Machine,
    part: str,
    program: str,
    packages: str,
) -> None:
    with_all_but(machine, part)
    machine.program("apt-get", installs(machine, program))
    machine.program("sudo")
    machine.is_root(True)
    assert system_parts.main() == 0
    tried = [PLAYWRIGHT] if part == "browser" else []
    assert machine.calls == [*tried, "apt-get update -qq", f"{APT} {packages}"]


def test_sudo_is_used_only_where_it_asks_for_no_password(machine: Machine) -> None:
    with_all_but(machine, "node")
    machine.program("apt-get", installs(machine, "node"))
    machine.program("sudo", 'shift; [ "$1" = true ] || "$@"')
    assert system_parts.main() == 0
    quiet = "sudo -n env DEBIAN_FRONTEND=noninteractive"
    assert machine.calls == [
        "sudo -n true",
        f"{quiet} apt-get update -qq",
        "apt-get update -qq",
        f"{quiet} {APT} nodejs",
        f"{APT} nodejs",
    ]


@pytest.mark.parametrize(("ci", "code"), [(None, 0), ("", 0), ("false", 0), ("true", 1), ("1", 1)])
def test_without_rights_the_command_to_type_is_printed(
    machine: Machine,
    ci: str | None,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if ci is not None:
        machine.monkeypatch.setenv("CI", ci)
    with_all_but(machine, "browser")
    machine.program("apt-get")
    machine.program("sudo", FAILS)
    assert system_parts.main() == code
    assert machine.calls == [PLAYWRIGHT, "sudo -n true"]
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("MISSING")]
    consequence = "the build fails" if code else "tests of the page will be skipped"
    command = "sudo apt-get install --no-install-recommends chromium"
    assert lines == [f"MISSING: Chromium or Chrome, so {consequence}; to fix this: {command}"]


def test_an_installation_without_effect_is_a_failure(machine: Machine) -> None:
    with_all_but(machine, "compiler")
    machine.program("apt-get", WORKS)
    machine.is_root(True)
    machine.monkeypatch.setenv("CI", "true")
    assert system_parts.main() == 1


def test_commands_without_and_with_a_package_manager(machine: Machine) -> None:
    python = machine.folder / "bin" / "python"
    browser = f"{python} -m playwright install --with-deps chromium"
    assert system_parts.command_for("browser") == browser
    assert system_parts.command_for("compiler") == "put cc or gcc or clang on PATH"
    machine.program("brew")
    assert system_parts.command_for("node") == "brew install node"


def test_every_manager_has_a_package_for_every_part() -> None:
    for part in system_parts.PARTS.values():
        assert len(part.packages) == len(system_parts.MANAGERS)


NEEDY = """
import pytest
from tests.missing_parts import require

@pytest.fixture(scope="module")
def browser():
    return require("browser")

def test_one(browser): pass
def test_two(browser): pass
def test_three(): require("node")
def test_four(): pass
"""


def pytest_without_parts(folder: Path, *arguments: str, ci: str) -> Result:
    """Run tests, some of which need parts, on a machine that has none."""
    empty = folder / "empty"
    empty.mkdir()
    (folder / "test_needy.py").write_text(NEEDY)
    (folder / "pytest.ini").write_text("[pytest]\n")
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    hidden = {
        "PATH": str(empty),
        "PLAYWRIGHT_BROWSERS_PATH": str(empty),
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # saves time
    }
    plugins = ["-p", "tests.missing_parts", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *arguments],
        cwd=folder,
        env={**os.environ, **hidden, "CI": ci, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "darwin", reason="a browser is found without PATH there")
def test_skipped_tests_are_listed_at_the_end(tmp_path: Path) -> None:
    done = pytest_without_parts(tmp_path, "-p", "xdist", "-n", "1", ci="")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 3 skipped" in done.stdout
    summary = done.stdout.partition("NOT EVERYTHING WAS TESTED")[2]
    assert "2 tests of the page were skipped: Chromium or Chrome is missing here." in summary
    assert "1 tests of examples/engine.mjs were skipped: Node is missing here." in summary
    assert summary.count("to fix this: ") == 2


@pytest.mark.skipif(sys.platform == "darwin", reason="a browser is found without PATH there")
def test_in_ci_a_missing_part_is_a_failure(tmp_path: Path) -> None:
    done = pytest_without_parts(tmp_path, ci="true")
    assert done.returncode == 1
    assert "1 failed, 1 passed, 2 errors" in done.stdout
    assert "MISSING PART: browser; to fix this: " in done.stdout
