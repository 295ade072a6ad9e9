"""Agents in files of the user, FILE.py:NAME, in every command that takes an agent."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab.agents.own_files import MAX_FILE
from fourlab.jobs.run import Run
from tests.cli.interrupted import resume_arguments, stopped_by_ctrl_c
from tests.cli.test_programs import contents, plant, refused

Command = Callable[..., subprocess.CompletedProcess[str]]

CAREFUL = '''
from dataclasses import dataclass
from beside import middle
from fourlab import Decision, Limit, Position

_hidden = print

def number_of_columns(position):
    return position.rules.columns

@dataclass(frozen=True)
class Careful:
    """Wins if it can, else plays near the middle."""

    skip: int = 0
    motto: str = "care"

    def decide(self, position: Position, limit: Limit = Limit(), rng=None) -> Decision:
        for column in position.legal_columns():
            if position.play(column).outcome() is not None:
                return Decision(column, value=1.0)
        return Decision(sorted(position.legal_columns(), key=middle(position))[self.skip])
'''
BESIDE = """
def middle(position):
    return lambda column: abs(2 * column + 1 - position.rules.columns)
"""
FUNCTIONS = """
import sys

def first(position):
    return position.legal_columns()[0]

def none(position):
    return None

def seven(position):
    return 7

def text(position, limit):
    return "x"

def crash(position, limit, rng):
    return 1 / 0

def demanding(a, b, c, d):
    return 0

def last(position, rng):
    return rng.choice(position.legal_columns())

number = 3
"""


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    (tmp_path / "careful.py").write_text(CAREFUL)
    (tmp_path / "beside.py").write_text(BESIDE)
    (tmp_path / "functions.py").write_text(FUNCTIONS)


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# --- every command --------------------------------------------------------------------------------


def test_match(fourlab: Command) -> None:
    options = ("--games", "4", "--quiet")
    out = succeeded(fourlab("match", "careful.py:Careful,skip=1", "functions.py:first", *options))
    assert "careful.py:Careful,skip=1 against functions.py:first: 4 games" in out
    assert "games ended by" not in out
    again = fourlab("games", "last", "1", "--again", "--allow-programs")
    assert "played again: the same game" in succeeded(again)


def test_play(fourlab: Command) -> None:
    done = fourlab("play", "--red", "careful.py", "--yellow", "functions.py", "--json")
    game = json.loads(done.stdout)
    assert (game["red"], game["moves"][0]) == ("careful.py", 4)
    hints = fourlab("play", "--hint-agent", "careful.py:Careful", stdin="hint\nquit\n")
    assert "hint: column 4" in succeeded(hints)


def test_analyze_and_accuracy(fourlab: Command) -> None:
    out = succeeded(fourlab("analyze", "445566", "--agent", "careful.py:Careful", "--proof", "0"))
    assert "careful.py:Careful:\nplays 3, expecting +1.0000" in out
    out = succeeded(
        fourlab("accuracy", "careful.py", "functions.py:first", "--random", "5", "--plies", "30-34")
    )
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "careful.py",
        "functions.py:first",
    ]


def test_agents_describes_one(fourlab: Command) -> None:
    out = succeeded(fourlab("agents", "careful.py:Careful"))
    assert "Wins if it can, else plays near the middle." in out
    assert "skip=0  (a whole number)" in out
    assert "functions.py:first" in succeeded(fourlab("agents", "functions.py:first"))


def test_a_file_in_place_of_a_command_is_an_agent(fourlab: Command) -> None:
    done = fourlab("careful.py:Careful")
    assert "fourlab match careful.py:Careful rules compares it with another" in done.stderr


# --- files that name them -------------------------------------------------------------------------


def test_a_tournament_file_needs_permission(fourlab: Command, tmp_path: Path) -> None:
    agents = ["careful.py:Careful", "random", "functions.py:last"]
    (tmp_path / "league.toml").write_text(f"rounds = 1\nagents = {json.dumps(agents)}\n")
    refused(fourlab("tournament", "league.toml"), "careful.py")
    assert not (tmp_path / "runs").exists()
    out = succeeded(fourlab("tournament", "league.toml", "--quiet", "--allow-programs"))
    assert "careful.py:Careful" in out
    (run,) = (tmp_path / "runs").iterdir()
    refused(fourlab("resume", str(run)), "careful.py")
    assert "careful.py:Careful" in succeeded(fourlab("resume", str(run), "--allow-programs"))


@pytest.mark.parametrize("spec", ["functions.py:first", "./functions.py", "functions.PY"])
def test_a_foreign_run_does_not_run_a_file_unasked(
    fourlab: Command, small_match: Path, tmp_path: Path, spec: str
) -> None:
    (tmp_path / "functions.py").write_text("open('witness', 'w')")
    plant(small_match, spec)
    before = contents(small_match)
    program = spec.partition(":")[0]
    refused(fourlab("resume", "last", "--games", "4", "--workers", "1"), program)
    assert fourlab("games", "last", "0", "--again").returncode == 2
    assert not (tmp_path / "witness").exists()
    assert contents(small_match) == before


def test_the_resume_command_carries_the_permission(tmp_path: Path, fourlab: Command) -> None:
    command = ["match", "careful.py:Careful", "random", "--games", "4", "--workers", "1"]
    printed = stopped_by_ctrl_c(tmp_path, [*command, "--run", "stopped"], "event", 2)
    arguments = resume_arguments(printed)
    assert arguments == ["resume", "stopped", "--workers", "1", "--allow-programs"]
    succeeded(fourlab(*arguments, "--quiet"))


def test_a_changed_file_is_another_agent(fourlab: Command, tmp_path: Path) -> None:
    command = ("match", "functions.py:first", "random", "--games", "2", "--workers", "1", "--quiet")
    succeeded(fourlab(*command))
    (first,) = (tmp_path / "runs").iterdir()
    assert len(Run(first).config["agents"][0]["code"]) == 16
    (tmp_path / "functions.py").write_text(FUNCTIONS.replace("[0]", "[1]"))
    done = fourlab("resume", first.name, "--games", "4", "--allow-programs")
    assert done.returncode == 2
    assert "functions.py:first has changed since this run began" in done.stderr
    succeeded(fourlab(*command))
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_an_object_of_a_program_cannot_be_resumed_here(fourlab: Command, small_match: Path) -> None:
    plant(small_match, "own:of-another-program")
    for command in (("resume", "last"), ("games", "last", "0", "--again")):
        done = fourlab(*command)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "resume from Python: call the same function again with the object" in done.stderr


# --- wrong input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nowhere.py:Bot", "cannot read nowhere.py: No such file or directory"),
        ("folder.py", "folder.py is not a file"),
        ("pipe.py", "pipe.py is not a file"),
        (
            "careful.py:Carefull",
            "careful.py has no 'Carefull' (did you mean 'Careful'?); its agents",
        ),
        ("functions.py:number", "number in functions.py is not an agent: a function, or a class"),
        ("functions.py:demanding", "demanding takes (a, b, c, d); an agent takes (position), "),
        ("functions.py:first,depth=3", "functions.py:first is a function, which has no options"),
        ("careful.py:Careful,depth=3", "has no option 'depth'; its options are skip, motto"),
        (
            "careful.py:Careful,skip=x",
            "option skip of agent 'careful.py:Careful' must be a whole n",
        ),
        (
            "careful.py:Careful,3",
            "an agent of your own is written FILE.py:NAME or FILE.py:NAME,opt",
        ),
        ("careful.py:a b", "careful.py has no 'a b'; its agents are Careful"),
        ("syntax.py", "syntax.py cannot be loaded: line 2: '(' was never closed"),
        (
            "broken.py",
            "broken.py cannot be loaded: ZeroDivisionError: division by zero (broken.py, ",
        ),
        ("exits.py", "exits.py cannot be loaded: SystemExit: 3 (exits.py, line 1)"),
        (
            "missing.py",
            "missing.py cannot be loaded: ModuleNotFoundError: No module named 'nowhere'",
        ),
        (
            "empty.py",
            "empty.py has no agent: no function, and no class or object with a method dec",
        ),
        ("binary.py", "binary.py cannot be loaded: "),
        ("huge.py", f"huge.py has more than {MAX_FILE:,} bytes"),
    ],
)
def test_what_cannot_be_an_agent_is_refused(
    fourlab: Command, tmp_path: Path, spec: str, message: str
) -> None:
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "syntax.py").write_text("\nf(")
    (tmp_path / "broken.py").write_text("x = 1 / 0")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)")
    (tmp_path / "missing.py").write_text("import nowhere")
    (tmp_path / "empty.py").write_text("import numpy as np\nfrom fourlab import make, Limit\n")
    (tmp_path / "binary.py").write_bytes(bytes(range(256)))
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    done = fourlab("match", spec, "rules", "--games", "2")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("name", "cause", "message"),
    [
        ("none", "crash", "none returned None, which is not a column counted from 0 or a Decision"),
        (
            "seven",
            "illegal move",
            "seven returned column 7; the open columns, counted from 0, are ",
        ),
        ("text", "crash", "text returned 'x', which is not a column counted from 0 or a Decision"),
        (
            "crash",
            "crash",
            "crash raised ZeroDivisionError: division by zero (functions.py, line 17)",
        ),
    ],
)
def test_what_an_agent_does_wrong_is_named(
    fourlab: Command, name: str, cause: str, message: str
) -> None:
    spec = f"functions.py:{name}"
    out = succeeded(fourlab("match", spec, "random", "--games", "2", "--workers", "1", "--quiet"))
    assert f"2 games ended by {cause} of {spec}: game 0, red: {message}" in out
    for command in (
        ("analyze", "44", "--agent", spec),
        ("play", "--red", spec, "--yellow", "random"),
    ):
        done = fourlab(*command)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert done.stderr.startswith(f"fourlab: {message}")
    # Each position of a test is a new chance, as each game of a match is.
    out = succeeded(fourlab("accuracy", spec, "--random", "1", "--plies", "34"))
    assert f"1 mistake by {cause}, the first in Position(" in out
    assert message in out
