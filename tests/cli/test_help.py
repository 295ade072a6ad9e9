"""Help on every command, and errors that point to it."""

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fourlab.cli.commands import COMMANDS, GROUPS, load

Run = Callable[..., subprocess.CompletedProcess[str]]
NESTED = ["book", "chess", "dataset", "engine", "export", "qtable", "stats", "train"]


def test_commands_are_listed_by_subject_with_their_whole_first_line(fourlab: Run) -> None:
    lines = fourlab("--help", COLUMNS="80").stdout.splitlines()
    for title, names in GROUPS.items():
        begin = lines.index(f"{title}:")
        for line, (name, entry) in zip(lines[begin + 1 :], names.items(), strict=False):
            assert line.split(maxsplit=1) == [name, entry.help]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("columns", ["40", "60"])
def test_narrow_terminals_wrap_the_first_lines(fourlab: Run, columns: str) -> None:
    words = fourlab("--help", COLUMNS=columns).stdout.split()
    for entry in COMMANDS.values():
        if not entry.hidden:
            assert " ".join(entry.help.split()) in " ".join(words)


def test_every_command_is_in_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) == {name for name, entry in COMMANDS.items() if not entry.hidden}


@pytest.mark.parametrize("words", [(), ("match",), ("train",), ("train", "alphazero")])
def test_help_shows_what_the_option_shows(fourlab: Run, words: tuple[str, ...]) -> None:
    done = fourlab("help", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == fourlab(*words, "--help").stdout
    assert f"Usage: {' '.join(('fourlab', *words))} [OPTIONS]" in done.stdout


@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if not entry.hidden])
def test_help_has_no_marks_of_its_layout(fourlab: Run, name: str) -> None:
    # click keeps the lines of a paragraph that begins with a backspace, and removes that one.
    text = fourlab(name, "--help").stdout
    assert "\b" not in text
    assert "\\u" not in text


@pytest.mark.parametrize("name", NESTED)
def test_a_group_without_a_command_lists_its_commands(fourlab: Run, name: str) -> None:
    done = fourlab(name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == fourlab(name, "--help").stdout
    for command in load(name).commands:
        assert f"\n  {command} " in done.stdout


def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, part in getattr(command, "commands", {}).items():
        yield from leaves(part, (*path, name))
    if not hasattr(command, "commands"):
        yield path, command


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_missing_is_shown_by_an_example(fourlab: Run, name: str) -> None:
    for path, command in leaves(load(name), (name,)):
        if any(parameter.required for parameter in command.params):
            done = fourlab(*path)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1)
            # Other spellings of a command have the example of its usual one.
            assert f"For example: fourlab {path[0]}" in done.stderr.replace("study", name)
            assert f"(see fourlab {' '.join(path)} --help)" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("match", "a", "b", "--gmes", "4"), "--games"),
        (("analyze", "--unknown"), "(see fourlab analyze --help)"),
        (("runs", "--delete"), "(see fourlab runs --help)"),
        (("train", "alphazro"), "(see fourlab train --help)"),
        (("stats", "elo", "1", "2", "-3"), "(see fourlab stats elo --help)"),
        (("trian",), "Did you mean 'train'? (see fourlab --help)"),
        (("help", "trian"), "Did you mean 'train'?"),
        (("mcts:c=2", "vs", "rules"), "fourlab match mcts:c=2 rules"),
        (("level-5",), "fourlab play level-5"),
        (("4453",), "fourlab analyze 4453"),
        (("settings", "q", "gmes"), "(did you mean 'games'?)"),
    ],
)
def test_errors_say_what_to_do_next(fourlab: Run, words: tuple[str, ...], message: str) -> None:
    done = fourlab(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_settings_can_be_shown_one_by_one(fourlab: Run) -> None:
    lines = fourlab("settings", "alphazero", "games").stdout.splitlines()
    assert [line.partition(" = ")[0] for line in lines[1:]] == [
        "games",
        "    Games of self-play in all.",
    ]
