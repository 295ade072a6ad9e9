"""Settings dataclasses: ranges, texts, TOML, JSON schema."""

import math
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from fourlab import options
from fourlab.agent import Learned, Searcher
from fourlab.agents import registry
from fourlab.errors import UserError
from fourlab.options import check, option, options_of, perhaps
from fourlab.parsing import read_toml


@dataclass(frozen=True)
class Settings:
    """One option of every kind."""

    count: int = option(
        10, "How many.", least=1, most=1000, unit="games", public=True, public_most=50
    )
    share: float = option(0.5, "Which part.", least=0, most=1, aliases=("part",))
    rate: float = option(1e-3, "How fast.", above=0)
    size: float | None = option(None, "How large.", above=0, most=8, unit="MB")
    mirror: bool = option(True, "Whether to mirror.")
    target: Literal["best", "played"] = option("best", "What to learn.")
    name: str = option("x", "What it is called.")
    layers: tuple[str, ...] = option(("conv 8", "relu"), "The layers.", separator=",")

    def __post_init__(self) -> None:
        check(self)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "count must be a whole number from 1 to 1,000, not 0"),
        ({"count": 1001}, "count must be a whole number from 1 to 1,000, not 1001"),
        ({"count": 1.5}, "count must be a whole number from 1 to 1,000, not 1.5"),
        ({"count": True}, "count must be a whole number from 1 to 1,000, not True"),
        ({"count": None}, "count must be a whole number from 1 to 1,000, not None"),
        ({"share": math.nan}, "share must be a number from 0 to 1, not nan"),
        ({"share": "0.5"}, "share must be a number from 0 to 1, not '0.5'"),
        ({"rate": 0}, "rate must be a number greater than 0, not 0"),
        ({"rate": math.inf}, "rate must be a number greater than 0, not inf"),
        ({"rate": 10**400}, "rate must be a number greater than 0, not 1000"),
        ({"size": 0}, "size must be a number greater than 0 and at most 8 or none, not 0"),
        ({"size": 8.5}, "size must be a number greater than 0 and at most 8 or none, not 8.5"),
        ({"mirror": 1}, "mirror must be true or false, not 1"),
        ({"target": "worst"}, "target must be best or played, not 'worst'"),
        ({"target": ["best"]}, "target must be best or played, not"),
        ({"name": 5}, "name must be a text, not 5"),
        ({"layers": ["relu"]}, "layers must be a list of texts, not"),
        ({"layers": (1,)}, "layers must be a list of texts, not"),
    ],
)
def test_an_invalid_value_is_refused_with_its_name_and_range(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as refused:
        Settings(**changes)
    assert str(refused.value).startswith(message)


def test_the_ends_of_a_range_are_allowed() -> None:
    for name, value in (
        ("count", 1),
        ("count", 1000),
        ("share", 0),
        ("share", 1),
        ("size", 8),
        ("size", None),
    ):
        Settings(**{name: value})  # type: ignore[arg-type]


def test_texts_are_read_as_their_types() -> None:
    texts = {
        "count": "7",
        "part": "0.25",
        "size": "none",
        "mirror": "no",
        "target": "played",
        "layers": "a 1, b",
    }
    assert options.from_texts(Settings, texts, "x") == {
        "count": 7,
        "share": 0.25,
        "size": None,
        "mirror": False,
        "target": "played",
        "layers": ("a 1", "b"),
    }


def test_an_unknown_option_is_refused_with_a_list_of_options() -> None:
    with pytest.raises(
        UserError,
        match=r"agent 'x' has no option 'shares' \(did you mean 'share'\?\); "
        r"its options are count, share,",
    ):
        options.from_texts(Settings, {"shares": "1"}, "agent 'x'")
    with pytest.raises(UserError, match="option 'share' of x is given twice, as share and part"):
        options.from_texts(Settings, {"share": "1", "part": "1"}, "x")


def test_settings_are_converted_to_data_and_back() -> None:
    settings = Settings(count=3, layers=("relu",))
    data = options.as_data(settings)
    assert "size" not in data
    assert options.changed(Settings(), {**data, "layers": ["relu"]}, "x") == settings


def test_files_and_assignments_are_toml(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('count = 3\nlayers = ["relu"]\n')
    assert read_toml(tmp_path / "settings.toml") == {"count": 3, "layers": ["relu"]}
    assert options.read_assignment("count=3") == {"count": 3}
    assert options.read_assignment("name = two words") == {"name": "two words"}
    for text in ("count", "", "=3"):
        with pytest.raises(UserError, match="NAME=VALUE"):
            options.read_assignment(text)
    assert options.changed(Settings(), {"layers": "conv 4, relu"}, "x").layers == ("conv 4", "relu")
    with pytest.raises(UserError, match="cannot read"):
        read_toml(tmp_path / "none.toml")
    (tmp_path / "settings.toml").write_text("count =")
    with pytest.raises(UserError, match="is not TOML"):
        read_toml(tmp_path / "settings.toml")


def test_the_schema_is_json_schema() -> None:
    schema = options.schema_of(Settings)
    properties = schema["properties"]
    assert properties["count"] == {
        "description": "How many.",
        "unit": "games",
        "default": 10,
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
    }
    assert properties["size"]["type"] == ["number", "null"]
    assert properties["size"]["exclusiveMinimum"] == 0
    assert properties["target"]["enum"] == ["best", "played"]
    assert properties["layers"]["items"] == {"type": "string"}
    assert list(options.schema_of(Settings, ["name"])["properties"]) == ["name"]


@pytest.mark.parametrize("name", sorted(registry.AGENTS))
def test_every_option_of_every_agent_is_declared(name: str) -> None:
    """Options have a help text and numbers a range; otherwise they reach kernels unchecked."""
    for declared in registry.options_of(name):
        assert declared.help, declared.name
        if int in declared.kinds or float in declared.kinds:
            assert (declared.least, declared.above) != (None, None), declared.name
        if declared.public_most is not None:
            assert declared.public


@pytest.mark.parametrize("name", sorted(registry.AGENTS))
def test_registry_entries_agree_with_the_agents(name: str) -> None:
    entry = registry.AGENTS[name]
    factory = registry.factory_of(name)
    assert entry.one_board == isinstance(getattr(factory, "learned", None), bool)
    assert entry.xray == hasattr(factory, "search")
    assert is_dataclass(factory)
    private = {field.name for field in fields(factory) if field.name.startswith("_")}
    assert not private & set(options_of(factory))


def test_agents_declare_their_abilities() -> None:
    assert isinstance(registry.make("dqn"), Learned)
    assert isinstance(registry.make("mcts"), Searcher)


@pytest.mark.parametrize(
    ("word", "names", "hint"),
    [
        ("lr", ["rate", "rate_end"], "rate"),
        ("learning_rate", ["opening_share", "alpha"], "alpha"),
        ("weight_decay", ["decay"], "decay"),
        ("playouts", ["rollouts", "simulations"], "simulations"),
        ("time", ["ties", "seconds"], "seconds"),
        ("time", ["ties"], "ties"),
    ],
)
def test_the_usual_name_of_a_setting_is_understood(word: str, names: list[str], hint: str) -> None:
    assert perhaps(word, names) == f" (did you mean {hint!r}?)"
