"""Checks of every request (host, origin, size) and security headers of every answer."""

import asyncio
import json
import logging
import re
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fourlab.web.clients import client_of, cookie_of, knows
from fourlab.web.pace import Pace
from fourlab.web.settings import MOST_BODY_BYTES, Settings

# Nothing is loaded from elsewhere, so the page works offline, and no text that finds its way into
# the page could run as a script. "data:" is for pictures of boards that the page makes itself.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# A route may set a header of its own, such as a stricter policy; these are the defaults.
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
ONCE = (b"host", b"origin", b"content-length", b"sec-fetch-site", b"sec-fetch-mode")
"""Headers that a request may have only once: a proxy and this server might read different ones."""
CODES = {
    400: "bad_request",
    401: "token_needed",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    413: "too_large",
    414: "too_long",
    415: "unsupported_media_type",
    421: "wrong_host",
    422: "bad_request",
    429: "too_many",
    431: "headers_too_large",
    500: "internal",
    503: "busy",
}
# Details of an error stay in the server's log: they might show paths or other users' requests.
INTERNAL_ERROR = "an internal error occurred; the server has logged it"
TOO_LARGE = f"a request may have at most {MOST_BODY_BYTES} bytes"
log = logging.getLogger("fourlab.web")


def error_body(status: int, message: str) -> dict[str, Any]:
    """Return the JSON form that all errors have."""
    return {"error": {"status": status, "code": CODES.get(status, "error"), "message": message}}


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.pace = Pace()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse forbidden requests and limit the size of the others."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a WebSocket; the page uses none
        headers = dict(scope["headers"])
        peer = scope.get("client") or ("", 0)
        # Several headers of this name are one list.
        forwarded = b",".join(
            value for name, value in scope["headers"] if name == b"x-forwarded-for"
        )
        scope["client"] = (client_of(peer[0], forwarded, self.settings.proxies), peer[1])
        if (seconds := self.pace.wait(scope["client"][0])) > 0:
            await asyncio.sleep(seconds)
        added = _HEADERS
        token = self.settings.token
        if token is not None and knows(token, {}, scope["query_string"]):
            added = [*_HEADERS, (b"set-cookie", cookie_of(token).encode())]
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = list(message.get("headers", ()))
                names = {name for name, _ in headers}
                headers += [header for header in added if header[0] not in names]
                message["headers"] = headers
            await send(message)

        refused = _repeated(scope["headers"]) or self._refused(headers, scope["path"])
        if refused is None and not self._is_known(scope, headers):
            refused = 401, "open the address with the token that this server printed at its start"
        if refused is not None:
            await _refuse(answer, *refused)
            return
        try:
            await self.app(scope, _bounded(receive), answer)
        except Exception:
            log.exception("an error while answering %s", scope["path"])
            # Once the status line is sent, an answer can only be cut off.
            if not begun:
                await _refuse(answer, 500, INTERNAL_ERROR)

    def _is_known(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        """Return whether a request has the token, if one is needed; health checks need none."""
        token = self.settings.token
        if token is None or scope["path"] == "/api/v1/ping":
            return True
        return knows(token, headers, scope["query_string"])

    def _refused(self, headers: dict[bytes, bytes], path: str) -> tuple[int, str] | None:
        # HTTP headers are bytes; latin-1 decodes all of them, so strange ones cannot raise here.
        host = headers.get(b"host", b"").decode("latin-1")
        match = re.fullmatch(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?", host)
        if match is None:
            return 400, "the request names no host"
        # In DNS rebinding, a hostile page makes its own name point to this machine: the browser
        # then takes our answers for its own, but still sends that name as the host.
        if self.settings.hosts and match[1].lower() not in self.settings.hosts:
            return 421, "this server does not answer to that name (fourlab web --allow-host NAME)"
        origin = headers.get(b"origin")
        # Browsers send the origin with every POST, so no other page can start searches here.
        # Programs other than browsers send none.
        if origin is not None:
            origin_host = re.sub(r"^https?://", "", origin.decode("latin-1").lower())
            if origin_host != host.lower():
                return 403, "requests from other pages are refused"
        # Newer browsers also mark GET requests: other pages may link to the page, but neither embed
        # it nor read the API. "same-site" includes other ports of this machine.
        foreign = headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
        mode, destination = headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")
        is_link_to_page = mode == b"navigate" and destination == b"document" and path == "/"
        if foreign and not is_link_to_page:
            return 403, "requests from other pages are refused"
        length = headers.get(b"content-length", b"0")
        # Python converts no number of thousands of digits, of which most could be zeros.
        if not length.isdigit() or len(length) > 20:
            return 400, "the length of the request is not a number"
        if int(length) > MOST_BODY_BYTES:
            return 413, TOO_LARGE
        return None


def _repeated(headers: "list[tuple[bytes, bytes]]") -> tuple[int, str] | None:
    """Return the refusal of a request that has a header twice which may be there only once."""
    names = [name for name, _ in headers]
    for name in ONCE:
        if names.count(name) > 1:
            return 400, f"the request has several headers {name.decode()}"
    return None


def _bounded(receive: Receive) -> Receive:
    """Limit the size of a body as it arrives: a chunked body does not declare its length."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BODY_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return message

    return bounded


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps(error_body(status, message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
