"""The routes for positions, agents and what they think."""

from dataclasses import asdict
from functools import cache
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from fourlab.agents import registry
from fourlab.agents.levels import LEVELS
from fourlab.errors import UserError
from fourlab.game.named import named_positions
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.version import __version__
from fourlab.web import messages as m
from fourlab.web import players, thinking
from fourlab.web.gate import Gate
from fourlab.web.readiness import Readiness
from fourlab.web.settings import Caps, Settings


def routes(settings: Settings, quick: Gate, slow: Gate, readiness: Readiness) -> APIRouter:
    """The routes; quick work and slow work pass different gates, once the agent is ready."""
    api = APIRouter()
    _add_lists(api, settings, readiness)
    _add_searches(api, settings.caps, quick, slow, readiness)
    return api


def _add_lists(api: APIRouter, settings: Settings, readiness: Readiness) -> None:
    """What needs no search: the server, agents and positions."""

    @api.get("/ping", tags=["about"])
    async def ping() -> m.Pong:
        """Whether the server is there."""
        return m.Pong()

    @api.get("/about", tags=["about"])
    async def about() -> m.About:
        """The version, and the most that one request gets."""
        return m.About(version=__version__, public=settings.public, caps=asdict(settings.caps))

    @api.get("/agents", tags=["agents"])
    def agents(options: bool = True) -> m.AgentsTold:
        """Who can be asked: graded levels, and agents, with what is to be said of them and their options, or without."""
        return _agents(options)

    @api.get("/ready", tags=["agents"])
    async def ready(board: Annotated[str | None, Query(max_length=20)] = None) -> m.ReadyTold:
        """Which levels and agents reply at once, and in about how many seconds the others will."""
        return await readiness.report(_rules(board))

    @api.post("/ready", tags=["agents"])
    async def prepare(asked: m.AgentAsked) -> m.ReadyTold:
        """Compile what an agent needs first. A request for a move does so by itself."""
        rules = _rules(asked.board)
        await readiness.prefer(asked.agent, rules)
        return await readiness.report(rules)

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


def _add_searches(api: APIRouter, caps: Caps, quick: Gate, slow: Gate, readiness: Readiness) -> None:
    """Moves and analyses."""

    @api.post("/move", tags=["agents"])
    async def move(asked: m.MoveAsked, request: Request) -> m.Move:
        """Let an agent choose a column."""
        await readiness.agent(asked.agent, asked.position().rules, request)
        return await quick.think(request, lambda stop: thinking.choose(asked, caps, stop))

    @api.post("/analysis", tags=["analysis"])
    async def analysis(asked: m.AnalysisAsked, request: Request) -> m.OpinionTold:
        """What every column is worth: proven by the solver, or estimated by an agent."""
        await readiness.agent(asked.agent, asked.position().rules, request)
        return await slow.think(request, lambda stop: thinking.think(asked, caps, stop))

    @api.get("/analysis/stream", tags=["analysis"], response_class=StreamingResponse)
    async def stream(asked: Annotated[m.AnalysisAsked, Query()], request: Request) -> Response:
        """The same while it is found: server-sent events `progress`, then `done` or `error`. Closing it stops the search."""
        # What is wrong is said before the stream begins.
        await readiness.agent(asked.agent, asked.position().rules, request)
        return thinking.Stream(asked, caps, slow, request)

    body = {"content": {"application/json": {"schema": m.KaggleAsked.model_json_schema()}}, "required": True}

    @api.post("/kaggle", tags=["agents"], openapi_extra={"requestBody": body})
    async def kaggle(
        request: Request,
        agent: Annotated[str, Query(max_length=300)] = "level:8",
        seconds: Annotated[m.Seconds, Query()] = thinking.USUAL_SECONDS,
    ) -> m.Action:
        """An agent for Kaggle's ConnectX environment, which can play against an address."""
        try:  # by hand, for Kaggle's client does not say that it sends JSON
            asked = m.KaggleAsked.model_validate_json(await request.body())
        except ValidationError:
            raise UserError("the request is not what Kaggle's environments send") from None
        move = _of_kaggle(asked, agent, seconds)
        await readiness.agent(move.agent, move.position().rules, request)
        chosen = await quick.think(request, lambda stop: thinking.choose(move, caps, stop))
        return m.Action(action=chosen.column - 1)


def _rules(board: str | None) -> Rules:
    return CLASSIC if board is None else Rules.parse(board)


def _of_kaggle(asked: m.KaggleAsked, agent: str, seconds: float) -> m.MoveAsked:
    """Read Kaggle's observation: a flat board and whose turn it is."""
    observation = asked.observation if asked.observation is not None else (asked.state or {}).get("observation")
    if not isinstance(observation, dict) or not isinstance(observation.get("board"), list):
        raise UserError("there is no observation with a board")
    sizes = [asked.configuration.get(name, usual) for name, usual in (("columns", 7), ("rows", 6), ("inarow", 4))]
    mark, cells = observation.get("mark", 1), observation["board"]
    if type(mark) is not int or mark not in (1, 2) or not all(type(each) is int and 0 < each < 100 for each in sizes):
        raise UserError("the mark is 1 or 2, and columns, rows and inarow are whole numbers")
    if not all(type(cell) is int for cell in cells):
        raise UserError("the cells of the board are 0, 1 and 2")
    position = Position(cells, "x".join(map(str, sizes)), to_move=mark - 1, check_counts=False)
    return m.MoveAsked(start=position.write("fen"), any_counts=True, agent=agent, seconds=seconds)


@cache
def _agents(with_options: bool) -> m.AgentsTold:
    levels = [
        m.LevelTold(
            level=number, name=each.name, agent=f"level:{number}", spec=each.spec, about=each.about, strength=each.strength
        )
        for number, each in enumerate(LEVELS, 1)
    ]
    told = []
    for name in players.names():
        entry = registry.AGENTS[players.base_of(name)]
        options = [
            m.OptionTold(
                name=each.name,
                type=each.wanted,
                default=each.default,
                about=each.help,
                unit=each.unit,
                json_schema=each.schema,
            )
            for each in (players.options_for(name) if with_options else ())
        ]
        told.append(
            m.AgentTold(
                name=name,
                about=registry.about(name) if with_options else "",
                group="agents" if name in registry.AGENTS else "documents",
                boards=str(CLASSIC) if entry.one_board else "any",
                xray=entry.xray,
                options=options,
            )
        )
    return m.AgentsTold(levels=levels, agents=told)
