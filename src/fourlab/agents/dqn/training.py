"""Deep Q-learning: a network learns what every column is worth, from the moves of many games.

In a game for two whose results add up to zero one network serves both sides: Q(s, a) is what column `a` is worth to the side
to move, and the position s' that comes of it is worth to that side the negative of what it is worth to the other, so

    Q(s, a)  ->  1 if `a` wins, 0 if it draws, else  -gamma max over the open columns b of Q(s', b)

This is the negamax form of Q-learning. What it learns does not depend on who played the moves, so it learns from all moves of
all games: its own, random ones, those of other agents.

Three inventions make it work with a network. A replay (replay.py) mixes the moves of many games. A target network, a copy
that is renewed only now and then, keeps the goal still. And the column `b` is chosen by the learning network but valued by
the target network (double DQN), for a maximum alone picks out whatever happens to be overrated.
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
from fourlab.training.evaluation import Exam
from fourlab.training.games import SELF, StepGames, draw
from fourlab.training.replay import Replay
from fourlab.training.torch_state import load_tensors, optimizer_tensors, restore_optimizer, save_tensors

LAST_RATE = 0.1
"""The learning rate falls to this share of what it was at first."""


class DqnTrainee:
    """A network that learns, the games it plays, and the moves it remembers."""

    unit = "moves"
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
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(settings.seed)
            self.net, self.target = Net(network), Net(network)
        self.target.load_state_dict(self.net.state_dict())
        for each in (self.net, self.target):
            each.eval()  # batch normalisation, if there is any, must not let moves of one batch change each other's worth
        self.optimizer = torch.optim.Adam(self.net.parameters(), settings.rate)
        self.rng = np.random.default_rng(settings.seed)
        self.replay = Replay(settings.replay)
        opponents = [None if spec == SELF else chooser(spec, self.rules) for spec in settings.against]
        self.games = StepGames(settings.games, self.rules, opponents, self.rng)
        self.counts = {"pieces": 0, "games": 0, "updates": 0}
        simple = {spec: chooser(spec, self.rules) for spec in ("random", "rules")}
        self.exam = Exam(self.rules, settings.exam_games, settings.exam_positions, simple)

    @property
    def done(self) -> int:
        """How many moves have been played."""
        return self.replay.added

    @property
    def total(self) -> int:
        """How many moves to play."""
        return self.settings.moves

    @property
    def finished(self) -> bool:
        """Whether they have been played."""
        return self.done >= self.total

    @property
    def epsilon(self) -> float:
        """The chance of a random move now."""
        s = self.settings
        return s.epsilon + (s.epsilon_end - s.epsilon) * min(1.0, self.done / s.epsilon_moves)

    def advance(self) -> dict[str, Any]:
        """Play and learn until the next row of metrics, which it returns."""
        s, begun, games, goal = self.settings, time.perf_counter(), self.counts["games"], self.done + self.settings.piece
        learned = []
        while self.done < min(goal, self.total):
            columns = self.games.choose(self._explore, self.rng)
            self.replay.add(self.games.own, self.games.mask, columns)
            self.counts["games"] += self.games.play(columns, self.rng)
            if self.done >= s.warmup:
                learned += [self._learn() for _ in range(s.updates)]
        self.counts["pieces"] += 1
        row: dict[str, Any] = {"moves": self.done, "games": self.counts["games"], "updates": self.counts["updates"]}
        if learned:
            row |= dict(zip(("loss", "error", "greatest_q"), np.mean(learned, axis=0).tolist(), strict=True))
        row |= {"epsilon": self.epsilon, "replay": len(self.replay)}
        row["games_a_second"] = round((self.counts["games"] - games) / (time.perf_counter() - begun), 1)
        if self.counts["pieces"] % s.exam_every == 0 or self.finished:
            row |= self.exam.take(self.choose)
        return row

    @torch.no_grad()
    def q_values(self, own: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """What the network thinks of every column, float32[games, columns]; closed ones are worth minus infinity."""
        q = self.net(self._planes(own, mask))[1].numpy()
        return np.where(open_columns(mask, self.rules.geometry), q, -np.inf)

    def choose(self, own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The columns that the network likes best."""
        columns: np.ndarray = self.q_values(own, mask).argmax(axis=1)
        return columns

    def _explore(self, own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The same, but by lot with a chance of epsilon."""
        by_lot = rng.random(len(own)) < self.epsilon
        return np.where(by_lot, draw(open_columns(mask, self.rules.geometry), rng), self.choose(own, mask, rng))

    def _planes(self, own: np.ndarray, mask: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(encode(own, mask, self.rules.geometry, self.settings.features))

    def _learn(self) -> tuple[float, float, float]:
        """One update; returns the loss, the mean absolute error, and the mean of the greatest Q-values."""
        s, g = self.settings, self.rules.geometry
        # 1. Draw moves, and mirror half of them.
        own, mask, columns = self.replay.sample(s.batch, self.rng)
        if s.mirror:
            mirror_moves(own, mask, columns, self.rng.random(s.batch) < 0.5, g)
        before = self._planes(own, mask)
        closed = torch.from_numpy(~open_columns(mask, g))
        # 2. Step from what the network thinks of them towards what they should be worth.
        goal = self.goals(own, mask, columns)
        q = self.net(before)[1]
        worth = q.gather(1, torch.from_numpy(columns)[:, None])[:, 0]
        loss = smooth_l1_loss(worth, goal)
        self.optimizer.param_groups[0]["lr"] = s.rate * (1 - (1 - LAST_RATE) * min(1.0, self.done / s.moves))
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self.net.parameters(), s.clip)
        self.optimizer.step()
        # 3. Renew the target network when it is time.
        self.counts["updates"] += 1
        if self.counts["updates"] % s.target == 0:
            self.target.load_state_dict(self.net.state_dict())
        greatest = q.detach().masked_fill(closed, -torch.inf).amax(dim=1)
        return float(loss.detach()), float((worth.detach() - goal).abs().mean()), float(greatest.mean())

    @torch.no_grad()
    def goals(self, own: np.ndarray, mask: np.ndarray, columns: np.ndarray) -> torch.Tensor:
        """What moves should be worth, float32[moves], going by their results or by what the networks think of the answers."""
        own, mask, g = own.copy(), mask.copy(), self.rules.geometry
        stands = torch.from_numpy(play_columns(own, mask, columns, g))
        after, closed = self._planes(own, mask), torch.from_numpy(~open_columns(mask, g))
        # The learning network chooses the answer, the target network values it; nothing is worth more than a win.
        answer = self.net(after)[1].masked_fill(closed, -torch.inf).argmax(dim=1, keepdim=True)
        worth = self.target(after)[1].gather(1, answer)[:, 0].clamp(-1, 1)
        return torch.where(stands == WON, 1.0, torch.where(stands == DRAWN, 0.0, -self.settings.gamma * worth))

    def save(self, folder: Path) -> None:
        """Write both networks, the optimiser's memory, the replay, the games in hand and the random generator."""
        save_tensors(self.net.state_dict(), folder / "net.safetensors")
        save_tensors(self.target.state_dict(), folder / "target.safetensors")
        save_tensors(optimizer_tensors(self.optimizer), folder / "optimizer.safetensors")
        save_tensors({name: torch.from_numpy(array) for name, array in self._arrays().items()}, folder / "games.safetensors")
        state = {"added": self.replay.added, "counts": self.counts, "random": self.rng.bit_generator.state}
        (folder / "state.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Become what was saved."""
        self.net.load_state_dict(load_tensors(folder / "net.safetensors"))
        self.target.load_state_dict(load_tensors(folder / "target.safetensors"))
        restore_optimizer(self.optimizer, load_tensors(folder / "optimizer.safetensors"))
        state = json.loads((folder / "state.json").read_text())
        self.replay.added, self.counts, self.rng.bit_generator.state = state["added"], state["counts"], state["random"]
        saved = load_tensors(folder / "games.safetensors")
        for name, array in self._arrays().items():
            array[:] = saved[name].numpy()

    def _arrays(self) -> dict[str, np.ndarray]:
        """The arrays that change as games are played; of the replay, as much as is filled."""
        filled = {f"replay.{name}": array[: len(self.replay)] for name, array in self.replay.arrays().items()}
        return {**filled, **{f"games.{name}": array for name, array in self.games.arrays().items()}}

    def finish(self, run: Run) -> dict[str, Any]:
        """Write dqn.onnx, dqn.safetensors and dqn.json, and examine the network once more."""
        found = self.exam.take(self.choose)
        self.net.network = replace(self.net.network, about={"training": asdict(self.settings), **found})
        save_net(self.net, run.folder / "dqn.onnx")
        told = [f"{found[spec]['score']:.1%} of the points against {spec}" for spec in ("random", "rules")]
        if "exact" in found:
            told.append(f"the exact value kept in {found['exact']['kept']:.1%} of {found['exact']['positions']} positions")
        return {
            "headline": ", ".join(told),
            "lines": [f"play it: fourlab play --board {self.rules} --yellow dqn:net={run.folder / 'dqn.onnx'}"],
            "games": self.counts["games"],
            **found,
        }


def trainee_of(settings: DqnSettings) -> DqnTrainee:
    """What learns with these settings."""
    return DqnTrainee(settings)
