"""The league of all agents."""

from itertools import combinations
from pathlib import Path

import pytest

from fourlab.agents.registry import make
from fourlab.arena.ratings import Rating
from fourlab.arena.statistics import Estimate as Elo
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting import figures
from fourlab.studies import league
from fourlab.studies.catalogue import chosen
from fourlab.studies.claims import Answer, Claim, Estimate
from fourlab.studies.workbench import Picture, Table, Text, Workbench


def test_every_agent_of_the_league_can_be_made_and_has_an_owner() -> None:
    for name, spec in (league.AGENTS | league.alpha_agents()).items():
        assert hasattr(make(spec), "decide")
        assert name.startswith(league.OWNERS)


def test_a_small_league(tmp_path: Path) -> None:
    size = {"every": 9, "rounds": 1, "positions": 2}
    parts = list(league.league(Workbench(tmp_path, "smoke", size, 0, Threads(1))))
    table, picture = parts[0], parts[-1]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == list(range(1, len(table.rows) + 1))
    assert {row[1] for row in table.rows} <= {
        *league.AGENTS,
        *league.alpha_agents(),
    }
    assert isinstance(picture, Picture)
    assert figures.render(picture.draw(), "svg").startswith(b"<svg")


def test_the_league_says_which_agents_differ_from_the_reports(tmp_path: Path) -> None:
    size = {"every": 16, "rounds": 1, "positions": 1}
    parts = league.league(Workbench(tmp_path, "smoke", size, 0, Threads(1)))
    (text,) = (part for part in parts if isinstance(part, Text))
    assert "one tree for all its games against an opponent: 2 from" in " ".join(text.lines.split())
    alphas = league.alpha_agents()
    listed, corrected = (
        alphas[f"Arya AlphaMCTS(10) {version}"] for version in ("as listed", "corrected")
    )
    assert "faithful=1" in listed
    assert "net=arya-alphamcts-10-1," in listed
    assert "simulations=20," in listed
    assert "simulations=20," in corrected


@pytest.mark.parametrize(
    "there", [set(), {"arya-alphamcts-10"}, {*league.LISTED_NETWORKS.values()}]
)
def test_an_agent_as_listed_has_a_network_of_the_listed_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: set[str]
) -> None:
    monkeypatch.setattr(league, "trainings", lambda name: {2: f"{name}-2"} if name in there else {})
    bench = Workbench(tmp_path, "smoke", {"rounds": 1}, 0, Threads(1))
    note = " ".join(league._left_out(bench).split())
    agents = league.alpha_agents()
    for length, net in (("10", "arya-1000"), ("50", "arya-5000")):
        agent = f"AlphaMCTS({length})"
        trained = f"arya-alphamcts-{length}" in there
        version = "as listed" if trained else "search as listed"
        own = f"arya-alphamcts-{length}-2" if trained else net
        assert f"net={own}," in agents[f"Arya {agent} {version}"]
        assert (f"{agent} as listed was trained by the listed program" in note) == trained
        assert (f"Of {agent} only the search is as listed" in note) == (not trained)


def test_an_agent_with_a_listed_search_alone_is_not_the_best_of_its_report() -> None:
    ratings = [
        Rating(f"Arya {name}", Elo(elo, elo - 9, elo + 9), 8, 0.5)
        for name, elo in (("AlphaMCTS(50) search as listed", 9), ("vanilla as listed", 1))
    ]
    (claim,) = league._strongest(ratings)
    assert isinstance(claim.faithful, Estimate)
    assert claim.faithful.note == "vanilla as listed"


def test_every_corrected_agent_has_a_faithful_one_in_the_league(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(league, "trainings", lambda name: {1: f"{name}-1"})
    names = {*league.AGENTS, *league.alpha_agents()}
    for agent, before, after in league.CORRECTED_PAIRS:
        assert {f"{agent} {before}", f"{agent} {after}"} <= names
    paired = {f"{agent} {after}" for agent, _, after in league.CORRECTED_PAIRS}
    assert paired == {name for name in names if name.endswith(" corrected")}


def test_claims_compare_agents_only_at_the_budget_of_their_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        league,
        "AGENTS",
        {
            "Bhat MC40 as coded": "random",
            "Bhat MC40 corrected": "rules",
            "ours: perfect": "rules",
        },
    )
    monkeypatch.setattr(
        league,
        "alpha_agents",
        lambda: {"Arya AlphaMCTS(10) as listed": "random", "Arya AlphaMCTS(10) corrected": "rules"},
    )
    size = {"every": 1, "rounds": 12, "positions": 1}
    parts = list(league.league(Workbench(tmp_path, "quick", size, 0, Threads(1))))
    claims = {part.name: part for part in parts if isinstance(part, Claim)}
    assert claims["league-bhat-mc40"].true is not None
    assert claims["league-bhat-mc40"].true.answer == Answer.AGREES
    assert claims["league-arya-alphamcts-10"].true is None
    assert claims["league-arya-alphamcts-10"].why.startswith("no verdict")
    best = claims["league-best-bhat"]
    assert isinstance(best.faithful, Estimate)
    assert isinstance(best.corrected, Estimate)
    assert best.faithful.note.startswith("MC40 as coded")
    assert best.faithful.value < best.corrected.value


def test_names_in_the_figure_do_not_overlap_and_intervals_are_whole() -> None:
    elos = {
        "Arya minimax(4)": 285,
        "Arya minimax(6)": 394,
        "ours: alphazero, no search": 405,
        "ours: value network": 331,
    }
    elos |= {"ours: random": -777, "Arya Q-learning as coded": -790, "ours: perfect": 1131}
    seconds = (0.00015, 0.00024, 0.00061, 0.00056, 0.00006, 0.00008, 0.02)
    ratings = [Rating(name, Elo(elo, elo - 80, elo + 300), 8, 0.5) for name, elo in elos.items()]
    answers = {name: {"seconds": time} for name, time in zip(elos, seconds, strict=True)}
    figure = league._draw(ratings, answers)
    figures.render(figure, "png")  # drawing determines the boxes
    (axes,) = figure.axes
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == len(elos)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    bottom, top = axes.get_ylim()
    assert bottom < -790 - 80
    assert top > 1131 + 300


def test_the_league_belongs_to_no_single_report() -> None:
    (experiment,) = chosen(["league"])
    assert experiment.document == "all"
