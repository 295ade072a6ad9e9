"""What would be published has what it needs, and nothing else; the cheap part of the rehearsal."""

import importlib.util
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from fourlab.version import __version__
from tests.conftest import ROOT
from tests.in_process import run_in_process


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "tools" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    source, wheel = release.build(tmp_path_factory.mktemp("dist"))
    return source, wheel


def test_the_built_files_have_no_problems(release: ModuleType, built: tuple[Path, Path]) -> None:
    source, wheel = built
    assert list(release.source_problems(source)) == []
    assert list(release.wheel_problems(wheel)) == []


@pytest.fixture
def changed(built: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy of the wheel with a file of a cache, a test and a path, and without py.typed."""
    copy = tmp_path / built[1].name
    with zipfile.ZipFile(built[1]) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            if name != "fourlab/py.typed":
                new.writestr(name, old.read(name))
        new.writestr("fourlab/__pycache__/agent.pyc", b"")
        new.writestr("tests/test_a.py", b"")
        new.writestr("fourlab/place.txt", str(ROOT))
    return copy


def test_faults_of_a_wheel_are_noticed(release: ModuleType, changed: Path) -> None:
    assert set(release.wheel_problems(changed)) == {
        "lacks fourlab/py.typed",
        "contains fourlab/__pycache__/agent.pyc",
        "contains tests/test_a.py",
        "fourlab/place.txt contains a path of this machine",
    }


ADDRESS = "https://example.org/me/fourlab"
URLS = {
    "Source": ADDRESS,
    "Documentation": f"{ADDRESS}/blob/HEAD/docs/index.md",
    "Issues": f"{ADDRESS}/issues",
    "Changelog": f"{ADDRESS}/blob/HEAD/CHANGELOG.md",
}


@pytest.mark.parametrize(
    ("variables", "urls"),
    [
        ({}, {}),
        ({"FOURLAB_URL": f"{ADDRESS}.git"}, URLS),
        ({"GITHUB_SERVER_URL": "https://example.org", "GITHUB_REPOSITORY": "me/fourlab"}, URLS),
        ({"GITHUB_SERVER_URL": "https://example.org"}, {}),
    ],
)
def test_the_metadata_have_the_addresses_that_are_known(
    variables: dict[str, str], urls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FOURLAB_URL", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-m", "hatchling", "metadata", "urls"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == urls


def test_a_wheel_without_the_known_addresses_is_noticed(
    release: ModuleType, built: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURLAB_URL", ADDRESS)
    assert set(release.wheel_problems(built[1])) == {
        f"lacks the address {url} ({label})" for label, url in URLS.items()
    }


def test_an_empty_source_distribution_lacks_everything(release: ModuleType, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "fourlab.tar.gz", "w:gz"):
        pass
    problems = list(release.source_problems(tmp_path / "fourlab.tar.gz"))
    assert problems == [f"lacks {name}" for name in release.NEEDED_IN_SOURCE]


def test_the_changelog_has_the_version_with_its_date() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    assert entries[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(__version__)} - \d{{4}}-\d\d-\d\d", entries[1])


def test_the_citation_has_the_fields_of_the_format() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    # The fields that version 1.2.0 of the Citation File Format demands, and the two of a release.
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["authors"] == [{"name": "The Fourlab authors"}]
    assert citation["version"] == __version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {__version__} - {citation['date-released']}\n" in changelog
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["license"] == project["license"]


def test_every_dependency_is_locked_with_hashes_and_without_addresses() -> None:
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    pins = re.findall(r"^([a-z0-9.-]+)==(\S+)", lock, re.MULTILINE)
    names = {name for name, _ in pins}
    entries = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins)
    assert all("--hash=sha256:" in entry for entry in entries)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"]]
    for extra, requirements in project["optional-dependencies"].items():
        wanted += requirements if extra != "bench" else []
    required = {
        match[0].lower().replace("_", "-")
        for text in wanted
        if (match := re.match(r"[A-Za-z0-9_-]+", text)) and match[0] != "fourlab"
    }
    assert required - names == {"torch"}
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert ("numba", "0.68.1") in pins


def test_torch_is_a_range_except_in_the_constraints() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "torch>=2.4" in project["optional-dependencies"]["train"]
    assert not any("torch==" in text for text in project["optional-dependencies"]["train"])


def test_all_has_every_extra_for_users(release: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (everything,) = project["optional-dependencies"]["all"]
    named = set(everything.removeprefix("fourlab[").removesuffix("]").split(","))
    assert named == set(release.extras()) - {"all"}


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile with their arguments, continued lines joined."""
    lines = [line for line in dockerfile.splitlines() if line and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in joined]


def test_the_container_serves_the_page_without_rights() -> None:
    steps = instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    expected = {
        *("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "HEALTHCHECK"),
        *("ENTRYPOINT", "CMD"),
    }
    assert {name for name, _ in steps} <= expected
    names = [name for name, _ in steps]
    assert names[0] == "FROM"
    assert dict(steps)["USER"] == "1000:1000"
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert dict(steps)["ENTRYPOINT"] == '["fourlab"]'
    assert all(":" in text.split()[0] for name, text in steps if name == "FROM")


def test_the_containers_command_is_one_of_fourlabs(tmp_path: Path) -> None:
    steps = dict(instructions((ROOT / "Dockerfile").read_text(encoding="utf-8")))
    command = yaml.safe_load(steps["CMD"])
    done = run_in_process([command[0], "--help"], tmp_path)
    assert done.returncode == 0
    assert all(word in done.stdout for word in command if word.startswith("--"))


def test_the_composition_publishes_the_port_to_this_machine_only() -> None:
    composition = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    service = composition["services"]["fourlab"]
    assert service["ports"] == ["127.0.0.1:8000:8000"]
    assert service["read_only"] is True
    assert set(composition["volumes"]) == {"data"}
