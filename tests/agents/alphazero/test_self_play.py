"""Self-play: games in step and the samples recorded from them."""

from dataclasses import replace

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.agents.alphazero.forest import ForestSearch
from fourlab.agents.alphazero.self_play import Played, Samples, self_play, switches_of
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.game.bitboard import key
from fourlab.solver import Solver
from tests.agents.alphazero.test_forest import FakeNetwork

SMALL = AlphaZeroSettings(lanes=6, simulations=12, exact_from=0, opening=4)
BOARD = replace(SMALL, board="5x4x4")


def positions(samples: Samples, board: str) -> list[Position]:
    rules = Rules.parse(board)
    pairs = zip(samples.own.tolist(), samples.mask.tolist(), strict=True)
    return [Position.from_key(key(own, mask, rules.geometry), rules) for own, mask in pairs]


def played(settings: AlphaZeroSettings, games: int = 20, seed: int = 1) -> Played:
    return self_play(
        FakeNetwork(Rules.parse(settings.board).columns),
        settings,
        settings.simulations,
        games,
        [seed],
    )


@pytest.mark.parametrize("search", ["gumbel", "puct"])
@pytest.mark.parametrize("exact_from", [0, 8])
def test_every_sample_is_a_position_with_its_policy_and_its_result(
    search: str, exact_from: int
) -> None:
    batch = played(replace(BOARD, search=search, exact_from=exact_from))
    samples = batch.samples
    assert len(batch.results) == 20
    assert set(batch.results.tolist()) <= {-1, 0, 1}
    assert len(samples) > 100
    for position, policy, value, result in zip(
        positions(samples, "5x4x4"), samples.policies, samples.values, samples.results, strict=True
    ):
        assert position.outcome() is None
        assert policy.sum() == pytest.approx(1, abs=1e-5) or (policy.sum() == 0 and value == -1)
        assert all(
            policy[column] == 0 for column in range(5) if column not in position.legal_columns()
        )
        assert -1 <= value <= 1
        assert result in (-1, 0, 1)
        if exact_from and position.ply >= exact_from:
            assert result == value == Solver(1).solve(position, weak=True).result


def test_a_game_is_a_chain_of_positions_whose_results_alternate() -> None:
    batch = played(replace(BOARD, lanes=1, opening=0), games=3)
    boards = positions(batch.samples, "5x4x4")
    at = 0
    for result, plies in zip(batch.results, batch.plies, strict=True):
        assert boards[at] == Position(board=Rules.parse("5x4"))
        for ply in range(plies):
            assert batch.samples.results[at + ply] == (result if ply % 2 == 0 else -result)
            if ply:
                before = boards[at + ply - 1]
                successors = [before.play(column) for column in before.legal_columns()]
                assert boards[at + ply] in successors
        last = boards[at + plies - 1]
        ends = [last.play(column).outcome() for column in last.legal_columns()]
        assert any(outcome is not None and outcome.score(0) == result for outcome in ends)
        at += plies
    assert at == len(boards)


def test_the_seed_determines_the_games() -> None:
    one, again, other = (played(BOARD, seed=seed).samples for seed in (1, 1, 2))
    assert one.own.tolist() == again.own.tolist()
    assert (one.policies == again.policies).all()
    assert one.own.tolist() != other.own.tolist()


def test_policies_come_from_the_search() -> None:
    s = replace(BOARD, lanes=1, opening=0, search="puct", dirichlet_share=0.0)
    samples = played(s, games=1).samples
    search = ForestSearch(FakeNetwork(5), Rules.parse("5x4"), 1, 12, switches_of(s))
    search.reset(samples.own[:1], samples.mask[:1], 12)
    search.run()
    visits = search.roots().visits[0]
    assert samples.policies[0].tolist() == pytest.approx((visits / visits.sum()).tolist())
    assert not np.allclose(samples.policies[0], 0.2)


@pytest.mark.parametrize("temperature", [0.0, 1e-320, 1e-3])
def test_without_temperature_the_columns_visited_most_are_played(temperature: float) -> None:
    s = replace(
        BOARD, lanes=1, opening=0, search="puct", dirichlet_share=0.0, temperature=temperature
    )
    samples = played(s, games=2).samples
    boards = positions(samples, "5x4x4")
    for board, policy, after in zip(boards, samples.policies, boards[1:], strict=False):
        # Skip the beginnings of games, and lost positions, which have no policy.
        if after.ply and policy.sum():
            most_visited = np.flatnonzero(policy == policy.max())
            assert after in [board.play(int(column)) for column in most_visited]


def test_random_openings_vary_the_first_searched_position() -> None:
    batch = played(replace(BOARD, opening=6, opening_share=1.0), games=30)
    boards = positions(batch.samples, "5x4x4")
    assert min(board.ply for board in boards) == 0
    assert len({board.key for board in boards if board.ply == 4}) > 8
