"""What Arya quotes or plans without trying it."""

import json
from pathlib import Path

import pytest

from fourlab.game.position import Position
from fourlab.solver import Solver
from fourlab.studies.arya import alpha, wishes
from fourlab.studies.claims import Answer, Estimate
from fourlab.studies.trainings import ONE_TRAINING
from fourlab.studies.workbench import Table
from tests.studies.test_arya import claims, conduct


@pytest.fixture(autouse=True)
def short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alpha, "ITERATIONS", 2)


def test_remedies_proofs_learning_and_width_are_measured(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    parts = conduct("004-wishes", tmp_path)
    by_name = claims(parts)
    assert list(by_name) == [
        "maximisation-bias",
        "catastrophic-forgetting",
        "alphamcts-with-proofs",
        *(f"learning-speed-{games}" for games in (3_000_000, 137_371, 1000, 5000)),
        "branching-and-tree-search",
        "chess-network",
    ]
    bias = by_name["maximisation-bias"]
    assert isinstance(bias.faithful, Estimate)
    assert isinstance(bias.corrected, Estimate)
    assert bias.faithful.value != bias.corrected.value, "double DQN makes a difference"
    assert bias.true is not None
    assert bias.true.test.startswith("no test: 1 of at least 3")
    forgets = by_name["catastrophic-forgetting"].true
    assert forgets is not None
    assert forgets.answer == Answer.CANNOT_TELL
    assert forgets.test.startswith("no test: 1 of at least 3")
    assert by_name["alphamcts-with-proofs"].true is None
    assert ONE_TRAINING in by_name["alphamcts-with-proofs"].why
    remedies, learning, widths = (part for part in parts if isinstance(part, Table))
    assert [row[0] for row in remedies.rows] == ["DQN", "without double DQN", "without replay"]
    assert [row[1] for row in learning.rows] == [3_000_000, 137_371, 1000, 5000]
    wide = by_name["branching-and-tree-search"]
    assert str(wide.corrected).count("of 2") == 3
    depths = [row[-1] for row in widths.rows]
    assert float(depths[0]) > float(depths[-1]), "the same nodes on a wider board"
    assert f"completes {', '.join(map(str, depths))} plies on average" in wide.why


def test_three_trainings_give_a_verdict(tmp_path: Path) -> None:
    # Numbers go through the arms first: DQN, without double DQN, without replay.
    arms = [(0.2, 0.9), (0.6, 0.9), (0.2, 0.3)]
    results = {
        str(number): {
            "greatest": arms[number % 3][0] + 0.01 * (number // 3),
            "exact of these": 0.25,
            "rules": arms[number % 3][1] + 0.01 * (number // 3),
            "kept": 0.8,
        }
        for number in range(9)
    }
    (tmp_path / "dqn.json").write_text(json.dumps(results))
    by_name = claims(conduct("004-wishes", tmp_path, seeds=3))
    verdict = by_name["catastrophic-forgetting"].true
    assert verdict is not None
    assert verdict.answer == Answer.AGREES
    assert verdict.test == "Welch's t-test over 3 and 3 trainings"
    bias = by_name["maximisation-bias"]
    assert isinstance(bias.faithful, Estimate)
    assert isinstance(bias.corrected, Estimate)
    # Plain DQN: 0.61 where the exact values have a mean of 0.25.
    assert bias.faithful.value == pytest.approx(0.36)
    assert bias.corrected.value == pytest.approx(-0.04)
    assert "a mean of 0.610 (plain) and 0.210 (double)" in bias.why
    assert "one of 0.250" in bias.why
    assert bias.true is not None
    assert (bias.true.answer, bias.true.difference) == (Answer.AGREES, pytest.approx(0.36))


@pytest.mark.parametrize("moves", ["121212", "41212", "44444412121", "4453271664455"])
def test_discounted_values_are_those_of_one_move_more_for_the_other_side(moves: str) -> None:
    position = Position(moves)
    exact = {column: score.lower for column, score in Solver().columns(position).items()}
    best = max(exact, key=exact.__getitem__)
    value = wishes.discounted(exact[best], position.ply, 0.9)
    after = position.play(best)
    if after.outcome() is not None:
        assert value == 1, "a win at once"
    else:
        replies = max(score.lower for score in Solver().columns(after).values())
        assert value == pytest.approx(-0.9 * wishes.discounted(replies, after.ply, 0.9))


def test_a_draw_is_worth_0_whenever_it_is() -> None:
    assert wishes.discounted(0, 17, 0.9) == 0
    # The first player's win with the 41st disc.
    assert wishes.discounted(1, 0, 0.99) == pytest.approx(0.99**40)
