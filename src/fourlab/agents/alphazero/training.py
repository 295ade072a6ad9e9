"""Training of AlphaMCTS: a network learns from games that a search with it plays against itself.

There are two networks: one is trained, the other plays. In every generation the self-play network
plays games, in chunks shared among any number of workers; their positions go into the replay
window; the trained network learns from the window; and the self-play network becomes a moving
average of it.
"""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import log_softmax, mse_loss

from fourlab.agents.alphazero.exam import OPPONENTS, evaluate, headline, player
from fourlab.agents.alphazero.self_play import Played, Samples, self_play
from fourlab.agents.alphazero.settings import AlphaZeroSettings, Stage
from fourlab.agents.alphazero.window import Window
from fourlab.compiled.batches import mirror_moves, open_columns
from fourlab.compiled.planes import encode
from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Executor, Lost
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.run import Run
from fourlab.nets.evaluator import SHIPPED, OnnxEvaluator, is_shipped
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.quantise import quantise
from fourlab.nets.weights import load_net, save_net, to_onnx
from fourlab.reporting.curves import Curve
from fourlab.training.games import Chooser, match
from fourlab.training.state import State
from fourlab.training.torch_state import (
    load_tensors,
    optimizer_tensors,
    restore_optimizer,
    save_tensors,
)

MAX_ONNX_BYTES = 1 << 30
CALIBRATION = 1024
"""Positions of the window on which an int8 network is calibrated."""
FIRST_UPDATES = 1000
"""Updates before averaging starts; earlier, weights change too fast for an average."""
WARM_UP = 200
"""Updates over which a new network's learning rate rises linearly from 0."""


def network_of(settings: AlphaZeroSettings, stage: Stage) -> Network:
    """Return the architecture of a stage's network."""
    board = Rules.parse(settings.board)
    body = (
        f"conv {stage.filters}",
        "batchnorm",
        "relu",
        *[f"residual {stage.filters}"] * stage.blocks,
    )
    hidden = (f"dense {settings.value_hidden}", "relu") if settings.value_hidden else ()
    return Network(
        purpose="policy-value",
        board=str(board),
        features=settings.features,
        body=body,
        value=(f"conv {settings.value_filters}", "batchnorm", "relu", *hidden, "dense 1", "tanh"),
        policy=(
            f"conv {settings.policy_filters}",
            "batchnorm",
            "relu",
            f"dense {board.columns}",
        ),
    )


@dataclass(frozen=True)
class SelfPlayWork:
    """The task of a worker: play the games of one chunk."""

    settings: AlphaZeroSettings
    network: bytes
    simulations: int
    generation: int
    games: int

    def prepare(self) -> None:
        """Compile or load the kernels."""
        self_play(_evaluator(self.network), replace(self.settings, lanes=1), 2, 1, [0])

    def __call__(self, number: int, watch: Any) -> Played:
        """Play chunk `number`; its seed depends on nothing else, so any worker may play it."""
        s = self.settings
        games = min(s.chunk, self.games - number * s.chunk)
        seed = [s.seed, self.generation, number]
        return self_play(_evaluator(self.network), s, self.simulations, games, seed)


def _evaluator(model: bytes) -> OnnxEvaluator:
    return OnnxEvaluator(model, "the network")


class AlphaZeroTrainee:
    """A network in training by self-play."""

    unit = "games"
    checkpoint_seconds = 0.0  # save after every generation, since one takes minutes
    curves: tuple[Curve, ...] = (
        Curve(
            "mistakes without search",
            ("policy.mistakes", "policy.early", "policy.middle", "policy.late"),
            logarithmic=True,
        ),
        Curve(
            "mistakes with search",
            ("search.mistakes", "search.early", "search.middle", "search.late"),
            logarithmic=True,
        ),
        Curve("exactly best columns", ("policy.best", "search.best")),
        Curve("wins and blocks seen", ("win_block.wins", "win_block.blocks")),
        Curve("score with search", tuple(f"{spec}.score" for spec in OPPONENTS)),
        Curve("loss", ("policy_loss", "value_loss"), logarithmic=True),
        Curve("results of games", ("red_wins", "draws")),
    )

    def __init__(self, settings: AlphaZeroSettings, executor: Executor | None = None) -> None:
        self.settings = settings
        self.rules = Rules.parse(settings.board)
        self.executor = executor or Threads(2)
        torch.set_num_threads(settings.threads)
        self.window = Window(self.rules.columns)
        # Chunks of games have the seeds [seed, generation, number]; 2^20 is beyond real runs.
        self.rng = np.random.default_rng([settings.seed, 1 << 20])
        self.games = self.generation = 0
        self.fresh = 0
        """Positions of the latest generation, from which the network has yet to learn."""
        self._enter_stage(0)
        if settings.start:
            self._load_weights(settings.start)
        self._export()
        self._accept()
        self.kept: Net | None = None
        """A copy of the network after `keep` games."""
        self.kept_stage = 0

    @property
    def done(self) -> int:
        """Return the number of games played."""
        return self.games

    @property
    def total(self) -> int:
        """Return the number of games to play."""
        return self.settings.games

    @property
    def finished(self) -> bool:
        """Return whether all games are played."""
        return self.games >= self.settings.games

    def _enter_stage(self, stage: int) -> None:
        """Start a stage with a new network."""
        self.stage = stage
        network = network_of(self.settings, self.settings.stages[stage])
        torch.manual_seed(self.settings.seed + stage)
        self.net, self.average = Net(network), Net(network)
        self.average.load_state_dict(self.net.state_dict())
        # Training is a third faster with channels last.
        self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.optimizer = self._new_optimizer()
        self.updates = 0

    def _new_optimizer(self) -> torch.optim.Optimizer:
        s = self.settings
        return torch.optim.AdamW(self.net.parameters(), lr=s.rate, weight_decay=s.decay)

    def _load_weights(self, start: str) -> None:
        """Load initial weights, shipped or from a file, that fit the first network."""
        name = f"{start}-fp32.json"
        net = load_net(Path(str(SHIPPED / name)) if is_shipped(name) else Path(start))
        network = replace(net.network, about={})
        if network != self.net.network:
            raise UserError(
                f"{start} is a network of another form, {_form(network)}; "
                f"networks[0] is {_form(self.net.network)}"
            )
        self.net.load_state_dict(net.state_dict())
        self.average.load_state_dict(net.state_dict())

    def _export(self) -> None:
        """Export the averaged network as the self-play network."""
        self.playing = to_onnx(self.average)
        if self.settings.precision == "int8" and len(self.window):
            samples = self._calibration()
            # A network that loses too much accuracy in int8 plays in full precision.
            with suppress(UserError):
                self.playing = quantise(self.playing, samples.own, samples.mask)

    def _calibration(self) -> Samples:
        """Return the positions on which an int8 network is calibrated."""
        return self.window.draw(CALIBRATION, np.random.default_rng(self.games))

    def _accept(self) -> None:
        """Keep the self-play network's weights; `average` changes even if a gate rejects it."""
        self.accepted = deepcopy(self.average)
        self.accepted_stage = self.stage

    def _keep(self) -> None:
        """Keep a copy of the network when `keep` games have been played."""
        if self.kept is None and 0 < self.settings.keep <= self.games:
            self.kept = deepcopy(self.accepted)
            self.kept_stage = self.accepted_stage

    def advance(self) -> dict[str, Any]:
        """Run a generation: play games while the network learns from those before.

        After the last generation the network also learns from its games.
        """
        s = self.settings
        games = min(s.generation, s.games - self.games)
        simulations = min(
            s.simulations + self.games // s.simulations_games, max(s.simulations_end, s.simulations)
        )
        work = SelfPlayWork(s, self.playing, simulations, self.generation, games)
        # Games use the exported network and updates the window; neither changes in this block.
        with ThreadPoolExecutor(1) as background:
            playing = background.submit(self._play, work)
            losses = self._train()
            parts = playing.result()
        samples = Samples.joined([part.samples for part in parts])
        self.games += games
        self.generation += 1
        self.fresh = len(samples)
        share = round(s.window_share * (self.window.added + len(samples)))
        self.window.add(samples, min(s.window_end, max(s.window, share)))
        if self.finished:
            losses = self._train()
        before = self.playing
        self._export()
        results = np.concatenate([part.results for part in parts])
        evaluations = sum(part.evaluations for part in parts)
        row: dict[str, Any] = {
            "games": self.games,
            "positions": self.window.added,
            "window": len(self.window),
            "network": s.networks[self.stage].split()[0],
            "simulations": simulations,
            "policy_loss": losses[0],
            "value_loss": losses[1],
            "rate": self.optimizer.param_groups[0]["lr"],
            "red_wins": float((results > 0).mean()),
            "draws": float((results == 0).mean()),
            "plies": float(np.concatenate([part.plies for part in parts]).mean()),
            # per simulation: the rest were answered by the cache or on the board
            "evaluations": evaluations / max(1, sum(part.simulations for part in parts)),
        }
        if s.gate_games:
            row["gate"] = self._gate(before)
        else:
            self._accept()
        self._keep()
        if self.generation % s.exam_every == 0 or self.finished:
            row |= self._evaluate()
        return row

    def _play(self, work: SelfPlayWork) -> list[Played]:
        """Play the chunks of a generation in any order; return them sorted by number."""
        chunks: dict[int, Played] = {}
        count = math.ceil(work.games / self.settings.chunk)
        for finished in self.executor.map(work, range(count)):
            for number, played in finished:
                if isinstance(played, Lost):
                    raise UserError(f"self-play failed: {played.why}")
                chunks[number] = played
        return [chunks[number] for number in sorted(chunks)]

    def _train(self) -> tuple[float | None, float | None]:
        """Learn from the window and update the average; return the policy and value losses.

        A larger network that takes over first catches up: it learns as if the window, twice, were
        new positions.
        """
        s = self.settings
        if not len(self.window):
            return None, None
        positions = self.fresh
        takes_over = self.stage + 1 < len(s.stages) and self.games >= s.stages[self.stage + 1].games
        # After the last game a new network would not have enough updates left.
        takes_over = takes_over and not self.finished
        if takes_over:
            self._enter_stage(self.stage + 1)
            positions = 2 * len(self.window)
        losses = self._run_updates(max(1, round(s.passes * positions / s.batch)))
        # A new network is not averaged with its random initial weights.
        self._average(0.0 if takes_over or self.updates < FIRST_UPDATES else s.averaging)
        return losses

    def _run_updates(self, updates: int) -> tuple[float, float]:
        """Make updates; return the mean policy loss and the mean value loss."""
        self.net.train()
        sums = np.zeros(2)
        for _ in range(updates):
            sums += self._update()
        mean = sums / updates
        if not np.isfinite(mean).all():
            raise UserError(
                "the training diverged: the loss is not a finite number; try a smaller rate"
            )
        return float(mean[0]), float(mean[1])

    def _update(self) -> tuple[float, float]:
        """Make one update from positions sampled from the window; return both losses."""
        s, g = self.settings, self.rules.geometry
        samples = self.window.draw(s.batch, self.rng)
        own, mask, policies = samples.own, samples.mask, samples.policies
        if s.mirror:
            # `draw` copies, so mirroring in place leaves the window as it is.
            mirrored = self.rng.random(len(own)) < 0.5
            mirror_moves(own, mask, np.zeros_like(own), mirrored, g)
            policies = np.where(mirrored[:, None], policies[:, ::-1], policies)
        planes = torch.from_numpy(encode(own, mask, g, s.features)).contiguous(
            memory_format=torch.channels_last
        )
        value_target = torch.from_numpy(
            s.search_share * samples.values + (1 - s.search_share) * samples.results
        )
        policy_target = torch.from_numpy(np.ascontiguousarray(policies))
        # AlphaGo Zero's loss (Silver et al., 2017); AdamW takes care of the weight decay.
        value, logits = self.net(planes)
        # Cross entropy over the open columns; a policy target of zeros contributes nothing.
        full = torch.from_numpy(~open_columns(mask, g))
        log_policy = log_softmax(logits.masked_fill(full, -1e9), dim=1)
        policy_loss = -(policy_target * log_policy).sum(dim=1).mean()
        value_loss = mse_loss(value[:, 0], value_target)
        progress = self.games / s.games
        warm = min(1.0, (self.updates + 1) / WARM_UP)
        self.optimizer.param_groups[0]["lr"] = warm * (s.rate + (s.rate_end - s.rate) * progress)
        self.optimizer.zero_grad()
        (policy_loss + s.value_weight * value_loss).backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.updates += 1
        return float(policy_loss.detach()), float(value_loss.detach())

    @torch.no_grad()
    def _average(self, share: float) -> None:
        """Mix the trained weights into the average, which keeps `share` of its own."""
        trained = self.net.state_dict()
        for name, tensor in self.average.state_dict().items():
            if tensor.dtype.is_floating_point:
                tensor.mul_(share).add_(trained[name], alpha=1 - share)
            else:  # counters of batch normalisation
                tensor.copy_(trained[name])
        self.average.eval()

    def _gate(self, before: bytes) -> dict[str, Any]:
        """Let the candidate play its predecessor, and restore that one if it is not beaten."""
        s = self.settings
        candidate = player(_evaluator(self.playing), s.simulations, s)
        incumbent = player(_evaluator(before), s.simulations, s)
        result = self._match(candidate, incumbent, s.gate_games)
        if result["score"] < s.gate_score:
            self.playing = before
        else:
            self._accept()
        return result

    def _match(self, one: Chooser, other: Chooser, games: int) -> dict[str, Any]:
        return match(one, other, games, self.rules, np.random.default_rng(self.generation))

    def _evaluate(self) -> dict[str, Any]:
        """Test the self-play network on solved positions and in games against other agents."""
        return evaluate(_evaluator(self.playing), self.settings, self.generation)

    def save(self, folder: Path) -> None:
        """Write the networks, the optimiser's state, the window and the random generator."""
        save_tensors(self.net.state_dict(), folder / "net.safetensors")
        save_tensors(self.average.state_dict(), folder / "average.safetensors")
        if self.settings.gate_games:
            save_tensors(self.accepted.state_dict(), folder / "accepted.safetensors")
        if self.kept is not None:
            save_tensors(self.kept.state_dict(), folder / "kept.safetensors")
        save_tensors(optimizer_tensors(self.optimizer), folder / "optimizer.safetensors")
        window = {name: torch.from_numpy(array) for name, array in self.window.arrays().items()}
        save_tensors(window, folder / "window.safetensors")
        (folder / "playing.onnx").write_bytes(self.playing)
        state = {
            "games": self.games,
            "generation": self.generation,
            "fresh": self.fresh,
            "updates": self.updates,
            "stage": self.stage,
            "accepted_stage": self.accepted_stage,
            "added": self.window.added,
            "kept_stage": self.kept_stage,
            "random": self.rng.bit_generator.state,
        }
        (folder / "state.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Restore what `save` wrote."""
        state = State.read(folder / "state.json")
        last_stage = len(self.settings.stages) - 1
        self._enter_stage(state.count("stage", last_stage))
        for name, net in (("net", self.net), ("average", self.average)):
            net.load_state_dict(load_tensors(folder / f"{name}.safetensors", net.state_dict()))
        self.average.eval()
        restore_optimizer(self.optimizer, load_tensors(folder / "optimizer.safetensors"))
        arrays = load_tensors(folder / "window.safetensors")
        self.window.restore({name: tensor.numpy() for name, tensor in arrays.items()})
        self.window.added = state.count("added")
        if self.window.added < len(self.window):
            state.refuse("added")
        state.restore_generator("random", self.rng)
        self.games = state.count("games")
        self.generation = state.count("generation")
        self.fresh = state.count("fresh")
        self.updates = state.count("updates")
        self.playing = read_bounded(folder / "playing.onnx", MAX_ONNX_BYTES, follow_links=False)
        self._accept()
        # Only runs with a gate write this file, and older checkpoints lack it.
        file = folder / "accepted.safetensors"
        if file.exists():
            self.accepted_stage = state.count("accepted_stage", last_stage)
            self.accepted = self._read_net(file, self.accepted_stage)
        file = folder / "kept.safetensors"
        if file.exists():
            self.kept_stage = state.count("kept_stage", last_stage)
            self.kept = self._read_net(file, self.kept_stage)

    def _read_net(self, file: Path, stage: int) -> Net:
        """Return a network of a stage with the weights of a checkpoint's file."""
        net = Net(network_of(self.settings, self.settings.stages[stage]))
        net.load_state_dict(load_tensors(file, net.state_dict()))
        net.eval()
        return net

    def finish(self, run: Run) -> dict[str, Any]:
        """Write alphazero.onnx for playing and alphazero-fp32.* for further training; evaluate.

        The network that was kept on the way becomes alphazero-GAMES-fp32.*.
        """
        results = self._evaluate()
        about = {"training": asdict(self.settings)}
        self.accepted.network = replace(self.accepted.network, about={**about, **results})
        if self.kept is not None:
            games = self.settings.keep
            self.kept.network = replace(self.kept.network, about={**about, "games": games})
            save_net(self.kept, run.folder / f"alphazero-{games}-fp32.onnx")
        file = run.folder / "alphazero.onnx"
        save_net(self.accepted, run.folder / "alphazero-fp32.onnx")
        write_atomically(file, self.playing)
        return {
            "headline": headline(results, self.settings, self.games),
            "lines": [f"play it: fourlab play --board {self.rules} --yellow alphazero:net={file}"],
            **results,
        }


def _form(network: Network) -> str:
    blocks = sum(layer.startswith("residual") for layer in network.body)
    return f"{network.body[0].split()[1]}x{blocks} for {network.board} with {network.features}"
