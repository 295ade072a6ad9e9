"""Self-play: many games in step, each move chosen by a search with the network; the exact end played by the solver."""

import math
from dataclasses import dataclass, fields

import numpy as np

from fourlab.agents.alphazero import forest_kernel as forest
from fourlab.agents.alphazero.forest import ForestSearch, Roots
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.agents.mcts import nodes
from fourlab.compiled.batches import GOES_ON, WON, open_columns, play_columns
from fourlab.compiled.random import seed_state
from fourlab.evaluator import Evaluator
from fourlab.game.rules import Rules
from fourlab.solver.endgame import play_out
from fourlab.solver.table import new_table
from fourlab.training.games import draw

SOLVER_WORDS = 1 << 20
CACHE = 1 << 16


@dataclass(frozen=True)
class Samples:
    """Positions to learn from, each seen by its side to move; arrays of one length."""

    own: np.ndarray
    """int64"""
    mask: np.ndarray
    """int64"""
    policies: np.ndarray
    """float32[…, columns]: what the search made of the policy; all zero where there is nothing to learn."""
    values: np.ndarray
    """float32: what the search expects."""
    results: np.ndarray
    """float32: how the game ended."""

    def __len__(self) -> int:
        return len(self.own)

    @classmethod
    def joined(cls, parts: "list[Samples]") -> "Samples":
        """All of several."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


@dataclass(frozen=True)
class Played:
    """What came of some games."""

    samples: Samples
    results: np.ndarray
    """int64[games]: for red."""
    plies: np.ndarray
    """int64[games]: how long they took."""
    simulations: int
    evaluations: int


def switches_of(settings: AlphaZeroSettings) -> forest.Switches:
    """How the settings search."""
    gumbel = settings.search == "gumbel"
    noise = 0.0 if gumbel else settings.dirichlet_share
    return forest.Switches(gumbel, settings.c, settings.scale, settings.fpu, noise, settings.proving, settings.faithful)


def self_play(evaluator: Evaluator, settings: AlphaZeroSettings, simulations: int, games: int, seed: list[int]) -> Played:
    """Play games; the same seed gives the same ones."""
    return _SelfPlay(evaluator, settings, simulations, games, seed).play()


class _SelfPlay:
    """The games in hand: arrays with an entry for each."""

    def __init__(self, evaluator: Evaluator, settings: AlphaZeroSettings, simulations: int, games: int, seed: list[int]) -> None:
        self.s, self.rules, self.total = settings, Rules.parse(settings.board), games
        self.rng = np.random.default_rng(seed)
        self.state = seed_state(np.random.SeedSequence([*seed, 1]))
        lanes = min(settings.lanes, games)
        self.search = ForestSearch(evaluator, self.rules, lanes, simulations, switches_of(settings), cache=CACHE)
        self.simulations, self.made = simulations, 0
        self.own, self.mask, self.ply = np.zeros((3, lanes), np.int64)
        self.number = np.full(lanes, -1)
        """Which game it is; -1 for none any more."""
        self.begun = 0
        self.results, self.plies = np.zeros((2, games), np.int64)
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.table = new_table(SOLVER_WORDS)
        cells = self.rules.columns * self.rules.rows
        self.end_own, self.end_mask = np.zeros((2, cells), np.int64)
        self.end_policies = np.zeros((cells, self.rules.columns), np.float32)

    def play(self) -> Played:
        """Play until all games are over."""
        for lane in range(len(self.number)):
            self.begin(lane)
        while (self.number >= 0).any():
            self.move()
        own, mask, policies, values, numbers, plies = (np.concatenate(arrays) for arrays in zip(*self.parts, strict=True))
        results = self.results[numbers] * np.where(plies % 2 == 0, 1, -1)
        samples = Samples(own, mask, policies.astype(np.float32), values.astype(np.float32), results.astype(np.float32))
        return Played(samples, self.results, self.plies, self.made, self.search.evaluations)

    def begin(self, lane: int) -> None:
        """Begin a game with some random moves, or none any more."""
        self.number[lane] = -1
        while self.begun < self.total and self.number[lane] < 0:
            self.number[lane] = self.begun
            self.begun += 1
            own, mask = np.zeros((2, 1), np.int64)
            plies = int(self.rng.integers(self.s.opening + 1)) if self.rng.random() < self.s.opening_share else 0
            stands = GOES_ON
            for _ in range(plies):
                stands = play_columns(own, mask, draw(open_columns(mask, self.rules.geometry), self.rng), self.rules.geometry)[0]
                if stands != GOES_ON:
                    break
            self.own[lane], self.mask[lane], self.ply[lane] = own[0], mask[0], plies
            if stands != GOES_ON:  # on tiny boards
                self.number[lane] = -1
                self.begun -= 1

    def move(self) -> None:
        """Search all positions, remember what was found, and play a column in each."""
        # 1. Search.
        playing = self.number >= 0
        which, noise = np.flatnonzero(playing), self.noise()
        self.search.plant(self.own, self.mask, np.where(playing, self.simulations, -1), noise)
        while self.search.grow():
            pass
        self.made += int(self.search.forest.done.sum())
        # 2. Remember.
        roots, own, mask = self.search.roots(which), self.own[which], self.mask[which]
        policies = roots.improved(self.s.scale) if self.s.search == "gumbel" else roots.shares()
        learned = np.where((roots.proven == nodes.LOSS)[:, None], 0.0, policies)  # a lost position teaches no column
        self.remember(own.copy(), mask.copy(), learned, expected(roots, policies), self.number[which], self.ply[which])
        # 3. Play.
        stands = play_columns(own, mask, self.choose(roots, policies, noise[which]), self.rules.geometry)
        self.own[which], self.mask[which] = own, mask
        self.ply[which] += 1
        for lane, stand in zip(which.tolist(), stands.tolist(), strict=True):
            if stand != GOES_ON or (self.s.faithful and self.ply[lane] >= self.rules.columns * self.rules.rows - 1):
                mover = 1 if self.ply[lane] % 2 == 1 else -1
                self.close(lane, mover if stand == WON else 0, int(self.ply[lane]))
            elif self.s.exact_from and self.ply[lane] >= self.s.exact_from:
                self.finish(lane)

    def remember(self, *arrays: np.ndarray) -> None:
        """Add positions: own, mask, policies, values, the game's number and the ply."""
        self.parts.append(arrays)

    def finish(self, lane: int) -> None:
        """Let the solver play the rest."""
        met, result, self.state = play_out(
            int(self.own[lane]),
            int(self.mask[lane]),
            self.rules.geometry,
            self.table,
            self.end_own,
            self.end_mask,
            self.end_policies,
            self.state,
        )
        ply = int(self.ply[lane])
        plies = ply + np.arange(met)
        values = result * np.where((plies - ply) % 2 == 0, 1.0, -1.0)
        numbers = np.full(met, self.number[lane])
        own, mask, policies = (each[:met].copy() for each in (self.end_own, self.end_mask, self.end_policies))
        policies[values < 0] = 0  # a lost position teaches no column
        self.remember(own, mask, policies, values, numbers, plies)
        self.close(lane, result if ply % 2 == 0 else -result, ply + met)

    def close(self, lane: int, result: int, plies: int) -> None:
        """Write down a game's result for red and begin the next."""
        self.results[self.number[lane]], self.plies[self.number[lane]] = result, plies
        self.begin(lane)

    def noise(self) -> np.ndarray:
        """Noise for the roots."""
        shape = (len(self.own), self.rules.columns)
        if self.s.search == "gumbel":
            return self.rng.gumbel(size=shape).astype(np.float32)
        return self.rng.dirichlet(np.full(shape[1], self.s.dirichlet_alpha), shape[0]).astype(np.float32)

    def choose(self, roots: Roots, policies: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """A column for each game."""
        if self.s.search == "gumbel":
            # Of those visited most, the best by noise and improved policy, which is what sequential halving leaves.
            allowed = roots.open & (policies > 0)
            visits = np.where(allowed, roots.visits, -1)
            promise = noise + np.log(np.maximum(policies, 1e-30))
            chosen: np.ndarray = np.where(visits == visits.max(axis=1, keepdims=True), promise, -np.inf).argmax(axis=1)
            return chosen
        # Beside the greatest, which stays 1, small temperatures make all others nothing, and 0 leaves only the best, by lot.
        power = 1 / self.s.temperature if self.s.temperature else math.inf
        warm = (np.maximum(policies, 0) / policies.max(axis=1, keepdims=True)) ** power
        chances = np.cumsum(warm / warm.sum(axis=1, keepdims=True), axis=1)
        drawn: np.ndarray = (chances < self.rng.random(len(chances))[:, None] * chances[:, -1:]).sum(axis=1)
        return drawn


def expected(roots: Roots, policies: np.ndarray) -> np.ndarray:
    """What the side to move may expect: the proven result, or the mean of what was played, weighed by the policy."""
    played = (roots.visits > 0) & roots.open
    weight = np.where(played, policies, 0.0)
    mean = (weight * roots.means).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-30)
    value = np.where(weight.sum(axis=1) > 0, mean, roots.values)
    return np.where(roots.proven != nodes.UNPROVEN, 2.0 - roots.proven, value)
