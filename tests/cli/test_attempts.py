"""What new users try first: no traceback, and always a useful next step."""

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

ATTEMPTS = [
    # words typed, what is typed at prompts, exit code, the next step that the output names
    ((), "", 0, "fourlab help COMMAND"),
    (("help",), "", 0, "fourlab help COMMAND"),
    (("trian",), "", 2, "Did you mean 'train'?"),
    (("train",), "", 0, "fourlab train alphazero --preset smoke"),
    (("train", "alphazero", "--set", "gmes=10"), "", 2, "did you mean 'games'?"),
    (("train", "alpha-zero"), "", 2, "Did you mean 'alphazero'?"),
    (("play", "perfect"), "q\n", 0, "resume with: fourlab play --red human --yellow perfect"),
    (("play", "--level", "99"), "", 2, "levels are level-1 to level-"),
    (("play", "4453"), "", 2, "fourlab play --start 4453"),
    (("play", "random"), "0\n9\nfour\nq\n", 0, "type a number from 1 to 7"),
    (("mcts", "vs", "rules"), "", 2, "fourlab match mcts rules"),
    (("match", "mcts"), "", 2, "For example: fourlab match mcts"),
    (("match", "mcst", "rules"), "", 2, "did you mean 'mcts'?"),
    (("match", "mcts", "vs", "rules"), "", 2, "For example: fourlab match mcts"),
    (("match", "mcts:sims=100", "rules"), "", 2, "did you mean 'simulations'?"),
    (("match", "random", "rules", "--games", "1.5"), "", 2, "a whole number from 1 to"),
    (("match", "random", "rules", "--games", "3"), "", 2, "must be even"),
    (("solve", "hello"), "", 2, "neither columns a to g nor a name"),
    (("solve", "abc"), "", 0, "abc 3"),
    (("solve", "44444448"), "", 2, "column 4 is full"),
    (("analyse", "121212", "--agent", "rules"), "", 0, "wins in 1"),
    (("4453",), "", 2, "fourlab show 4453"),
    (("open",), "", 2, "fourlab match mcts rules --games 20"),
    (("runs",), "", 0, "fourlab match mcts rules --games 20"),
    (("resume",), "", 2, "For example: fourlab resume last"),
    (("resume", "last"), "", 2, "fourlab match mcts rules --games 20"),
    (("games", "nothing"), "", 2, "fourlab match mcts rules --games 20"),
    (("settings", "alphazero", "lr"), "", 2, "no option 'lr' (did you mean 'rate'?)"),
    (("settings", "alphazero", "proving"), "", 0, "back up proven results. Older name: proving."),
    (("train", "alphazero", "--learning-rate", "1"), "", 2, "(did you mean --rate?)"),
    (("tournament",), "", 2, "For example: fourlab tournament mcts rules level-3 --games 20"),
    (("tournament", "mcts"), "", 2, "a tournament needs two agents or more, not only 'mcts'"),
    (("tournament", "a.toml", "mcts"), "", 2, "a.toml is a tournament of its own; give it alone"),
    (("tournament", "mcts,rules"), "", 2, "a tournament needs two agents or more"),
    (("tournament", "mcts", "human"), "", 2, "use fourlab play"),
    (("tournament", "rules", "random", "--games", "3"), "", 2, "must be even"),
    (("tournament", "rules", "random", "--board", "7"), "", 2, "for example 7x6x4, not '7'"),
    (("analyze", "1212121", "--agent", "rules"), "", 2, "the game is over (red wins)"),
    (("match", "mcts:playouts=9", "rules"), "", 2, "did you mean 'simulations'?"),
    (("tournament", "league.toml"), "", 2, "fourlab help tournament"),
    (("agents", "monte-carlo"), "", 2, "agents are "),
    (("settings", "alphazer"), "", 2, "did you mean 'alphazero'?"),
    (("completion", "powershell"), "", 2, "shells are bash, zsh, fish"),
]


@pytest.mark.parametrize(
    ("words", "answers", "code", "next_step"),
    ATTEMPTS,
    ids=[" ".join(attempt[0]) or "fourlab" for attempt in ATTEMPTS],
)
def test_an_attempt_ends_with_a_next_step(
    fourlab: Run, words: tuple[str, ...], answers: str, code: int, next_step: str
) -> None:
    done = fourlab(*words, stdin=answers)
    output = done.stdout + done.stderr
    assert "Traceback" not in output
    assert (done.returncode, next_step in output) == (code, True), output[-2000:]
    if code == 2:
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
