"""Which texts name programs."""

from typing import Any

import pytest

from fourlab import UserError
from fourlab.agents.programs import programs_in, refuse_programs
from fourlab.agents.registry import AGENTS


@pytest.mark.parametrize(
    ("data", "programs"),
    [
        ("random", []),
        ("mcts:simulations=200,c=2", []),
        ("kaggle:agent=negamax", []),
        ("kaggle", []),
        ("human engine", []),
        ("my-engine:depth=3", []),
        ("engine:cmd=./x", ["./x"]),
        ('  engine :grace=1 , cmd = "./x --fast"', ["./x --fast"]),
        ("kaggle:file=main", ["main"]),
        ("kaggle:agent=main.py", ["main.py"]),
        ("kaggle:agent=a/b", ["a/b"]),
        ("kaggle:agent=a\\b", ["a\\b"]),
        ('other:opponent="engine:cmd=./x",depth=3', ["./x"]),
        ("onnx:file=net.onnx,layout=nhwc", ["net.onnx"]),
        ("sb3:file=model.zip", ["model.zip"]),
        ("bot.py", ["bot.py"]),
        ("my/bot.py:Bot,depth=3", ["my/bot.py"]),
        ("  a folder/bot.PY :Bot", ["a folder/bot.PY"]),
        ("C:\\bots\\bot.py:Bot", ["C:\\bots\\bot.py"]),
        ('other:opponent="bot.py:Bot",depth=3', ["bot.py"]),
        ('other:opponents="random;bot.py:Bot"', ["random;bot.py"]),
        ('other:opponents="mcts:c=2;bot.py:Bot"', ["2;bot.py"]),
        ("bot.pyx", []),
        ("notes.python", []),
        ('other:opponents="random;engine:cmd=./x"', ["random;engine:cmd=./x"]),
        ('engine:cmd="./x', ['engine:cmd="./x']),
        ({"agents": [{"spec": "engine:cmd=./x", "name": "x"}, "random"]}, ["./x"]),
        ({"agents": [{"spec": "random", "name": "engine:cmd=./x"}]}, []),
        ({"against": ("self", "kaggle:file=main.py"), "seed": 3}, ["main.py"]),
    ],
)
def test_programs_are_found_in_specs(data: Any, programs: list[str]) -> None:
    assert list(programs_in(data)) == programs
    if programs:
        with pytest.raises(UserError, match=r"FILE names the program .* --allow-programs"):
            refuse_programs(data, "FILE")
    refuse_programs(data, "FILE", allowed=True)


def test_agents_that_run_programs_are_not_public() -> None:
    runners = {name for name, entry in AGENTS.items() if entry.programs}
    assert runners == {"engine", "kaggle", "onnx", "sb3"}
    assert not any(AGENTS[name].public for name in runners)
