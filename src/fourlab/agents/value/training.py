"""Value networks: the result of a position learned from solved ones (document 003).

Everything random in an epoch, the order of positions and which of them are mirrored, is drawn from (seed, epoch), so a
checkpoint needs the weights, the optimiser's memory and the epoch's number.
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
from fourlab.training.torch_state import load_tensors, optimizer_tensors, restore_optimizer, save_tensors

BADLY_WRONG = 0.9
"""Document 003 counts the positions whose value is wrong by more than this."""
EVALUATION_BATCH = 4096


@dataclass
class ValueTrainee:
    """A value network that is being trained."""

    settings: ValueSettings
    unit: str = field(default="epochs", init=False)
    curves: tuple[Curve, ...] = field(
        default=(
            Curve("mean squared error", ("train_mse", "test_mse")),
            Curve("win, draw or loss told rightly", ("train_accuracy", "test_accuracy")),
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
            raise UserError(f"a share of {settings.share:g} of {len(solved)} positions leaves none to train or none to test with")
        parts = [train, test]
        if settings.extra:
            parts.insert(0, labels.without(labels.gather(settings.extra, settings.after), test))
        sizes = [len(part) for part in parts]
        self.train = torch.arange(sum(sizes[:-1]))
        self.test = torch.arange(sum(sizes[:-1]), sum(sizes))
        self.planes = torch.cat([_planes(part, settings.features) for part in parts])
        self.results = torch.cat([torch.from_numpy(part.results.astype(np.int64)) for part in parts])
        torch.manual_seed(settings.seed)
        self.net = Net(network)
        self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # convolutions are faster so
        self.optimizer = self._optimizer()
        self.done = 0

    @property
    def total(self) -> int:
        """Epochs to go through."""
        return self.settings.epochs

    @property
    def finished(self) -> bool:
        """Whether all epochs are done."""
        return self.done >= self.total

    def _optimizer(self) -> torch.optim.Optimizer:
        if self.settings.optimiser == "sgd":
            return torch.optim.SGD(self.net.parameters(), self.settings.rate, self.settings.momentum)
        return torch.optim.AdamW(self.net.parameters(), self.settings.rate, weight_decay=self.settings.decay)

    def advance(self) -> dict[str, Any]:
        """Go through the epochs until the next hundredth of the way; returns how well the network does then."""
        upto = min(self.total, self.done + max(self.total // 100, 1))
        while self.done < upto:
            loss = self._epoch(self.done)
            self.done += 1
        return {"epochs": self.done, "loss": loss, **self._measures()}

    def _epoch(self, epoch: int) -> float:
        """One pass over the training positions; returns the mean loss."""
        rng = np.random.default_rng([self.settings.seed, epoch])
        self.net.train()
        batch = self.settings.batch or len(self.train)
        order = self.train if batch >= len(self.train) else self.train[torch.from_numpy(rng.permutation(len(self.train)))]
        chunks = torch.split(order, batch)
        total = 0.0
        for number, chunk in enumerate(chunks):
            planes = self.planes[chunk] if len(chunks) > 1 else self.planes[: len(self.train)]
            if self.settings.mirror:
                turned = torch.from_numpy(rng.random(len(chunk)) < 0.5)
                planes = torch.where(turned[:, None, None, None], planes.flip(3), planes)
            if self.settings.optimiser == "adamw":
                self.optimizer.param_groups[0]["lr"] = self.settings.rate * one_cycle((epoch + number / len(chunks)) / self.total)
            loss = self._loss(self.net(planes)[0], self.results[chunk])
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            total += float(loss.detach()) * len(chunk)
        return total / len(self.train)

    def _loss(self, answers: torch.Tensor, results: torch.Tensor) -> torch.Tensor:
        match self.settings.labels:
            case "results":
                return functional.cross_entropy(answers, 1 - results)
            case "unit":
                return functional.mse_loss(answers[:, 0], (results.float() + 1) / 2)
            case _:
                return functional.mse_loss(answers[:, 0], results.float())

    def _measures(self) -> dict[str, Any]:
        """Errors and accuracies of both parts, and how many of all positions are badly wrong, on the labels' own scale."""
        values, told = self._judge()
        scale = 2 if self.settings.labels == "unit" else 1
        errors = (values - self.results).abs() / scale
        measures: dict[str, Any] = {}
        for name, part in (("train", self.train), ("test", self.test)):
            measures[f"{name}_mse"] = float(errors[part].square().mean())
            measures[f"{name}_accuracy"] = float((told[part] == self.results[part]).float().mean())
        measures["badly_wrong"] = int((errors > BADLY_WRONG).sum())
        return measures

    @torch.no_grad()
    def _judge(self) -> tuple[torch.Tensor, torch.Tensor]:
        """For every position its value, -1 to +1, and the result that the network tells."""
        self.net.eval()
        answers = torch.cat([self.net(planes)[0] for planes in torch.split(self.planes, EVALUATION_BATCH)])
        if self.settings.labels == "results":
            chances = answers.softmax(1)
            return chances[:, 0] - chances[:, 2], 1 - answers.argmax(1)
        values = answers[:, 0] if self.settings.labels == "signed" else 2 * answers[:, 0] - 1
        return values, values.round().clamp(-1, 1).long()

    def save(self, folder: Path) -> None:
        """Write the weights, the optimiser's memory and the epoch."""
        save_tensors(self.net.state_dict(), folder / "net.safetensors")
        save_tensors(optimizer_tensors(self.optimizer), folder / "optimizer.safetensors")
        (folder / "epoch.json").write_text(json.dumps({"done": self.done}))

    def load(self, folder: Path) -> None:
        """Become what was saved."""
        self.net.load_state_dict(load_tensors(folder / "net.safetensors"))
        restore_optimizer(self.optimizer, load_tensors(folder / "optimizer.safetensors"))
        self.done = int(json.loads((folder / "epoch.json").read_text())["done"])

    def finish(self, run: Run) -> dict[str, Any]:
        """Write value.onnx, value.safetensors and value.json."""
        measures = self._measures()
        made = {
            "training": {
                **asdict(self.settings),
                **{name: [Path(each).name for each in getattr(self.settings, name)] for name in ("data", "extra")},
            },
            **measures,
        }
        self.net.network = replace(self.net.network, about=made)
        save_net(self.net, run.folder / "value.onnx")
        return {
            "headline": (
                f"test error {measures['test_mse']:.4f} (training {measures['train_mse']:.4f}), "
                f"{measures['test_accuracy']:.2%} of the test positions told rightly; "
                f"{measures['badly_wrong']} of all {len(self.results):,} wrong by more than {BADLY_WRONG}"
            ),
            "lines": [f"play it: fourlab play --board {self.net.network.board} --yellow value:net={run.folder / 'value.onnx'}"],
            **measures,
            "confusion": self._confusion(),
        }

    def _confusion(self) -> dict[str, dict[str, int]]:
        """Of the test positions with each result, how many were told to have which."""
        _, told = self._judge()
        results = (Result.WIN, Result.DRAW, Result.LOSS)
        true, said = self.results[self.test], told[self.test]
        return {row.word: {column.word: int(((true == row) & (said == column)).sum()) for column in results} for row in results}


def _planes(solved: labels.Labelled, features: str) -> torch.Tensor:
    return torch.from_numpy(encode(*solved.discs, solved.rules.geometry, features))


def one_cycle(way: float) -> float:
    """The share of the highest learning rate at a part of the way: up by a cosine for 30 %, then down to nearly nothing."""
    if way < 0.3:
        return 0.04 + 0.96 * (1 - math.cos(math.pi * way / 0.3)) / 2
    return (1 + math.cos(math.pi * (way - 0.3) / 0.7)) / 2


def trainee_of(settings: ValueSettings) -> ValueTrainee:
    """What learns with these settings."""
    return ValueTrainee(settings)
