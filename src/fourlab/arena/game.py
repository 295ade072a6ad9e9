"""One game between two agents, under a referee that trusts neither of them."""

import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fourlab.agent import Agent, Decision, Forfeit, Limit, Startable, close
from fourlab.game.outcome import RED, SIDE_NAMES, Outcome
from fourlab.game.position import Position
from fourlab.game.record import Cause, Record, Thought
from fourlab.jobs.executors import Watch

if TYPE_CHECKING:
    import numpy as np

DETAIL_CHARACTERS = 300
"""An agent's error message is cut to this length before it is recorded."""


def play_game(
    start: Position,
    players: Sequence[Agent],
    limits: Sequence[Limit],
    rngs: "Sequence[np.random.Generator]",
    grace: float = 1.0,
    watch: Watch | None = None,
) -> Record:
    """Play a game from `start` to its end and return its record.

    `players`, `limits` and `rngs` are indexed by side: red first, then yellow. A side forfeits the
    game if it plays an illegal column, raises an exception, or thinks more than `grace` seconds
    longer than its limit.
    """
    watch = watch or Watch()
    # Starting is not thinking: it costs no time of the first move, but a failure forfeits the game.
    for side, player in enumerate(players):
        try:
            if isinstance(player, Startable):
                player.start()
        except Exception as error:
            return forfeited(start, [], [], side, error)
    position = start
    columns: list[int] = []
    thoughts: list[Thought] = []
    while (outcome := position.outcome()) is None:
        if watch.aborted():
            return Record(start, tuple(columns), None, Cause.INTERRUPTED, "", tuple(thoughts))
        side = position.to_move
        seconds = limits[side].seconds
        # The deadline lets a watchdog end a worker process that hangs.
        watch.thinking(side, None if seconds is None else seconds + grace)
        before = time.perf_counter()
        try:
            decision = players[side].decide(position, limits[side], rngs[side])
            spent = time.perf_counter() - before
            _check(decision, position, spent, seconds, grace)
        except Exception as error:  # an agent's fault costs it this game and nothing else
            return forfeited(start, columns, thoughts, side, error)
        # Agents may return NumPy integers, which neither JSON nor SQLite can store.
        column = int(decision.column)
        position = position.play(column)
        columns.append(column)
        thoughts.append(_thought(decision, spent))
    return Record(start, tuple(columns), outcome, Cause.NORMAL, "", tuple(thoughts))


def forfeited(
    start: Position, columns: list[int], thoughts: list[Thought], side: int, error: Exception
) -> Record:
    """Return the record of a game that `side` forfeits; the other side wins."""
    fault = as_forfeit(error)
    result = Outcome.YELLOW_WINS if side == RED else Outcome.RED_WINS
    detail = f"{SIDE_NAMES[side]}: {fault}"
    return Record(start, tuple(columns), result, fault.cause, detail, tuple(thoughts))


def as_forfeit(error: Exception) -> Forfeit:
    """Return what an agent raised as a forfeit with a message of one line, cut if it is long."""
    if not isinstance(error, Forfeit):  # a fault in the agent itself: repr also names its type
        error = Forfeit(Cause.CRASH, repr(error))
    # One line: the detail is a cell of tables and a line of terminals.
    message = " ".join(str(error).split())
    return Forfeit(error.cause, message[:DETAIL_CHARACTERS])


def close_all(agents: Sequence[Agent]) -> None:
    """Release what agents hold outside this process, such as an engine program."""
    for agent in agents:
        with contextlib.suppress(Exception):  # the game is over and its result stands
            close(agent)


def _check(
    decision: Decision, position: Position, spent: float, seconds: float | None, grace: float
) -> None:
    """Raise Forfeit for a decision that came too late or is illegal."""
    if seconds is not None and spent > seconds + grace:
        raise Forfeit(Cause.TIMEOUT, f"thought {spent:.3f} s, {spent - seconds:.3f} s too long")
    check_column(decision, position)


def check_column(decision: Decision, position: Position) -> None:
    """Raise Forfeit for a column that is not open."""
    if decision.column not in position.legal_columns():
        raise Forfeit(Cause.ILLEGAL, f"played column {decision.column + 1}, which is not open")


def _thought(decision: Decision, seconds: float) -> Thought:
    """Return the part of a decision that is stored, as plain Python numbers."""
    visits = decision.analysis.visits
    return Thought(
        None if decision.value is None else float(decision.value),
        None if visits is None else tuple(int(count) for count in visits),
        seconds,
    )
