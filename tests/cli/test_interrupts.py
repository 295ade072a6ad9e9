"""Ctrl-C while a command starts: one line and exit code 130, at whatever import it comes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("interrupting_imports.py")
BEFORE = 3
"""Imports before `main` can run: fourlab, fourlab.version and fourlab.cli."""
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


def test_only_three_imports_come_before_the_handler() -> None:
    code = (
        "import sys; names = []\n"
        "sys.addaudithook(lambda event, args: event == 'import' and names.append(args[0]))\n"
        "from fourlab.cli import main\n"
        "print(*dict.fromkeys(names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"fourlab", "fourlab.version", "fourlab.cli"}
