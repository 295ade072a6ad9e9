"""Arya's Figure 33, and networks made small enough to ship."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fourlab.agents.alphazero.settings import TRAINING
from fourlab.errors import UserError
from fourlab.evaluator import Batch
from fourlab.jobs.run import Run
from fourlab.nets import evaluator as nets
from fourlab.nets.evaluator import OnnxEvaluator, probe_positions
from fourlab.reporting import figures
from fourlab.studies.arya import evaluator, ship
from fourlab.studies.claims import Answer, Estimate, Kind, Source
from fourlab.studies.trainings import train_in
from fourlab.studies.workbench import Picture
from fourlab.training.kind import TrainingJob
from tests.studies.test_arya import claims, conduct

torch = pytest.importorskip("torch")
TINY = replace(
    TRAINING.preset("arya", faithful=True),
    networks=("4x1",),
    games=4,
    keep=2,
    simulations=4,
    simulations_end=4,
    simulations_games=2,
    window=32,
    window_end=32,
    batch=16,
    exam_simulations=1,
    seed=3,
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_in(tmp_path_factory.mktemp("runs") / "run", TrainingJob(TRAINING, TINY, "az"))


def test_a_run_becomes_two_small_networks_and_a_manifest(trained: Run, tmp_path: Path) -> None:
    ship.main([str(trained.folder), "--folder", str(tmp_path)])
    # Epochs have two games here, so 2 and 4 games are 1 and 2 epochs.
    names = ["arya-alphamcts-1-3", "arya-alphamcts-2-3"]
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "arya-alphamcts-1-3.onnx",
        "arya-alphamcts-2-3.onnx",
        "arya-alphamcts-3.json",
    ]
    manifest = json.loads((tmp_path / "arya-alphamcts-3.json").read_text())
    assert list(manifest["networks"]) == names
    assert manifest["seed"] == 3
    assert manifest["accuracy"]["games"][0] == 0
    assert len(manifest["accuracy"]["games"]) == len(manifest["accuracy"]["wins"]) == 3
    assert manifest["metrics"]["games"] == manifest["accuracy"]["games"][1:]
    exact = OnnxEvaluator((trained.folder / "alphazero-fp32.onnx").read_bytes(), "exact")
    small = OnnxEvaluator((tmp_path / f"{names[1]}.onnx").read_bytes(), "small")
    assert small.precision == "int8"
    batch = Batch(*probe_positions(exact.rules, 200, seed=9), exact.rules)
    policies = [network.evaluate(batch).logits for network in (exact, small)]
    assert policies[0] is not None
    assert policies[1] is not None
    same = np.mean(policies[0].argmax(axis=1) == policies[1].argmax(axis=1))
    assert same > 0.9, "the same first choice"


def test_an_unfinished_run_ships_the_network_that_was_kept(tmp_path: Path) -> None:
    job = TrainingJob(TRAINING, replace(TINY, games=1000, keep=2), "az")
    run = train_in(tmp_path / "run", job, until=3)
    files = ship.ship(run, tmp_path)
    assert [file.name for file in files] == ["arya-alphamcts-1-3.onnx", "arya-alphamcts-3.json"]
    assert OnnxEvaluator(files[0].read_bytes(), "small").precision == "int8"


def test_a_run_without_a_kept_network_is_refused(tmp_path: Path) -> None:
    job = TrainingJob(TRAINING, replace(TINY, games=1000, keep=999), "az")
    run = train_in(tmp_path / "run", job, until=1)
    with pytest.raises(UserError, match="is not finished and has kept no network yet"):
        ship.ship(run, tmp_path)
    with pytest.raises(SystemExit, match=r"^fourlab: .* has kept no network yet"):
        ship.main([str(run.folder)])


def test_figure_33_takes_three_trainings_of_aryas_size(
    trained: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = conduct("004-figure-33", tmp_path / "0", network="2x1", games=8, step=8, seeds=2)
    by_name = claims(parts)
    rises = by_name["figure-33-rises"]
    assert rises.reproduced is not None
    present = len(evaluator.listed_curves())
    if present < 3:
        reason = f"no test: {present} of at least 3 trained networks are there"
        assert rises.reproduced.test == reason
    settings = by_name["figure-22"]
    assert settings.reproduced is not None
    assert settings.reproduced.answer == Answer.AGREES
    assert settings.kind is Kind.DIAGNOSTIC, "our preset was made from the figure"
    assert {settings.source, rises.source} == {Source.TEXT}, "no figure was seen"
    small = by_name["figure-33-small-blocks"]
    assert str(small.faithful).endswith("trainings: 2 and 2)")
    assert small.verdicts() == {}
    picture = parts[-1]
    assert isinstance(picture, Picture)
    rows = [row for row in picture.data.rows if str(row[0]).endswith("small")]
    assert [row[:4] for row in rows[:3]] == [
        ("faithful, small", 0, 0, 0),
        ("faithful, small", 0, 8, 18),
        ("faithful, small", 1, 0, 0),
    ]
    assert figures.render(picture.draw(), "svg").startswith(b"<svg")
    # Three manifests with rising curves.
    folder = tmp_path / "networks"
    folder.mkdir()
    for file in nets.SHIPPED.iterdir():
        if file.name in ("arya-1000.onnx", "arya-5000.onnx"):
            (folder / file.name).write_bytes(file.read_bytes())
    for seed in (1, 2, 3):
        shares = [0.2, 0.3 + 0.01 * seed, 0.8 + 0.01 * seed]
        curve = {"games": [0, 2500, 5000], "wins": shares, "blocks": shares}
        (folder / f"arya-alphamcts-{seed}.json").write_text(json.dumps({"accuracy": curve}))
    monkeypatch.setattr(ship, "SHIPPED", folder)
    parts = conduct("004-figure-33", tmp_path / "0", network="2x1", games=8, step=8, seeds=2)
    rises = claims(parts)["figure-33-rises"]
    assert isinstance(rises.faithful, Estimate)
    assert rises.faithful.value == pytest.approx(62)
    assert rises.faithful.note == "from 20.0 % to 82.0 %; trainings: 3 and 3"
    assert rises.reproduced is not None
    assert rises.reproduced.answer == Answer.AGREES
    picture = parts[-1]
    assert isinstance(picture, Picture)
    assert len(picture.data.rows) == 3 * 3 + 2 * 2 * 2
    assert figures.render(picture.draw(), "svg").startswith(b"<svg")


def test_axis_as_drawn_ends_at_5151_games() -> None:
    marks = list(range(0, 5001, 100))
    drawn = evaluator._axis_as_drawn(marks, 100)
    assert drawn[0] == 0
    assert drawn[-1] == pytest.approx(5151)


def test_shipped_networks_are_evaluated() -> None:
    (first, *_) = evaluator._shipped()
    assert first["network"] == "arya-1000"
    assert not first["faithful"]
    assert all(0 <= first[kind] <= 1 for kind in evaluator.KINDS)
    assert first["blocks"] > 0.3  # an untrained network sees one in six
