"""The league of all agents."""

from pathlib import Path

from fourlab.agents.registry import make
from fourlab.arena.executors.threads import Threads
from fourlab.experiments import league
from fourlab.experiments.catalogue import chosen
from fourlab.experiments.experiment import Picture
from fourlab.experiments.workbench import Workbench
from fourlab.lab import figures
from fourlab.lab.tables import Table


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


def test_the_league_belongs_to_no_document_alone() -> None:
    (found,) = chosen(["league"])
    assert found.document == "all"
