"""The routes for games that were played: reviews, and the runs of the lab, which are only read."""

import asyncio
from pathlib import Path as Folder
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from fourlab.agent import Limit, Stop
from fourlab.web import record_messages as r
from fourlab.web.gate import Gate
from fourlab.web.messages import ReviewAsked
from fourlab.web.readiness import Readiness
from fourlab.web.settings import Caps, Settings

if TYPE_CHECKING:
    from fourlab.analysis.review import Review

# What reads runs and reviews games imports the compiler. Routes that are plain functions run in
# threads, and import it there.

ALONE = {"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"}
"""For files that bring their own style and are looked at by themselves."""
Name = Annotated[str, Path(max_length=200)]


def routes(settings: Settings, slow: Gate, readiness: Readiness) -> APIRouter:
    """The routes; reviews pass the gate of slow work."""
    api = APIRouter()
    _add_reviews(api, settings.caps, slow, readiness)
    _add_runs(api, settings.home)
    return api


def _add_reviews(api: APIRouter, caps: Caps, slow: Gate, readiness: Readiness) -> None:
    async def prepare(request: Request) -> None:
        def kernels() -> tuple[str, ...]:
            from fourlab.analysis.review import KERNELS

            return KERNELS

        await readiness.kernels(await asyncio.to_thread(kernels), request)

    def look_back(asked: ReviewAsked, stop: Stop) -> "Review":
        from fourlab.analysis.review import review

        start, columns = asked.game()
        return review(start, columns, Limit(seconds=min(asked.seconds, caps.review_seconds), stop=stop), caps.megabytes)

    def draw(asked: ReviewAsked, stop: Stop) -> str:
        from fourlab.analysis.review_page import review_page  # what draws loads slowly

        return review_page(look_back(asked, stop))

    @api.post("/review", tags=["games"])
    async def reviewed(asked: ReviewAsked, request: Request) -> r.ReviewTold:
        """A game beside the truth: what every position was worth, and what every move made of it."""
        asked.position()  # what is wrong is told at once
        await prepare(request)
        found = await slow.think(request, lambda stop: look_back(asked, stop).as_data())
        return r.ReviewTold.model_validate(found)

    @api.get("/review/page", tags=["games"], response_class=Response, responses={200: {"content": {"text/html": {}}}})
    async def page(asked: Annotated[ReviewAsked, Query()], request: Request) -> Response:
        """The same as one HTML file to keep."""
        asked.position()
        await prepare(request)
        text = await slow.think(request, lambda stop: draw(asked, stop))
        headers = {**ALONE, "content-disposition": 'attachment; filename="review.html"'}
        return Response(text, media_type="text/html", headers=headers)


def _add_runs(api: APIRouter, home: Folder) -> None:
    @api.get("/runs", tags=["lab"])
    def runs() -> list[r.RunRow]:
        """Every run, with how far it is."""
        from fourlab.analysis import overview
        from fourlab.jobs.run import all_runs

        return [r.RunRow.model_validate(overview.row(run)) for run in all_runs(home)]

    @api.get("/runs/{name}", tags=["lab"])
    def run(name: Name) -> r.RunTold:
        """One run: settings, tables, figures, curves."""
        from fourlab.analysis import overview

        return r.RunTold.model_validate(overview.detail(overview.run_named(home, name)))

    @api.get(
        "/runs/{name}/figures/{figure}.svg",
        tags=["lab"],
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {}}}},
    )
    def figure(name: Name, figure: Name) -> Response:
        """A drawing of a run."""
        from fourlab.analysis import overview

        file = overview.figure(overview.run_named(home, name), figure)
        return Response(file.read_bytes(), media_type="image/svg+xml", headers={**ALONE, "cache-control": "no-cache"})

    @api.get("/runs/{name}/games", tags=["lab"])
    def games(
        name: Name,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> r.GamesTold:
        """Games of a run, page by page."""
        from fourlab.analysis import overview

        return r.GamesTold.model_validate(overview.games(overview.run_named(home, name), offset, limit))

    @api.get("/runs/{name}/games/{number}", tags=["lab"])
    def game(name: Name, number: Annotated[int, Path(ge=0, le=10**9)]) -> r.GameTold:
        """One game with what the agents thought."""
        from fourlab.analysis import overview

        return r.GameTold.model_validate(overview.game(overview.run_named(home, name), number))

    @api.get("/compare", tags=["lab"])
    def compare(run: Annotated[list[str], Query(min_length=1, max_length=20)]) -> r.Comparison:
        """The settings in which runs differ."""
        from fourlab.analysis import overview

        found: dict[str, Any] = overview.compare([overview.run_named(home, name) for name in run])
        return r.Comparison.model_validate(found)
