"""Searches requested over the web: admitted by a gate, done by a worker, ended with the client."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from fourlab.errors import UserError
from fourlab.web.gate import Gate, unless_gone
from fourlab.web.guard import error_body
from fourlab.web.pool import OutOfMemory, Overdue, Pool, SearchFailed
from fourlab.web.settings import MOST_EVENTS

SECONDS_BETWEEN_LOOKS = 0.25
"""How often a stream checks whether its client is still connected."""
FAILED = "the search failed; the error was logged"
OVERDUE = "the search did not end in time and was killed; try again"
NO_MEMORY = "the search needed too much memory"


def client(request: Request) -> str:
    """Return the address of the client, as the guard has determined it."""
    return "" if request.client is None else request.client.host


async def think(
    request: Request, gate: Gate, pool: Pool, do: str, fields: dict[str, Any], seconds: float
) -> str:
    """Let a worker do something; stop it and raise Gone if the client closes the connection."""
    async with gate.enter(client(request)), pool.start(do, fields, seconds) as answering:
        return await unless_gone(request, answering)


def as_json(answer: str) -> Response:
    """Return a worker's answer, which is JSON already."""
    return Response(answer, media_type="application/json")


class Stream(StreamingResponse):
    """An analysis as server-sent events: progress, then done or error.

    The search stops when the client disconnects.
    """

    def __init__(
        self, fields: dict[str, Any], seconds: float, gate: Gate, pool: Pool, request: Request
    ) -> None:
        self.fields = fields
        self.seconds = seconds
        self.gate = gate
        self.pool = pool
        self.request = request
        self.news = asyncio.Event()
        self.progress: deque[str] = deque(maxlen=MOST_EVENTS)
        self.answering: asyncio.Task[str] | None = None
        super().__init__(
            self._events(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as soon as the gate has a free place."""
        # The search begins before the status line is sent, so a full gate still answers with 503.
        search = self.pool.start("stream", self.fields, self.seconds, self._on_progress)
        async with self.gate.enter(client(self.request)), search as self.answering:
            self.answering.add_done_callback(lambda _: self.news.set())
            await super().__call__(scope, receive, send)

    def _on_progress(self, data: str) -> None:
        self.progress.append(data)
        self.news.set()

    async def _events(self) -> AsyncIterator[str]:
        answering = self.answering
        assert answering is not None
        while not answering.done() or self.progress:
            # A solver may report nothing for minutes, so the wait for news ends after a while.
            with suppress(TimeoutError):
                await asyncio.wait_for(self.news.wait(), SECONDS_BETWEEN_LOOKS)
            if await self.request.is_disconnected():
                return
            self.news.clear()
            while self.progress:
                yield _event("progress", self.progress.popleft())
        try:
            yield _event("done", answering.result())
        except UserError as error:
            yield _failure(400, " ".join(str(error).split()))
        except Overdue:
            yield _failure(503, OVERDUE)
        except OutOfMemory:
            yield _failure(503, NO_MEMORY)
        except SearchFailed:
            yield _failure(500, FAILED)


def _event(name: str, data: str) -> str:
    # The JSON is one line, as the format of server-sent events requires: a line break ends a field.
    return f"event: {name}\ndata: {data}\n\n"


def _failure(status: int, message: str) -> str:
    return _event("error", json.dumps(error_body(status, message)))
