"""AlphaMCTS: a network learns from games that a search with it plays against itself.

A generation: the network that plays makes games, in chunks that any number of workers share; their positions go into the
window; the network that learns is trained on the window; the network that plays becomes a moving average of it.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import log_softmax, mse_loss

from fourlab.agents.alphazero.forest import ForestSearch
from fourlab.agents.alphazero.self_play import Played, Samples, self_play, switches_of
from fourlab.agents.alphazero.settings import AlphaZeroSettings, Stage
from fourlab.agents.alphazero.window import Window
from fourlab.agents.opponents import chooser
from fourlab.compiled.batches import mirror_moves, open_columns
from fourlab.compiled.planes import encode
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Executor, Lost
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.run import Run
from fourlab.nets.evaluator import SHIPPED, OnnxEvaluator
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.quantise import quantise
from fourlab.nets.weights import load_net, save_net, to_onnx
from fourlab.reporting.curves import Curve
from fourlab.training.games import Chooser, match
from fourlab.training.test_set import truth_of, win_block_accuracy
from fourlab.training.torch_state import load_tensors, optimizer_tensors, restore_optimizer, save_tensors

OPPONENTS = ("rules", "minimax:depth=4")
CALIBRATION = 1024
"""int8 networks are fitted to so many positions of the window."""
FIRST_UPDATES = 1000
"""So long a network changes too fast for averages."""
WARM_UP = 200
"""A new network's learning rate grows over so many updates."""


def network_of(settings: AlphaZeroSettings, stage: Stage) -> Network:
    """The form of a stage's network."""
    body = (f"conv {stage.filters}", "batchnorm", "relu", *[f"residual {stage.filters}"] * stage.blocks)
    hidden = (f"dense {settings.value_hidden}", "relu") if settings.value_hidden else ()
    return Network(
        purpose="policy-value",
        board=str(Rules.parse(settings.board)),
        features=settings.features,
        body=body,
        value=(f"conv {settings.value_filters}", "batchnorm", "relu", *hidden, "dense 1", "tanh"),
        policy=(f"conv {settings.policy_filters}", "batchnorm", "relu", f"dense {Rules.parse(settings.board).columns}"),
    )


@dataclass(frozen=True)
class SelfPlayWork:
    """What a worker does: the games of one chunk."""

    settings: AlphaZeroSettings
    network: bytes
    simulations: int
    generation: int
    games: int

    def prepare(self) -> None:
        """Compile."""
        self_play(OnnxEvaluator(self.network, "the network"), replace(self.settings, lanes=1), 2, 1, [0])

    def __call__(self, number: int, watch: Any) -> Played:
        """Play a chunk."""
        games = min(self.settings.chunk, self.games - number * self.settings.chunk)
        seed = [self.settings.seed, self.generation, number]
        return self_play(OnnxEvaluator(self.network, "the network"), self.settings, self.simulations, games, seed)


def player(judge: OnnxEvaluator, simulations: int, settings: AlphaZeroSettings) -> Chooser:
    """A network as a player of many games: by search without noise, or without simulations by its policy alone."""
    g, switches = judge.rules.geometry, switches_of(settings)._replace(noise=0.0, proving=True, faithful=False)

    def by_policy(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        logits = judge.heads(judge.planes(own, mask))["policy"]
        columns: np.ndarray = np.where(open_columns(mask, g), logits, -np.inf).argmax(axis=1)
        return columns

    def by_search(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        search = ForestSearch(judge, judge.rules, len(own), simulations, switches)
        search.plant(own, mask, simulations)
        while search.grow():
            pass
        roots = search.roots()
        best: np.ndarray = roots.improved(switches.scale).argmax(axis=1) if switches.gumbel else roots.most_visited()
        return best

    return by_search if simulations else by_policy


class AlphaZeroTrainee:
    """A network that learns by playing itself."""

    unit = "games"
    checkpoint_seconds = 0.0  # every generation is dear
    curves: tuple[Curve, ...] = (
        Curve("mistakes without search", ("policy.mistakes", "policy.early", "policy.middle", "policy.late"), logarithmic=True),
        Curve("mistakes with search", ("search.mistakes", "search.early", "search.middle", "search.late"), logarithmic=True),
        Curve("exactly best columns", ("policy.best", "search.best")),
        Curve("wins and blocks seen", ("win_block.wins", "win_block.blocks")),
        Curve("score with search", tuple(f"{spec}.score" for spec in OPPONENTS)),
        Curve("loss", ("policy_loss", "value_loss"), logarithmic=True),
        Curve("results of games", ("red_wins", "draws")),
    )

    def __init__(self, settings: AlphaZeroSettings, executor: Executor | None = None) -> None:
        self.settings, self.rules = settings, Rules.parse(settings.board)
        self.executor = executor or Threads(2)
        torch.set_num_threads(settings.threads)
        self.window = Window(self.rules.columns)
        self.rng = np.random.default_rng([settings.seed, 1 << 20])
        self.games = self.generation = self.fresh = 0
        self._enter_stage(0)
        if settings.start:
            self._begin_with(settings.start)
        self._export()
        self._accept()

    @property
    def done(self) -> int:
        """How many games have been played."""
        return self.games

    @property
    def total(self) -> int:
        """How many games there are to play."""
        return self.settings.games

    @property
    def finished(self) -> bool:
        """Whether all games are played."""
        return self.games >= self.settings.games

    def _enter_stage(self, stage: int) -> None:
        """Begin with a new network."""
        self.stage = stage
        network = network_of(self.settings, self.settings.stages[stage])
        torch.manual_seed(self.settings.seed + stage)
        self.net, self.average = Net(network), Net(network)
        self.average.load_state_dict(self.net.state_dict())
        self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # a third faster
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=self.settings.rate, weight_decay=self.settings.decay)
        self.updates = 0

    def _begin_with(self, start: str) -> None:
        """Take over weights of the first network's form."""
        shipped = SHIPPED / f"{start}-fp32.json"
        net = load_net(Path(str(shipped)) if shipped.is_file() else Path(start))
        if (found := replace(net.network, about={})) != self.net.network:
            raise UserError(f"{start} is a network of another form, {_form(found)}; networks[0] is {_form(self.net.network)}")
        for each in (self.net, self.average):
            each.load_state_dict(net.state_dict())

    def _export(self) -> None:
        """Make the file of the network that plays."""
        self.playing = to_onnx(self.average)
        if self.settings.precision == "int8" and len(self.window):
            samples = self.window.draw(CALIBRATION, np.random.default_rng(self.games))
            with suppress(UserError):  # one that int8 cannot do justice to plays in full precision
                self.playing = quantise(self.playing, samples.own, samples.mask)

    def _accept(self) -> None:
        """Keep what the file of the network that plays was made of, for that goes on learning even if a gate is shut."""
        self.accepted, self.accepted_stage = deepcopy(self.average), self.stage

    def advance(self) -> dict[str, Any]:
        """Make the next generation: games by the network that plays, while the other learns from those of before.

        From the last games it learns at once, for no others follow.
        """
        s = self.settings
        games = min(s.generation, s.games - self.games)
        simulations = min(s.simulations + self.games // s.simulations_games, max(s.simulations_end, s.simulations))
        with ThreadPoolExecutor(1) as aside:
            playing = aside.submit(self._play, SelfPlayWork(s, self.playing, simulations, self.generation, games))
            losses = self._study()
            parts = playing.result()
        samples = Samples.joined([part.samples for part in parts])
        self.games, self.generation, self.fresh = self.games + games, self.generation + 1, len(samples)
        self.window.add(samples, min(s.window_end, max(s.window, round(s.window_share * (self.window.added + len(samples))))))
        if self.finished:
            losses = self._study()
        # Play with what was learned, if it is good enough.
        before = self.playing
        self._export()
        results = np.concatenate([part.results for part in parts])
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
            "evaluations": sum(part.evaluations for part in parts) / max(1, sum(part.simulations for part in parts)),
        }
        if s.gate_games:
            row["gate"] = self._gate(before)
        else:
            self._accept()
        if self.generation % s.exam_every == 0 or self.finished:
            row |= self._examine()
        return row

    def _play(self, work: SelfPlayWork) -> list[Played]:
        """Play the chunks of a generation, in any order; returns them in theirs."""
        chunks: dict[int, Played] = {}
        for found in self.executor.map(work, range(-(-work.games // self.settings.chunk))):
            for number, played in found:
                if isinstance(played, Lost):
                    raise UserError(f"self-play failed: {played.why}")
                chunks[number] = played
        return [chunks[number] for number in sorted(chunks)]

    def _study(self) -> tuple[float | None, float | None]:
        """Learn from the games so far; a larger network that takes over first catches up with all that is remembered."""
        s = self.settings
        if not len(self.window):
            return None, None
        positions = self.fresh
        takes_over = self.stage + 1 < len(s.stages) and self.games >= s.stages[self.stage + 1].games
        takes_over = takes_over and not self.finished  # at the end there is no time left to grow up
        if takes_over:
            self._enter_stage(self.stage + 1)
            positions = 2 * len(self.window)
        losses = self._learn(max(1, round(s.passes * positions / s.batch)))
        # A network that has just begun is not averaged with its random beginning.
        self._average(0.0 if takes_over or self.updates < FIRST_UPDATES else s.averaging)
        return losses

    def _learn(self, updates: int) -> tuple[float, float]:
        """Make so many updates; returns the mean policy loss and value loss."""
        self.net.train()
        sums = np.zeros(2)
        for _ in range(updates):
            sums += self._update()
        mean = sums / updates
        if not np.isfinite(mean).all():
            raise UserError("the network's error is no number any more; try a smaller rate")
        return float(mean[0]), float(mean[1])

    def _update(self) -> tuple[float, float]:
        """Learn once from positions drawn from the window."""
        s, g = self.settings, self.rules.geometry
        samples = self.window.draw(s.batch, self.rng)
        own, mask, policies = samples.own, samples.mask, samples.policies
        if s.mirror:
            turned = self.rng.random(len(own)) < 0.5
            mirror_moves(own, mask, np.zeros_like(own), turned, g)
            policies = np.where(turned[:, None], policies[:, ::-1], policies)
        planes = torch.from_numpy(encode(own, mask, g, s.features)).contiguous(memory_format=torch.channels_last)
        goal = torch.from_numpy(s.search_share * samples.values + (1 - s.search_share) * samples.results)
        value, logits = self.net(planes)
        # Full columns do not count, nor do positions that teach no column.
        closed = torch.from_numpy(~open_columns(mask, g))
        chances = log_softmax(logits.masked_fill(closed, -1e9), dim=1)
        wished = torch.from_numpy(np.ascontiguousarray(policies))
        policy_loss = -(wished * chances).sum(dim=1).mean()
        value_loss = mse_loss(value[:, 0], goal)
        share = self.games / s.games
        warm = min(1.0, (self.updates + 1) / WARM_UP)
        self.optimizer.param_groups[0]["lr"] = warm * (s.rate + (s.rate_end - s.rate) * share)
        self.optimizer.zero_grad()
        (policy_loss + s.value_weight * value_loss).backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.updates += 1
        return float(policy_loss.detach()), float(value_loss.detach())

    @torch.no_grad()
    def _average(self, share: float) -> None:
        """Make the network that plays an average of itself, with this share, and of the one that has learned."""
        learned = self.net.state_dict()
        for name, tensor in self.average.state_dict().items():
            if tensor.dtype.is_floating_point:
                tensor.mul_(share).add_(learned[name], alpha=1 - share)
            else:
                tensor.copy_(learned[name])
        self.average.eval()

    def _gate(self, before: bytes) -> dict[str, Any]:
        """Let the new network play the old one and keep the old one if the new one is not better."""
        old, new = (OnnxEvaluator(data, "the network") for data in (before, self.playing))
        s = self.settings
        found = self._match(player(new, s.simulations, s), player(old, s.simulations, s), s.gate_games)
        if found["score"] < s.gate_score:
            self.playing = before
        else:
            self._accept()
        return found

    def _match(self, one: Chooser, other: Chooser, games: int) -> dict[str, Any]:
        return match(one, other, games, self.rules, np.random.default_rng(self.generation))

    def _examine(self) -> dict[str, Any]:
        """Compare the network that plays with the truth, and let it play others."""
        judge = OnnxEvaluator(self.playing, "the network")
        bare, searching = (player(judge, each, self.settings) for each in (0, self.settings.exam_simulations))
        truth = truth_of(self.rules)
        found: dict[str, Any] = {"win_block": dict(win_block_accuracy(bare, self.rules))}
        if len(truth.own):
            found |= {"policy": truth.ask(bare), "search": truth.ask(searching)}
        if self.settings.exam_games:
            found |= {spec: self._match(searching, chooser(spec, self.rules), self.settings.exam_games) for spec in OPPONENTS}
        return found

    def save(self, folder: Path) -> None:
        """Write both networks, the optimiser's memory, the window and the random generator."""
        save_tensors(self.net.state_dict(), folder / "net.safetensors")
        save_tensors(self.average.state_dict(), folder / "average.safetensors")
        if self.settings.gate_games:
            save_tensors(self.accepted.state_dict(), folder / "accepted.safetensors")
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
            "random": self.rng.bit_generator.state,
        }
        (folder / "state.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Become what was saved."""
        state = json.loads((folder / "state.json").read_text())
        self._enter_stage(state["stage"])
        self.net.load_state_dict(load_tensors(folder / "net.safetensors"))
        self.average.load_state_dict(load_tensors(folder / "average.safetensors"))
        self.average.eval()
        restore_optimizer(self.optimizer, load_tensors(folder / "optimizer.safetensors"))
        saved = load_tensors(folder / "window.safetensors")
        self.window.samples = Samples(*(saved[name].numpy() for name in self.window.arrays()))
        self.window.added, self.rng.bit_generator.state = state["added"], state["random"]
        self.games, self.generation, self.fresh = state["games"], state["generation"], state["fresh"]
        self.updates = state["updates"]
        self.playing = (folder / "playing.onnx").read_bytes()
        self._accept()
        if (file := folder / "accepted.safetensors").exists():  # older checkpoints have none, and those without a gate
            self.accepted_stage = state["accepted_stage"]
            self.accepted = Net(network_of(self.settings, self.settings.stages[self.accepted_stage]))
            self.accepted.load_state_dict(load_tensors(file))

    def finish(self, run: Run) -> dict[str, Any]:
        """Write alphazero.onnx, which plays, and alphazero-fp32.*, which learn on; examine once more."""
        found = self._examine()
        self.accepted.network = replace(self.accepted.network, about={"training": asdict(self.settings), **found})
        file = run.folder / "alphazero.onnx"
        save_net(self.accepted, run.folder / "alphazero-fp32.onnx")
        write_atomically(file, self.playing)
        told = []
        if "search" in found:
            policy = found["policy"]
            told.append(f"mistakes in {policy['mistakes']:.1%} of {policy['positions']} positions by policy alone")
            told.append(f"{found['search']['mistakes']:.1%} with {self.settings.exam_simulations} simulations")
        told += [f"{found[spec]['score']:.1%} against {spec}" for spec in OPPONENTS if spec in found]
        return {
            "headline": ", ".join(told) or f"{self.games:,} games",
            "lines": [f"play it: fourlab play --board {self.rules} --yellow alphazero:net={file}"],
            **found,
        }


def _form(network: Network) -> str:
    blocks = sum(layer.startswith("residual") for layer in network.body)
    return f"{network.body[0].split()[1]}x{blocks} for {network.board} with {network.features}"


def trainee_of(settings: AlphaZeroSettings) -> AlphaZeroTrainee:
    """What learns with these settings."""
    return AlphaZeroTrainee(settings)
