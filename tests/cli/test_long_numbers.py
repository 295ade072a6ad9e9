"""Numbers of thousands of digits are refused in one line wherever a number is expected."""

import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fourlab.cli.commands import COMMANDS, load

Command = Callable[..., subprocess.CompletedProcess[str]]

DIGITS = "9" * 5000
ARGUMENTS = {
    "analyze": ["44"],
    "solve": ["44"],
    "review": ["44"],
    "match": ["random", "rules"],
    "accuracy": ["random"],
    "tournament": ["t.toml"],
    "games": ["last"],
    "resume": ["last"],
    "study": ["bhat"],
    "reproduce": ["bhat"],
}
"""Valid arguments, where a command would otherwise miss them before it reads its options."""
NUMERIC = re.compile(r"^ +(?:-\w, )?(--[\w-]+) +(?:INTEGER|N|NUMBER)\b", re.MULTILINE)
"""An option whose value is a number, in the help of a command. Floats of typer may be infinite."""


def parts(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words that call a command, or each command of a group."""
    if not hasattr(command, "commands"):
        yield path
        return
    for name, part in command.commands.items():
        yield from parts(part, (*path, name))


@pytest.mark.parametrize("name", COMMANDS)
def test_options(fourlab: Command, name: str) -> None:
    for path in parts(load(name), (name,)):
        for option in NUMERIC.findall(fourlab(*path, "--help").stdout):
            done = fourlab(*path, *ARGUMENTS.get(name, ()), option, DIGITS)
            state = (done.returncode, done.stderr.count("\n"))
            assert state == (2, 1), (path, option, done.stderr[:300])


@pytest.mark.parametrize(
    "call",
    [
        ("show", DIGITS),
        ("show", f"{DIGITS},"),
        ("show", f"7/7/7/7/7/{DIGITS} r 4"),
        ("show", f"7/7/7/7/7/7 r {DIGITS}"),
        ("show", f"key:{'f' * 5000}"),
        ("show", "[" * 99_999),
        ("show", f"[{DIGITS}]"),
        ("show", "44", "--board", f"{DIGITS}x6x4"),
        ("analyze", "44", "--agent", f"mcts:simulations={DIGITS}"),
        ("analyze", "44", "--agent", f"mcts:c={DIGITS}"),
        ("analyze", "44", "--agent", f"bhat-mc{DIGITS}"),
        ("match", "random", "rules", "--openings", f"random:{DIGITS}"),
        ("match", "random", "rules", "--openings", DIGITS),
        ("match", "random", "rules", "--limit-a", f"nodes={DIGITS}"),
        ("match", "random", "rules", "--sprt", DIGITS, DIGITS),
        ("accuracy", "random", "--plies", f"1-{DIGITS}"),
        ("train", "q", "--set", f"games={DIGITS}"),
        ("train", "q", "--set", f"against=bhat-mc{{0..{DIGITS}}}"),
    ],
    ids=lambda call: " ".join(word[:24] for word in call),
)
def test_texts(fourlab: Command, call: tuple[str, ...]) -> None:
    done = fourlab(*call)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr[:300]
