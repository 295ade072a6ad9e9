"""Training as in Arya's program: play until the memory is full, learn from all of it, forget it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy, mse_loss

from fourlab.agents.alphazero.listed_play import Memory, Start, fill_memory, simulations_of
from fourlab.agents.alphazero.self_play import Samples
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.agents.alphazero.training import AlphaZeroTrainee
from fourlab.compiled.batches import mirror_moves
from fourlab.compiled.planes import encode
from fourlab.errors import UserError
from fourlab.game import bitboard
from fourlab.game.position import Position
from fourlab.jobs.executors import Executor
from fourlab.nets.evaluator import OnnxEvaluator
from fourlab.reporting.curves import Curve
from fourlab.training.listed_examples import listed_accuracy
from fourlab.training.state import State

SHUFFLES = 1 << 20
"""Memories are shuffled with the seeds [seed, SHUFFLES, update]; games have smaller numbers."""


class ListedTrainee(AlphaZeroTrainee):
    """A network in training by Arya's program.

    A piece of work is to fill the memory once and to learn from it. The window holds the last
    memory. `executor` is not used: the games between two updates are too few to share.
    """

    checkpoint_seconds = 120.0
    ends_early = True
    """Whether games end one disc before the board is full; a study sets this to False."""
    fixed = "nothing"
    """The fault of the search that is corrected, one of `choosing.FIXES`; a study sets this."""
    curves = (
        *AlphaZeroTrainee.curves,
        Curve("examples of the thesis", ("listed.wins", "listed.blocks")),
    )

    def __init__(self, settings: AlphaZeroSettings, executor: Executor | None = None) -> None:
        super().__init__(settings, executor)
        self.start = Start()
        # Half of the board; every memory then replaces the guess.
        self.expected = self.rules.columns * self.rules.rows / 2

    def _new_optimizer(self) -> torch.optim.Optimizer:
        # Adam's decay is part of the gradient, AdamW's is not.
        s = self.settings
        return torch.optim.Adam(self.net.parameters(), lr=s.rate, weight_decay=s.decay)

    def advance(self) -> dict[str, Any]:
        """Play until the memory is full and learn from it."""
        s = self.settings
        evaluator = OnnxEvaluator(self.playing, "the network")
        memory = fill_memory(evaluator, s, self.start, self.expected, self.ends_early, self.fixed)
        self.window.add(memory.samples, s.window)
        full = len(memory.samples) == s.window
        # A game that ends with the last sample does so after the update.
        late = full and bool(memory.lengths) and memory.next.ply == 0
        row: dict[str, Any] = {}
        self._count(len(memory.lengths) - late, row)
        losses: tuple[float | None, float | None] = (None, None)
        if full:
            losses = self._learn()
        self._count(late, row)
        self.start = memory.next
        if memory.lengths:
            self.expected = float(np.mean(memory.lengths))
        self.generation += 1
        row = self._row(memory, losses) | row
        if s.precision == "int8":
            # Empty if the network has played in full precision.
            row["int8"] = evaluator.differences
        if self.generation % s.exam_every == 0 or self.finished:
            row |= self._evaluate()
        return row

    def _count(self, games: int, row: dict[str, Any]) -> None:
        """Count finished games; at the end of an epoch, test the network as the thesis does."""
        epochs = self.games // self.settings.simulations_games
        self.games += games
        self._keep()
        if self.games // self.settings.simulations_games > epochs:
            row["listed"] = listed_accuracy(OnnxEvaluator(self.playing, "the network"))

    def _row(self, memory: Memory, losses: tuple[float | None, float | None]) -> dict[str, Any]:
        s = self.settings
        results = np.array(memory.results)
        row = {
            "games": self.games,
            "positions": self.window.added,
            "window": len(self.window),
            "network": s.networks[0],
            "simulations": simulations_of(self.start.number, s),
            "policy_loss": losses[0],
            "value_loss": losses[1],
            "rate": s.rate,
            "evaluations": memory.evaluations / max(1, memory.simulations),
            # per position of the memory: above 1, games ran too far ahead
            "searched": memory.searched / len(memory.samples),
        }
        if len(results):
            row["red_wins"] = float((results > 0).mean())
            row["draws"] = float((results == 0).mean())
            row["plies"] = float(np.mean(memory.lengths))
        return row

    def _calibration(self) -> Samples:
        # All that the network has just learned from; a sample would have most of it anyway.
        return self.window.samples

    def _learn(self) -> tuple[float, float]:
        """Learn once from every position and its mirror image; return the mean losses."""
        s, g = self.settings, self.rules.geometry
        samples = self.window.samples
        own, mask = np.tile(samples.own, 2), np.tile(samples.mask, 2)
        mirrored = np.arange(len(own)) >= len(samples)
        mirror_moves(own, mask, np.zeros_like(own), mirrored, g)
        planes = torch.from_numpy(encode(own, mask, g, s.features))
        policies = torch.from_numpy(np.concatenate([samples.policies, samples.policies[:, ::-1]]))
        targets = s.search_share * samples.values + (1 - s.search_share) * samples.results
        values = torch.from_numpy(np.tile(targets, 2))
        order = np.random.default_rng([s.seed, SHUFFLES, self.updates]).permutation(len(own))
        self.net.train()
        sums = np.zeros(2)
        batches = np.split(order, len(own) // s.batch)
        for batch in batches:
            value, logits = self.net(planes[batch].contiguous(memory_format=torch.channels_last))
            # Over all columns: Arya's loss does not leave out full ones.
            policy_loss = cross_entropy(logits, policies[batch])
            value_loss = mse_loss(value[:, 0], values[batch])
            self.optimizer.zero_grad()
            (policy_loss + value_loss).backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            self.updates += 1
            sums += float(policy_loss.detach()), float(value_loss.detach())
        mean = sums / len(batches)
        if not np.isfinite(mean).all():
            raise UserError(
                "the training diverged: the loss is not a finite number; try a smaller rate"
            )
        self._average(0.0)
        self._export()
        self._accept()
        return float(mean[0]), float(mean[1])

    def save(self, folder: Path) -> None:
        """Write also where the games are."""
        super().save(folder)
        state = {
            "number": self.start.number,
            "ply": self.start.ply,
            "own": self.start.own,
            "mask": self.start.mask,
            "expected": self.expected,
        }
        (folder / "play.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Restore what `save` wrote."""
        super().load(folder)
        state = State.read(folder / "play.json")
        number, ply, own, mask = map(state.count, ("number", "ply", "own", "mask"))
        g = self.rules.geometry
        # Compiled searches take the discs as they are.
        if own & ~mask or mask & ~g.cells or mask.bit_count() != ply:
            state.refuse("mask", "and own are no position of this board")
        try:
            position = Position.from_key(bitboard.key(own, mask, g), self.rules)
        except UserError:
            state.refuse("own", "and mask are no position of this board")
        if position.own != own or position.mask != mask or position.outcome() is not None:
            state.refuse("own", "and mask are no position to move in")
        self.start = Start(number, ply, own, mask)
        self.expected = state.number("expected", self.rules.columns * self.rules.rows)
        if self.expected == 0:
            state.refuse("expected")
