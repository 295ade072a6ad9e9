"""A run as one page: tables, figures, configuration, environment and a link for each game, in a file that needs no other."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fourlab.arena import tables
from fourlab.arena.store import Store, StoredGame, write_columns
from fourlab.arena.summary import head_to_head, interval
from fourlab.arena.tables import percent
from fourlab.arena.tournament import Tournament
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC
from fourlab.jobs.run import Run
from fourlab.reporting import figures
from fourlab.reporting.page import cells, how_it_was_made, inline_figures, page, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WEB_PAGE = "http://127.0.0.1:8000/"
"""Where `fourlab web` shows games; the address holds the game."""
MOST_GAMES = 5000
"""More games are not listed; `fourlab games` has them all."""
RESULTS = {1: "red", 0: "draw", -1: "yellow", None: "–"}


def write_report(run: Run, tournament: Tournament, summary: dict[str, Any], store: Store) -> None:
    """Write figures/*.svg, where matplotlib is installed, and report.html."""
    drawn = inline_figures(run.folder / "figures", _figures(tournament, summary, store))
    run.write("report.html", _page(run, tournament, summary, drawn, store))


def _figures(
    tournament: Tournament,
    summary: dict[str, Any],
    store: Store,
) -> Iterator[tuple[str, Callable[[], "Figure"]]]:
    """The figures by name, each with what draws it."""
    if summary["ratings"] is not None:
        rated = {each["agent"]: each["elo"] for each in summary["ratings"] if each["elo"]["value"] is not None}
        if rated:
            values = {name: (elo["value"], elo["low"], elo["high"]) for name, elo in rated.items()}
            label = "Elo (Bradley-Terry) with 95 % intervals"
            yield "ratings", partial(figures.estimates, values, label)
        names = [each["agent"] for each in summary["ratings"]]
        yield "cross-table", partial(figures.cross_table, names, head_to_head(summary))
    elif scores := list(_unit_scores(tournament, store)):
        yield "score", partial(figures.running_score, scores, tournament.players[0].label)
    if summary["lengths"]:
        games = {int(length): count for length, count in summary["lengths"].items()}
        yield "lengths", partial(figures.lengths, games)
    if summary["first_columns"]:
        counts = {int(column): tuple(found.values()) for column, found in summary["first_columns"].items()}
        yield "first-columns", partial(figures.first_columns, counts)


def _unit_scores(tournament: Tournament, store: Store) -> Iterator[float]:
    """The first agent's share of the points of each complete unit, in order."""
    name = tournament.players[0].label
    for _, games in itertools.groupby(store.games("result IS NOT NULL"), key=lambda game: game.unit):
        scores = [_score(game, name) for game in games]
        if len(scores) == tournament.games_a_unit:
            yield sum(scores) / len(scores)


def _score(game: StoredGame, name: str) -> float:
    assert game.result is not None
    return (1 + (game.result if game.red == name else -game.result)) / 2


def _page(run: Run, tournament: Tournament, summary: dict[str, Any], drawn: dict[str, str], store: Store) -> str:
    title = " – ".join(player.label for player in tournament.players) if len(tournament.players) == 2 else run.name
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{_what_was_played(tournament, summary)}</p>",
        *_standings(summary, drawn),
        "<h2>The games</h2>",
        *(drawn[name] for name in ("lengths", "first-columns") if name in drawn),
        _faults(summary),
        *_accuracy(summary["accuracy"]),
        "<h2>Every game</h2>",
        _games(store, summary["games"]),
        *how_it_was_made(run),
    ]
    return page(title, parts)


def _what_was_played(tournament: Tournament, summary: dict[str, Any]) -> str:
    openings = tournament.openings if isinstance(tournament.openings, str) else f"{len(tournament.openings)} given positions"
    turns = "each opening played twice with colours swapped" if summary["unit"] == "pair" else "the first agent always red"
    games = f"{summary['games']} of {summary['of']} games on {', '.join(tournament.boards)}"
    return escape(f"{games}; openings: {openings}, {turns}; seed {tournament.seed}.")


def _standings(summary: dict[str, Any], drawn: dict[str, str]) -> Iterator[str]:
    if summary["sprt"] is not None:
        yield f'<p class="lead">{escape(summary["sprt"]["sentence"])}</p>'
    yield "<h2>Result</h2>"
    yield from (table(each.head, each.rows) for each in tables.standings(summary))
    yield from (drawn[name] for name in ("ratings", "cross-table", "score") if name in drawn)
    first = summary["first_player"]
    won = interval(first["wins"]["count"], first["games"])
    yield f"<p>Red, who moves first, scored {percent(first['score'])}: {won} won.</p>"
    if summary["repetitions"]:
        yield f"<p>{summary['repetitions']} {summary['unit']}s repeat others move by move and count once.</p>"


def _faults(summary: dict[str, Any]) -> str:
    found = tables.faults(summary)
    return table(found.head, found.rows) if found.rows else "<p>Every game ended by the rules.</p>"


def _accuracy(accuracy: dict[str, Any] | None) -> Iterator[str]:
    if accuracy is None:
        return
    agents, blunders = tables.accuracy(accuracy), tables.blunders(accuracy)
    yield f"<h2>{agents.title}</h2>"
    yield table(agents.head, agents.rows)
    if blunders.rows:
        yield f"<details><summary>{blunders.title}</summary>{table(blunders.head, blunders.rows)}</details>"


def _games(store: Store, games: int) -> str:
    rows = []
    for game in itertools.islice(store.games(), MOST_GAMES):
        word = RESULTS[game.result]
        link = f'<a href="{escape(link_to(game))}">{game.number}</a>'
        told = (game.red, game.yellow, word, game.cause, len(game.columns), game.detail)
        rows.append(f"<tr><td>{link}</td>{cells(told)}</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("game", "red", "yellow", "result", "cause", "moves", ""))
    more = f"<p>… and {games - MOST_GAMES} more.</p>" if games > MOST_GAMES else ""
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>{more}'


def link_to(game: StoredGame) -> str:
    """The address under which the web page replays the game."""
    if "/" in game.start:
        asked = {"start": game.start, "moves": game.moves}
    else:
        start = Position(game.start, game.board)
        asked = {"moves": write_columns((*(start.moves or ()), *game.columns))}
        if game.board != str(CLASSIC):
            asked["board"] = game.board
    return f"{WEB_PAGE}?{urlencode({**asked, 'view': 'watch'})}"
