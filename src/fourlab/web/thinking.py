"""Searches that are asked for over the web: bounded, in threads, stopped when nobody listens any more."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from fourlab.agent import Limit, Stop, is_unbounded
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.web import players
from fourlab.web.gate import Gate
from fourlab.web.guard import error_body, log
from fourlab.web.messages import AnalysisAsked, Move, MoveAsked, OpinionTold, PointTold
from fourlab.web.settings import Caps

if TYPE_CHECKING:  # these import the compiler, and the event loop must not wait for that
    from fourlab.analysis.opinion import Opinion, Told

USUAL_SECONDS = 1.0
"""For a search that would go on for ever, if nobody says how long."""
SECONDS_BETWEEN_EVENTS = 0.1
SECONDS_BETWEEN_LOOKS = 0.25
"""So often a stream looks whether anybody is still there."""


def choose(asked: MoveAsked, caps: Caps, stop: Stop) -> Move:
    """Let an agent choose a column."""
    import numpy as np

    position, started = _open(asked), time.perf_counter()
    agent = players.make(asked.agent, position.rules, caps.megabytes)
    usual = USUAL_SECONDS if is_unbounded(agent) else caps.move_seconds
    limit = _limit(asked, usual, caps.move_seconds, caps, stop)
    decision = agent.decide(position, limit, np.random.default_rng(asked.seed))
    return Move.of(decision, asked.agent, time.perf_counter() - started)


def think(asked: AnalysisAsked, caps: Caps, stop: Stop, told: "Told" = lambda opinion: None) -> OpinionTold:
    """Let somebody think about a position; `told` hears of what is found on the way."""
    import numpy as np

    from fourlab.analysis.opinion import ask, solve

    position = _open(asked)
    limit = _limit(asked, USUAL_SECONDS, caps.analysis_seconds, caps, stop)
    if asked.agent == "perfect":
        opinion = solve(position, limit, told, caps.megabytes)
    else:
        agent = players.make(asked.agent, position.rules, caps.megabytes)
        nodes = caps.tree_nodes if asked.tree else 0
        opinion = ask(agent, position, limit, np.random.default_rng(asked.seed), told, nodes)
    return OpinionTold.of(opinion, asked.agent, position)


class Stream(StreamingResponse):
    """The same as server-sent events: progress, and in the end done or error. Whoever goes away stops the search."""

    def __init__(self, asked: AnalysisAsked, caps: Caps, gate: Gate, request: Request) -> None:
        self.asked, self.caps, self.gate, self.request = asked, caps, gate, request
        self.position, self.news, self.loop = asked.position(), asyncio.Event(), asyncio.get_running_loop()
        self.found: list[Opinion] = []  # since the last event; a search tells some ten times for each power of ten
        self.thinking: asyncio.Future[OpinionTold] | None = None
        super().__init__(self._events(), media_type="text/event-stream", headers={"cache-control": "no-store"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as soon as there is a place."""
        async with self.gate.start(lambda stop: think(self.asked, self.caps, stop, self._told)) as self.thinking:
            self.thinking.add_done_callback(lambda _: self.news.set())
            await super().__call__(scope, receive, send)

    def _told(self, opinion: "Opinion") -> None:
        """Hear of what the search has found; this is said in its thread."""
        self.found.append(opinion)
        self.loop.call_soon_threadsafe(self.news.set)

    async def _events(self) -> AsyncIterator[str]:
        thinking = self.thinking
        assert thinking is not None
        while not thinking.done():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.news.wait(), SECONDS_BETWEEN_LOOKS)
            if await self.request.is_disconnected():
                return
            self.news.clear()
            if self.found and not thinking.done():
                yield _event("progress", self._tell(OpinionTold.of(self.found[-1], self.asked.agent, self.position)))
                await asyncio.sleep(SECONDS_BETWEEN_EVENTS)
        try:
            yield _event("done", self._tell(thinking.result()))
        except UserError as error:
            yield _event("error", json.dumps(error_body(400, " ".join(str(error).split()))))
        except Exception:
            log.exception("an error in a stream")
            yield _event("error", json.dumps(error_body(500, "something went wrong here; it was noted down")))

    def _tell(self, opinion: OpinionTold) -> str:
        """An opinion, and with it how the search went since the last one."""
        found, self.found = self.found, []
        opinion.trace = [PointTold.of(each) for each in found if each.simulations is not None]
        return opinion.model_dump_json()


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"


def _open(asked: MoveAsked) -> Position:
    position = asked.position()
    if (outcome := position.outcome()) is not None:
        raise UserError(f"the game is over ({outcome})")
    return position


def _limit(asked: MoveAsked, usual: float, most: float, caps: Caps, stop: Stop) -> Limit:
    seconds = usual if asked.seconds is None else asked.seconds
    simulations = caps.simulations if asked.simulations is None else min(asked.simulations, caps.simulations)
    return Limit(seconds=min(seconds, most), simulations=simulations, stop=stop)
