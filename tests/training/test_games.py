"""Games in lockstep are ordinary games, and finished ones are replaced."""

import numpy as np
import pytest

from fourlab import Position, Rules, UserError, make
from fourlab.agent import Limit
from fourlab.agents.opponents import chooser, opponent
from fourlab.compiled.batches import open_columns
from fourlab.training.games import Chooser, StepGames, draw, play_off

RULES = Rules(4, 4, 3)
RNG = np.random.default_rng


class Recorder:
    """Plays the first or the last column that is not full, and records its positions."""

    def __init__(self, last: bool = False) -> None:
        self.last = last
        self.positions: list[tuple[int, int]] = []

    def __call__(self, own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        self.positions += zip(own.tolist(), mask.tolist(), strict=True)
        choices = open_columns(mask, RULES.geometry)
        columns: np.ndarray = choices.argmax(axis=1)
        if self.last:
            columns = RULES.columns - 1 - choices[:, ::-1].argmax(axis=1)
        return columns


def test_draw_chooses_uniformly_among_the_true_columns() -> None:
    choices = np.tile(np.array([[True, False, True, True]]), (3000, 1))
    counts = np.bincount(draw(choices, RNG(0)), minlength=4)
    assert counts[1] == 0
    assert min(counts[[0, 2, 3]]) > 900


@pytest.mark.parametrize("spec", ["rules", "minimax:depth=2"])
def test_an_agent_plays_many_games_as_it_plays_one(spec: str) -> None:
    texts = ["", "1122", "12132", "4343"]
    positions = [Position(text, "7x6x4") for text in texts]
    own, mask = bitboards(positions)
    agent = make(spec)
    player = chooser(spec, Rules())
    expected = [
        {agent.decide(position, Limit(), RNG(seed)).column for seed in range(30)}
        for position in positions
    ]
    for seed in range(20):
        columns = player(own, mask, RNG(seed))
        assert all(column in allowed for column, allowed in zip(columns, expected, strict=True))


def bitboards(positions: list[Position]) -> tuple[np.ndarray, np.ndarray]:
    own = np.array([position.own for position in positions])
    mask = np.array([position.mask for position in positions])
    return own, mask


def test_humans_cannot_be_training_opponents() -> None:
    with pytest.raises(UserError, match="a human cannot be a training opponent"):
        chooser("human", RULES)
    with pytest.raises(UserError, match="a human cannot be a training opponent"):
        opponent("human")


def test_games_in_lockstep_follow_the_rules() -> None:
    """Follow every game with a Position, through several restarts."""
    rng = RNG(3)
    learner = Recorder()
    games = StepGames(6, RULES, [None, chooser("random", RULES)], rng)
    positions = [Position(board=RULES) for _ in range(6)]
    over = 0
    for _ in range(60):
        columns = games.choose(learner, rng)
        positions = [
            position.play(int(column)) for position, column in zip(positions, columns, strict=True)
        ]
        ended = sum(position.outcome() is not None for position in positions)
        assert games.play(columns, rng) == ended
        over += ended
        positions = [
            Position(board=RULES) if position.outcome() is not None else position
            for position in positions
        ]
        assert games.own.tolist() == [position.own for position in positions]
        assert games.mask.tolist() == [position.mask for position in positions]
        assert games.ply.tolist() == [position.ply for position in positions]
    assert over > 12


def test_a_player_moves_only_when_its_side_is_to_move() -> None:
    rng = RNG(0)
    learner = Recorder()
    opponent = Recorder(last=True)
    games = StepGames(1, RULES, [opponent], rng)
    seats = set()
    for _ in range(200):
        seat = int(games.seat[0])
        ply = int(games.ply[0])
        before = len(opponent.positions)
        games.play(games.choose(learner, rng), rng)
        assert (len(opponent.positions) > before) == (ply % 2 == seat)
        seats.add(seat)
    assert seats == {0, 1}


def test_in_self_play_the_learner_makes_every_move() -> None:
    rng = RNG(0)
    learner = Recorder()
    games = StepGames(50, RULES, [None], rng)
    for _ in range(4):
        games.play(games.choose(learner, rng), rng)
    assert len(learner.positions) == 200
    assert {mask.bit_count() for _, mask in learner.positions} == {0, 1, 2, 3}


def naive_play_off(player: Chooser, opponent: Chooser, start: Position, first: bool) -> int:
    """Play one game; returns +1, 0 or -1 for the player, who moves first if `first`."""
    position = start
    turn = first
    while position.outcome() is None:
        mover = player if turn else opponent
        column = mover(*bitboards([position]), RNG(0))[0]
        position = position.play(int(column))
        turn = not turn
    outcome = position.outcome()
    assert outcome is not None
    if outcome.winner is None:
        return 0
    return 1 if (outcome.winner == start.to_move) == first else -1


def test_a_play_off_counts_the_results_of_its_games() -> None:
    starts = [Position(text, RULES) for text in ("", "1", "12", "33", "34", "412", "222", "1133")]
    own, mask = bitboards(starts)
    results = [
        naive_play_off(Recorder(), Recorder(last=True), start, first)
        for start in starts
        for first in (True, False)
    ]
    counts = play_off(Recorder(), Recorder(last=True), own, mask, RULES, RNG(0))
    assert counts == tuple(results.count(result) for result in (1, 0, -1))
    assert len(set(results)) > 1
