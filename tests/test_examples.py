"""The example engines keep to the protocol and play sensibly."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fourlab import Limit, Position, Rules, make
from fourlab.arena.game import play_game
from fourlab.engines.check import BOARDS, check
from fourlab.engines.program import Engine
from fourlab.game.record import Cause
from tests.conftest import ROOT
from tests.missing_parts import require

EXAMPLES = ROOT / "examples"
ENGINES = ["engine.py", "engine.c", "engine.mjs"]


def command(example: str, folder: Path) -> list[str]:
    source = EXAMPLES / example
    match source.suffix:
        case ".c":
            program = folder / "engine"
            flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
            subprocess.run(
                [require("compiler"), *flags, "-o", str(program), str(source)], check=True
            )
            return [str(program)]
        case ".mjs":
            return [require("node"), str(source)]
    return [sys.executable, str(source)]


@pytest.fixture(scope="module", params=ENGINES)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("engine")
    agent = Engine(
        shlex.join(command(request.param, folder)), start_seconds=60, grace=10, memory_mb=4096
    )
    yield agent
    agent.close()


@pytest.mark.parametrize("example", ENGINES)
def test_an_example_has_fewer_than_80_lines(example: str) -> None:
    lines = (EXAMPLES / example).read_text().splitlines()
    assert len(lines) < 80
    assert max(map(len, lines)) <= 100


def test_the_protocol_is_kept(engine: Engine) -> None:
    broken = [finding for finding in check(engine) if not finding.kept]
    assert not broken


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_columns_win_block_or_are_central(engine: Engine, rules: Rules) -> None:
    rng = np.random.default_rng(3)
    for number in range(12):
        position = Position(board=rules)
        for _ in range(int(rng.integers(rules.columns * rules.rows - 2))):
            after = position.play(int(rng.choice(position.legal_columns())))
            if after.outcome() is not None:
                break
            position = after
        # Every other position is sent as a board instead of moves.
        sent = position if number % 2 else Position(position.write("fen"))
        assert engine.decide(sent, Limit(), rng).column in sensible(position)


def sensible(position: Position) -> list[int]:
    """Return the columns that win, else those that block, else those nearest the centre."""
    legal = position.legal_columns()
    for side in (position.to_move, 1 - position.to_move):
        if lines := [column for column in legal if position.makes_line(column, side)]:
            return lines
    distances = {column: abs(2 * column - position.rules.columns + 1) for column in legal}
    return [column for column in legal if distances[column] == min(distances.values())]


@pytest.mark.parametrize("side", [0, 1], ids=["red", "yellow"])
def test_games_against_our_agents_are_played_to_the_end(engine: Engine, side: int) -> None:
    players = [engine, make("random")] if side == 0 else [make("random"), engine]
    wins = 0
    for seed in range(5):
        rngs = [np.random.default_rng([seed, player]) for player in (0, 1)]
        record = play_game(Position(), players, [Limit()] * 2, rngs, grace=10)
        assert (record.cause, record.detail) == (Cause.NORMAL, "")
        wins += record.result is not None and record.result.winner == side
    assert wins >= 4  # an engine that wins and blocks beats random play
