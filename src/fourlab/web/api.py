"""The routes for positions, agents, moves and analyses."""

import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from fourlab.agents import registry
from fourlab.agents.adaptive import next_level
from fourlab.agents.levels import LEVELS, Level
from fourlab.arena.statistics import Estimate
from fourlab.errors import UserError
from fourlab.game.named import named_positions
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.version import __version__
from fourlab.web import messages as m
from fourlab.web import players, thinking
from fourlab.web.gate import Gate
from fourlab.web.own_agents import CLOSED, OwnAgents, spec_for
from fourlab.web.pool import Pool
from fourlab.web.readiness import Readiness
from fourlab.web.settings import (
    MOST_UPLOAD_BYTES,
    READ_SECONDS,
    USUAL_SECONDS,
    Caps,
    OwnAgent,
    Settings,
)


def routes(
    settings: Settings,
    quick: Gate,
    slow: Gate,
    readiness: Readiness,
    pool: Pool,
    own: OwnAgents,
) -> APIRouter:
    """Return the routes; quick and slow searches have separate gates."""
    api = APIRouter()
    _add_lists(api, settings, readiness, own)
    _add_searches(api, settings.caps, _Searches(quick, slow, readiness, pool, own))
    _add_files(api, slow, pool, own)
    return api


@dataclass(frozen=True)
class _Searches:
    """What searches need: their places, their workers, and the agents."""

    quick: Gate
    slow: Gate
    readiness: Readiness
    pool: Pool
    own: OwnAgents

    async def fields(self, body: m.MoveRequest, request: Request) -> dict[str, Any]:
        """Return what a worker is asked, as soon as the agent can search."""
        spec = self.own.spec_of(body.agent)
        if spec is None:
            await self.readiness.agent(body.agent, body.position().rules, request)
        return {**body.model_dump(), "own": spec}


def _add_lists(api: APIRouter, settings: Settings, readiness: Readiness, own: OwnAgents) -> None:
    """Add the routes that need no search: the server, agents and positions."""

    @api.get("/ping", tags=["about"])
    async def ping() -> m.Pong:
        """Answer if the server is up."""
        return m.Pong()

    @api.get("/about", tags=["about"])
    async def about() -> m.About:
        """Return the version and the limits of one request."""
        return m.About(version=__version__, public=settings.public, caps=asdict(settings.caps))

    # A plain function, which FastAPI runs in a thread: describing the options imports the agents.
    @api.get("/agents", tags=["agents"])
    def agents(
        options: Annotated[bool, Query(description="With the options of every agent.")] = True,
        board: Annotated[
            str | None, Query(max_length=20, description="Board of the levels; 7x6x4 by default.")
        ] = None,
    ) -> m.AgentsAnswer:
        """List the graded levels and the agents, with their descriptions and options or without."""
        rules = _rules(board)
        levels = [_level_answer(level, rules) for level in LEVELS]
        mine = [_own_answer(name, agent) for name, agent in own.agents.items()]
        return m.AgentsAnswer(levels=levels, agents=[*_agents(options), *mine])

    @api.get("/ready", tags=["agents"])
    async def ready(
        board: Annotated[
            str | None, Query(max_length=20, description="The board to play on; 7x6x4 by default.")
        ] = None,
    ) -> m.ReadyAnswer:
        """List which levels and agents are ready, and the estimated seconds for the others."""
        return await readiness.report(_rules(board))

    @api.post("/ready", tags=["agents"])
    async def prepare(body: m.AgentRequest) -> m.ReadyAnswer:
        """Compile an agent's kernels before others. Requests for moves do this automatically."""
        rules = _rules(body.board)
        if own.spec_of(body.agent) is None:
            await readiness.prefer(body.agent, rules)
        return await readiness.report(rules)

    @api.get("/positions", tags=["positions"])
    def positions() -> list[m.NamedPositionAnswer]:
        """List the named positions."""
        return [
            m.NamedPositionAnswer(name=name, fen=Position(name).write("fen"), about=entry.about)
            for name, entry in named_positions().items()
        ]

    @api.post("/position", tags=["positions"])
    async def position(body: m.PositionRequest) -> m.PositionAnswer:
        """Read a position: side to move, legal columns, outcome."""
        return m.PositionAnswer.of(body)


def _add_searches(api: APIRouter, caps: Caps, searches: _Searches) -> None:
    """Add the routes for moves and analyses."""
    slow = searches.slow
    pool = searches.pool

    async def choose(body: m.MoveRequest, request: Request) -> str:
        fields = await searches.fields(body, request)
        seconds = min(body.seconds or caps.move_seconds, caps.move_seconds)
        return await thinking.think(request, searches.quick, pool, "move", fields, seconds)

    # Workers answer in JSON, which is passed on as it is; the models describe it in the schema.

    @api.post("/move", tags=["agents"], response_model=m.Move)
    async def move(body: m.MoveRequest, request: Request) -> Response:
        """Let an agent choose a column."""
        return thinking.as_json(await choose(body, request))

    @api.post("/analysis", tags=["analysis"], response_model=m.OpinionAnswer)
    async def analysis(body: m.AnalysisRequest, request: Request) -> Response:
        """Evaluate every column: proven by the solver, or estimated by an agent."""
        fields = await searches.fields(body, request)
        seconds = min(body.seconds, caps.analysis_seconds)
        answer = await thinking.think(request, slow, pool, "analysis", fields, seconds)
        return thinking.as_json(answer)

    @api.get("/analysis/stream", tags=["analysis"], response_class=StreamingResponse)
    async def stream(body: Annotated[m.AnalysisRequest, Query()], request: Request) -> Response:
        """Stream an analysis as server-sent events: `progress`, then `done` or `error`.

        Closing the connection stops the search.
        """
        # Errors in the request are answered before the stream begins.
        fields = await searches.fields(body, request)
        seconds = min(body.seconds, caps.analysis_seconds)
        return thinking.Stream(fields, seconds, slow, pool, request)

    kaggle_body = {
        "content": {"application/json": {"schema": m.KaggleRequest.model_json_schema()}},
        "required": True,
    }

    @api.post("/kaggle", tags=["agents"], openapi_extra={"requestBody": kaggle_body})
    async def kaggle(
        request: Request,
        agent: Annotated[
            str, Query(max_length=300, description="The agent that plays.")
        ] = "level:10",
        seconds: Annotated[
            m.Seconds, Query(description="Time limit per move in seconds.")
        ] = USUAL_SECONDS,
    ) -> m.Action:
        """Play as an agent of Kaggle's ConnectX environment, which accepts URLs as agents."""
        try:  # parsed here, since Kaggle's client sends no content type
            body = m.KaggleRequest.model_validate_json(await request.body())
        except ValidationError:
            raise UserError("the request is not what Kaggle's environments send") from None
        chosen = json.loads(await choose(_of_kaggle(body, agent, seconds), request))
        return m.Action(action=chosen["column"] - 1)


def _add_files(api: APIRouter, gate: Gate, pool: Pool, own: OwnAgents) -> None:
    """Add the route for files that the server's owner drops on the page."""

    @api.post("/own", tags=["agents"])
    async def take(
        request: Request,
        name: Annotated[str, Query(max_length=100)],
        at: Annotated[int, Query(ge=0, le=MOST_UPLOAD_BYTES)] = 0,
        last: bool = True,
    ) -> m.OwnAnswer:
        """Take a piece of a file with an agent; the last piece makes it one.

        Only a server that its owner has started with --allow-programs does this.
        """
        if not own.is_open:
            raise HTTPException(403, CLOSED)
        file = own.take(name, at, await request.body())
        if not last:
            return m.OwnAnswer()
        # In a worker: the server itself runs nothing of the file.
        fields = {"spec": spec_for(file)}
        answer = await thinking.think(request, gate, pool, "check_own", fields, READ_SECONDS)
        checked = OwnAgent(fields["spec"], *json.loads(answer))
        return m.OwnAnswer(agent=own.add(checked), about=checked.about)


def _rules(board: str | None) -> Rules:
    return CLASSIC if board is None else Rules.parse(board)


def _of_kaggle(body: m.KaggleRequest, agent: str, seconds: float) -> m.MoveRequest:
    """Read Kaggle's observation: a flat board and the side to move."""
    # The observation is at the top level of the request or inside its "state".
    observation = body.observation
    if observation is None:
        observation = (body.state or {}).get("observation")
    if not isinstance(observation, dict) or not isinstance(observation.get("board"), list):
        raise UserError("there is no observation with a board")
    sizes = [
        body.configuration.get(name, usual)
        for name, usual in (("columns", 7), ("rows", 6), ("inarow", 4))
    ]
    mark = observation.get("mark", 1)
    cells = observation["board"]
    # `type(...) is int` and not isinstance: JSON's true and false are instances of int in Python.
    valid_mark = type(mark) is int and mark in (1, 2)
    if not valid_mark or not all(type(size) is int and 0 < size < 100 for size in sizes):
        raise UserError("the mark is 1 or 2, and columns, rows and inarow are whole numbers")
    if not all(type(cell) is int for cell in cells):
        raise UserError("the cells of the board are 0, 1 and 2")
    # A mark is 1 for red and 2 for yellow. Their numbers of discs depend on who moved first.
    position = Position(cells, "x".join(map(str, sizes)), to_move=mark - 1, check_counts=False)
    return m.MoveRequest(start=position.write("fen"), any_counts=True, agent=agent, seconds=seconds)


def _own_answer(name: str, agent: OwnAgent) -> m.AgentAnswer:
    return m.AgentAnswer(
        name=name, about=agent.about, group="own", boards="any", xray=agent.xray, options=[]
    )


def _level_answer(level: Level, rules: Rules) -> m.LevelAnswer:
    match = level.result_on(rules)
    elo = Estimate() if match is None else match.elo
    return m.LevelAnswer(
        level=level.number,
        name=level.name,
        agent=f"level:{level.number}",
        spec=level.spec_on(rules),
        about=level.about_on(rules),
        strength=level.strength_on(rules),
        elo=elo.value,
        low=elo.low,
        high=elo.high,
        after_win=f"level:{next_level(level.number, Result.WIN)}",
        after_loss=f"level:{next_level(level.number, Result.LOSS)}",
    )


@cache
def _agents(with_options: bool) -> list[m.AgentAnswer]:
    agents = []
    for name in players.names():
        base = players.base_of(name)
        entry = registry.AGENTS[base]
        options = [
            m.OptionAnswer(
                name=option.name,
                type=option.allowed_values,
                default=option.default,
                about=option.help,
                unit=option.unit,
                json_schema=option.schema,
                aliases=list(option.aliases),
            )
            for option in (players.options_for(name) if with_options else ())
        ]
        agents.append(
            m.AgentAnswer(
                name=name,
                about=registry.about(name) if with_options else "",
                # The presets are the agents of the five reports.
                group="agents" if name in registry.AGENTS else "documents",
                boards=", ".join(registry.boards_of(base)) or "any",
                xray=entry.xray,
                options=options,
            )
        )
    return agents
