"""Levels are agents: `level-5` can be written wherever a spec can."""

import json
import subprocess
from collections.abc import Callable

import numpy as np
import pytest

from fourlab import Limit, Position, make
from fourlab.agent import Agent, Decision, Searcher
from fourlab.agents import registry
from fourlab.agents.levels import LEVELS, ByBoard, by_board, level_of, title
from fourlab.agents.players import described
from fourlab.arena.tournament import Player, Tournament
from fourlab.errors import UserError
from fourlab.web.players import spec_of

Run = Callable[..., subprocess.CompletedProcess[str]]
NUMBERS = range(1, len(LEVELS) + 1)


def decide(agent: Agent, position: Position) -> Decision:
    return agent.decide(position, Limit(), np.random.default_rng(1))


@pytest.mark.parametrize("number", NUMBERS)
def test_a_level_plays_as_the_agent_of_its_spec(number: int) -> None:
    position = Position("44455")
    level = make(f"level-{number}")
    plain = make(LEVELS[number - 1].spec)
    assert decide(level, position).column == decide(plain, position).column
    assert (
        registry.kernels_of(f"level-{number}")[:1]
        == registry.kernels_of(registry.parse_spec(LEVELS[number - 1].spec)[0])[:1]
    )


def test_on_other_boards_a_level_plays_as_its_spec_for_elsewhere() -> None:
    position = Position("33", board="5x4x4")
    master = next(level for level in LEVELS if level.elsewhere is not None)
    number = LEVELS.index(master) + 1
    agent = make(f"level-{number}")
    assert master.elsewhere is not None
    assert decide(agent, position).analysis.visits == (
        decide(make(master.elsewhere), position).analysis.visits
    )
    with pytest.raises(UserError):
        decide(make(master.spec), position)


def test_a_level_can_be_searched_if_both_of_its_agents_can() -> None:
    assert isinstance(by_board(make("mcts"), make("alphazero")), Searcher)
    mixed = by_board(make("rules"), make("mcts"))
    assert isinstance(mixed, ByBoard)
    assert not isinstance(mixed, Searcher)


def test_every_level_is_listed_in_order() -> None:
    listed = [name for name in registry.names() if name.startswith("level-")]
    assert listed == [f"level-{number}" for number in NUMBERS]
    assert registry.options_of("level-4") == []


def test_the_pages_spelling_is_understood_everywhere() -> None:
    assert registry.parse_spec("level:3") == registry.parse_spec(" level-3 ") == ("level-3", {})
    assert spec_of("level-3") == spec_of("level:3") == LEVELS[2].spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("level-0", "there is no level-0; levels are level-1 to "),
        ("level-99", "there is no level-99; levels are level-1 to "),
        ("level-5:depth=3", "'level-5' has no options; write minimax:depth=6"),
        ("level-²", "there is no agent 'level-²'"),
    ],
)
def test_levels_that_do_not_exist_are_refused(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make(spec)
    assert level_of(spec) is None


def test_results_name_the_level_in_words() -> None:
    assert title("level-5") == "level-5 (Strong)"
    assert title("level-99") == "level-99"
    players = (Player("level-1", Limit(nodes=5)), Player("level-2", name="mine"), Player("rules"))
    labels = [player.label for player in described(Tournament(players)).players]
    assert labels == ["level-1 (Newcomer) nodes=5", "mine", "rules"]


def test_a_match_of_levels_can_be_extended(fourlab: Run) -> None:
    command = ("match", "level-1", "level:2", "--quiet", "--json")
    results = json.loads(fourlab(*command, "--games", "2").stdout)
    assert list(results["agents"]) == ["level-1 (Newcomer)", "level-2 (Beginner)"]
    again = json.loads(fourlab(*command, "--games", "4").stdout)
    assert (again["run"], again["games"]) == (results["run"], 4)
