"""The settings of value networks (SeWell), and presets of them. They need no torch."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fourlab.errors import UserError
from fourlab.nets.network import Labels, Network
from fourlab.options import check, option
from fourlab.training.kind import Training


@dataclass(frozen=True)
class ValueSettings:
    """What is learned, by which network, and how."""

    data: tuple[str, ...] = option(
        ("uci8",),
        "What to learn from, one or more of: uci8; book, all positions of the shipped book; a file (fourlab dataset).",
        metavar="FILE",
    )
    extra: tuple[str, ...] = option(
        (), "More to learn from, of the same kinds, but not to be tested on; what is in the test is left out.", metavar="FILE"
    )
    after: bool = option(False, "Learn also from the positions after each column, where `extra` knows what these are worth.")
    features: str = option("threats", "What the network sees (cells, stones, threats).")
    body: tuple[str, ...] = option(
        ("conv 64", "batchnorm", "relu", "residual 64", "residual 64", "residual 64"),
        "Its first layers.",
        separator=",",
        metavar="LAYERS",
    )
    head: tuple[str, ...] = option(
        ("conv 16", "relu", "dense 64", "relu"),
        "Its last layers, but for the very last, which has one number, or three for labels = results.",
        separator=",",
        metavar="LAYERS",
    )
    labels: Labels = option(
        "results",
        "signed: the squared error of -1, 0, 1; unit: that of 0, 1/2, 1; results: the cross-entropy of win, draw, loss.",
    )
    epochs: int = option(20, "Passes over the training positions.", least=1, unit="epochs")
    batch: int = option(256, "Positions a step; 0 for all of them at once, as in document 003.", least=0, unit="positions")
    optimiser: Literal["sgd", "adamw"] = option("adamw", "How weights are updated.")
    rate: float = option(
        3e-3, "The learning rate; with adamw the highest, reached at a third of the way and left again (one cycle).", above=0
    )
    momentum: float = option(0.9, "Of sgd.", least=0)
    decay: float = option(0.02, "Weight decay of adamw.", least=0)
    mirror: bool = option(True, "Show every position as it is or mirrored, by lot.")
    share: float = option(0.8, "The share of positions to train with; the others test.", above=0, most=1)
    seed: int = option(0, "The same seed gives the same network.", least=0, most=2**63 - 1)
    threads: int = option(1, "Of torch; the result depends on it in the last digits.", least=1, most=1024, unit="threads")

    def __post_init__(self) -> None:
        check(self)
        if self.share == 1:
            raise UserError("share must be less than 1, or nothing is left to test with")
        if self.after and not self.extra:
            raise UserError("after is about the positions of extra, and there is none")

    def network(self, board: str) -> Network:
        """The form of the network."""
        last = "dense 3" if self.labels == "results" else "dense 1"
        return Network("value", board, self.features, self.body, (*self.head, last), labels=self.labels)


SEWELL = ValueSettings(
    features="cells",
    body=(),
    head=("dense 100", "relu"),
    labels="signed",
    epochs=10_000,
    batch=0,
    optimiser="sgd",
    rate=0.01,
    mirror=False,
)
"""Document 003: 42-100-1, full-batch gradient descent with momentum; its figures 2 to 4 have labels = unit."""

PRESETS = {"residual": ValueSettings(), "sewell": SEWELL}


def _complete(settings: ValueSettings, given: Collection[str]) -> ValueSettings:
    """Files by their full path, so that the run can go on from anywhere; data sets by name."""
    return replace(settings, data=_sources(settings.data), extra=_sources(settings.extra))


def _sources(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each if each in ("uci8", "book") else str(Path(each).resolve()) for each in given)


def _files(settings: ValueSettings) -> dict[str, Any]:
    """A file with other contents makes another run."""
    from fourlab.datasets import labels

    return {"files": labels.checksums(settings.data + settings.extra)}


TRAINING = Training(
    "value",
    ValueSettings,
    PRESETS,
    "fourlab.agents.value.training",
    help="""Train a network to tell the result of positions, from positions that the solver has labelled.

    The run's folder gets value.onnx for playing, value.safetensors and value.json for training on,
    the curves and a report.

    Example: fourlab train value --preset sewell --epochs 10000
    """,
    complete=_complete,
    identity=_files,
)
