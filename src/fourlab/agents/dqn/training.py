"""Deep Q-learning: a network learns the value of every column from the moves of many games.

In a zero-sum game one network serves both sides. Q(s, a) is the value of column `a` for the side to
move in s, -1 to +1. The value of the next position s' for that side is minus its value for the
other side, so the target is

    Q(s, a)  ->  1 if `a` wins, 0 if it draws, else  -gamma max over the open columns b of Q(s', b)

This is the negamax form of Q-learning. It is off-policy: the target does not depend on who played
the move, so the network learns from all moves of all games: its own, random ones, those of other
agents.

Three techniques stabilise it. A replay buffer (training/replay.py) mixes the moves of many games. A
target network, a copy renewed only now and then, keeps the target still. And the column `b` is
chosen by the trained network but evaluated by the target network (double DQN, van Hasselt et al.,
2016), since a plain maximum favours columns that happen to be overestimated.
"""

import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import smooth_l1_loss
from torch.nn.utils import clip_grad_norm_

from fourlab.agents.dqn.settings import DqnSettings
from fourlab.agents.opponents import chooser
from fourlab.compiled.batches import DRAWN, WON, mirror_moves, open_columns, play_columns
from fourlab.compiled.planes import encode
from fourlab.game.rules import Rules
from fourlab.jobs.run import Run
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.weights import save_net
from fourlab.reporting.curves import Curve
from fourlab.training.evaluation import Benchmark
from fourlab.training.games import SELF, StepGames, draw
from fourlab.training.loop import CHECKPOINT_SECONDS
from fourlab.training.replay import Replay
from fourlab.training.state import State
from fourlab.training.torch_state import (
    load_tensors,
    optimizer_tensors,
    restore_optimizer,
    save_tensors,
)

LAST_RATE = 0.1
"""The learning rate falls to this share of its initial value."""


class DqnTrainee:
    """A network in training, its games in progress and its replay buffer."""

    unit = "moves"
    checkpoint_seconds = CHECKPOINT_SECONDS
    curves: tuple[Curve, ...] = (
        Curve("exact value kept", ("exact.decisive", "exact.kept")),
        Curve("score against", ("rules.score", "random.score")),
        Curve("error", ("error", "loss"), logarithmic=True),
        Curve("greatest Q", ("greatest_q",)),
        Curve("epsilon", ("epsilon",)),
    )

    def __init__(self, settings: DqnSettings) -> None:
        torch.set_num_threads(settings.threads)
        torch.use_deterministic_algorithms(True)
        self.settings = settings
        self.rules = Rules.parse(settings.board)
        last = f"dense {self.rules.columns}"
        network = Network("q", str(self.rules), settings.features, settings.layers, policy=(last,))
        # torch's global generator is left as it was: other code may rely on it.
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(settings.seed)
            self.net, self.target = Net(network), Net(network)
        self.target.load_state_dict(self.net.state_dict())
        # Any batch normalisation uses running statistics: in training mode the value of a move
        # would depend on the other moves of its batch.
        self.net.eval()
        self.target.eval()
        self.optimizer = torch.optim.Adam(self.net.parameters(), settings.rate)
        self.rng = np.random.default_rng(settings.seed)
        self.replay = Replay(settings.replay)
        opponents = [
            None if spec == SELF else chooser(spec, self.rules) for spec in settings.against
        ]
        self.games = StepGames(settings.games, self.rules, opponents, self.rng)
        self.counts = {"pieces": 0, "games": 0, "updates": 0}
        simple = {spec: chooser(spec, self.rules) for spec in ("random", "rules")}
        self.exam = Benchmark(self.rules, settings.exam_games, settings.exam_positions, simple)

    @property
    def done(self) -> int:
        """Return the number of moves played."""
        return self.replay.added

    @property
    def total(self) -> int:
        """Return the number of moves to play."""
        return self.settings.moves

    @property
    def finished(self) -> bool:
        """Return whether all moves are played."""
        return self.done >= self.total

    @property
    def epsilon(self) -> float:
        """Return the current probability of a random move."""
        s = self.settings
        return s.epsilon + (s.epsilon_end - s.epsilon) * min(1.0, self.done / s.epsilon_moves)

    def advance(self) -> dict[str, Any]:
        """Play and learn until the next row of metrics, and return it."""
        begun = time.perf_counter()
        s = self.settings
        games_before = self.counts["games"]
        goal = self.done + s.piece
        measures = []
        while self.done < min(goal, self.total):
            columns = self.games.choose(self._explore, self.rng)
            # Only position and column are stored: the rest, reward and next position, follows by
            # the rules.
            self.replay.add(self.games.own, self.games.mask, columns)
            self.counts["games"] += self.games.play(columns, self.rng)
            # The first updates would otherwise see the same few moves again and again.
            if self.done >= s.warmup:
                measures += [self._update() for _ in range(s.updates)]
        self.counts["pieces"] += 1
        row: dict[str, Any] = {
            "moves": self.done,
            "games": self.counts["games"],
            "updates": self.counts["updates"],
        }
        if measures:
            means = np.mean(measures, axis=0).tolist()
            row |= dict(zip(("loss", "error", "greatest_q"), means, strict=True))
        row |= {"epsilon": self.epsilon, "replay": len(self.replay)}
        games = self.counts["games"] - games_before
        row["games_a_second"] = round(games / (time.perf_counter() - begun), 1)
        if self.counts["pieces"] % s.exam_every == 0 or self.finished:
            row |= self.exam.run(self.choose)
        return row

    @torch.no_grad()
    def q_values(self, own: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the Q-value of every column, float32[games, columns]; -inf for full columns."""
        q = self.net(self._planes(own, mask))[1].numpy()
        return np.where(open_columns(mask, self.rules.geometry), q, -np.inf)

    def choose(self, own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the columns of the greatest Q-values."""
        columns: np.ndarray = self.q_values(own, mask).argmax(axis=1)
        return columns

    def _explore(self, own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return random columns with probability epsilon, else those of the greatest Q-values."""
        exploring = rng.random(len(own)) < self.epsilon
        random_columns = draw(open_columns(mask, self.rules.geometry), rng)
        return np.where(exploring, random_columns, self.choose(own, mask, rng))

    def _planes(self, own: np.ndarray, mask: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(encode(own, mask, self.rules.geometry, self.settings.features))

    def _update(self) -> tuple[float, float, float]:
        """Make one update; return the loss, the mean absolute error and the mean greatest Q."""
        s, g = self.settings, self.rules.geometry
        # 1. Sample moves, and mirror half of them.
        own, mask, columns = self.replay.sample(s.batch, self.rng)
        if s.mirror:
            mirror_moves(own, mask, columns, self.rng.random(s.batch) < 0.5, g)
        planes = self._planes(own, mask)
        full = torch.from_numpy(~open_columns(mask, g))
        # 2. Step from their Q-values towards the targets.
        targets = self.targets(own, mask, columns)
        q = self.net(planes)[1]
        values = q.gather(1, torch.from_numpy(columns)[:, None])[:, 0]
        # Huber's loss limits the influence of large errors; Mnih et al. (2015) clip them to the
        # same effect.
        loss = smooth_l1_loss(values, targets)
        progress = min(1.0, self.done / s.moves)
        self.optimizer.param_groups[0]["lr"] = s.rate * (1 - (1 - LAST_RATE) * progress)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self.net.parameters(), s.clip)
        self.optimizer.step()
        # 3. Renew the target network every s.target updates.
        self.counts["updates"] += 1
        if self.counts["updates"] % s.target == 0:
            self.target.load_state_dict(self.net.state_dict())
        greatest = q.detach().masked_fill(full, -torch.inf).amax(dim=1)
        error = (values.detach() - targets).abs().mean()
        return float(loss.detach()), float(error), float(greatest.mean())

    @torch.no_grad()
    def targets(self, own: np.ndarray, mask: np.ndarray, columns: np.ndarray) -> torch.Tensor:
        """Return the targets of moves, float32[moves]: their results, or network estimates."""
        own, mask, g = own.copy(), mask.copy(), self.rules.geometry
        # Copies, because the kernel plays in place; afterwards `own` is the opponent's.
        status = torch.from_numpy(play_columns(own, mask, columns, g))
        after = self._planes(own, mask)
        full = torch.from_numpy(~open_columns(mask, g))
        # Double DQN: the trained network chooses the reply, the target network evaluates it.
        # Estimates beyond a win or a loss are errors and are clamped.
        choosing = self.net if self.settings.double else self.target
        reply = choosing(after)[1].masked_fill(full, -torch.inf).argmax(dim=1, keepdim=True)
        value = self.target(after)[1].gather(1, reply)[:, 0].clamp(-1, 1)
        estimate = -self.settings.gamma * value
        return torch.where(status == WON, 1.0, torch.where(status == DRAWN, 0.0, estimate))

    def save(self, folder: Path) -> None:
        """Write the networks, the optimiser, the replay buffer, the games and the random state."""
        save_tensors(self.net.state_dict(), folder / "net.safetensors")
        save_tensors(self.target.state_dict(), folder / "target.safetensors")
        save_tensors(optimizer_tensors(self.optimizer), folder / "optimizer.safetensors")
        save_tensors(
            {name: torch.from_numpy(array) for name, array in self._arrays().items()},
            folder / "games.safetensors",
        )
        state = {
            "added": self.replay.added,
            "counts": self.counts,
            "random": self.rng.bit_generator.state,
        }
        (folder / "state.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Restore what `save` wrote."""
        for name, net in (("net", self.net), ("target", self.target)):
            net.load_state_dict(load_tensors(folder / f"{name}.safetensors", net.state_dict()))
        restore_optimizer(self.optimizer, load_tensors(folder / "optimizer.safetensors"))
        state = State.read(folder / "state.json")
        # Before the arrays, because `added` determines how many moves the buffer has.
        self.replay.added = state.count("added")
        counts = state.table("counts")
        self.counts = {name: counts.count(name) for name in self.counts}
        state.restore_generator("random", self.rng)
        arrays = self._arrays()
        expected = {name: torch.from_numpy(array) for name, array in arrays.items()}
        tensors = load_tensors(folder / "games.safetensors", expected)
        for name, array in arrays.items():
            array[:] = tensors[name].numpy()

    def _arrays(self) -> dict[str, np.ndarray]:
        """Return views of the filled part of the replay buffer and of the games in progress."""
        arrays = {}
        for name, array in self.replay.arrays().items():
            arrays[f"replay.{name}"] = array[: len(self.replay)]
        for name, array in self.games.arrays().items():
            arrays[f"games.{name}"] = array
        return arrays

    def finish(self, run: Run) -> dict[str, Any]:
        """Write dqn.onnx, dqn.safetensors and dqn.json, and evaluate the network."""
        results = self.exam.run(self.choose)
        self.net.network = replace(
            self.net.network, about={"training": asdict(self.settings), **results}
        )
        file = run.folder / "dqn.onnx"
        save_net(self.net, file)
        headline = [
            f"{results[spec]['score']:.1%} of the points against {spec}"
            for spec in ("random", "rules")
        ]
        if "exact" in results:
            exact = results["exact"]
            headline.append(
                f"the exact value kept in {exact['kept']:.1%} of {exact['positions']} positions"
            )
        return {
            "headline": ", ".join(headline),
            "lines": [f"play it: fourlab play --board {self.rules} --yellow dqn:net={file}"],
            "games": self.counts["games"],
            **results,
        }


trainee_of = DqnTrainee
"""Makes a new trainee; called by `fourlab.training.kind` by name."""
