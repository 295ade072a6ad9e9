"""The application: routes, the page's files, and error handlers."""

import hashlib
import mimetypes
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from fourlab.errors import NotThere, UserError
from fourlab.version import __version__
from fourlab.web import api, records
from fourlab.web import messages as m
from fourlab.web.gate import Busy, Gate, Gone
from fourlab.web.guard import Guard, error_body
from fourlab.web.own_agents import OwnAgents
from fourlab.web.pool import OutOfMemory, Overdue, Pool, SearchFailed
from fourlab.web.readiness import Readiness
from fourlab.web.settings import Settings
from fourlab.web.starters import NoProcess, Unavailable
from fourlab.web.thinking import FAILED, NO_MEMORY, OVERDUE

ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": m.Error, "description": "The request is wrong."},
    "5XX": {
        "model": m.Error,
        "description": "Too busy, try again after Retry-After seconds; or a fault here.",
    },
}

WORDS = {
    "string_pattern_mismatch": "columns are written 4453, or 10,4,3",
    "string_too_long": "at most {max_length} characters",
    "int_parsing": "must be a whole number",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
    "extra_forbidden": "there is no such field",
    "missing": "is missing",
    "json_invalid": "the request is not JSON",
}
"""Messages for invalid requests, by the type of pydantic's error."""
TRY_AGAIN: dict[type[Exception], str] = {
    Busy: "too many searches are running; try again soon",
    Overdue: OVERDUE,
    OutOfMemory: NO_MEMORY,
    NoProcess: "the system allows no more processes; try again soon",
    Unavailable: "the server is stopping",
}
"""What is answered with 503 and Retry-After."""
MOST_LETTERS = 500
"""Longer error messages are cut."""


def create_app(
    settings: Settings | None = None,
    readiness: Readiness | None = None,
    pool: Pool | None = None,
) -> FastAPI:
    """Return the whole application with its guard."""
    settings = settings or Settings()
    readiness = readiness or Readiness()
    caps = settings.caps
    own = OwnAgents(settings.allow_programs, settings.own)
    workers = pool or Pool(caps)
    # Moves are short and wait only for each other; analyses and reviews may take a minute.
    quick = Gate(caps.searches, caps.waiting, caps.patience, caps.reserved)
    slow = Gate(caps.streams, caps.streams_waiting, caps.streams_patience, caps.reserved)
    reading = Gate(caps.reads, caps.reads_waiting, caps.reads_patience, caps.reserved)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        workers.open()
        readiness.open(workers.load, settings.on_compiling)
        yield
        readiness.close()
        workers.close()
        own.close()

    app = FastAPI(
        title="Fourlab",
        version=__version__,
        summary="Connect Four: positions, moves, analyses, reviews, runs.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # it loads scripts from a CDN; Fourlab works offline
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    for router in (
        api.routes(settings, quick, slow, readiness, workers, own),
        records.routes(settings, slow, reading, readiness, workers),
    ):
        app.include_router(router, prefix="/api/v1", responses=ERRORS)
    # The server process closes these when it shuts down (`serve.Server`).
    app.state.pool = workers
    app.state.readiness = readiness
    _serve_page(app)
    _handle_errors(app)
    app.add_middleware(Guard, settings=settings)
    return app


def _serve_page(app: FastAPI) -> None:
    """Serve the page's files from memory, so that no path is ever made from a request."""
    for file in (files("fourlab.web") / "static").iterdir():
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        path = "/" if file.name == "index.html" else f"/static/{file.name}"
        _serve_file(app, path, file.read_bytes(), kind)


def _serve_file(app: FastAPI, path: str, data: bytes, kind: str) -> None:
    # "no-cache" lets browsers keep the file but ask each time: after an update of Fourlab, no page
    # mixes old and new modules.
    headers = {"etag": f'"{hashlib.sha256(data).hexdigest()[:16]}"', "cache-control": "no-cache"}
    # mimetypes reads the system's tables; with another type, browsers refuse to run modules.
    kind = "text/javascript" if path.endswith(".js") else kind

    async def file(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=kind, headers=headers)

    app.add_api_route(path, file, methods=["GET", "HEAD"], include_in_schema=False)


def _handle_errors(app: FastAPI) -> None:
    """Answer every error in the same JSON form."""

    def answer_with(kind: type[Exception], answer: Callable[[Any], Response]) -> None:
        async def handle(request: Request, error: Exception) -> Response:
            return answer(error)

        app.add_exception_handler(kind, handle)

    # Starlette chooses the handler of the most derived class: a NotThere is also a UserError.
    answer_with(UserError, lambda error: _error(400, " ".join(str(error).split())))
    answer_with(NotThere, lambda error: _error(404, str(error)))
    answer_with(RequestValidationError, lambda error: _error(422, _first_error(error)))
    answer_with(
        HTTPException,
        lambda error: _error(error.status_code, str(error.detail), dict(error.headers or {})),
    )
    answer_with(Gone, lambda error: _error(408, "the client closed the connection"))
    answer_with(SearchFailed, lambda error: _error(500, FAILED))
    for kind, message in TRY_AGAIN.items():
        answer_with(kind, partial(_try_again, message))


def _try_again(message: str, error: Exception) -> JSONResponse:
    return _error(503, message, {"retry-after": str(Busy.retry_after)})


def _first_error(error: RequestValidationError) -> str:
    """Return pydantic's first complaint as "field: what is wrong", in our words."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    words = WORDS.get(first["type"])
    message = str(first["msg"]) if words is None else words.format(**first.get("ctx", {}))
    return f"{where}: {message}" if where else message


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    # Messages quote the request, which may be long.
    return JSONResponse(error_body(status, message[:MOST_LETTERS]), status, headers)
