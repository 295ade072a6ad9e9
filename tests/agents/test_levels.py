"""Levels are agents: `level-5` can be written wherever a spec can."""

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import levels as benchmark
from fourlab import Limit, Position, make
from fourlab.agent import Agent, Decision
from fourlab.agents import levels, registry
from fourlab.agents.levels import (
    GRADED,
    LEVELS,
    MatchCounts,
    level_of,
    matches_on,
    title,
)
from fourlab.agents.players import described
from fourlab.arena.tournament import Player, Tournament
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules
from fourlab.nets.pattern_files import shipped_boards
from fourlab.web.players import spec_of

Run = Callable[..., subprocess.CompletedProcess[str]]
NUMBERS = range(1, len(LEVELS) + 1)
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "levels.md"
UNKNOWN = Rules(9, 5, 4)
"""A board without pattern networks."""


def decide(agent: Agent, position: Position) -> Decision:
    return agent.decide(position, Limit(), np.random.default_rng(1))


@pytest.mark.parametrize("number", NUMBERS)
def test_a_level_plays_as_the_agent_of_its_spec(number: int) -> None:
    level = make(f"level-{number}")
    for position in (Position("44455"), Position("33", board="5x4x3")):
        plain = make(LEVELS[number - 1].spec_on(position.rules))
        assert decide(level, position).column == decide(plain, position).column


@pytest.mark.parametrize("number", NUMBERS)
def test_a_level_declares_the_kernels_of_all_its_agents(number: int) -> None:
    for board in (*GRADED, str(UNKNOWN)):
        spec = LEVELS[number - 1].spec_on(Rules.parse(board))
        kernels = registry.kernels_of(registry.parse_spec(spec)[0])
        assert {*kernels} <= {*registry.kernels_of(f"level-{number}")}


def test_there_are_ten_levels_with_different_names_and_specs() -> None:
    assert [level.number for level in LEVELS] == list(range(1, 11))
    assert len({level.name for level in LEVELS}) == len(LEVELS)
    for board in (*GRADED, *shipped_boards(), str(UNKNOWN)):
        specs = [level.spec_on(Rules.parse(board)) for level in LEVELS]
        assert len({*specs}) == len(LEVELS), board


@pytest.mark.parametrize("board", [*GRADED, *shipped_boards(), str(UNKNOWN)])
def test_no_level_thinks_by_the_clock(board: str) -> None:
    for level in LEVELS:
        assert "seconds" not in level.spec_on(Rules.parse(board))


@pytest.mark.parametrize("board", [*shipped_boards(), str(UNKNOWN), "10x5x4"])
def test_only_a_player_who_solves_the_position_is_said_to_make_no_mistakes(board: str) -> None:
    rules = Rules.parse(board)
    top = LEVELS[-1]
    assert ("mistake" in top.about_on(rules)) == top.spec_on(rules).startswith("perfect")
    # Without a proof within its time, the solver plays almost at random.
    if not board.startswith(("7x6", "6x5")):
        assert not top.spec_on(rules).startswith("perfect")


def test_the_measured_matches_are_between_the_levels_as_they_are() -> None:
    for board in GRADED:
        for match in matches_on(board):
            level = LEVELS[match.level - 1]
            assert level.result_on(Rules.parse(board)) == match, "grade the level again"
    assert LEVELS[4].result_on(UNKNOWN) is None
    assert LEVELS[4].strength_on(UNKNOWN) == "not measured on this board"
    assert LEVELS[0].strength_on(UNKNOWN) == "the easiest level"


ROW = r"^\| (\d+) \S+ \| `(.*?)` \| (.*?) \| (.*?) \| (.*?) \|$"


def published(page: str) -> list[tuple[str, str, str, str, str, str]]:
    """Return board, level, spec, games, score and Elo of every row of the page's tables."""
    rows = []
    for board, section in re.findall(r"^### (\w+)\n(.*?)(?=^#|\Z)", page, re.M | re.S):
        rows += [(board, *row) for row in re.findall(ROW, section, re.M)]
    return rows


def expected(match: MatchCounts) -> tuple[str, str, str, str, str, str]:
    elo = match.elo
    assert elo.low is not None
    return (
        match.board,
        str(match.level),
        match.spec,
        f"{2 * sum(match.pairs):,}",
        f"{100 * match.score:.1f} %",
        f"{elo.value:.0f} [{elo.low:.0f}, {elo.high:.0f}]",
    )


def test_the_page_has_the_measured_results() -> None:
    rows = {row[:2]: row for row in published(PAGE.read_text())}
    matches = [match for board in GRADED for match in matches_on(board)]
    measured = {key for key, row in rows.items() if row[3] != "–"}
    # Every level of every graded board has a row.
    assert {*rows} == {(board, str(level.number)) for board in GRADED for level in LEVELS}
    assert measured == {(match.board, str(match.level)) for match in matches}
    for match in matches:
        assert rows[match.board, str(match.level)] == expected(match)
    for (board, number), row in rows.items():
        assert row[2] == LEVELS[int(number) - 1].spec_on(Rules.parse(board))


def test_the_page_would_be_refused_with_other_results() -> None:
    match = MatchCounts("7x6x4", 5, "rules", "random", 1, (10, 10, 20, 30, 30))
    row = f"### 7x6x4\n\n| {' | '.join(['5 Club', '`rules`', *expected(match)[3:]])} |\n"
    assert published(row) == [expected(match)]
    assert published(row) != [expected(replace(match, pairs=(10, 10, 20, 29, 31)))]


def test_strength_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    level = LEVELS[4]
    below = LEVELS[3].spec
    match = MatchCounts("7x6x4", 5, level.spec, below, 1, (100, 100, 200, 300, 300))
    monkeypatch.setattr(levels, "matches_on", lambda board: (match,))
    assert level.strength_on(CLASSIC) == "108 Elo above level 4"
    # A match between other agents says nothing about this level.
    other = replace(match, against="random")
    monkeypatch.setattr(levels, "matches_on", lambda board: (other,))
    assert level.strength_on(CLASSIC) == "not measured on this board"


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
        ("level-5:depth=3", "'level-5' has no options; write patterns:nodes="),
        ("level-²", "there is no agent 'level-²'"),
    ],
)
def test_levels_that_do_not_exist_are_refused(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make(spec)
    assert level_of(spec) is None


def test_results_name_the_level_in_words() -> None:
    assert title("level-5") == "level-5 (Club)"
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


def test_the_calibration_finds_equal_steps_on_a_known_curve() -> None:
    def fallen(temperature: float) -> float:
        """Elo below the agent above the path."""
        x = np.log1p(1 / temperature)
        return float(800 - 320 * x - 10 * x**2)

    temperatures = [0.13, 0.2, 0.27, 0.36, 0.48, 0.66, 0.95, 2, 1000]
    elos = [fallen(temperatures[0]), *np.diff([fallen(value) for value in temperatures])]
    errors = [10.0] * len(elos)
    chi_squared, steps = benchmark.steps_down(temperatures, elos, errors, step=90)
    assert chi_squared < 1e-9
    assert [fallen(value) for value in steps] == pytest.approx([*range(90, 800, 90)], abs=0.1)
    # A match of few games, with a large error, hardly bends the curve, and is noticed.
    elos[4] += 40
    errors[4] = 20
    chi_squared, steps = benchmark.steps_down(temperatures, elos, errors, step=90)
    assert chi_squared == pytest.approx(40**2 / 20**2, rel=0.5)
    assert [fallen(value) for value in steps[:8]] == pytest.approx([*range(90, 800, 90)], abs=30)
