"""The runner of tasks works without make, and make, CI and pre-commit run tasks that exist."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from fourlab.bridges.kaggle.player import INSTALL
from tests.conftest import ROOT, Result


@pytest.fixture(scope="module")
def tasks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tasks", ROOT / "tasks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def typed(*arguments: str) -> Result:
    command = [sys.executable, str(ROOT / "tasks.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_without_a_name_the_tasks_are_listed(tasks: ModuleType) -> None:
    done = typed()
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(tasks.TASKS)
    assert all(task.help.endswith(".") for task in tasks.TASKS.values())


def test_an_unknown_task_is_one_line() -> None:
    done = typed("nothing")
    assert done.returncode == 2
    assert done.stderr.startswith("there is no task 'nothing'; tasks are setup, ")


def test_a_program_of_the_environment_runs_in_the_root() -> None:
    done = typed("with", "python", "-c", "import os; print(os.getcwd()); raise SystemExit(3)")
    assert done.returncode == 3
    assert Path(done.stdout.strip()) == ROOT


def test_a_missing_program_says_how_to_install_it() -> None:
    done = typed("with", "no-such-program")
    assert done.returncode == 1
    assert done.stderr == "no-such-program is not installed here: python tasks.py setup\n"


def test_commands_run_in_turn_until_one_fails(tasks: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "ran"
    touch = f"from pathlib import Path; Path({str(file)!r}).touch()"
    stop = ("python", "-c", "raise SystemExit(5)")
    assert tasks.in_turn(("python", "-c", "pass"), stop, ("python", "-c", touch)) == 5
    assert not file.exists()


def test_a_new_environment_is_made_and_used(
    tasks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Everything but the minutes of pip: its calls are noted instead.
    monkeypatch.setattr(tasks, "VENV", tmp_path / ".venv")
    calls = []
    real = subprocess.run

    def run(command: list[str], **options: object) -> Result:
        if "pip" not in command:
            return real(command, **options)  # type: ignore[call-overload, no-any-return]
        calls.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(tasks.subprocess, "run", run)
    assert tasks.setup(()) == 0
    assert tasks.python_of_venv().exists()
    everything, kaggle = calls
    assert everything[0] == str(tasks.python_of_venv())
    assert everything[-3:] == ["constraints.txt", "--editable", ".[all,dev]"]
    assert kaggle[-2:] == ["--no-deps", tasks.KAGGLE]


def test_make_runs_tasks_that_exist(tasks: ModuleType) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\$\(TASK\) ([a-z][\w-]*)", makefile))
    assert {"check", "core-tests", "all-tests", "soak", "warmup"} <= named <= set(tasks.TASKS)
    targets = set(re.findall(r"^([a-z][\w-]*)(?: [a-z]\w*)*:(?!=)", makefile, re.MULTILINE))
    assert {"run", "quick", "test", "check", "release"} <= targets <= set(tasks.TASKS)


def test_one_release_of_kaggles_package_is_installed_everywhere(tasks: ModuleType) -> None:
    assert tasks.KAGGLE in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert tasks.KAGGLE in INSTALL


def test_the_workflow_runs_tasks_that_exist_on_three_systems(tasks: ModuleType) -> None:
    file = ROOT / ".github" / "workflows" / "test.yml"
    jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    named = {command.split()[2] for command in commands if command.startswith("python tasks.py")}
    assert named <= set(tasks.TASKS)
    assert "make test PYTHON=python" in commands
    systems = jobs["others"]["strategy"]["matrix"]["system"]
    assert {jobs["linux"]["runs-on"], *systems} == {
        "ubuntu-latest",
        "macos-latest",
        "windows-latest",
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [
        text.rpartition(" ")[2] for text in project["classifiers"] if ":: Python :: 3." in text
    ]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == declared


def test_hooks_run_what_check_runs(tasks: ModuleType) -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repository,) = config["repos"]
    assert repository["repo"] == "local"
    entries = [hook["entry"].split() for hook in repository["hooks"]]
    assert all(entry[:3] == ["python", "tasks.py", "with"] for entry in entries)
    checked = (ROOT / "tasks.py").read_text(encoding="utf-8").partition("def check")[2]
    for entry in entries:
        assert f'("{entry[3]}"' in checked.partition("\ndef ")[0]
