from pathlib import Path
from types import SimpleNamespace

import pytest

from fourlab import Limit, Position
from fourlab.arena import judge
from fourlab.arena.judge import MoveQuality, exact_scores, remaining_share
from fourlab.arena.play import play_tournament, solve_games
from fourlab.arena.store import Store
from fourlab.arena.tournament import Player, Tournament
from fourlab.game.outcome import Outcome
from fourlab.game.record import Record
from fourlab.jobs.executors.local import Local
from fourlab.solver import Solver
from tests.arena.players import make


def play(tmp_path: Path, red: str, yellow: str, openings: str, rounds: int = 10) -> MoveQuality:
    tournament = Tournament((Player(red), Player(yellow)), openings=openings, rounds=rounds)
    with Store(tmp_path / "games.sqlite") as store:
        play_tournament(tournament, store, Local(2), make)
        assert MoveQuality.of(store.games()).moves == {}
        progress: list[tuple[int, int]] = []
        solve_games(store, Local(2), lambda done, total: progress.append((done, total)))
        assert progress[-1] == (2 * rounds, 2 * rounds)
        solve_games(store, Local(2), lambda done, total: pytest.fail("all games are solved"))
        return MoveQuality.of(store.games())


def test_scores_along_a_game_are_those_of_its_positions() -> None:
    record = Record(Position("vannucci-abril"), (4, 4, 4), Outcome.RED_WINS)
    scores = exact_scores(record, Solver())
    positions = list(record.positions())
    assert scores[:3] == tuple(Solver().solve(position).score for position in positions[:3])
    assert scores[2] == -scores[3]  # the winning move was best
    assert positions[3].outcome() == Outcome.RED_WINS


def test_a_drawn_game_ends_with_a_score_of_zero() -> None:
    start = Position("1122331", board="3x3x4")
    columns = (1, 2)
    record = Record(start, columns, Outcome.DRAW)
    assert exact_scores(record, Solver())[-1] == 0


def test_one_hard_position_leaves_time_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "time", SimpleNamespace(perf_counter=lambda: 106.0))
    assert remaining_share(Limit(seconds=10, nodes=5), started=100) == Limit(seconds=2, nodes=5)
    assert remaining_share(Limit(seconds=10), started=90) == Limit(nodes=1)
    assert remaining_share(Limit(nodes=5), started=100) == Limit(nodes=5)


def test_the_perfect_player_keeps_every_value_and_the_random_one_does_not(tmp_path: Path) -> None:
    quality = play(tmp_path, "perfect", "random", "random:12")
    assert quality.kept["perfect"] == quality.moves["perfect"] == quality.best["perfect"] > 0
    assert quality.kept["random"] < quality.moves["random"]
    assert {blunder.agent for blunder in quality.blunders} == {"random"}
    assert sum(quality.moves.values()) == sum(quality.kept.values()) + len(quality.blunders)


def test_blunders_have_their_ply_and_the_value_given_away(tmp_path: Path) -> None:
    quality = play(tmp_path, "random", "rules", "random:14", 5)
    data = quality.as_data()
    assert data["blunders"]
    for blunder in quality.blunders:
        assert 14 <= blunder.ply < 42
        assert blunder.had > blunder.has
    assert data["agents"]["random"]["kept"] <= 1
    low, high = data["agents"]["random"]["kept_interval"]
    assert low <= data["agents"]["random"]["kept"] <= high
    assert data["blunders"][0]["had"] in ("win", "draw")
