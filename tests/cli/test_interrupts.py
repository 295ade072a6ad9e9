"""Ctrl-C while a command starts: one line and exit code 130, at whatever import it comes."""

import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = Path(__file__).with_name("interrupting_imports.py")
BEFORE = 2
"""Imports before anything of Fourlab can run: `sys`, by the console script, and `fourlab`."""
SCRIPT_WAY = ("-c", "from fourlab import _command; _command()")
SAMPLES = 12
"""Imports that are interrupted, for each command and way."""


def run(folder: Path, number: int, how: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(number), how, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("how", ["raise", "signal"])
@pytest.mark.parametrize(
    "arguments",
    [("show", "4453"), ("agents", "mcts")],
    ids=["show", "agents"],
)
def test_ctrl_c_at_any_import(tmp_path: Path, how: str, arguments: tuple[str, ...]) -> None:
    whole = run(tmp_path, 10**9, how, *arguments)
    assert whole.returncode == 0, whole.stderr
    count = re.search(r"imports: (\d+)", whole.stdout)
    assert count
    imports = int(count[1])
    # The first ones one by one, since there the handler is being installed; then evenly spread.
    numbers = [*range(BEFORE + 1, BEFORE + 7)]
    numbers += [*range(BEFORE + 7, imports, (imports - BEFORE) // (SAMPLES - 6))]
    for number in numbers:
        done = run(tmp_path, number, how, *arguments)
        # Where the parser catches it, nothing is printed.
        assert done.returncode == 130, (number, done.stderr)
        assert done.stderr in ("", "fourlab: interrupted\n"), number
        assert "Traceback" not in done.stdout


def test_only_the_package_itself_is_imported_before_the_handler() -> None:
    code = (
        "import sys; names = []\n"
        "sys.addaudithook(lambda event, args: event == 'import' and names.append(args[0]))\n"
        "from fourlab import _command\n"
        "print(*dict.fromkeys(names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["fourlab"]


def test_the_console_script_calls_the_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"fourlab": "fourlab:_command"}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for another process")
@pytest.mark.parametrize("way", [SCRIPT_WAY, ("-m", "fourlab")], ids=["script", "module"])
@pytest.mark.parametrize("module", ["fourlab.cli", "signal", "click", "typer"])
def test_ctrl_c_from_outside_while_modules_are_loaded(way: tuple[str, str], module: str) -> None:
    # Python reports every module that it has loaded; the signal comes some time after this one.
    command = [sys.executable, "-X", "importtime", *way, "agents", "mcts"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        printed = ""
        for line in process.stderr:
            if not line.startswith("import time:"):
                printed += line
            elif line.rpartition("|")[2].strip() == module:
                process.send_signal(signal.SIGINT)
        process.wait()
        assert process.stdout is not None
        output = process.stdout.read()
    assert "Traceback" not in printed + output
    assert printed in ("", "fourlab: interrupted\n")
    # The last of the modules may come too late to interrupt anything.
    assert process.returncode == 130 or (process.returncode == 0 and "mcts" in output)
