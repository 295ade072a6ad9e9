import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from fourlab import Agent, Limit, Position, UserError, make
from fourlab.agents import registry
from fourlab.agents.alphazero.agent import AlphaZero
from fourlab.agents.simple.rules import RulesOfThumb
from fourlab.game.rules import CLASSIC
from fourlab.web import players


def test_a_spec_sets_options() -> None:
    assert make("rules") == RulesOfThumb()
    assert make("rules:otherwise=random") == RulesOfThumb(otherwise="random")
    assert make(' rules : otherwise = "random" ') == RulesOfThumb(otherwise="random")


def test_a_preset_is_a_spec_whose_options_can_be_overridden() -> None:
    assert make("arya-examples") == RulesOfThumb(otherwise="random")
    assert make("arya-examples:otherwise=centre") == RulesOfThumb(otherwise="centre")


@pytest.mark.parametrize("epochs", [10, 50])
def test_aryas_networks_are_presets_where_they_are(
    epochs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"arya-alphamcts-{epochs}"
    monkeypatch.setattr("fourlab.nets.evaluator.SHIPPED", tmp_path)
    monkeypatch.setattr(registry, "is_there", lambda package, file: (tmp_path / file).is_file())
    assert name not in registry.names()
    assert name not in players.names()
    with pytest.raises(UserError, match=f"^the network {name}-1 is not in the installed package"):
        make(name)
    # Any network stands for the one of seed 1.
    network = (files("fourlab.nets") / "weights" / "alphazero.onnx").read_bytes()
    (tmp_path / "weights").mkdir()
    for folder in (tmp_path, tmp_path / "weights"):
        (folder / f"{name}-1.onnx").write_bytes(network)
    assert name in registry.names()
    assert name in players.names()
    agent = make(f"{name}:faithful=1")
    assert isinstance(agent, AlphaZero)
    played = (agent.simulations, agent.faithful, agent.proofs, agent.temperature, agent.batch)
    assert played == (1000, True, False, 1.25, 1)
    corrected = make(f"{name}:simulations=20")
    assert isinstance(corrected, AlphaZero)
    assert (corrected.faithful, corrected.method, corrected.temperature) == (False, "puct", 0)
    assert corrected.decide(Position("445")).column in range(7)


def test_aryas_table_plays_everywhere() -> None:
    assert "arya-q" in registry.names()
    assert "arya-q" in players.names()
    assert "q" not in players.names(), "its default table is for another board"
    for spec in ("arya-q", "arya-q:faithful=1"):
        assert players.spec_of(spec) == spec
        decision = players.make(spec, CLASSIC, 100).decide(Position())
        assert decision.analysis.table_hits == 7
    for refused in ("q", "q:table=/etc/passwd", "arya-q:table=/etc/passwd"):
        with pytest.raises(UserError, match="cannot"):
            players.spec_of(refused)


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("mcts:simulations=200,c=2", {"simulations": "200", "c": "2"}),
        ('engine:cmd="a, b=c",depth=3', {"cmd": "a, b=c", "depth": "3"}),
        ("alphazero:weights=C:/nets/best.onnx", {"weights": "C:/nets/best.onnx"}),
        ("mcts:", {}),
    ],
)
def test_specs_are_parsed(spec: str, options: dict[str, str]) -> None:
    assert registry.parse_spec(spec) == (spec.partition(":")[0], options)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            "rule",
            r"there is no agent 'rule' \(did you mean 'rules'\?\); "
            "agents are .*human.*random.*rules",
        ),
        ("", "there is no agent ''"),
        ("random:c=2", "agent 'random' has no option 'c'; it has no options"),
        (
            "rules:otherwize=random",
            r"no option 'otherwize' \(did you mean 'otherwise'\?\); its options are otherwise",
        ),
        ("rules:otherwise=left", "must be centre or random, not 'left'"),
        ("rules:otherwise", "cannot read 'otherwise'"),
        ("rules:otherwise=random,,", "cannot read ','"),
        ("rules:otherwise=random,otherwise=centre", "given twice"),
        ("human:ask=1", "has no option 'ask'; it has no options"),
    ],
)
def test_the_error_of_a_bad_spec_lists_the_valid_names(spec: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        make(spec)


class EveryType:
    """An agent with an option of every type."""

    def __init__(
        self,
        n: int = 1,
        c: float = 1.5,
        fast: bool = False,
        name: str = "x",
        cap: int | None = None,
        either: int | float = 0,
        level: Literal[1, 2] = 1,
        hook: Callable[[], None] | None = None,
        **others: str,
    ) -> None:
        self.values = (n, c, fast, name, cap)
        self.more = (either, level)

    def decide(self, position: object, limit: object, rng: object) -> None:
        raise AssertionError


@pytest.fixture
def every_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.AGENTS, "every", registry.Entry(f"{__name__}:EveryType"))


@pytest.mark.usefixtures("every_type")
def test_values_are_read_as_their_types() -> None:
    agent = make("every:n=7,c=2,fast=yes,name=a b,cap=none")
    assert agent.values == (7, 2.0, True, "a b", None)  # type: ignore[attr-defined]
    assert make("every:cap=5,fast=0").values[-1] == 5  # type: ignore[attr-defined]
    assert make("every:either=1.5,level=2").more == (1.5, 2)  # type: ignore[attr-defined]
    names = [option.name for option in registry.options_of("every")]
    assert names == ["n", "c", "fast", "name", "cap", "either", "level"]


@pytest.mark.usefixtures("every_type")
@pytest.mark.parametrize(
    "options", ["n=1.5", "n=x", "c=nan", "c=inf", "c=", "fast=2", "cap=x", "either=x", "level=3"]
)
def test_values_of_the_wrong_type_are_refused(options: str) -> None:
    with pytest.raises(
        UserError, match=f"option {options.partition('=')[0]} of agent 'every' must be"
    ):
        make(f"every:{options}")


def test_options_have_help_and_defaults() -> None:
    (option,) = registry.options_of("rules")
    assert (option.name, option.allowed_values, option.default) == (
        "otherwise",
        "centre or random",
        "centre",
    )
    assert option.help.startswith("Choose among")
    (option,) = registry.options_of("arya-examples")
    assert option.default == "random"
    assert registry.about("random") == "Plays a uniformly random column."
    assert "Arya" in registry.about("arya-examples")


@pytest.fixture
def outside_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package as pip would: a module, and metadata that names entry points."""
    (tmp_path / "leftmost.py").write_text(
        "from dataclasses import dataclass\n"
        "from fourlab import Decision\n"
        "@dataclass(frozen=True)\n"
        "class Leftmost:\n"
        "    '''Plays the leftmost column.'''\n"
        "    skip: int = 0\n"
        "    def decide(self, position, limit, rng):\n"
        "        return Decision(position.legal_columns()[self.skip])\n"
    )
    metadata = tmp_path / "leftmost-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: leftmost\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[fourlab.agents]\n"
        "from-outside = leftmost:Leftmost\n"
        "broken = leftmost:Missing\n"
        "useless = builtins:dict\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "leftmost", raising=False)


@pytest.mark.usefixtures("outside_package")
def test_another_package_adds_agents_by_entry_point() -> None:
    assert "from-outside" in registry.names()
    agent = make("from-outside:skip=2")
    assert isinstance(agent, Agent)
    assert agent.decide(Position(), Limit(), np.random.default_rng(0)).column == 2
    assert registry.about("from-outside") == "Plays the leftmost column."


@pytest.mark.usefixtures("outside_package")
def test_a_broken_entry_point_gives_a_readable_error() -> None:
    with pytest.raises(UserError, match="cannot be loaded"):
        make("broken")
    with pytest.raises(UserError, match="not a class with a method decide"):
        make("useless")


@pytest.mark.usefixtures("outside_package")
def test_a_broken_agent_does_not_hide_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    from fourlab.cli.agents import agents

    agents(name=None, json=False)
    listed = capsys.readouterr().out
    assert "broken           unusable: " in listed
    assert "from-outside     Plays the leftmost column." in listed
