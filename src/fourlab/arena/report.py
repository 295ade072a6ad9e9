"""The HTML report of a run in one file: tables, figures, configuration, and every game."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fourlab.arena import tables
from fourlab.arena.sprt import BIAS
from fourlab.arena.store import Store, StoredGame, write_columns
from fourlab.arena.summary import head_to_head, interval
from fourlab.arena.tables import percent
from fourlab.arena.tournament import Tournament
from fourlab.game.outcome import Outcome
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC
from fourlab.jobs.run import Run
from fourlab.reporting import figures
from fourlab.reporting.page import cells, how_it_was_made, inline_figures, page, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WEB_PAGE = "http://127.0.0.1:8000/"
"""Where `fourlab web` serves its page by default; links to games hold the moves in their query."""
MOST_GAMES = 5000
"""Only this many games are listed; `fourlab games` shows all."""


def write_report(run: Run, tournament: Tournament, summary: dict[str, Any], store: Store) -> None:
    """Write report.html and, if matplotlib is installed, figures/*.svg."""
    drawings = inline_figures(run.folder / "figures", figures_of(tournament, summary, store))
    run.write("report.html", _page(run, tournament, summary, drawings, store))


def figures_of(
    tournament: Tournament,
    summary: dict[str, Any],
    store: Store,
) -> Iterator[tuple[str, Callable[[], "Figure"]]]:
    """Yield the name of every figure with the function that draws it."""
    if summary["ratings"] is not None:
        elos = {rating["agent"]: rating["elo"] for rating in summary["ratings"]}
        estimates = {
            name: (elo["value"], elo["low"], elo["high"])
            for name, elo in elos.items()
            if elo["value"] is not None
        }
        if estimates:
            label = "Elo (Bradley-Terry) with 95 % intervals"
            yield "ratings", partial(figures.estimates, estimates, label)
        yield "cross-table", partial(figures.cross_table, list(elos), head_to_head(summary))
    # Two agents have no ratings, but a score that settles as the match goes on.
    elif scores := list(_unit_scores(tournament, store)):
        yield "score", partial(figures.running_score, scores, tournament.players[0].label)
    if summary["lengths"]:
        lengths = {int(length): count for length, count in summary["lengths"].items()}
        yield "lengths", partial(figures.lengths, lengths)
    if summary["first_columns"]:
        first_columns = {
            int(column): tuple(counts.values())
            for column, counts in summary["first_columns"].items()
        }
        yield "first-columns", partial(figures.first_columns, first_columns)


def _unit_scores(tournament: Tournament, store: Store) -> Iterator[float]:
    """Yield the first agent's share of the points of every complete unit, in order."""
    name = tournament.players[0].label
    # The games of a unit have consecutive numbers, which is the order of the store.
    for _, unit in itertools.groupby(store.games(), key=lambda game: game.unit):
        results = [
            game.result if game.red == name else -game.result
            for game in unit
            if game.result is not None
        ]
        if len(results) == tournament.games_per_unit:
            yield (1 + sum(results) / len(results)) / 2  # from -1 … +1 to 0 … 1


def _page(
    run: Run,
    tournament: Tournament,
    summary: dict[str, Any],
    drawings: dict[str, str],
    store: Store,
) -> str:
    title = run.name
    if len(tournament.players) == 2:
        title = " – ".join(player.label for player in tournament.players)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{_description(tournament, summary)}</p>",
        *_standings(summary, drawings),
        "<h2>The games</h2>",
        *(drawings[name] for name in ("lengths", "first-columns") if name in drawings),
        *_quality(summary),
        "<h2>Every game</h2>",
        _games(store, summary["games"]),
        *how_it_was_made(run),
    ]
    return page(title, parts)


def _description(tournament: Tournament, summary: dict[str, Any]) -> str:
    openings = tournament.openings
    if not isinstance(openings, str):
        openings = f"{len(openings)} given positions"
    if summary["unit"] == "pair":
        colours = "each opening played twice with colours swapped"
    else:
        colours = "the first agent always red"
    games = f"{summary['games']} of {summary['of']} games on {', '.join(tournament.boards)}"
    return escape(f"{games}; openings: {openings}, {colours}; seed {tournament.seed}.")


def _standings(summary: dict[str, Any], drawings: dict[str, str]) -> Iterator[str]:
    if summary["sprt"] is not None:
        yield f'<p class="lead">{escape(summary["sprt"]["sentence"])}</p>'
        if summary["sprt"]["accepted"] is not None:
            yield f"<p>Note: {escape(BIAS)}.</p>"
    yield "<h2>Result</h2>"
    yield from map(_html, tables.standings(summary))
    yield from (drawings[name] for name in ("ratings", "cross-table", "score") if name in drawings)
    first = summary["first_player"]
    won = interval(first["wins"]["count"], first["games"])
    yield f"<p>Red, who moves first, scored {percent(first['score'])}: {won} won.</p>"
    if summary["repetitions"]:
        units = f"{summary['repetitions']} {summary['unit']}s"
        yield f"<p>{units} repeat others move by move and count once.</p>"


def _quality(summary: dict[str, Any]) -> Iterator[str]:
    """Yield how the games ended and, if they were solved, how well they were played."""
    faults = tables.faults(summary)
    yield _html(faults) if faults.rows else "<p>Every game ended by the rules.</p>"
    if summary["accuracy"] is not None:
        agents = tables.accuracy(summary["accuracy"])
        yield f"<h2>{agents.title}</h2>"
        yield _html(agents)
        blunders = tables.blunders(summary["accuracy"])
        if blunders.rows:
            yield f"<details><summary>{blunders.title}</summary>{_html(blunders)}</details>"


def _html(data: tables.Table) -> str:
    return table(data.head, data.rows)


def _games(store: Store, games: int) -> str:
    # Not `table`, because the first cell is a link; the other cells are escaped by `cells`.
    rows = []
    for game in itertools.islice(store.games(), MOST_GAMES):
        link = f'<a href="{escape(link_to(game))}">{game.number}</a>'
        plain_cells = (
            game.red,
            game.yellow,
            "–" if game.result is None else Outcome(game.result).winner_name,
            game.cause,
            len(game.columns),
            game.detail,
        )
        rows.append(f"<tr><td>{link}</td>{cells(plain_cells)}</tr>")
    names = ("game", "red", "yellow", "result", "cause", "moves", "")
    head = "".join(f"<th>{name}</th>" for name in names)
    more = f"<p>… and {games - MOST_GAMES} more.</p>" if games > MOST_GAMES else ""
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>{more}'


def link_to(game: StoredGame) -> str:
    """Return the address at which the web page replays a game."""
    if "/" in game.start:  # a FEN, so there are no moves from the empty board
        query = {"start": game.start, "moves": game.moves}
    else:
        start = Position(game.start, game.board)
        query = {"moves": write_columns((*(start.moves or ()), *game.columns))}
        if game.board != str(CLASSIC):
            query["board"] = game.board
    return f"{WEB_PAGE}?{urlencode({**query, 'view': 'watch'})}"
