"""Connections with bounds on number, size and time.

uvicorn's protocol reads headers of any length and waits for the rest of a request for any time.
This one counts bytes and seconds: a request that is too large or too slow is refused and its
connection closed, and so is a connection beyond the numbers allowed.
"""

import asyncio
import json
import logging
from collections import Counter
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from fourlab.web.clients import address_of
from fourlab.web.guard import HEADERS, error_body
from fourlab.web.settings import (
    BODY_SECONDS,
    CLOSING_SECONDS,
    HEAD_SECONDS,
    IDLE_SECONDS,
    MOST_CONNECTIONS,
    MOST_CONNECTIONS_OF_ADDRESS,
    MOST_HEADER_BYTES,
    MOST_HEADERS,
    MOST_LINE_BYTES,
    MOST_PIPELINED,
    MOST_REFUSED,
    MOST_REQUEST_BYTES,
    READING_SECONDS,
)

TOO_MANY = (503, "too many connections; try again soon")
SPARE_FILES = 200
"""Open files that are not connections: sockets of workers, files of runs."""
# uvicorn warns of every request that is not HTTP or asks for an upgrade, so that any client could
# fill the log. Errors of this server are still logged.
quiet = logging.getLogger("fourlab.web.connections")
quiet.setLevel(logging.ERROR)


class Refused(Exception):
    """A request breaks a limit."""


class Open:
    """The open connections of a server, in all and by address."""

    def __init__(self, proxies: frozenset[str]) -> None:
        self._proxies = {address_of(proxy) for proxy in proxies}
        self._most = most_connections()
        self._by_address: Counter[str] = Counter()
        self.refused = 0
        """Open connections that are beyond the limits."""

    def add(self, address: str) -> bool:
        """Count a connection if it is within the limits; return whether it is.

        Others do not count, so that one address cannot use up the places of all.
        """
        if self._by_address.total() >= self._most:
            return False
        # The guard tells the clients of a proxy apart later.
        is_full = self._by_address[address] >= MOST_CONNECTIONS_OF_ADDRESS
        if is_full and address not in self._proxies:
            return False
        self._by_address[address] += 1
        return True

    def remove(self, address: str) -> None:
        """Forget a connection."""
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


def most_connections() -> int:
    """Return how many connections may be open: fewer if the system allows few open files."""
    with suppress(ImportError, OSError, ValueError):  # not on Windows
        import resource

        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            return min(MOST_CONNECTIONS, max(files - SPARE_FILES, files // 2))
    return MOST_CONNECTIONS


class Connection(HttpToolsProtocol):
    """A connection of a client.

    Between two requests it is idle; then come the head of a request, its body, and the work on the
    answer, which has no limit here.
    """

    open_connections: Open

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection; if there are too many, refuse its first request."""
        self.logger = quiet
        super().connection_made(transport)
        self._address = address_of(self.client[0] if self.client else "")
        self._is_allowed = self.open_connections.add(self._address)
        self._stage = "head"
        self._bytes = 0
        self._refusal: tuple[int, str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._arm(HEAD_SECONDS)
        if not self._is_allowed:
            self.open_connections.refused += 1
            if self.open_connections.refused > MOST_REFUSED:
                self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._is_allowed:
            self.open_connections.remove(self._address)
        else:
            self.open_connections.refused -= 1
        self._disarm()
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, or of several."""
        if self.transport.is_closing():
            return
        if not self._is_allowed:
            self._refuse(*TOO_MANY)
            return
        if self._stage == "idle":
            self._begin_head()
        self._bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._stage == "head" and self._bytes > MOST_HEADER_BYTES:
            self._refuse(431, f"the headers of a request may have {MOST_HEADER_BYTES} bytes")
        elif self._bytes > MOST_REQUEST_BYTES:
            self._refuse(413, "the request is too long")

    def on_message_begin(self) -> None:
        """Begin a request, which may follow another one in the same data."""
        super().on_message_begin()
        self._url_bytes = 0
        self._header_bytes = 0

    def on_url(self, url: bytes) -> None:
        """Read a part of the first line."""
        self._url_bytes += len(url)
        if self._url_bytes > MOST_LINE_BYTES:
            self._stop_parsing(414, f"a path with its query may have {MOST_LINE_BYTES} bytes")
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a header."""
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MOST_HEADER_BYTES:
            message = f"the headers of a request may have {MOST_HEADER_BYTES} bytes"
            self._stop_parsing(431, message)
        if len(self.headers) >= MOST_HEADERS:
            self._stop_parsing(431, f"a request may have {MOST_HEADERS} headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to work on the request, whose body follows."""
        if len(self.pipeline) >= MOST_PIPELINED:
            self._stop_parsing(429, "wait for an answer before you send the next request")
        self._stage = "body"
        self._bytes = 0
        self._arm(BODY_SECONDS)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Work on the request, which is here as a whole."""
        self._disarm()
        self._stage = "work"
        super().on_message_complete()
        if self.cycle.response_complete:
            # The request was refused before it was here as a whole.
            self._stage = "idle"
            self._arm(IDLE_SECONDS)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        if self._stage == "work" and not self.pipeline:
            self._stage = "idle"
        super().on_response_complete()

    def _begin_head(self) -> None:
        self._stage = "head"
        self._bytes = 0
        self._arm(HEAD_SECONDS)

    def _stop_parsing(self, status: int, message: str) -> None:
        self._refusal = (status, message)
        raise Refused

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser could not read, or what broke a limit while it was read."""
        status, message = self._refusal or (400, "this is not HTTP")
        self._refuse(status, message)

    def _refuse(self, status: int, message: str) -> None:
        """Answer with an error, unless an answer is being written, and close the connection."""
        if self._can_answer():
            if self.cycle is not None:
                self.cycle.disconnected = True  # this is the only answer
            body = json.dumps(error_body(status, message)).encode()
            headers = {
                **HEADERS,
                "content-type": "application/json",
                "content-length": str(len(body)),
                "connection": "close",
            }
            if status == 503:
                headers["retry-after"] = "1"
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            self.transport.write(STATUS_LINE[status] + lines.encode() + b"\r\n" + body)
        self._end()

    def _can_answer(self) -> bool:
        """Return whether a request waits for an answer of which nothing has been written."""
        if self.pipeline:
            return False  # `cycle` is the last request; an earlier one is being worked on
        if self.cycle is None or not self.cycle.response_started:
            return True
        # Some requests are answered before their bodies are here.
        return self.cycle.response_complete and self._stage != "body"

    def _end(self) -> None:
        """Close the connection; what the client does not read soon is dropped."""
        self._disarm()
        if not self.transport.is_closing():
            self.transport.close()
            self.loop.call_later(CLOSING_SECONDS, self.transport.abort)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        self._end()

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._timer = self.loop.call_later(seconds, self._too_slow, seconds)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self, seconds: float) -> None:
        self._timer = None
        if self.pipeline:  # nothing was read while the server worked on the request before
            self._arm(seconds)
            return
        if self._stage == "idle" or (self._stage == "head" and self._bytes == 0):
            self._end()  # there is no request to answer
            return
        self._refuse(408, "the request was not sent in time")

    def pause_writing(self) -> None:
        """Give the client some time to read what was written."""
        super().pause_writing()
        self._stop_write_timer()
        self._write_timer = self.loop.call_later(READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on writing."""
        self._stop_write_timer()
        super().resume_writing()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


def protocol(proxies: frozenset[str]) -> type[asyncio.Protocol]:
    """Return the protocol of a server, with a count of its connections."""
    attributes: dict[str, Any] = {"open_connections": Open(proxies)}
    return type("CountedConnection", (Connection,), attributes)
