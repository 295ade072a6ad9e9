"""Training of value networks: the result of a position, learned from solved ones (SeWell).

Everything random in an epoch, that is the order of positions and which of them are mirrored, is
seeded by (seed, epoch), so a checkpoint needs only the weights, the optimiser's state and the
number of the epoch.
"""

import json
import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from fourlab.agents.value.settings import ValueSettings
from fourlab.compiled.planes import encode
from fourlab.datasets import labels
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.jobs.run import Run
from fourlab.nets.modules import Net
from fourlab.nets.weights import save_net
from fourlab.reporting.curves import Curve
from fourlab.training.loop import CHECKPOINT_SECONDS
from fourlab.training.state import State
from fourlab.training.torch_state import (
    load_tensors,
    optimizer_tensors,
    restore_optimizer,
    save_tensors,
)

BADLY_WRONG = 0.9
"""SeWell counts the positions whose value is wrong by more than this."""
EVALUATION_BATCH = 4096
"""Positions per forward pass outside of training, to bound memory."""


@dataclass
class ValueTrainee:
    """A value network in training."""

    settings: ValueSettings
    unit: str = field(default="epochs", init=False)
    checkpoint_seconds: float = field(default=CHECKPOINT_SECONDS, init=False)
    curves: tuple[Curve, ...] = field(
        default=(
            Curve("mean squared error", ("train_mse", "test_mse")),
            Curve("accuracy: win, draw or loss", ("train_accuracy", "test_accuracy")),
            Curve("loss", ("loss",), logarithmic=True),
        ),
        init=False,
    )

    def __post_init__(self) -> None:
        settings = self.settings
        torch.set_num_threads(settings.threads)
        solved = labels.gather(settings.data)
        network = settings.network(str(solved.rules))
        train, test = labels.split(solved, settings.share, settings.seed)
        if not (len(train) and len(test)):
            raise UserError(
                f"a share of {settings.share:g} of {len(solved)} positions leaves none for "
                "training or none for the test set"
            )
        # The test set comes last in all tensors.
        parts = [train, test]
        if settings.extra:
            parts.insert(0, labels.without(labels.gather(settings.extra, settings.after), test))
        sizes = [len(part) for part in parts]
        self.train = torch.arange(sum(sizes[:-1]))
        self.test = torch.arange(sum(sizes[:-1]), sum(sizes))
        planes = [encode(*part.discs, part.rules.geometry, settings.features) for part in parts]
        self.planes = torch.from_numpy(np.concatenate(planes))
        results = [part.results.astype(np.int64) for part in parts]
        self.results = torch.from_numpy(np.concatenate(results))
        torch.manual_seed(settings.seed)
        self.net = Net(network)
        # Convolutions are faster with channels last.
        self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.optimizer = self._optimizer()
        self.done = 0

    @property
    def total(self) -> int:
        """Return the number of epochs to train."""
        return self.settings.epochs

    @property
    def finished(self) -> bool:
        """Return whether all epochs are done."""
        return self.done >= self.total

    def _optimizer(self) -> torch.optim.Optimizer:
        s = self.settings
        if s.optimiser == "sgd":
            return torch.optim.SGD(self.net.parameters(), s.rate, s.momentum)
        return torch.optim.AdamW(self.net.parameters(), s.rate, weight_decay=s.decay)

    def advance(self) -> dict[str, Any]:
        """Train for a hundredth of all epochs, at least one, and return the row of metrics."""
        # At most a hundred rows of metrics, whatever the number of epochs.
        upto = min(self.total, self.done + max(self.total // 100, 1))
        while self.done < upto:
            loss = self._epoch(self.done)
            self.done += 1
        return {"epochs": self.done, "loss": loss, **self._measures()}

    def _epoch(self, epoch: int) -> float:
        """Make one pass over the training positions; return the mean loss."""
        # Order and mirroring of an epoch follow from its number, so nothing random is saved.
        rng = np.random.default_rng([self.settings.seed, epoch])
        self.net.train()
        batch = self.settings.batch or len(self.train)
        order = self.train
        if batch < len(self.train):
            order = self.train[torch.from_numpy(rng.permutation(len(self.train)))]
        chunks = torch.split(order, batch)
        total = 0.0
        for number, chunk in enumerate(chunks):
            # A full batch is a slice, which copies nothing.
            planes = self.planes[chunk] if len(chunks) > 1 else self.planes[: len(self.train)]
            if self.settings.mirror:
                mirrored = torch.from_numpy(rng.random(len(chunk)) < 0.5)
                # Axis 3 is the columns. The result of a mirrored position is the same.
                planes = torch.where(mirrored[:, None, None, None], planes.flip(3), planes)
            if self.settings.optimiser == "adamw":
                progress = (epoch + number / len(chunks)) / self.total
                self.optimizer.param_groups[0]["lr"] = self.settings.rate * one_cycle(progress)
            loss = self._loss(self.net(planes)[0], self.results[chunk])
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            total += float(loss.detach()) * len(chunk)
        return total / len(self.train)

    def _loss(self, outputs: torch.Tensor, results: torch.Tensor) -> torch.Tensor:
        match self.settings.labels:
            case "results":  # classes 0, 1, 2 are win, draw, loss
                # Results are +1, 0, -1, so 1 - result is the class.
                return functional.cross_entropy(outputs, 1 - results)
            case "unit":
                return functional.mse_loss(outputs[:, 0], (results.float() + 1) / 2)
            case _:
                return functional.mse_loss(outputs[:, 0], results.float())

    def _measures(self) -> dict[str, Any]:
        """Return errors and accuracies on both sets, and the number of badly wrong positions.

        Errors are on the scale of the labels.
        """
        values, predicted = self._evaluate()
        # Labels 0 to 1 have half the range of -1 to +1, and so do their errors.
        scale = 2 if self.settings.labels == "unit" else 1
        errors = (values - self.results).abs() / scale
        measures: dict[str, Any] = {}
        for name, part in (("train", self.train), ("test", self.test)):
            measures[f"{name}_mse"] = float(errors[part].square().mean())
            correct = predicted[part] == self.results[part]
            measures[f"{name}_accuracy"] = float(correct.float().mean())
        measures["badly_wrong"] = int((errors > BADLY_WRONG).sum())
        return measures

    @torch.no_grad()
    def _evaluate(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the value, -1 to +1, and the predicted result of every position."""
        self.net.eval()
        outputs = torch.cat(
            [self.net(planes)[0] for planes in torch.split(self.planes, EVALUATION_BATCH)]
        )
        if self.settings.labels == "results":
            probabilities = outputs.softmax(1)
            return probabilities[:, 0] - probabilities[:, 2], 1 - outputs.argmax(1)
        values = outputs[:, 0] if self.settings.labels == "signed" else 2 * outputs[:, 0] - 1
        # Predicted is the nearest of -1, 0 and +1.
        return values, values.round().clamp(-1, 1).long()

    def save(self, folder: Path) -> None:
        """Write the weights, the optimiser's state and the epoch."""
        save_tensors(self.net.state_dict(), folder / "net.safetensors")
        save_tensors(optimizer_tensors(self.optimizer), folder / "optimizer.safetensors")
        (folder / "epoch.json").write_text(json.dumps({"done": self.done}))

    def load(self, folder: Path) -> None:
        """Restore what `save` wrote."""
        net = load_tensors(folder / "net.safetensors", self.net.state_dict())
        self.net.load_state_dict(net)
        restore_optimizer(self.optimizer, load_tensors(folder / "optimizer.safetensors"))
        self.done = State.read(folder / "epoch.json").count("done")

    def finish(self, run: Run) -> dict[str, Any]:
        """Write value.onnx, value.safetensors and value.json."""
        measures = self._measures()
        training = asdict(self.settings)
        for name in ("data", "extra"):  # file names without their folders
            training[name] = [Path(source).name for source in training[name]]
        about = {"training": training, **measures}
        self.net.network = replace(self.net.network, about=about)
        file = run.folder / "value.onnx"
        save_net(self.net, file)
        board = self.net.network.board
        return {
            "headline": (
                f"test error {measures['test_mse']:.4f} (training {measures['train_mse']:.4f}), "
                f"{measures['test_accuracy']:.2%} of the test positions classified correctly; "
                f"{measures['badly_wrong']} of all {len(self.results):,} wrong by more than "
                f"{BADLY_WRONG}"
            ),
            "lines": [f"play it: fourlab play --board {board} --yellow value:net={file}"],
            **measures,
            "confusion": self._confusion(),
        }

    def _confusion(self) -> dict[str, dict[str, int]]:
        """Return the confusion matrix of the test set: counts by true and predicted result."""
        predicted = self._evaluate()[1][self.test]
        true = self.results[self.test]
        results = (Result.WIN, Result.DRAW, Result.LOSS)
        return {
            row.word: {
                column.word: int(((true == row) & (predicted == column)).sum())
                for column in results
            }
            for row in results
        }


def one_cycle(progress: float) -> float:
    """Return the learning rate of a one-cycle schedule as a share of its maximum.

    It rises from 4 % along a cosine until `progress` is 0.3, then falls along a cosine to 0 at 1.
    """
    # The shape of torch's OneCycleLR (Smith & Topin, 2019), which falls to nearly 0 as well.
    if progress < 0.3:
        return 0.04 + 0.96 * (1 - math.cos(math.pi * progress / 0.3)) / 2
    return (1 + math.cos(math.pi * (progress - 0.3) / 0.7)) / 2


trainee_of = ValueTrainee
"""Makes a new trainee; called by `fourlab.training.kind` by name."""
