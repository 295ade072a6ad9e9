"""The routes for played games: reviews, and the runs of the lab, which are read-only."""

import asyncio
from pathlib import Path as Folder
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from fourlab.agent import Limit, Stop
from fourlab.analysis import overview
from fourlab.jobs.run import all_runs
from fourlab.web import record_messages as r
from fourlab.web.gate import Gate
from fourlab.web.messages import ReviewRequest
from fourlab.web.readiness import Readiness
from fourlab.web.settings import Caps, Settings

if TYPE_CHECKING:
    from fourlab.analysis.review import Review

# FastAPI runs routes that are plain functions in threads, so the routes below may read files.
# Reviews import the compiler, which takes seconds; that must not happen in the event loop either.

# The page's own policy forbids inline styles, which these files need. "sandbox" gives them an
# origin of their own: a script in a figure of a run could not call the API.
ALONE = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    )
}
"""Headers for files that have their own style and are opened by themselves."""
Name = Annotated[str, Path(max_length=200)]


def routes(settings: Settings, slow: Gate, readiness: Readiness) -> APIRouter:
    """Return the routes; reviews pass the gate for slow work."""
    api = APIRouter()
    _add_reviews(api, settings.caps, slow, readiness)
    _add_runs(api, settings.home)
    _add_games(api, settings.home)
    return api


def _add_reviews(api: APIRouter, caps: Caps, slow: Gate, readiness: Readiness) -> None:
    def kernels() -> tuple[str, ...]:
        from fourlab.analysis.review import KERNELS

        return KERNELS

    async def prepare(body: ReviewRequest, request: Request) -> None:
        body.position()  # an invalid request is refused before anything waits for it
        await readiness.kernels(await asyncio.to_thread(kernels), request)

    def look_back(body: ReviewRequest, stop: Stop) -> "Review":
        from fourlab.analysis.review import review

        start, columns = body.game()
        return review(
            start,
            columns,
            Limit(seconds=min(body.seconds, caps.review_seconds), stop=stop),
            caps.megabytes,
        )

    def draw(body: ReviewRequest, stop: Stop) -> str:
        from fourlab.analysis.review_page import review_page  # loads matplotlib, which is slow

        return review_page(look_back(body, stop))

    @api.post("/review", tags=["games"], response_model=r.ReviewAnswer)
    async def reviewed(body: ReviewRequest, request: Request) -> dict[str, Any]:
        """Review a game: the exact value of every position, and the mistakes."""
        await prepare(body, request)
        return await slow.think(request, lambda stop: look_back(body, stop).as_data())

    @api.get(
        "/review/page",
        tags=["games"],
        response_class=Response,
        responses={200: {"content": {"text/html": {}}}},
    )
    async def page(body: Annotated[ReviewRequest, Query()], request: Request) -> Response:
        """Return a review as one HTML file."""
        await prepare(body, request)
        text = await slow.think(request, lambda stop: draw(body, stop))
        headers = {**ALONE, "content-disposition": 'attachment; filename="review.html"'}
        return Response(text, media_type="text/html", headers=headers)


def _add_runs(api: APIRouter, home: Folder) -> None:
    @api.get("/runs", tags=["lab"], response_model=list[r.RunRow])
    def runs() -> list[dict[str, Any]]:
        """List the runs with their progress."""
        return [overview.row(run) for run in all_runs(home)]

    @api.get("/runs/{name}", tags=["lab"], response_model=r.RunAnswer)
    def run(name: Name) -> dict[str, Any]:
        """Return a run: settings, tables, figures, curves."""
        return overview.detail(overview.run_named(home, name))

    @api.get(
        "/runs/{name}/figures/{figure}.svg",
        tags=["lab"],
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {}}}},
    )
    def figure(name: Name, figure: Name) -> Response:
        """Return a figure of a run."""
        file = overview.figure(overview.run_named(home, name), figure)
        return Response(
            file.read_bytes(),
            media_type="image/svg+xml",
            headers={**ALONE, "cache-control": "no-cache"},
        )

    @api.get("/compare", tags=["lab"], response_model=r.Comparison)
    def compare(run: Annotated[list[str], Query(min_length=1, max_length=20)]) -> dict[str, Any]:
        """Return the settings in which runs differ."""
        return overview.compare([overview.run_named(home, name) for name in run])


def _add_games(api: APIRouter, home: Folder) -> None:
    @api.get("/runs/{name}/games", tags=["lab"], response_model=r.GamesAnswer)
    def games(
        name: Name,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> dict[str, Any]:
        """List games of a run, page by page."""
        return overview.games(overview.run_named(home, name), offset, limit)

    @api.get("/runs/{name}/games/{number}", tags=["lab"], response_model=r.GameAnswer)
    def game(name: Name, number: Annotated[int, Path(ge=0, le=10**9)]) -> dict[str, Any]:
        """Return a game with what the agents reported."""
        return overview.game(overview.run_named(home, name), number)
