import re
from typing import Any

import numpy as np
import pytest

from fourlab import Limit, Position
from fourlab.arena.game import play_game
from fourlab.game.outcome import Outcome
from fourlab.game.record import Cause, Record
from tests.arena.players import Misbehaving, make

NO_LIMIT = (Limit(), Limit())


def rngs() -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in (1, 2)]


def play(
    red: object,
    yellow: object,
    start: str = "",
    limits: tuple[Limit, Limit] = NO_LIMIT,
    grace: float = 1.0,
) -> Record:
    agents: list[Any] = [red, yellow]
    return play_game(Position(start), agents, limits, rngs(), grace)


def test_a_game_is_played_to_its_end() -> None:
    record = play(make("rules"), make("random"), "44")
    *_, last = record.positions()
    assert last.outcome() == record.result
    assert record.cause == Cause.NORMAL
    assert record.start == Position("44")
    assert len(record.thoughts) == len(record.columns)
    assert all(thought.seconds > 0 for thought in record.thoughts)


def test_values_and_visits_are_recorded() -> None:
    record = play(make("mcts:simulations=50"), make("random"))
    searched = record.thoughts[0]
    assert searched.visits is not None
    assert sum(searched.visits) == 50
    assert searched.value is not None
    assert record.thoughts[1].visits is None


@pytest.mark.parametrize(
    ("deed", "cause", "word"),
    [
        ("crash", Cause.CRASH, "RuntimeError.*no idea"),
        ("nothing", Cause.CRASH, "AttributeError"),
        ("illegal", Cause.ILLEGAL, "column 100"),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_misbehaving_agent_loses(deed: str, cause: Cause, word: str, side: int) -> None:
    players = [Misbehaving(deed, after=4), make("random")]
    record = play(*players[:: -1 if side else 1])
    assert record.cause == cause
    assert record.result == (Outcome.RED_WINS if side else Outcome.YELLOW_WINS)
    assert record.at_fault == side
    assert record.detail.startswith(("red: ", "yellow: ")[side])
    assert "\n" not in record.detail
    assert len(record.columns) == 4 + side
    assert_matches(word, record.detail)


def assert_matches(pattern: str, text: str) -> None:
    assert re.search(pattern, text), text


def test_exceeding_the_time_limit_loses_and_the_detail_says_by_how_much() -> None:
    limits = (Limit(), Limit(seconds=0.05))
    record = play(make("random"), Misbehaving("sleep"), limits=limits, grace=0.1)
    assert record.cause == Cause.TIMEOUT
    assert record.result == Outcome.RED_WINS
    assert_matches(r"yellow: thought \d+\.\d+ s, \d+\.\d+ s too long", record.detail)


def test_exceeding_the_limit_within_the_grace_is_allowed() -> None:
    limits = (Limit(), Limit(seconds=0.01))
    record = play(make("rules"), Misbehaving("sleep", after=6), limits=limits, grace=60)
    assert record.cause == Cause.NORMAL


def test_an_interrupted_game_has_no_result() -> None:
    class Impatient:
        def thinking(self, side: int, seconds: float | None) -> None:
            self.moves = getattr(self, "moves", 0) + 1

        def aborted(self) -> bool:
            return getattr(self, "moves", 0) == 3

    record = play_game(
        Position(), [make("random"), make("random")], NO_LIMIT, rngs(), watch=Impatient()
    )
    assert (record.result, record.cause, len(record.columns)) == (None, Cause.INTERRUPTED, 3)
    assert record.at_fault is None


def test_players_with_threads_play_whole_games() -> None:
    record = play(make("perfect:threads=2"), make("mcts:simulations=500,threads=2"), "444444")
    assert record.cause == Cause.NORMAL
