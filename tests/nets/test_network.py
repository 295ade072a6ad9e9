import pytest

from fourlab.errors import UserError
from fourlab.nets.network import Layer, Network

SEWELL = Network("value", "7x6x4", "cells", (), ("dense 100", "relu", "dense 1"))


def test_layers_have_the_right_sizes() -> None:
    assert SEWELL.parts()["value"] == [
        Layer("dense", 42, 100, False),
        Layer("relu", 100, 100, False),
        Layer("dense", 100, 1, False),
    ]
    tower = Network(
        "q", "5x4x4", "threats", ("conv 8", "batchnorm", "residual 8"), policy=("dense 5",)
    )
    assert tower.parts()["body"] == [
        Layer("conv", 6, 8, True),
        Layer("batchnorm", 8, 8, True),
        Layer("residual", 8, 8, True),
    ]
    assert tower.parts()["policy"] == [Layer("dense", 160, 5, False)]


def test_an_architecture_survives_writing_and_reading() -> None:
    assert Network.read(SEWELL.write()) == SEWELL


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"purpose": "fun"}, "a network is for"),
        ({"features": "smells"}, "a network sees"),
        ({"labels": "words"}, "labels are"),
        ({"value": ()}, "has the heads value"),
        ({"policy": ("dense 7",)}, "has the heads value"),
        ({"value": ("dense 2",)}, "must end with 1 numbers"),
        ({"labels": "results"}, "must end with 3 numbers"),
        ({"value": ("conv 1",)}, "must end with 1 numbers"),
        ({"value": ("dense", "dense 1")}, "there is no layer 'dense'"),
        ({"value": ("relu 3", "dense 1")}, "there is no layer 'relu 3'"),
        ({"value": ("dense -1", "dense 1")}, "there is no layer"),
        ({"value": ("dense 5", "conv 3", "dense 1")}, "needs a board"),
        ({"body": ("residual 3",)}, "must keep the 1 planes"),
        ({"body": ("dense 90000", "dense 90000")}, "more than"),
        ({"board": "7by6"}, "COLUMNSxROWS"),
    ],
)
def test_an_invalid_architecture_is_refused(change: dict[str, object], word: str) -> None:
    with pytest.raises(UserError, match=word):
        Network(**{**SEWELL.__dict__, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"purpose": "value"}', '{"body": 3, "value": 1, "policy": 2}']
)
def test_invalid_json_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="not the description of a network"):
        Network.read(text)
