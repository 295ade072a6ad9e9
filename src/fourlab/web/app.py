"""The application: every route of the API, the page's files, and how errors are told."""

import hashlib
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

import fourlab
from fourlab.agents import registry
from fourlab.errors import UserError
from fourlab.game.named import named_positions
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC
from fourlab.web import messages as m
from fourlab.web import players, thinking
from fourlab.web.gate import Busy, Gate
from fourlab.web.guard import Guard, error_body
from fourlab.web.settings import Settings

ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": m.Error, "description": "What was asked is wrong."},
    "5XX": {"model": m.Error, "description": "Too busy, try again after Retry-After seconds; or a fault here."},
}


def create_app(settings: Settings | None = None) -> FastAPI:
    """The whole application, guarded."""
    settings = settings or Settings()
    caps = settings.caps
    quick = Gate(caps.searches, caps.waiting, "search")
    slow = Gate(caps.streams, caps.streams_waiting, "analysis")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        quick.close()
        slow.close()

    app = FastAPI(
        title="Fourlab",
        version=fourlab.__version__,
        summary="Connect Four: positions, moves, analyses, reviews, runs.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # its page comes from elsewhere, and this one works offline
        redoc_url=None,
        lifespan=lifespan,
    )
    app.include_router(_api(settings, quick, slow), prefix="/api/v1", responses=ERRORS)
    _serve_page(app)
    _tell_errors(app)
    app.add_middleware(Guard, settings=settings)
    return app


def _api(settings: Settings, quick: Gate, slow: Gate) -> APIRouter:
    api, caps = APIRouter(), settings.caps

    @api.get("/ping", tags=["about"])
    async def ping() -> m.Pong:
        """Whether the server is there."""
        return m.Pong()

    @api.get("/about", tags=["about"])
    async def about() -> m.About:
        """The version, and the most that one request gets."""
        return m.About(version=fourlab.__version__, public=settings.public, caps=asdict(caps))

    @api.get("/agents", tags=["agents"])
    def agents() -> m.AgentsTold:
        """Who can be asked: graded levels, and agents with their options."""
        return _agents()

    @api.get("/positions", tags=["positions"])
    def positions() -> list[m.NamedPositionTold]:
        """Positions that have a name."""
        return [
            m.NamedPositionTold(name=name, fen=Position(name).write("fen"), about=each.about)
            for name, each in named_positions().items()
        ]

    @api.post("/position", tags=["positions"])
    async def position(asked: m.PositionAsked) -> m.PositionTold:
        """Read a position: who moves, where, and how it stands."""
        return m.PositionTold.of(asked)

    @api.post("/move", tags=["agents"])
    async def move(asked: m.MoveAsked, request: Request) -> m.Move:
        """Let an agent choose a column."""
        return await quick.think(request, lambda stop: thinking.choose(asked, caps, stop))

    @api.post("/analysis", tags=["analysis"])
    async def analysis(asked: m.AnalysisAsked, request: Request) -> m.OpinionTold:
        """What every column is worth: proven by the solver, or estimated by an agent."""
        return await slow.think(request, lambda stop: thinking.think(asked, caps, stop))

    @api.get("/analysis/stream", tags=["analysis"], response_class=StreamingResponse)
    async def stream(asked: Annotated[m.AnalysisAsked, Query()], request: Request) -> Response:
        """The same while it is found: server-sent events `progress`, then `done` or `error`. Closing it stops the search."""
        players.spec_of(asked.agent, asked.position().rules)  # what is wrong is told before the stream begins
        return thinking.Stream(asked, caps, slow, request)

    body = {"content": {"application/json": {"schema": m.KaggleAsked.model_json_schema()}}, "required": True}

    @api.post("/kaggle", tags=["agents"], openapi_extra={"requestBody": body})
    async def kaggle(
        request: Request,
        agent: Annotated[str, Query(max_length=300)] = "level:8",
        seconds: Annotated[m.Seconds, Query()] = 1.0,
    ) -> m.Action:
        """An agent for Kaggle's ConnectX environment, which can play against an address."""
        try:  # by hand, for Kaggle's client does not say that it sends JSON
            asked = m.KaggleAsked.model_validate_json(await request.body())
        except ValidationError:
            raise UserError("the request is not what Kaggle's environments send") from None
        move = _of_kaggle(asked, agent, seconds)
        chosen = await quick.think(request, lambda stop: thinking.choose(move, caps, stop))
        return m.Action(action=chosen.column - 1)

    return api


def _of_kaggle(asked: m.KaggleAsked, agent: str, seconds: float) -> m.MoveAsked:
    """Read Kaggle's observation: a flat board and whose turn it is."""
    observation = asked.observation if asked.observation is not None else (asked.state or {}).get("observation")
    if not isinstance(observation, dict) or not isinstance(observation.get("board"), list):
        raise UserError("there is no observation with a board")
    sizes = [asked.configuration.get(name, usual) for name, usual in (("columns", 7), ("rows", 6), ("inarow", 4))]
    mark, cells = observation.get("mark", 1), observation["board"]
    if mark not in (1, 2) or not all(type(each) is int and 0 < each < 100 for each in sizes):
        raise UserError("the mark is 1 or 2, and columns, rows and inarow are whole numbers")
    if not all(type(cell) is int for cell in cells):
        raise UserError("the cells of the board are 0, 1 and 2")
    position = Position(cells, "x".join(map(str, sizes)), to_move=mark - 1, check_counts=False)
    return m.MoveAsked(start=position.write("fen"), any_counts=True, agent=agent, seconds=seconds)


def _agents() -> m.AgentsTold:
    levels = [
        m.LevelTold(
            level=number, name=each.name, agent=f"level:{number}", spec=each.spec, about=each.about, strength=each.strength
        )
        for number, each in enumerate(players.LEVELS, 1)
    ]
    told = []
    for name in players.names():
        base = players.base_of(name)
        options = [
            m.OptionTold(name=each.name, type=each.type, default=each.default, about=each.about)
            for each in registry.options_of(name)
            if each.name in players.OPTIONS[base]
        ]
        told.append(
            m.AgentTold(
                name=name,
                about=registry.about(name),
                group="agents" if name in players.OPTIONS else "documents",
                boards=str(CLASSIC) if base in players.ONE_BOARD else "any",
                xray=base in players.XRAY,
                options=options,
            )
        )
    return m.AgentsTold(levels=levels, agents=told)


def _serve_page(app: FastAPI) -> None:
    """The page's files, each under its own name; all are in memory, so no path is ever made from a request."""
    for file in (files("fourlab.web") / "static").iterdir():
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        _serve_file(app, "/" if file.name == "index.html" else f"/static/{file.name}", file.read_bytes(), kind)


def _serve_file(app: FastAPI, path: str, data: bytes, kind: str) -> None:
    headers = {"etag": f'"{hashlib.sha256(data).hexdigest()[:16]}"', "cache-control": "no-cache"}
    kind = "text/javascript" if path.endswith(".js") else kind

    async def file(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=kind, headers=headers)

    app.add_api_route(path, file, methods=["GET", "HEAD"], include_in_schema=False)


def _tell_errors(app: FastAPI) -> None:
    """Every error in the one form."""

    def handler(kind: type[Exception]) -> Callable[[Callable[[Any], Response]], None]:
        def register(tell: Callable[[Any], Response]) -> None:
            async def handle(request: Request, error: Exception) -> Response:
                return tell(error)

            told: Callable[[Request, Exception], Awaitable[Response]] = handle
            app.add_exception_handler(kind, told)

        return register

    @handler(UserError)
    def wrong(error: UserError) -> Response:
        return _error(400, " ".join(str(error).split())[:500])

    @handler(RequestValidationError)
    def misread(error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
        return _error(422, f"{where}: {first['msg']}"[:500] if where else str(first["msg"])[:500])

    @handler(HTTPException)
    def refused(error: HTTPException) -> Response:
        return _error(error.status_code, str(error.detail), dict(error.headers or {}))

    @handler(Busy)
    def busy(error: Busy) -> Response:
        return _error(503, "too many are thinking already; try again soon", {"retry-after": str(error.retry_after)})


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(error_body(status, message), status, headers)
