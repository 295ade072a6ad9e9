"""Training of pattern networks: batches of self-play, evaluations and checkpoints."""

import json
import re
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.agents.patterns import kernel
from fourlab.agents.patterns.settings import PatternSettings
from fourlab.arrays import Kind, read_npz
from fourlab.compiled.patterns import Patterns
from fourlab.compiled.random import seed_states
from fourlab.datasets import labels
from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.game.drawing import cell_name
from fourlab.game.rules import CLASSIC, Rules
from fourlab.jobs.executors import Executor, Lost
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.run import Run
from fourlab.nets.patterns import UNIT, PatternNetwork, Shape, random_walks
from fourlab.reporting.curves import Curve
from fourlab.solver.table import table_for
from fourlab.training.games import Chooser
from fourlab.training.loop import CHECKPOINT_SECONDS
from fourlab.training.state import State
from fourlab.training.test_set import shipped_positions, solved_set, validation_set

CHUNK = 128
"""Games that a worker plays in one piece."""
SOLVER_WORDS = 1 << 16
"""Size of the solver's table in 64-bit words, for exact endings."""
MAX_STATE_BYTES = 1 << 30
MAX_TUPLE_TEXT = 200
"""Characters of a tuple that are read."""
LARGEST_ERROR_SUM = 1e30
"""Sums of errors in a checkpoint are far smaller."""


def shape_of(settings: PatternSettings) -> Shape:
    """Return the tuples that the settings name."""
    rules = Rules.parse(settings.board)
    if settings.given:
        return Shape(rules, tuple(_tuple(text, rules) for text in settings.given))
    return Shape(rules, random_walks(rules, settings.tuples, settings.cells, settings.seed))


def _tuple(text: str, rules: Rules) -> int:
    """Return the bitboard of a tuple written as its cells, such as a1b1c1."""
    names = {
        cell_name(column, row): 1 << column * rules.geometry.height + row
        for column in range(rules.columns)
        for row in range(rules.rows)
    }
    cells = 0
    for name in re.findall(r"[a-z]\d*|.", text.lower()[:MAX_TUPLE_TEXT]):
        if name not in names or cells & names[name]:
            raise UserError(
                f"a tuple is a list of different cells of {rules}, such as a1b1c1, not {text!r:.60}"
            )
        cells |= names[name]
    return cells


@dataclass(frozen=True)
class SelfPlayWork:
    """A batch of games as work for an executor, in chunks of games."""

    patterns: Patterns
    exploration: kernel.Exploration
    states: np.ndarray
    """int64[games]: the random state of every game."""
    rules: Rules

    def prepare(self) -> None:
        """Do nothing: the kernels are compiled at the first call."""

    def __call__(self, number: int, watch: Any) -> kernel.Games:
        """Play a chunk of games."""
        g = self.rules.geometry
        states = self.states[number * CHUNK : (number + 1) * CHUNK]
        games = kernel.new_games(len(states), g)
        table = table_for(g, SOLVER_WORDS if self.exploration.exact else 64)
        kernel.play_games(0, len(states), states, games, self.exploration, self.patterns, table, g)
        return games


class PatternTrainee:
    """A pattern network in training."""

    unit = "games"
    checkpoint_seconds = CHECKPOINT_SECONDS
    curves: tuple[Curve, ...] = (
        Curve(
            "mistakes one ply ahead",
            ("exam.mistakes", "exam.early", "exam.middle", "exam.late"),
            logarithmic=True,
        ),
        Curve("exactly best columns", ("exam.best",)),
        Curve("mean squared error", ("error",), logarithmic=True),
        Curve("results of games", ("red_wins", "draws")),
        Curve("CPU seconds", ("cpu_seconds",)),
    )

    def __init__(self, settings: PatternSettings, executor: Executor | None = None) -> None:
        self.settings = settings
        self.rules = Rules.parse(settings.board)
        self.shape = shape_of(settings)
        self.executor = executor or Threads(1)
        weights = np.zeros((2, self.shape.entries), np.int32)
        self.patterns = self.shape.patterns(weights)
        self.sums = np.zeros((2, self.shape.entries, 2), np.float32)
        """For every weight, the sum of its errors and the sum of their sizes."""
        self.games = 0
        self.passes = 0
        """Passes over the solved positions."""
        self.cpu_seconds = 0.0

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
        """Return whether everything is learned."""
        return self.games >= self.settings.games and self.passes >= self._passes

    @property
    def _passes(self) -> int:
        return self.settings.passes if self.settings.solved else 0

    def advance(self) -> dict[str, Any]:
        """Learn from the next block of games, or before them from the solved positions once."""
        begun = time.process_time()
        row = self._learn_solved() if self.passes < self._passes else self._learn_block()
        self.cpu_seconds += time.process_time() - begun
        row["cpu_seconds"] = round(self.cpu_seconds, 2)
        return row | {"exam": validation_set(self.rules).evaluate(self.choose)}

    def _learn_block(self) -> dict[str, Any]:
        s, g = self.settings, self.rules.geometry
        last = min(self.games + s.block, s.games)
        squares = count = 0.0
        results = np.zeros(3)
        plies = 0.0
        first = self.games
        begun = time.perf_counter()
        while self.games < last:
            batch = min(s.batch, last - self.games)
            learning = self._learning()
            for games in self._play(batch):
                added = kernel.learn_games(games, learning, self.patterns, self.sums, g)
                squares += added[0]
                count += added[1]
                results += np.bincount(games.results + 1, minlength=3)
                plies += games.lengths.sum()
            self.games += batch
        played = self.games - first
        return {
            "games": self.games,
            "error": squares / max(count, 1),
            "red_wins": results[2] / played,
            "draws": results[1] / played,
            "plies": plies / played,
            "games_a_second": round(played / max(time.perf_counter() - begun, 1e-9)),
        }

    def _play(self, count: int) -> list[kernel.Games]:
        """Play the next games with the weights as they are; return them in order."""
        s = self.settings
        # Streams of their own: a batch is a function of the seed and its first game.
        seed = np.random.SeedSequence([s.seed, self.games])
        exploration = kernel.Exploration(
            s.opening, self._now(s.epsilon, s.epsilon_end), float(s.temperature), s.exact, s.safe
        )
        states = np.array(seed_states(seed, count), np.int64)
        work = SelfPlayWork(self.patterns, exploration, states, self.rules)
        chunks: dict[int, kernel.Games] = {}
        for finished in self.executor.map(work, range(-(-count // CHUNK))):
            for number, games in finished:
                if isinstance(games, Lost):
                    raise UserError(f"self-play failed: {games.why}")
                chunks[number] = games
        return [chunks[number] for number in sorted(chunks)]

    def _now(self, first: float, last: float) -> float:
        """Return the present value of a setting that changes evenly during the training."""
        share = self.games / max(self.settings.games, 1)
        return first + (last - first) * share

    def _learning(self) -> kernel.Learning:
        s = self.settings
        return kernel.Learning(
            self._now(s.alpha, s.alpha_end), self._now(s.trace, s.trace_end), s.coherence
        )

    def _learn_solved(self) -> dict[str, Any]:
        """Learn once from all solved positions, in random order."""
        own, mask, results = self._solved
        order = np.random.default_rng([self.settings.seed, self.passes]).permutation(len(own))
        squares, count = kernel.learn_positions(
            own,
            mask,
            results,
            order,
            self._learning(),
            self.patterns,
            self.sums,
            self.rules.geometry,
        )
        self.passes += 1
        return {"games": self.games, "passes": self.passes, "error": squares / max(count, 1)}

    @cached_property
    def _solved(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The solved positions, without those of the shipped sets."""
        positions = labels.gather([self.settings.solved], after=True)
        if positions.rules != self.rules:
            raise UserError(f"{self.settings.solved} is for the board {positions.rules}")
        if self.rules == CLASSIC:
            for name in ("test_set", "validation_set"):
                positions = labels.without(positions, shipped_positions(name))
        own, mask = positions.discs
        return own, mask, positions.results.astype(np.int64)

    def choose(self, own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the column that the network plays in every position, looking one ply ahead."""
        chosen = np.empty(len(own), np.int64)
        kernel.choose_columns(own, mask, self.patterns, self.rules.geometry, chosen)
        return chosen

    def network(self) -> PatternNetwork:
        """Return the network with weights as they are in files, rounded to int16."""
        steps = np.rint(self.patterns.weights * (UNIT / kernel.UNIT))
        weights = steps.clip(-(1 << 15), (1 << 15) - 1).astype(np.int16)
        return PatternNetwork(self.shape, weights)

    def save(self, folder: Path) -> None:
        """Write the weights and the state of the training."""
        # Uncompressed: most of it is noise, and checkpoints are frequent.
        np.savez(
            folder / "weights.npz",
            weights=self.patterns.weights.astype("<i4"),
            signed=self.sums[:, :, 0].astype("<f4"),
            absolute=self.sums[:, :, 1].astype("<f4"),
        )
        state = {"games": self.games, "passes": self.passes, "cpu_seconds": self.cpu_seconds}
        (folder / "state.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Restore what `save` wrote."""
        data = read_bounded(folder / "weights.npz", MAX_STATE_BYTES, follow_links=False)
        sums = Kind("<f4", 2)
        arrays = read_npz(data, {"weights": Kind("<i4", 2), "signed": sums, "absolute": sums})
        for name, array in arrays.items():
            if array.shape != (2, self.shape.entries):
                raise ValueError(f"its {name} are for other tuples")
        for name in ("signed", "absolute"):
            # Also false for NaN.
            if not (np.abs(arrays[name]) < LARGEST_ERROR_SUM).all():
                raise ValueError(f"its {name} are damaged")
        self.patterns = self.shape.patterns(arrays["weights"])
        self.sums = np.stack([arrays["signed"], arrays["absolute"]], axis=-1)
        state = State.read(folder / "state.json")
        self.games = state.count("games", self.settings.games)
        self.passes = state.count("passes", self._passes)
        self.cpu_seconds = state.number("cpu_seconds")

    def finish(self, run: Run) -> dict[str, Any]:
        """Write patterns.npz and evaluate it on the test set."""
        network = self.network()
        data = network.to_bytes()
        write_atomically(run.folder / "patterns.npz", data)
        exam = solved_set(self.rules).evaluate(chooser(network))
        file = run.folder / "patterns.npz"
        return {
            "exam": exam,
            "bytes": len(data),
            "entries": self.shape.entries,
            "lookups": self.shape.lookups,
            "cpu_seconds": round(self.cpu_seconds, 2),
            "headline": (
                f"{len(self.shape.tuples)} tuples, {self.games:,} games, "
                f"{self.cpu_seconds:.0f} CPU seconds: {exam['mistakes']:.1%} mistakes one ply ahead"
                f" on {exam['positions']} solved positions"
            ),
            "lines": [f"play it: fourlab play --board {self.rules} --yellow patterns:file={file}"],
        }


def chooser(network: PatternNetwork) -> Chooser:
    """Return a player of many positions that looks one ply ahead."""

    def choose(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        chosen = np.empty(len(own), np.int64)
        kernel.choose_columns(own, mask, network.patterns, network.rules.geometry, chosen)
        return chosen

    return choose


trainee_of = PatternTrainee
"""Makes a new trainee; called by `fourlab.training.kind` by name."""
