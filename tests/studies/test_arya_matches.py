"""The matches of Arya's Experiments 1 to 3, and the words about them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.arena.statistics import wilson
from fourlab.arena.store import StoredGame
from fourlab.game.position import Position
from fourlab.reporting import figures
from fourlab.studies.arya import (
    bouts,
    matches,
)
from fourlab.studies.claims import Answer, Counts
from fourlab.studies.workbench import Part, Picture, Table
from tests.studies.test_arya import claims, conduct, readings


def test_faithful_minimax_follows_the_text_of_the_thesis(tmp_path: Path) -> None:
    for name, size in (
        ("004-experiments-1-2", {"training": 400, "games": 2, "rollouts": 50}),
        ("004-experiment-3", {"rollouts_3s": 300, "rollouts_1s": 100}),
    ):
        rows = readings(conduct(name, tmp_path / name, **size))
        faithful = [
            str(row[1])
            for row in rows
            if str(row[0]).startswith(bouts.FAITHFUL) and "minimax" in str(row[1])
        ]
        assert faithful
        assert all("evaluation=terminal" in spec and "arya" not in spec for spec in faithful)
        assert any(
            str(row[0]).startswith(matches.WINDOW_MINIMAX) and "arya-minimax" in str(row[1])
            for row in rows
        )


def test_experiment_3_corrects_the_search_and_keeps_its_opponent(tmp_path: Path) -> None:
    parts = conduct("004-experiment-3", tmp_path, rollouts_3s=300, rollouts_1s=100, games=4)
    rows = {str(row[0]): row for row in readings(parts)}
    listed, corrected = rows[bouts.FAITHFUL], rows[bouts.CORRECTED]
    assert listed[1] == corrected[1], "the same minimax"
    assert str(listed[2]).replace("faithful=1", "faithful=0") == corrected[2]
    rows_by_name = claims(parts)
    assert {"experiment-3a", "experiment-3b"} < set(rows_by_name)
    for part in ("experiment-3a", "experiment-3b"):
        other = rows_by_name[f"{part}-heuristic"]
        assert "our minimax with a heuristic" in other.quantity
        assert other.reported == ""
        assert not other.verdicts(), "the thesis says nothing about this opponent"
        assert rows_by_name[part].true is not None
    pictures = [part for part in parts if isinstance(part, Picture)]
    labels = pictures[0].draw().axes[0].get_legend_handles_labels()[1]
    assert labels == [
        "Arya, 100 games",
        "faithful, 4 games",
        "corrected, 4 games",
        f"{matches.AGAINST_HEURISTIC}, 4 games",
    ]


def test_experiment_1_gets_a_verdict(tmp_path: Path) -> None:
    size = {"training": 400, "seeds": 3, "games": 20, "rollouts": 10}
    claim = claims(conduct("004-experiments-1-2", tmp_path, **size))["experiment-1"]
    assert claim.reproduced is not None
    assert claim.reproduced.answer == Answer.DIFFERS, "a real minimax looks four plies ahead"
    assert claim.reproduced.test == "F-test of all outcomes with the variance of 3 trainings"
    assert claim.why.startswith("B18: ")


def scores_of_readings(parts: list[Part]) -> dict[str, bouts.Score]:
    """Return the score of every reading of a bout, as its table has it."""
    rows = {str(row[0]): str(row[4]) for row in readings(parts)}
    return {name: bouts.Score(*map(int, cell.split("-"))) for name, cell in rows.items()}


def test_the_words_on_experiment_1_follow_from_the_games(tmp_path: Path) -> None:
    size = {"training": 400, "seeds": 3, "games": 20, "rollouts": 10}
    parts = conduct("004-experiments-1-2", tmp_path, **size)
    first = [part for part in parts if isinstance(part, Table)][:1]
    played = scores_of_readings([*first])
    arya = played.pop("Arya")
    assert arya == bouts.reported_score("experiment-1")
    why = claims(parts)["experiment-1"].why
    total = claims(parts)["experiment-1"].faithful
    assert isinstance(total, Counts)
    own = "-".join(str(count) for count in total.counts.values())
    for words in (
        f"has {own} against the tables trained as listed",
        f"{played[matches.RANDOM_COLUMNS]} against random columns",
        f"has {played[matches.WINDOW_BEGINS]} if it begins",
        f"{played[matches.WINDOW_ALTERNATING]} if the players alternate",
    ):
        assert words in why, why
    assert bouts.fitting(arya, played) in why


def test_only_scores_that_the_exact_test_accepts_fit() -> None:
    arya = bouts.Score(73, 23, 4)
    far = {"one": bouts.Score(98, 2, 0), "other": bouts.Score(0, 100, 0)}
    assert bouts.fitting(arya, far) == (
        "None of these 2 readings fits the reported score (p of at most 5.6e-07)"
    )
    near = {**far, "near": bouts.Score(70, 24, 6)}
    assert bouts.fitting(arya, near) == "Of these readings, the reported score fits: near"


@pytest.mark.parametrize("lost", [0, 7])
def test_the_words_on_experiment_3_follow_from_the_games(lost: int) -> None:
    scores = {
        bouts.FAITHFUL: bouts.Score(60 - lost, lost, 0),
        bouts.CORRECTED: bouts.Score(59, 1, 0),
    }
    words = matches.explain_experiment_3(30_000, None, scores)
    assert f"it loses {lost} of 60 games, and corrected, against the same minimax, 1 of 60" in words


def test_the_minimax_of_the_window_plays_the_leftmost_open_column() -> None:
    agent = make("arya-minimax:depth=4,faithful=1")
    for moves, leftmost in (("", 0), ("111111", 1), ("444", 0)):
        assert agent.decide(Position(moves), Limit(), np.random.default_rng(0)).column == leftmost


def test_experiment_2_corrects_the_search_and_keeps_the_tables(tmp_path: Path) -> None:
    parts = conduct("004-experiments-1-2", tmp_path, training=400, seeds=2, games=2, rollouts=10)
    rows = {str(row[0]): row for row in readings(parts) if "arya-vanilla" in str(row[2])}
    for seed in range(2):
        listed = rows[bouts.training_of(bouts.FAITHFUL, seed)]
        corrected = rows[bouts.training_of(bouts.CORRECTED, seed)]
        assert listed[1] == corrected[1], "the same table"
        assert str(listed[2]).replace("faithful=1", "faithful=0") == corrected[2]
    assert "corrected/" in str(rows["learner and search corrected"][1])


def stored(won: int, lost: int, drawn: int) -> list[StoredGame]:
    """Return games of a player "X", who always begins."""
    results = [1] * won + [-1] * lost + [0] * drawn
    return [
        StoredGame(
            **{
                **dict.fromkeys(StoredGame._fields, 0),
                **{"number": number, "red": "X", "yellow": "O", "result": result},
            }
        )
        for number, result in enumerate(results)
    ]


def test_a_trained_match_is_compared_by_all_its_outcomes() -> None:
    bout = bouts.Bout("b", ("X", "O"), "X", bouts.Score(66, 34, 0), {}, trained=True)
    same = bouts._reproduced(bout, [stored(won, 100 - won, 0) for won in (64, 65, 66, 67, 68)])
    assert same.answer == Answer.AGREES
    # As many wins, but draws in place of losses.
    drawn = bouts._reproduced(bout, [stored(won, 4, 96 - won) for won in (64, 65, 66, 67, 68)])
    assert drawn.answer == Answer.DIFFERS
    clean = bouts.Bout("b", ("X", "O"), "X", bouts.Score(100, 0, 0), {}, trained=True)
    won = bouts._reproduced(clean, [stored(100, 0, 0)] * 3)
    assert (won.answer, won.test) == (Answer.AGREES, "t-test over 3 trainings")


def test_bars_of_several_trainings_have_the_interval_over_them() -> None:
    bout = bouts.Bout("b", ("X", "O"), "X", bouts.Score(66, 34, 0), {}, trained=True)
    counts = bouts._counts(bout, [stored(won, 100 - won, 0) for won in (30, 50, 70)])
    won = counts.share("won")
    assert (won.value, won.n, counts.trainings) == (50, 300, 3)
    assert won.low == pytest.approx(50 - 4.303 * 20 / 3**0.5, abs=0.1)
    _, (axes,) = figures.panels(5, 3)
    bouts._draw_scores(axes, bout, {"faithful": counts})
    (line,) = [path.vertices for path in axes.collections[1].get_paths()][:1]
    assert line[:, 1].tolist() == pytest.approx([won.low, won.high])
    assert axes.get_legend_handles_labels()[1][1] == "faithful, 3 trainings, 300 games"
    # Without trainings, each game is independent.
    single = bouts._counts(replace(bout, trained=False), [stored(50, 50, 0)])
    assert single.share("won").low == pytest.approx(100 * wilson(50, 100)[0])
