"""What short commands import: start-up time is guarded by counting modules, not seconds."""

import subprocess
import sys
from pathlib import Path

import pytest

from fourlab.cli.board import plain_console, print_board
from fourlab.cli.commands import COMMANDS, load
from fourlab.game.position import Position
from fourlab.jobs.processes import PLAIN

PARSER = {"annotated_doc", "click", "colorama", "shellingham", "typer", "typing_extensions"}
"""What typer imports."""
PARSED = PARSER | {"annotated_types", "pydantic", "pydantic_core", "typing_inspection"}
"""What typer imports to parse arguments."""


def loaded(code: str) -> set[str]:
    """Run code in its own process; return the modules that it imports."""
    wrapped = (
        "import sys\nbefore = set(sys.modules)\n"
        f"try:\n    {code}\nexcept SystemExit as done:\n    assert not done.code\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    command = [sys.executable, "-c", wrapped]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def command(*arguments: str) -> str:
    return f"from fourlab.cli import main; main({list(arguments)!r})"


def packages(modules: set[str]) -> set[str]:
    """Return the third-party packages among modules."""
    standard = {"fourlab", "__mp_main__", *sys.stdlib_module_names}
    names = {name.partition(".")[0] for name in modules} - standard
    # The name of this standard module depends on the platform.
    return {name for name in names if not name.startswith("_sysconfigdata")}


def of_fourlab(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "fourlab"}


def test_importing_the_package_imports_nothing_else() -> None:
    modules = loaded("import fourlab")
    assert packages(modules) == set()
    assert of_fourlab(modules) == {"fourlab"}


def test_a_position_in_python_imports_no_third_party_package() -> None:
    assert packages(loaded("from fourlab import Position; Position('4453')")) == set()


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("--version",)])
def test_help_loads_no_command(arguments: tuple[str, ...]) -> None:
    modules = loaded(command(*arguments))
    assert packages(modules) <= PARSER
    parts = (
        "cli",
        "cli.commands",
        "cli.interrupts",
        "compiled",
        "compiled.announcing",
        "errors",
        "terminal",
        "version",
    )
    own = {"fourlab", *(f"fourlab.{part}" for part in parts)}
    assert of_fourlab(modules) == own


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "4453"),
        ("show", "4453", "--json"),
        ("positions",),
        ("runs",),
        ("stats", "elo", "3", "2", "1"),
    ],
)
def test_commands_in_plain_python_load_only_the_parser(arguments: tuple[str, ...]) -> None:
    modules = loaded(command(*arguments))
    assert packages(modules) <= PARSED
    commands = {f"fourlab.cli.{entry.home.partition(':')[0]}" for entry in COMMANDS.values()}
    assert modules & commands == {f"fourlab.cli.{arguments[0]}"}


def test_a_match_of_plain_players_loads_no_compiler(tmp_path: Path) -> None:
    arguments = (
        "match",
        "random",
        "rules",
        "--games",
        "2",
        "--runs",
        str(tmp_path),
        "--workers",
        "1",
    )
    heavy = {"llvmlite", "numba", "onnxruntime", "rich", "scipy", "torch"}
    assert packages(loaded(command(*arguments))) & heavy == set()


def test_workers_of_plain_players_load_no_compiler() -> None:
    names = loaded(f"for name in {PLAIN!r}: __import__(name)")
    assert packages(names) & {"llvmlite", "numba", "onnxruntime", "torch"} == set()


def test_worker_processes_load_no_parser() -> None:
    modules = loaded("import fourlab.__main__, fourlab.jobs.executors.local")
    assert packages(modules) == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_short_first_paragraph_of_their_help(name: str) -> None:
    built = load(name)
    assert built.name == name
    assert COMMANDS[name].help == built.help.partition("\n\n")[0].replace("\n", " ")
    assert len(COMMANDS[name].help) <= 60


@pytest.mark.parametrize("moves", ["", "4453", "1122334"])
def test_boards_are_the_same_with_and_without_rich(
    moves: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("TTY_COMPATIBLE", raising=False)
    print_board(Position(moves))
    plain = capsys.readouterr().out
    print_board(Position(moves), plain_console())
    assert capsys.readouterr().out == plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    print_board(Position(moves))
    coloured = capsys.readouterr().out
    assert "\x1b[" in coloured
