"""What Arya quotes or plans without trying it."""

import json
from pathlib import Path

import pytest

from fourlab.studies.arya import alpha
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
    assert bias.true is None
    assert bias.why.startswith("not decided: ")
    forgets = by_name["catastrophic-forgetting"].true
    assert forgets is not None
    assert forgets.answer == Answer.CANNOT_TELL
    assert forgets.test.startswith("no test: 1 of at least 3")
    assert by_name["alphamcts-with-proofs"].true is None
    assert ONE_TRAINING in by_name["alphamcts-with-proofs"].why
    remedies, learning = (part for part in parts if isinstance(part, Table))
    assert [row[0] for row in remedies.rows] == ["DQN", "without double DQN", "without replay"]
    assert [row[1] for row in learning.rows] == [3_000_000, 137_371, 1000, 5000]
    assert str(by_name["branching-and-tree-search"].corrected).count("of 2") == 3


def test_three_trainings_give_a_verdict(tmp_path: Path) -> None:
    # Numbers go through the arms first: DQN, without double DQN, without replay.
    arms = [(0.2, 0.9), (0.6, 0.9), (0.2, 0.3)]
    results = {
        str(number): {
            "greatest": arms[number % 3][0] + 0.01 * (number // 3),
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
