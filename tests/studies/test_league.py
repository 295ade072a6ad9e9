"""The league of all agents."""

from itertools import combinations
from pathlib import Path

from fourlab.agents.registry import make
from fourlab.arena.ratings import Rating
from fourlab.arena.statistics import Estimate
from fourlab.arena.tables import Table
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting import figures
from fourlab.studies import league
from fourlab.studies.catalogue import chosen
from fourlab.studies.experiment import Picture, Text
from fourlab.studies.workbench import Workbench


def test_every_agent_of_the_league_can_be_made_and_belongs_to_somebody() -> None:
    for name, spec in league.AGENTS.items():
        assert hasattr(make(spec), "decide")
        assert name.startswith(league.OWNERS)


def test_some_of_the_league(tmp_path: Path) -> None:
    size = {"every": 9, "training": 200, "rounds": 1, "positions": 2}
    parts = list(league.league(Workbench(tmp_path, "smoke", size, 0, Threads(1))))
    table, picture = parts[0], parts[-1]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == list(range(1, len(table.rows) + 1))
    assert {row[1] for row in table.rows} <= {*league.AGENTS, "004 Q-learning as coded", "004 Q-learning corrected"}
    assert isinstance(picture, Picture)
    assert figures.render(picture.draw(), "svg").startswith(b"<?xml")


def test_the_league_tells_who_is_not_the_documents(tmp_path: Path) -> None:
    size = {"every": 16, "training": 200, "rounds": 1, "positions": 1}
    (told,) = (each for each in league.league(Workbench(tmp_path, "smoke", size, 0, Threads(1))) if isinstance(each, Text))
    assert "learned from 200 games" in told.lines
    listed, corrected = (league.AGENTS[f"004 AlphaMCTS(50) {each}"] for each in ("as listed", "corrected"))
    assert "faithful=1" in listed
    assert listed.split(",")[:2] == corrected.split(",")[:2]


def test_names_in_the_figure_do_not_overlap_and_intervals_are_whole() -> None:
    elos = {"004 minimax(4)": 285, "004 minimax(6)": 394, "ours: alphazero, no search": 405, "ours: value network": 331}
    elos |= {"ours: random": -777, "004 Q-learning as coded": -790, "ours: perfect": 1131}
    seconds = (0.00015, 0.00024, 0.00061, 0.00056, 0.00006, 0.00008, 0.02)
    ratings = [Rating(name, Estimate(elo, elo - 80, elo + 300), 8, 0.5) for name, elo in elos.items()]
    answers = {name: {"seconds": each} for name, each in zip(elos, seconds, strict=True)}
    figure = league._draw(ratings, answers)
    figures.render(figure, "png")  # boxes are known when it is drawn
    (axes,) = figure.axes
    boxes = [each.get_window_extent() for each in axes.texts]
    assert len(boxes) == len(elos)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    bottom, top = axes.get_ylim()
    assert bottom < -790 - 80
    assert top > 1131 + 300


def test_the_league_belongs_to_no_document_alone() -> None:
    (found,) = chosen(["league"])
    assert found.document == "all"
