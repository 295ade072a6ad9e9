import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest

from fourlab import Position
from fourlab.arena.play import play_tournament, solve_games
from fourlab.arena.report import link_to, write_report
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.summary import summarize
from fourlab.arena.tournament import read
from fourlab.game.outcome import Outcome
from fourlab.game.record import Record
from fourlab.jobs.executors.local import Local
from fourlab.jobs.run import Run, open_run
from tests.arena.players import make


class Page(HTMLParser):
    """The tags, links, outside resources and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if tag == "a" and name == "href":
                self.links.append(value or "")
            elif name in ("src", "href") and not (value or "").startswith("#"):
                self.outside.append(value or "")

    def handle_data(self, data: str) -> None:
        self.words += data


def made(folder: Path, agents: list[str], **settings: object) -> tuple[Run, Page]:
    tournament = read({"agents": agents, "rounds": 6, **settings})
    run = open_run(folder, "x", {"kind": "tournament", **tournament.as_data()})
    with Store(run.games_file) as store:
        results = play_tournament(tournament, store, Local(2), make)
        solve_games(store, Local(2))
        write_report(run, tournament, summarize(results, store), store)
    return run, Page(run.report_file.read_text())


def test_the_page_of_a_tournament_needs_no_other_file_and_links_every_game(tmp_path: Path) -> None:
    run, page = made(tmp_path, ["random", "rules", "mcts:simulations=20"], openings="random:16")
    assert page.outside == []
    assert "script" not in page.tags
    assert page.tags.count("svg") == 4
    assert len(page.links) == 36
    for word in (
        "Agreement with the solver",
        "Every game",
        "mcts:simulations=20",
        "rounds = 6",
        "versions",
    ):
        assert word in page.words
    for name in ("ratings", "cross-table", "lengths", "first-columns"):
        ET.parse(run.folder / "figures" / f"{name}.svg")


def test_the_page_of_a_match_shows_its_score(tmp_path: Path) -> None:
    run, page = made(
        tmp_path, ["random", "rules"], openings="random:16", sprt={"elo0": 0, "elo1": 400}
    )
    assert "normalized Elo" in page.words
    assert "undecided" in page.words
    assert (run.folder / "figures" / "score.svg").exists()


def test_names_are_escaped(tmp_path: Path) -> None:
    agents = [{"spec": "random", "name": "<b>&</b>"}, {"spec": "rules", "name": "$x_1$"}]
    _, page = made(tmp_path, agents, openings="random:16", rounds=1)  # type: ignore[arg-type]
    assert "<b>&</b>" in page.words
    assert "b" not in page.tags


@pytest.mark.parametrize(
    ("start", "board", "columns", "query"),
    [
        ("44", "7x6x4", (3, 2), {"moves": ["4443"]}),
        ("12", "5x4x4", (3,), {"moves": ["124"], "board": ["5x4x4"]}),
        ("10,2", "12x4x4", (11,), {"moves": ["10,2,12"], "board": ["12x4x4"]}),
        ("7/7/7/7/7/3r3 y 4", "7x6x4", (0,), {"start": ["7/7/7/7/7/3r3 y 4"], "moves": ["1"]}),
    ],
)
def test_a_link_holds_the_game(
    start: str, board: str, columns: tuple[int, ...], query: dict[str, list[str]]
) -> None:
    record = Record(Position(start, board), columns, Outcome.DRAW)
    link = urlparse(link_to(StoredGame.of(0, 0, "a", "b", record, 0)))
    assert parse_qs(link.query) == {**query, "view": ["watch"]}
