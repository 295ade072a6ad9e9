"""Replay stored games by the rules, before games without hashes are trusted."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fourlab.arena.hashes import Flaw
from fourlab.errors import UserError
from fourlab.game.outcome import Outcome
from fourlab.game.record import Cause

if TYPE_CHECKING:  # the store replays its games when it adds hashes to them
    from fourlab.arena.store import StoredGame


def first_impossible(games: "Iterable[StoredGame]") -> list[Flaw]:
    """Return the first game that cannot have been played as it is stored; empty if all can."""
    try:
        for game in games:
            refuse_impossible(game)
    except UserError as error:
        return [Flaw(None, str(error))]
    return []


def refuse_impossible(game: "StoredGame") -> None:
    """Raise UserError unless a game with its thoughts can have been played as it is stored."""
    game.check()
    record = game.record  # replays the moves
    *_, end = record.positions()
    problem = None
    if game.plies != end.ply:
        problem = f"plies is {game.plies}, but {end.ply} discs were played"
    elif record.cause == Cause.NORMAL:
        if record.result is None or record.result != end.outcome():
            problem = f"result is {game.result}, but its moves end with {_shown(end.outcome())}"
    elif end.outcome() is not None:
        # Whoever forfeits a game, or interrupts it, does so before it is over.
        problem = f"cause is {game.cause!r}, but its moves end with {_shown(end.outcome())}"
    elif record.result is not None and (
        record.result == Outcome.DRAW or record.cause == Cause.INTERRUPTED
    ):
        # A forfeit is a win of the other side; a lost game (verify.py) has no result.
        problem = f"result is {game.result}, but cause is {game.cause!r}"
    for number, thought in enumerate(record.thoughts, 1):
        numbers = (thought.value or 0.0, thought.seconds, *(thought.visits or ()))
        if (
            not all(map(math.isfinite, numbers))
            or min(numbers[1:]) < 0
            or (thought.visits is not None and len(thought.visits) != end.rules.columns)
        ):
            problem = f"thoughts of move {number} are {numbers!r:.40}"
            break
    if problem is not None:
        raise UserError(f"game {game.number} is damaged: {problem}")
    _ = game.exact_scores  # one for every position


def _shown(outcome: Outcome | None) -> str:
    return "no result" if outcome is None else str(outcome.value)
