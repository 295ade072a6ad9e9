"""The routes for played games: reviews, and the runs of the lab, which are read-only."""

import asyncio
import json
from pathlib import Path as Folder
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from fourlab.web import record_messages as r
from fourlab.web import thinking
from fourlab.web.gate import Gate
from fourlab.web.messages import ReviewRequest
from fourlab.web.pool import Pool
from fourlab.web.readiness import Readiness
from fourlab.web.run_list import RunList
from fourlab.web.settings import DRAWING_SECONDS, READ_SECONDS, Caps, Settings

# The page's own policy forbids inline styles, which these files need. "sandbox" gives them an
# origin of their own: a script in a figure of a run could not call the API.
ALONE = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )
}
"""Headers for files that have their own style and are opened by themselves."""
Name = Annotated[str, Path(max_length=200, description="A name from the lists of the lab.")]


def routes(
    settings: Settings, slow: Gate, reading: Gate, readiness: Readiness, pool: Pool
) -> APIRouter:
    """Return the routes; reviews pass the gate for slow work, the lab the one for reading."""
    api = APIRouter()
    _add_reviews(api, settings.caps, slow, readiness, pool)
    _add_runs(api, settings.home, reading, pool)
    return api


def _add_reviews(api: APIRouter, caps: Caps, slow: Gate, readiness: Readiness, pool: Pool) -> None:
    async def look_back(do: str, body: ReviewRequest, request: Request, drawing: float) -> str:
        def kernels() -> tuple[str, ...]:
            from fourlab.analysis.review import KERNELS  # imports the compiler

            return KERNELS

        body.position()  # refuses a wrong request at once
        await readiness.kernels(await asyncio.to_thread(kernels), request)
        seconds = min(body.seconds, caps.review_seconds) + drawing
        return await thinking.think(request, slow, pool, do, body.model_dump(), seconds)

    @api.post("/review", tags=["games"], response_model=r.ReviewAnswer)
    async def reviewed(body: ReviewRequest, request: Request) -> Response:
        """Review a game: the exact value of every position, and the mistakes."""
        return thinking.as_json(await look_back("review", body, request, 0.0))

    @api.get(
        "/review/page",
        tags=["games"],
        response_class=Response,
        responses={200: {"content": {"text/html": {}}}},
    )
    async def page(body: Annotated[ReviewRequest, Query()], request: Request) -> Response:
        """Return a review as one HTML file."""
        text = json.loads(await look_back("review_page", body, request, DRAWING_SECONDS))
        headers = {**ALONE, "content-disposition": 'attachment; filename="review.html"'}
        return Response(text, media_type="text/html", headers=headers)


def _add_runs(api: APIRouter, home: Folder, reading: Gate, pool: Pool) -> None:
    listed = RunList(home, pool)

    async def read(request: Request, do: str, **fields: Any) -> str:
        fields["home"] = str(home)
        return await thinking.think(request, reading, pool, do, fields, READ_SECONDS)

    @api.get("/runs", tags=["lab"], response_model=list[r.RunRow])
    async def runs(request: Request) -> Response:
        """List the runs with their progress."""
        async with reading.enter(thinking.client(request)):
            return thinking.as_json(await listed.rows())

    @api.get("/runs/{name}", tags=["lab"], response_model=r.RunAnswer)
    async def run(name: Name, request: Request) -> Response:
        """Return a run: settings, tables, figures, curves."""
        return thinking.as_json(await read(request, "run", name=name))

    @api.get(
        "/runs/{name}/figures/{figure}.svg",
        tags=["lab"],
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {}}}},
    )
    async def figure(name: Name, figure: Name, request: Request) -> Response:
        """Return a figure of a run."""
        text = json.loads(await read(request, "figure", name=name, figure=figure))
        headers = {**ALONE, "cache-control": "no-cache"}
        return Response(text, media_type="image/svg+xml", headers=headers)

    @api.get("/compare", tags=["lab"], response_model=r.Comparison)
    async def compare(
        run: Annotated[
            list[str], Query(min_length=1, max_length=20, description="A run; repeated for each.")
        ],
        request: Request,
    ) -> Response:
        """Return the settings in which runs differ."""
        return thinking.as_json(await read(request, "compare", names=run))

    @api.get("/runs/{name}/games", tags=["lab"], response_model=r.GamesAnswer)
    async def games(
        name: Name,
        request: Request,
        offset: Annotated[int, Query(ge=0, le=10**9, description="Games to skip.")] = 0,
        limit: Annotated[int, Query(ge=1, le=500, description="Games to return.")] = 50,
    ) -> Response:
        """List games of a run, page by page."""
        return thinking.as_json(await read(request, "games", name=name, offset=offset, limit=limit))

    @api.get("/runs/{name}/games/{number}", tags=["lab"], response_model=r.GameAnswer)
    async def game(
        name: Name,
        number: Annotated[int, Path(ge=0, le=10**9, description="The number of the game.")],
        request: Request,
    ) -> Response:
        """Return a game with what the agents reported."""
        return thinking.as_json(await read(request, "game", name=name, number=number))
