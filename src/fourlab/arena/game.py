"""One game between two agents, under a referee who takes nothing on trust."""

import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fourlab.agent import Agent, Decision, Forfeit, Limit, Startable, close
from fourlab.game.outcome import RED, SIDE_NAMES, Outcome
from fourlab.game.position import Position
from fourlab.game.record import Cause, Record, Thought
from fourlab.jobs.executors import Unwatched, Watch

if TYPE_CHECKING:
    import numpy as np


def play_game(
    start: Position,
    players: Sequence[Agent],
    limits: Sequence[Limit],
    rngs: "Sequence[np.random.Generator]",
    grace: float = 1.0,
    watch: Watch | None = None,
) -> Record:
    """Play from the start to the end; red's player, limit and generator come first.

    An illegal column, a crash, or thinking longer than the limit of seconds and the grace loses the game.
    """
    watch = watch or Unwatched()
    for side, player in enumerate(players):
        try:
            if isinstance(player, Startable):
                player.start()
        except Exception as error:
            return _forfeited(start, [], [], side, error)
    position, columns, thoughts = start, list[int](), list[Thought]()
    while (outcome := position.outcome()) is None:
        side = position.to_move
        if watch.aborted():
            return Record(start, tuple(columns), None, Cause.INTERRUPTED, "", tuple(thoughts))
        seconds = limits[side].seconds
        watch.thinking(side, None if seconds is None else seconds + grace)
        before = time.perf_counter()
        try:
            decision = players[side].decide(position, limits[side], rngs[side])
            spent = time.perf_counter() - before
            _check(decision, position, spent, seconds, grace)
        except Exception as error:  # whatever an agent does wrong costs it the game, and only that
            return _forfeited(start, columns, thoughts, side, error)
        column = int(decision.column)
        position = position.play(column)
        columns.append(column)
        thoughts.append(_thought(decision, spent))
    return Record(start, tuple(columns), outcome, Cause.NORMAL, "", tuple(thoughts))


def _forfeited(start: Position, columns: list[int], thoughts: list[Thought], side: int, error: Exception) -> Record:
    """The game of a side that went wrong: the other wins."""
    cause, detail = (error.cause, str(error)) if isinstance(error, Forfeit) else (Cause.CRASH, repr(error))
    result = Outcome.YELLOW_WINS if side == RED else Outcome.RED_WINS
    said = f"{SIDE_NAMES[side]}: {' '.join(detail.split())[:300]}"
    return Record(start, tuple(columns), result, cause, said, tuple(thoughts))


def close_all(agents: Sequence[Agent]) -> None:
    """Let agents that hold something outside, such as a program, release it."""
    for agent in agents:
        with contextlib.suppress(Exception):  # the game is over, its result stands
            close(agent)


def _check(decision: Decision, position: Position, spent: float, seconds: float | None, grace: float) -> None:
    if seconds is not None and spent > seconds + grace:
        raise Forfeit(Cause.TIMEOUT, f"thought {spent:.3f} s, {spent - seconds:.3f} s too long")
    if decision.column not in position.legal_columns():
        raise Forfeit(Cause.ILLEGAL, f"played column {decision.column + 1}, which is not open")


def _thought(decision: Decision, seconds: float) -> Thought:
    visits = decision.analysis.visits
    value = None if decision.value is None else float(decision.value)
    return Thought(value, None if visits is None else tuple(int(each) for each in visits), seconds)
