"""Engines of others at their lowest rating, as players; a small program stands for them."""

import sys
from pathlib import Path

import numpy as np
import pytest

from fourlab.agent import Limit
from fourlab.chess.engine import find_program, rated_engine
from fourlab.chess.game import ChessState
from fourlab.chess.match import ChessMatch
from fourlab.chess.players import Mixed, RandomMover
from fourlab.errors import UserError

PROGRAM = (sys.executable, str(Path(__file__).parent / "rated_program.py"))


def test_an_engine_plays_at_the_lowest_rating_that_it_states() -> None:
    with rated_engine(*PROGRAM) as engine:
        assert (engine.name, engine.elo) == ("First move 1.0", 1234)
        state = ChessState.of()
        decision = engine.decide(state, Limit(), np.random.default_rng(0))
        assert decision.move == state.moves[0]


def test_an_engine_without_ratings_is_refused() -> None:
    with (
        pytest.raises(UserError, match="cannot be limited to a rating"),
        rated_engine(*PROGRAM, "unrated"),
    ):
        pass


def test_a_program_that_is_no_engine_is_refused() -> None:
    with (
        pytest.raises(UserError, match="does not run as a chess engine"),
        rated_engine("/nowhere/stockfish"),
    ):
        pass


def test_a_program_is_looked_up_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("fourlab.chess.engine.FOLDERS", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() is None
    program = tmp_path / "stockfish"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_program() == str(program)


def test_a_mixed_player_takes_a_share_of_its_moves_at_random() -> None:
    class First(RandomMover):
        def decide(self, state, limit, rng, on_decision=None):  # type: ignore[no-untyped-def]
            from fourlab.chess.players import ChessDecision

            return ChessDecision(state.moves[0])

    state = ChessState.of()
    rng = np.random.default_rng(0)
    first = sum(
        Mixed(First(), 0.4).decide(state, Limit(), rng).move == state.moves[0] for _ in range(1000)
    )
    # 0.6, and one of the 20 random moves.
    assert first == pytest.approx(1000 * (0.6 + 0.4 / 20), abs=60)


def test_players_outside_the_presets_play_the_openings_of_a_match() -> None:
    match = ChessMatch(("arya", "random"), 2, seed=3)
    with rated_engine(*PROGRAM) as engine:
        games = [match.play(number, engine, RandomMover()) for number in (0, 1)]
    assert games[0].start == games[1].start == match.opening(0).board.fen()
    assert games[0].moves.split()[0] == match.opening(0).moves[0].uci(), "white in even games"
