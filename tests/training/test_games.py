"""Games in step are ordinary games: the right side moves, and games that are over begin anew."""

import numpy as np
import pytest

from fourlab import Position, Rules, UserError, make
from fourlab.agent import Limit
from fourlab.agents.opponents import chooser, opponent
from fourlab.compiled.batches import open_columns
from fourlab.training.games import Chooser, StepGames, draw, play_off

RULES = Rules(4, 4, 3)
RNG = np.random.default_rng


class Scribe:
    """Plays the first or the last open column and notes what it was asked."""

    def __init__(self, last: bool = False) -> None:
        self.last, self.asked = last, list[tuple[int, int]]()

    def __call__(self, own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        self.asked += zip(own.tolist(), mask.tolist(), strict=True)
        found = open_columns(mask, RULES.geometry)
        columns: np.ndarray = RULES.columns - 1 - found[:, ::-1].argmax(axis=1) if self.last else found.argmax(axis=1)
        return columns


def test_one_of_the_columns_marked_is_drawn_each_with_the_same_chance() -> None:
    choices = np.tile(np.array([[True, False, True, True]]), (3000, 1))
    counts = np.bincount(draw(choices, RNG(0)), minlength=4)
    assert counts[1] == 0
    assert min(counts[[0, 2, 3]]) > 900


@pytest.mark.parametrize("spec", ["rules", "minimax:depth=2"])
def test_an_agent_plays_many_games_as_it_plays_one(spec: str) -> None:
    texts = ["", "1122", "12132", "4343"]
    given = [Position(text, "7x6x4") for text in texts]
    own, mask = (np.array([getattr(each, part) for each in given]) for part in ("own", "mask"))
    agent, player = make(spec), chooser(spec, Rules())
    expected = [{agent.decide(each, Limit(), RNG(seed)).column for seed in range(30)} for each in given]
    for seed in range(20):
        assert all(column in allowed for column, allowed in zip(player(own, mask, RNG(seed)), expected, strict=True))


def test_people_are_not_asked() -> None:
    with pytest.raises(UserError, match="people do not play in trainings"):
        chooser("human", RULES)
    with pytest.raises(UserError, match="people do not play in trainings"):
        opponent("human")


def test_the_games_are_the_games_of_a_position() -> None:
    """Follow every game with a position of its own, through several beginnings."""
    rng, learner = RNG(3), Scribe()
    games = StepGames(6, RULES, [None, chooser("random", RULES)], rng)
    positions, over = [Position(board=RULES) for _ in range(6)], 0
    for _ in range(60):
        columns = games.choose(learner, rng)
        positions = [position.play(int(column)) for position, column in zip(positions, columns, strict=True)]
        ended = sum(position.outcome() is not None for position in positions)
        assert games.play(columns, rng) == ended
        over += ended
        positions = [Position(board=RULES) if position.outcome() is not None else position for position in positions]
        assert games.own.tolist() == [position.own for position in positions]
        assert games.mask.tolist() == [position.mask for position in positions]
        assert games.ply.tolist() == [position.ply for position in positions]
    assert over > 12


def test_each_side_is_asked_at_its_turns() -> None:
    rng, learner, opponent = RNG(0), Scribe(), Scribe(last=True)
    games = StepGames(1, RULES, [opponent], rng)
    seats = set()
    for _ in range(200):
        seat, ply, before = int(games.seat[0]), int(games.ply[0]), len(opponent.asked)
        games.play(games.choose(learner, rng), rng)
        assert (len(opponent.asked) > before) == (ply % 2 == seat)
        seats.add(seat)
    assert seats == {0, 1}


def test_against_itself_the_learner_makes_every_move() -> None:
    rng, learner = RNG(0), Scribe()
    games = StepGames(50, RULES, [None], rng)
    for _ in range(4):
        games.play(games.choose(learner, rng), rng)
    assert len(learner.asked) == 200
    assert {mask.bit_count() for _, mask in learner.asked} == {0, 1, 2, 3}


def naive_play_off(player: Chooser, opponent: Chooser, start: Position, first: bool) -> int:
    """+1, 0 or -1 for the player, one game, position by position."""
    position, turn = start, first
    while position.outcome() is None:
        asked = player if turn else opponent
        position = position.play(int(asked(np.array([position.own]), np.array([position.mask]), RNG(0))[0]))
        turn = not turn
    outcome = position.outcome()
    assert outcome is not None
    if outcome.winner is None:
        return 0
    return 1 if (outcome.winner == start.to_move) == first else -1


def test_a_play_off_has_the_results_of_its_games() -> None:
    starts = [Position(text, RULES) for text in ("", "1", "12", "33", "34", "412", "222", "1133")]
    own, mask = (np.array([getattr(each, part) for each in starts]) for part in ("own", "mask"))
    results = [naive_play_off(Scribe(), Scribe(last=True), start, first) for start in starts for first in (True, False)]
    found = play_off(Scribe(), Scribe(last=True), own, mask, RULES, RNG(0))
    assert found == tuple(results.count(each) for each in (1, 0, -1))
    assert len(set(results)) > 1
