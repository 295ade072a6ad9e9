"""The routes for played games: reviews, and the runs of the lab, which are read-only."""

import asyncio
from pathlib import Path as Folder
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from fourlab.agent import Limit, Stop
from fourlab.web import record_messages as r
from fourlab.web.gate import Gate
from fourlab.web.messages import ReviewRequest
from fourlab.web.readiness import Readiness
from fourlab.web.settings import Caps, Settings

if TYPE_CHECKING:
    from fourlab.analysis.review import Review

# What reads runs and reviews games imports the compiler. Routes that are plain functions run in
# threads, and import it there.

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
    async def prepare(request: Request) -> None:
        def kernels() -> tuple[str, ...]:
            from fourlab.analysis.review import KERNELS

            return KERNELS

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

    @api.post("/review", tags=["games"])
    async def reviewed(body: ReviewRequest, request: Request) -> r.ReviewAnswer:
        """Review a game: the exact value of every position, and the mistakes."""
        body.position()  # refuses a wrong request at once
        await prepare(request)
        data = await slow.think(request, lambda stop: look_back(body, stop).as_data())
        return r.ReviewAnswer.model_validate(data)

    @api.get(
        "/review/page",
        tags=["games"],
        response_class=Response,
        responses={200: {"content": {"text/html": {}}}},
    )
    async def page(body: Annotated[ReviewRequest, Query()], request: Request) -> Response:
        """Return a review as one HTML file."""
        body.position()
        await prepare(request)
        text = await slow.think(request, lambda stop: draw(body, stop))
        headers = {**ALONE, "content-disposition": 'attachment; filename="review.html"'}
        return Response(text, media_type="text/html", headers=headers)


def _add_runs(api: APIRouter, home: Folder) -> None:
    @api.get("/runs", tags=["lab"])
    def runs() -> list[r.RunRow]:
        """List the runs with their progress."""
        from fourlab.analysis import overview
        from fourlab.jobs.run import all_runs

        return [r.RunRow.model_validate(overview.row(run)) for run in all_runs(home)]

    @api.get("/runs/{name}", tags=["lab"])
    def run(name: Name) -> r.RunAnswer:
        """Return a run: settings, tables, figures, curves."""
        from fourlab.analysis import overview

        return r.RunAnswer.model_validate(overview.detail(overview.run_named(home, name)))

    @api.get(
        "/runs/{name}/figures/{figure}.svg",
        tags=["lab"],
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {}}}},
    )
    def figure(name: Name, figure: Name) -> Response:
        """Return a figure of a run."""
        from fourlab.analysis import overview

        file = overview.figure(overview.run_named(home, name), figure)
        return Response(
            file.read_bytes(),
            media_type="image/svg+xml",
            headers={**ALONE, "cache-control": "no-cache"},
        )

    @api.get("/compare", tags=["lab"])
    def compare(run: Annotated[list[str], Query(min_length=1, max_length=20)]) -> r.Comparison:
        """Return the settings in which runs differ."""
        from fourlab.analysis import overview

        runs = [overview.run_named(home, name) for name in run]
        comparison: dict[str, Any] = overview.compare(runs)
        return r.Comparison.model_validate(comparison)


def _add_games(api: APIRouter, home: Folder) -> None:
    @api.get("/runs/{name}/games", tags=["lab"])
    def games(
        name: Name,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> r.GamesAnswer:
        """List games of a run, page by page."""
        from fourlab.analysis import overview

        return r.GamesAnswer.model_validate(
            overview.games(overview.run_named(home, name), offset, limit)
        )

    @api.get("/runs/{name}/games/{number}", tags=["lab"])
    def game(name: Name, number: Annotated[int, Path(ge=0, le=10**9)]) -> r.GameAnswer:
        """Return a game with what the agents reported."""
        from fourlab.analysis import overview

        return r.GameAnswer.model_validate(overview.game(overview.run_named(home, name), number))
