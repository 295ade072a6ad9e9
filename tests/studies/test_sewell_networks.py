"""The networks of SeWell's experiments: separate trainings, and what is said about them."""

import json
from importlib.resources import files

from fourlab.studies.sewell import network
from fourlab.studies.sewell.learner import NETWORKS


def test_the_networks_of_experiment_3_are_separate_trainings() -> None:
    weights = files("fourlab.nets") / "weights"
    manifests = [json.loads((weights / f"{name}.json").read_text()) for name in NETWORKS]
    assert len({manifest["sha256"] for manifest in manifests}) == 3
    trainings = [manifest["network"]["about"]["training"] for manifest in manifests]
    assert [training["seed"] for training in trainings] == [0, 1, 2]
    # The same settings, but for the seed.
    for name in ("epochs", "head", "labels", "rate", "momentum", "batch", "optimiser", "decay"):
        assert len({str(training[name]) for training in trainings}) == 1, name


def test_words_about_momentum_follow_from_the_errors() -> None:
    assert "behind" not in network.momentum_why([0.35], [])
    assert network.momentum_why([0.35], [0.4]).endswith("without it is 0.050 behind")
    assert network.momentum_why([0.35], [0.34]).endswith("is not larger")
