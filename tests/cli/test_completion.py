"""Completion in the shell: what is offered, how it is offered, and that it loads no compiler."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab.cli.completion import SCRIPTS, candidates

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["mat"], {"match"}),
        (["an"], {"analyze"}),
        (["match", "mc"], {"mcts"}),
        (["match", "mcts", "level-3"], {"level-3"}),
        (["match", "mcts:sim"], {"mcts:simulations="}),
        (["match", "mcts:c=2,sim"], {"mcts:c=2,simulations="}),
        (["match", "mcts:final=vis"], {"mcts:final=visits"}),
        (["match", "a", "b", "--starts", ""], {"alternate", "fixed"}),
        (["match", "a", "b", "--gam"], {"--games"}),
        (["match", "a", "--games", "10", "perf"], {"perfect"}),
        (["tournament", "mcts", "a", "perf"], {"perfect"}),
        (["play", "--yellow", "perf"], {"perfect"}),
        (["analyze", "--agent", "negam"], {"negamax"}),
        (["train", "al"], {"alphazero"}),
        (["train", "alphazero", "--preset", "sm"], {"smoke"}),
        (["settings", ""], {"alphazero", "dqn", "patterns", "q", "value"}),
        (["help", "tra"], {"train"}),
        (["help", "train", "al"], {"alphazero"}),
        (["agents", "neg"], {"negamax"}),
        (["completion", "b"], {"bash"}),
        (["nonsense", ""], set()),
        (["train", "nonsense", ""], set()),
        (["match", "nobody:sim"], set()),
    ],
)
def test_what_can_follow_is_offered(words: list[str], offered: set[str]) -> None:
    assert set(candidates(words)) == offered


def test_nothing_typed_offers_all_commands() -> None:
    assert {"play", "match", "train", "--help"} <= set(candidates([]))
    assert "reproduce" not in candidates([""])


def test_runs_are_offered_by_name(small_match: Path, fourlab: Run) -> None:
    for words in (["games"], ["resume"], ["open"], ["runs", "--delete"], ["review", "--run"]):
        done = fourlab("completion", "words", "--", *words, "")
        assert done.stdout.split() == ["last", small_match.name], words


@pytest.mark.parametrize("words", [["train", "alphazero", "--pre"], ["match", "mc"], ["play", "-"]])
def test_completion_loads_no_compiler(words: list[str]) -> None:
    code = (
        "import sys\nfrom fourlab.cli import main\n"
        f"try: main(['completion', 'words', '--', *{words!r}])\nexcept SystemExit: pass\n"
        "print(sorted({'numba', 'torch', 'rich', 'matplotlib', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_bash_completes_words_with_colons(fourlab: Run, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    (tmp_path / "fourlab.bash").write_text(fourlab("completion", "bash").stdout)
    # As bash calls it: the line, and the words split at colons and equals signs.
    script = f"""
        compopt() {{ :; }}
        fourlab() {{ {sys.executable} -m fourlab "$@"; }}
        source fourlab.bash
        complete_line() {{
            COMP_LINE="$1"; COMP_POINT=${{#1}}; shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _fourlab
            echo "${{COMPREPLY[@]}}"
        }}
        complete_line "fourlab matc" fourlab matc
        complete_line "fourlab match mcts:sim" fourlab match mcts : sim
        complete_line "fourlab match mcts:final=vis" fourlab match mcts : final = vis
    """
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines() == ["match", "simulations=", "visits"], done.stderr


def test_an_unknown_shell_is_refused_by_name(fourlab: Run) -> None:
    done = fourlab("completion", "bsh")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "(did you mean 'bash'?); shells are bash, zsh, fish" in done.stderr
    for shell in SCRIPTS:
        assert "fourlab completion words --" in fourlab("completion", shell).stdout
