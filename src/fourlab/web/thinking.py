"""Searches requested over the web: limited, in threads, stopped when the client has gone."""

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
from fourlab.web.guard import INTERNAL_ERROR, error_body, log
from fourlab.web.messages import AnalysisRequest, Move, MoveRequest, OpinionAnswer, PointAnswer
from fourlab.web.settings import Caps

if TYPE_CHECKING:  # these import the compiler, and the event loop must not wait for that
    from fourlab.analysis.opinion import OnOpinion, Opinion

USUAL_SECONDS = 1.0
"""Time limit of an unlimited search if the request has none."""
# Ten events per second look continuous; a page has to draw each of them.
SECONDS_BETWEEN_EVENTS = 0.1
SECONDS_BETWEEN_LOOKS = 0.25
"""How often a stream checks whether its client is still connected."""


def choose(body: MoveRequest, caps: Caps, stop: Stop) -> Move:
    """Let an agent choose a column."""
    import numpy as np

    position = _open(body)
    started = time.perf_counter()
    agent = players.make(body.agent, position.rules, caps.megabytes)
    # An agent with bounds of its own, such as mcts:simulations=60, may use all that is allowed.
    usual = USUAL_SECONDS if is_unbounded(agent) else caps.move_seconds
    limit = _limit(body, usual, caps.move_seconds, caps, stop)
    decision = agent.decide(position, limit, np.random.default_rng(body.seed))
    return Move.of(decision, body.agent, time.perf_counter() - started)


def think(
    body: AnalysisRequest, caps: Caps, stop: Stop, on_opinion: "OnOpinion" = lambda opinion: None
) -> OpinionAnswer:
    """Analyse a position; `on_opinion` is called with intermediate results."""
    import numpy as np

    from fourlab.analysis.opinion import ask, solve

    position = _open(body)
    limit = _limit(body, USUAL_SECONDS, caps.analysis_seconds, caps, stop)
    if body.agent == "perfect":
        opinion = solve(position, limit, on_opinion, caps.megabytes)
    else:
        agent = players.make(body.agent, position.rules, caps.megabytes)
        nodes = caps.tree_nodes if body.tree else 0
        opinion = ask(agent, position, limit, np.random.default_rng(body.seed), on_opinion, nodes)
    return OpinionAnswer.of(opinion, body.agent, position)


class Stream(StreamingResponse):
    """An analysis as server-sent events: progress, then done or error.

    The search stops when the client disconnects.
    """

    def __init__(self, body: AnalysisRequest, caps: Caps, gate: Gate, request: Request) -> None:
        self.analysis = body
        self.caps = caps
        self.gate = gate
        self.request = request
        self.position = body.position()
        self.news = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        # Results since the last event; a search reports about ten per power of ten simulations.
        self.opinions: list[Opinion] = []
        self.thinking: asyncio.Future[OpinionAnswer] | None = None
        super().__init__(
            self._events(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as soon as the gate has a free place."""
        # The search begins before the status line is sent, so a full gate still answers with 503.
        async with self.gate.start(
            lambda stop: think(self.analysis, self.caps, stop, self._on_opinion)
        ) as self.thinking:
            self.thinking.add_done_callback(lambda _: self.news.set())
            await super().__call__(scope, receive, send)

    def _on_opinion(self, opinion: "Opinion") -> None:
        """Keep an intermediate result; called in the search's thread."""
        # Appending to a list is atomic; an asyncio.Event may only be set in the event loop.
        self.opinions.append(opinion)
        self.loop.call_soon_threadsafe(self.news.set)

    async def _events(self) -> AsyncIterator[str]:
        thinking = self.thinking
        assert thinking is not None
        while not thinking.done():
            # A solver may report nothing for minutes, so the wait for news ends after a while.
            with suppress(TimeoutError):
                await asyncio.wait_for(self.news.wait(), SECONDS_BETWEEN_LOOKS)
            if await self.request.is_disconnected():
                return
            self.news.clear()
            # The last result is left to "done".
            if self.opinions and not thinking.done():
                latest = OpinionAnswer.of(self.opinions[-1], self.analysis.agent, self.position)
                yield _event("progress", self._with_trace(latest))
                await asyncio.sleep(SECONDS_BETWEEN_EVENTS)
        try:
            yield _event("done", self._with_trace(thinking.result()))
        except UserError as error:
            yield _event("error", json.dumps(error_body(400, " ".join(str(error).split()))))
        except Exception:
            log.exception("an error in a stream")
            yield _event("error", json.dumps(error_body(500, INTERNAL_ERROR)))

    def _with_trace(self, answer: OpinionAnswer) -> str:
        """Return an answer as JSON, with the snapshots since the last event."""
        opinions, self.opinions = self.opinions, []
        answer.trace = [
            PointAnswer.of(opinion) for opinion in opinions if opinion.simulations is not None
        ]
        return answer.model_dump_json()


def _event(name: str, data: str) -> str:
    # The JSON is one line, as the format of server-sent events requires: a line break ends a field.
    return f"event: {name}\ndata: {data}\n\n"


def _open(body: MoveRequest) -> Position:
    position = body.position()
    if (outcome := position.outcome()) is not None:
        raise UserError(f"the game is over ({outcome})")
    return position


def _limit(body: MoveRequest, usual: float, most: float, caps: Caps, stop: Stop) -> Limit:
    seconds = usual if body.seconds is None else body.seconds
    simulations = caps.simulations
    if body.simulations is not None:
        simulations = min(body.simulations, simulations)
    return Limit(seconds=min(seconds, most), simulations=simulations, stop=stop)
