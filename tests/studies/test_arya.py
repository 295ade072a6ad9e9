"""Document 004's experiments."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.arena.tables import Table
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting import figures
from fourlab.studies import arya
from fourlab.studies.arya import bouts, chess, evaluator, lessons, matches, speed
from fourlab.studies.compare import share
from fourlab.studies.experiment import Finding, Part, Picture, Text
from fourlab.studies.workbench import Workbench

EXPERIMENTS = {each.name: each for each in arya.EXPERIMENTS}


def bench(folder: Path, size: dict[str, Any], executor: Threads | None = None) -> Workbench:
    return Workbench(folder, "smoke", size, 0, executor or Threads(1))


def conduct(name: str, folder: Path, **size: Any) -> list[Part]:
    experiment = EXPERIMENTS[name]
    return list(experiment.conduct(bench(folder, {**experiment.sizes["smoke"], **size})))


def findings(parts: list[Part]) -> dict[str, Finding]:
    return {each.what: each for each in parts if isinstance(each, Finding)}


def test_a_score_counts_a_players_games_on_either_side(tmp_path: Path) -> None:
    work = bench(tmp_path, {})
    matches = [
        bouts.match(work, ("rules", "random"), ("one", "other"), 6),
        bouts.match(work, ("random", "rules"), ("a", "b"), 3, "fixed"),
    ]
    first, second = bouts.play(work, "games", matches)
    assert [len(first), len(second)] == [6, 3]
    assert all(game.red == "a" for game in second)
    whole = bouts.score(first, "one")
    assert whole.games == 6
    assert tuple(whole) == tuple(map(sum, zip(bouts.score(first, "one", 0), bouts.score(first, "one", 1), strict=True)))
    assert (whole.lost, whole.won) == bouts.score(first, "other")[:2]


def test_a_bout_tells_its_numbers_tables_and_bars_and_is_the_same_again(tmp_path: Path) -> None:
    work = bench(tmp_path, {})
    readings = {"faithful": bouts.Reading("rules", "random"), "corrected": bouts.Reading("rules", "rules", "alternate")}
    bout = bouts.Bout("bout", ("X", "O"), "X", bouts.Score(9, 1, 0), readings, "because")
    parts = list(bouts.conduct(work, [bout], 4))
    assert [type(each) for each in parts] == [Finding, Finding, Finding, Table, Table, Picture]
    told = findings(parts)["X against O: wins"]
    assert told.document.startswith("90.0 %")
    assert told.faithful.endswith("of 4")
    picture = parts[-1]
    assert isinstance(picture, Picture)
    assert len(picture.data.rows) == 1 + 2 * 4
    assert figures.render(picture.draw(), "svg").startswith(b"<?xml")
    bars = picture.draw().axes[0]
    assert [each.get_text() for each in bars.texts][:3] == ["90 %", "10 %", "0 %"]  # the axis has percent, so the bars have
    assert len(bars.collections) == 3  # their intervals
    again = list(bouts.conduct(work, [bout], 4))
    assert [each for each in again if not isinstance(each, Picture)] == parts[:-1]


def test_lessons_go_on_where_they_were_and_end_alike(tmp_path: Path) -> None:
    def learn(folder: str, *marks: int) -> tuple[Any, bytes]:
        row = [lessons.QPiece(str(tmp_path / folder), mark, 0)(1) for mark in marks][-1]
        return row, (tmp_path / folder / "corrected" / str(marks[-1]) / "table.q").read_bytes()

    smooth = learn("smooth", 200, 400)
    assert smooth[0]["positions"] > 3000
    assert learn("killed", 200, 200, 400, 400) == smooth  # killed each time before it was written down
    learn("smooth", 200, 400, 600)
    assert sorted(each.name for each in (tmp_path / "smooth" / "corrected").iterdir()) == ["400", "600"]


def test_tables_are_told_without_the_place_where_they_are(tmp_path: Path) -> None:
    specs, _ = lessons.q_tables(bench(tmp_path, {}), 200)
    assert bouts.without_paths(specs[0]) == "q:tie=random,table=faithful/200/table.q"
    assert make(specs[1]).decide(Position(), Limit(), np.random.default_rng(0)).column in range(7)


def test_experiments_1_and_2(tmp_path: Path) -> None:
    parts = conduct("004-experiments-1-2", tmp_path, training=400, games=2, rollouts=50)
    found = findings(parts)
    assert found["minimax(4) against Q-learning: wins"].document.startswith("73.0 %")
    assert {each.agrees for each in found.values()} == {None}  # two games tell nothing
    assert found["MCTS 1 s against Q-learning: wins"].why.startswith("too few games to tell")
    assert found["MCTS 1 s against Q-learning: wins"].document.startswith("100.0 %")
    assert sum(isinstance(each, Picture) for each in parts) == 2


def test_experiment_4_and_what_chance_costs(tmp_path: Path) -> None:
    parts = conduct("004-experiment-4", tmp_path / "4", games=2, rollouts=30, iterations=2)
    found = findings(parts)
    assert found["MCTS 5 s against AlphaMCTS(10): wins"].document.startswith("66.0 %")
    assert found["AlphaMCTS(50) against MCTS 5 s: wins"].document.startswith("81.0 %")
    assert all("of 2" in each.faithful and "of 2" in each.corrected for each in found.values())
    for each in found.values():
        assert each.agrees is None
        assert each.why.startswith("no verdict, for the network is not the document's: arya-")
        assert "--preset arya --faithful" in each.why
    table, *duels = conduct("004-temperature", tmp_path / "t", positions=2, games=2, iterations=2)
    assert isinstance(table, Table)
    assert len(table.rows) == 4
    assert len(duels) == 3


def test_figure_33_is_trained_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    parts = conduct("004-figure-33", tmp_path, network="2x1", games=8, step=8)
    picture = parts[-1]
    assert isinstance(picture, Picture)
    for each in findings(parts).values():
        assert each.faithful.count("] of 500") == each.corrected.count("] of 500") == 2
        assert "random games" in each.why
    assert [(row[0], row[1], row[2]) for row in picture.data.rows] == [
        ("faithful", 0, 0),
        ("faithful", 8, 18),
        ("corrected", 0, 0),
        ("corrected", 8, 18),
    ]
    assert figures.render(picture.draw(), "svg").startswith(b"<?xml")


def test_searches_think_seconds_when_they_are_asked_for() -> None:
    assert matches.vanilla(10_500, True) == "arya-vanilla:seconds=none,simulations=10500,faithful=1"
    assert matches.vanilla(10_500, False, 3) == "arya-vanilla:seconds=3,faithful=0"
    limit = make(matches.vanilla(10_500, True, 3))
    assert (limit.seconds, limit.simulations, limit.clock) == (3, None, "cpu")  # type: ignore[attr-defined]


def test_players_that_are_not_the_documents_get_no_verdict(tmp_path: Path) -> None:
    bout = bouts.Bout(
        "b",
        ("one", "other"),
        "one",
        bouts.Score(20, 20, 0),
        {each: bouts.Reading("random", "random") for each in (bouts.FAITHFUL, bouts.CORRECTED)},
    )
    for comparable in (True, False):
        found = findings(list(bouts.conduct(bench(tmp_path, {}), [replace(bout, comparable=comparable)], bouts.ENOUGH)))
        assert found["one against other: draws"].agrees is (True if comparable else None)


def readings(parts: list[Part]) -> list[tuple[object, ...]]:
    return [
        row
        for each in parts
        if isinstance(each, Table) and each.head[0] == "reading" and "begins" in each.head
        for row in each.rows
    ]


def test_the_faithful_minimax_is_the_one_of_the_text(tmp_path: Path) -> None:
    for name, size in (("004-experiments-1-2", {"training": 400, "games": 2, "rollouts": 50}), ("004-experiment-3", {})):
        told = readings(conduct(name, tmp_path / name, **size))
        faithful = [str(row[1]) for row in told if row[0] == bouts.FAITHFUL and "minimax" in str(row[1])]
        assert faithful
        assert all("evaluation=terminal" in each and "arya" not in each for each in faithful)
        assert any(str(row[0]).startswith(matches.THE_WINDOWS) and "arya-minimax" in str(row[1]) for row in told)


def test_experiment_1_gets_a_verdict(tmp_path: Path) -> None:
    found = findings(conduct("004-experiments-1-2", tmp_path, training=400, games=bouts.ENOUGH, rollouts=10))
    wins = found["minimax(4) against Q-learning: wins"]
    assert wins.agrees is False  # it sees four discs ahead
    assert wins.why.startswith("B18: ")


def test_the_listed_search_loses_to_the_corrected_one(tmp_path: Path) -> None:
    found = findings(conduct("004-listed-search", tmp_path, games=20, rollouts=500))
    won = float(found["as listed against corrected: wins"].faithful.split(" ")[0])
    assert won <= 25
    assert {each.agrees for each in found.values()} == {None}  # twenty games tell nothing
    assert found["corrected against a random player: wins"].corrected.startswith("100.0 %")


def test_the_listing_is_no_working_tree_search(tmp_path: Path) -> None:
    parts = conduct("004-listed-search", tmp_path, games=bouts.ENOUGH, rollouts=300)
    found, table = findings(parts), parts[-1]
    claim = found.pop("as listed against corrected: wins")
    assert (claim.document, claim.agrees) == ("a working tree search", False)
    assert claim.why.startswith("B15")
    assert {(each.document, each.agrees) for each in found.values()} == {("", None)}  # another program is not the document
    assert isinstance(table, Table)
    assert [row[2] for row in table.rows] == [share(2, 60), share(97, 100), share(100, 100)]


def test_longer_thinking_helps_the_search(tmp_path: Path) -> None:
    parts = conduct("004-thinking-time", tmp_path, games=6, budgets=(1, 2000), depths=(2,))
    picture = parts[-1]
    assert isinstance(picture, Picture)
    assert [row[:3] for row in picture.data.rows[2:]] == [("corrected", 2, 1), ("corrected", 2, 2000)]
    assert picture.data.rows[2][3] > picture.data.rows[3][3]  # type: ignore[operator]
    assert figures.render(picture.draw(), "svg").startswith(b"<?xml")


def test_listed_examples_are_wins_of_both_sides_and_no_blocks() -> None:
    own, mask, columns, second = evaluator.listed_examples()
    assert second.tolist() == [False] * evaluator.EXAMPLES + [True] * evaluator.EXAMPLES
    for place in (0, 1, 499, 500, 501, 999):
        position = Position.from_key(int(own[place]) + int(mask[place]) + _floor(), CLASSIC)
        assert position.makes_line(int(columns[place]), position.to_move)
        assert (position.to_move == 1) == second[place]


def _floor() -> int:
    """What a position's key adds to its discs: one bit under every column."""
    return sum(1 << 7 * column for column in range(7))


def test_the_documents_axis_ends_too_late() -> None:
    marks = list(range(0, 5001, 100))
    drawn = evaluator._axis_as_drawn(marks, 100)
    assert drawn[0] == 0
    assert drawn[-1] == pytest.approx(5151)


def test_the_shipped_network_is_examined() -> None:
    (found, *_) = evaluator._shipped()
    assert found["network"] == "arya-1000"
    assert all(0 <= found[kind] <= 1 for kind in evaluator.KINDS)
    assert found["blocks"] > 0.3  # a random one sees one in six


def test_what_is_said_of_the_game(tmp_path: Path) -> None:
    found = findings(conduct("004-theory", tmp_path))
    first = found["what the first player's columns 1 to 7 lead to"]
    assert first.truth == "loss, loss, draw, win, draw, loss, loss"
    assert first.agrees is False
    assert found["the ply at which the middle column wins"].agrees is True
    assert found["threats that minimax blocks"].agrees is True
    assert found["threats that minimax blocks"].faithful == "12.6 % [10.0, 15.8] of 500"
    assert found["mean number of open columns in random games"].faithful.startswith("6.")
    assert "[6." in found["mean number of open columns in random games"].faithful


def test_games_of_different_lengths_give_the_mean_of_all_positions_with_its_interval() -> None:
    rng = np.random.default_rng(0)
    games = [(int(count * 6 + rng.integers(-3, 4)), int(count)) for count in rng.integers(10, 40, 400)]
    values = speed.per_game(games)
    assert np.mean(values) == pytest.approx(sum(total for total, _ in games) / sum(count for _, count in games))
    drawn = [rng.integers(0, len(games), len(games)) for _ in range(2000)]
    ratios = [sum(games[i][0] for i in each) / sum(games[i][1] for i in each) for each in drawn]
    assert np.std(values) / np.sqrt(len(values)) == pytest.approx(np.std(ratios), rel=0.1)


def test_speeds_are_told_by_the_second_with_a_verdict(tmp_path: Path) -> None:
    for name, count in (("listed", 300), ("corrected", 320)):
        for seconds in (1, 3, 5):
            (tmp_path / f"{name}-{seconds}s.json").write_text(str(count * seconds))
    (tmp_path / "plain.json").write_text("5000.0")
    for depth, each in ((4, 1.5), (6, 0.01)):
        for kind in ("terminal", "lines"):
            (tmp_path / f"minimax-{depth}-{kind}.json").write_text(str(each))
    found = findings(conduct("004-speed", tmp_path))
    three = found["rollouts a CPU second on the empty board, counted over 0.03 s (the document: 3 s)"]
    assert (three.document, three.faithful, three.corrected, three.agrees) == ("31,843", "30,000", "32,000", True)
    assert (found["minimax(4): seconds a move"].agrees, found["minimax(6): seconds a move"].agrees) == (True, False)
    assert all(each.agrees is not None for each in found.values())
    assert "newer machine" in found["minimax(6): seconds a move"].why


def test_the_text_mode_shows_games(tmp_path: Path) -> None:
    listed, corrected = conduct("004-text-mode", tmp_path, rollouts=50, shown=2)
    assert isinstance(listed, Text)
    for line in ("X is thinking...", "O is thinking...", "Statistics: 50 rollouts in ", "Results so far: {"):
        assert line in listed.lines
    assert conduct("004-text-mode", tmp_path, rollouts=50, shown=2) == [listed, corrected]  # times and all


def test_the_grid_has_the_first_players_discs_as_x() -> None:
    lines = speed._grid(Position("445"))
    assert lines[5] == "|   |   |   | X | X |   |   |"
    assert lines[4] == "|   |   |   | O |   |   |   |"


def test_chess_games_keep_the_rules(tmp_path: Path) -> None:
    pytest.importorskip("chess")
    assert chess._illegal("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", ["e2e4", "e7e5", "e1e3"]) == 1
    game = {"start": "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "moves": "a1a8", "result": "1-0", "ending": "checkmate", "illegal": 0}
    assert chess._record(game).endswith("1. Ra8#\n1-0: checkmate")
    known = {str(number): {**game, "number": number % 2} for number in range(6)}
    (tmp_path / "games.json").write_text(json.dumps(known))
    found = findings(conduct("004-chess", tmp_path, games=2))
    assert found["moves against the rules, and games without an end"].faithful == "0 of 6 moves, 0 of 6 games"
    assert found["improved against random: wins, 1 rollouts a move"].corrected.startswith("50.0 %")
    assert chess._Games(2, None, 0).rollouts("improved", "document") == "400 and 50"
    assert "2 games a pair" in found["document against random: wins, 1 rollouts a move"].why
