"""Settings and presets of value networks (SeWell). They do not import torch."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fourlab.errors import UserError
from fourlab.evaluator import stored_planes
from fourlab.nets.network import Labels, Network
from fourlab.options import check, option
from fourlab.training.kind import Training


@dataclass(frozen=True)
class ValueSettings:
    """How a value network is trained."""

    data: tuple[str, ...] = option(
        ("uci8",),
        "Data sets for training and testing: uci8, book (all positions of the shipped book), or a "
        "file from `fourlab dataset`.",
        metavar="FILE",
    )
    extra: tuple[str, ...] = option(
        (),
        "Further data sets for training alone; positions of the test set are left out.",
        metavar="FILE",
    )
    after: bool = option(
        False,
        "Also train on the positions after every column, where `extra` has their values.",
    )
    features: str = option("threats", "Input planes: cells, discs or threats.")
    body: tuple[str, ...] = option(
        ("conv 64", "batchnorm", "relu", "residual 64", "residual 64", "residual 64"),
        "First layers of the network.",
        separator=",",
        metavar="LAYERS",
    )
    head: tuple[str, ...] = option(
        ("conv 16", "relu", "dense 64", "relu"),
        "Last layers of the network before the output layer, which has one unit, or three if "
        "labels = results.",
        separator=",",
        metavar="LAYERS",
    )
    labels: Labels = option(
        "results",
        "Targets and loss: signed (-1, 0, 1, squared error), unit (0, 1/2, 1, squared error) or "
        "results (win, draw, loss, cross entropy).",
    )
    epochs: int = option(
        20, "Passes over the training positions.", least=1, most=10**6, unit="epochs"
    )
    batch: int = option(
        256,
        "Positions per update; 0 for full batches, as in SeWell's report.",
        least=0,
        most=10**7,
        unit="positions",
    )
    optimiser: Literal["sgd", "adamw"] = option("adamw", "Optimiser.")
    rate: float = option(
        3e-3,
        "Learning rate; with adamw the maximum of a one-cycle schedule, reached after 30 %.",
        above=0,
        most=10,
    )
    momentum: float = option(0.9, "Momentum of sgd.", least=0, most=1)
    decay: float = option(0.02, "Weight decay of adamw.", least=0, most=1000)
    mirror: bool = option(True, "Mirror half of the training positions, chosen at random.")
    share: float = option(
        0.8, "Share of positions in the training set; the rest are the test set.", above=0, most=1
    )
    seed: int = option(
        0, "Random seed; the same seed gives the same network.", least=0, most=2**63 - 1
    )
    threads: int = option(
        1,
        "Threads of torch; the last digits of the result depend on it.",
        least=1,
        most=1024,
        unit="threads",
    )

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "features", stored_planes(self.features))
        # `most=1` includes 1, and options have no upper bound that is excluded.
        if self.share == 1:
            raise UserError("share must be less than 1, or no positions are left for the test set")
        if self.after and not self.extra:
            raise UserError("after uses the positions of extra, so extra must name a data set")

    def network(self, board: str) -> Network:
        """Return the architecture of the network for a board."""
        # Three outputs are logits of win, draw and loss; one is the value itself.
        last = "dense 3" if self.labels == "results" else "dense 1"
        return Network(
            "value", board, self.features, self.body, (*self.head, last), labels=self.labels
        )


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
"""SeWell's network, 42-100-1, trained by full-batch gradient descent with momentum.

Figures 2 to 4 of the report use labels = unit.
"""

PRESETS = {"residual": ValueSettings(), "sewell": SEWELL}


def _complete(settings: ValueSettings, set_names: Collection[str]) -> ValueSettings:
    """Make paths absolute, so that the run can be resumed from any folder."""
    return replace(settings, data=_sources(settings.data), extra=_sources(settings.extra))


def _sources(sources: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        # The two names of built-in data are not paths.
        source if source in ("uci8", "book") else str(Path(source).resolve())
        for source in sources
    )


def _files(settings: ValueSettings) -> dict[str, Any]:
    """Return the files' checksums: changed contents make a different run."""
    from fourlab.datasets import labels

    return {"files": labels.checksums(settings.data + settings.extra)}


TRAINING = Training(
    "value",
    ValueSettings,
    PRESETS,
    "fourlab.agents.value.training",
    help="""Train a value network on solved positions.

    The run's folder gets value.onnx for playing, value.safetensors and value.json for further
    training, the curves and a report.

    Example: fourlab train value --preset sewell --epochs 10000
    """,
    complete=_complete,
    identity=_files,
)
