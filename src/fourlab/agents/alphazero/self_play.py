"""Self-play: many games in step, moves chosen by network search, endings by the solver."""

import math
from dataclasses import dataclass, fields

import numpy as np

from fourlab.agents.alphazero.choosing import Switches
from fourlab.agents.alphazero.forest import ForestSearch, Roots
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.agents.mcts import nodes
from fourlab.compiled.batches import ONGOING, WON, open_columns, play_columns
from fourlab.compiled.random import seed_state
from fourlab.evaluator import Evaluator
from fourlab.game.rules import Rules
from fourlab.solver.endgame import play_out
from fourlab.solver.table import table_for
from fourlab.training.games import draw

SOLVER_WORDS = 1 << 20
"""Size of the solver's transposition table in 64-bit words: 8 MB."""
CACHE = 1 << 16
"""Network evaluations remembered by a worker, across moves and games."""


@dataclass(frozen=True)
class Samples:
    """Training positions from the point of view of the side to move; arrays of one length."""

    own: np.ndarray
    """int64"""
    mask: np.ndarray
    """int64"""
    policies: np.ndarray
    """float32[…, columns]: the search's policy; all zero where there is no policy to learn."""
    values: np.ndarray
    """float32: the search's value, -1 to +1."""
    results: np.ndarray
    """float32: the game's result, -1, 0 or +1."""

    def __len__(self) -> int:
        return len(self.own)

    @classmethod
    def joined(cls, parts: "list[Samples]") -> "Samples":
        """Concatenate samples."""
        return cls(
            *(
                np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            )
        )


@dataclass(frozen=True)
class Played:
    """Finished games: training positions and statistics."""

    samples: Samples
    results: np.ndarray
    """int64[games]: +1, 0 or -1 for red."""
    plies: np.ndarray
    """int64[games]: length of every game, its random opening included."""
    simulations: int
    evaluations: int


def switches_of(settings: AlphaZeroSettings) -> Switches:
    """Return the search options of the settings."""
    gumbel = settings.search == "gumbel"
    noise = 0.0 if gumbel else settings.dirichlet_share
    return Switches(
        gumbel, settings.c, settings.scale, settings.fpu, noise, settings.proofs, settings.faithful
    )


def self_play(
    evaluator: Evaluator, settings: AlphaZeroSettings, simulations: int, games: int, seed: list[int]
) -> Played:
    """Play games with `simulations` per move; the same seed gives the same games."""
    return _SelfPlay(evaluator, settings, simulations, games, seed).play()


class _SelfPlay:
    """Games in progress, one per lane; arrays have an entry for every lane."""

    def __init__(
        self,
        evaluator: Evaluator,
        settings: AlphaZeroSettings,
        simulations: int,
        games: int,
        seed: list[int],
    ) -> None:
        self.s = settings
        self.rules = Rules.parse(settings.board)
        self.total = games
        self.rng = np.random.default_rng(seed)
        # A stream of its own for the solver's choices among best columns.
        self.state = seed_state(np.random.SeedSequence([*seed, 1]))
        lanes = min(settings.lanes, games)
        self.search = ForestSearch(
            evaluator, self.rules, lanes, simulations, switches_of(settings), cache=CACHE
        )
        self.simulations = simulations
        self.simulations_made = 0
        self.own, self.mask, self.ply = np.zeros((3, lanes), np.int64)
        self.number = np.full(lanes, -1)
        """The lane's game; -1 if no game is left for it."""
        self.begun = 0
        self.results, self.plies = np.zeros((2, games), np.int64)
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.table = table_for(self.rules.geometry, SOLVER_WORDS)
        cells = self.rules.columns * self.rules.rows
        # Buffers for `play_out`, used again for every game.
        self.end_own, self.end_mask = np.zeros((2, cells), np.int64)
        self.end_policies = np.zeros((cells, self.rules.columns), np.float32)

    def play(self) -> Played:
        """Play until all games are over."""
        for lane in range(len(self.number)):
            self.begin(lane)
        while (self.number >= 0).any():
            self.move()
        own, mask, policies, values, numbers, plies = (
            np.concatenate(arrays) for arrays in zip(*self.parts, strict=True)
        )
        # Red is to move at even plies.
        results = self.results[numbers] * np.where(plies % 2 == 0, 1, -1)
        samples = Samples(
            own,
            mask,
            policies.astype(np.float32),
            values.astype(np.float32),
            results.astype(np.float32),
        )
        return Played(
            samples, self.results, self.plies, self.simulations_made, self.search.evaluations
        )

    def begin(self, lane: int) -> None:
        """Begin the next game with a random opening, or leave the lane empty if none is left."""
        g = self.rules.geometry
        self.number[lane] = -1
        while self.begun < self.total and self.number[lane] < 0:
            self.number[lane] = self.begun
            self.begun += 1
            # Plies of the opening are not recorded: nothing has searched them.
            own, mask = np.zeros((2, 1), np.int64)
            plies = 0
            if self.rng.random() < self.s.opening_share:
                plies = int(self.rng.integers(self.s.opening + 1))
            status = ONGOING
            for _ in range(plies):
                columns = draw(open_columns(mask, g), self.rng)
                status = play_columns(own, mask, columns, g)[0]
                if status != ONGOING:
                    break
            self.own[lane] = own[0]
            self.mask[lane] = mask[0]
            self.ply[lane] = plies
            # On tiny boards the opening may end the game: try another one.
            if status != ONGOING:
                self.number[lane] = -1
                self.begun -= 1

    def move(self) -> None:
        """Search all positions, record them as samples, and play a column in every game."""
        # 1. Search.
        playing = self.number >= 0
        lanes = np.flatnonzero(playing)
        noise = self.noise()
        self.search.reset(self.own, self.mask, np.where(playing, self.simulations, -1), noise)
        self.search.run()
        self.simulations_made += int(self.search.forest.trees.done.sum())
        # 2. Record. A lost position has no policy to learn.
        roots, own, mask = self.search.roots(lanes), self.own[lanes], self.mask[lanes]
        policies = roots.improved(self.s.scale) if self.s.search == "gumbel" else roots.shares()
        lost = roots.proven == nodes.LOSS
        self.record(
            # Copies, since `play_columns` changes the arrays in place.
            own.copy(),
            mask.copy(),
            np.where(lost[:, None], 0.0, policies),
            expected(roots, policies),
            self.number[lanes],
            self.ply[lanes],
        )
        # 3. Play.
        columns = self.choose(roots, policies, noise[lanes])
        statuses = play_columns(own, mask, columns, self.rules.geometry)
        self.own[lanes] = own
        self.mask[lanes] = mask
        self.ply[lanes] += 1
        for lane, status in zip(lanes.tolist(), statuses.tolist(), strict=True):
            if status != ONGOING:
                # After an odd number of plies red has just moved.
                mover = 1 if self.ply[lane] % 2 == 1 else -1
                self.close(lane, mover if status == WON else 0, int(self.ply[lane]))
            elif self.s.exact_from and self.ply[lane] >= self.s.exact_from:
                self.solve(lane)

    def record(self, *arrays: np.ndarray) -> None:
        """Add samples: own, mask, policies, values, numbers of the games, plies."""
        self.parts.append(arrays)

    def solve(self, lane: int) -> None:
        """Let the solver play the rest of a game."""
        count, result, self.state = play_out(
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
        plies = ply + np.arange(count)
        # Best play keeps the result, and only its sign changes with the side to move.
        values = result * np.where((plies - ply) % 2 == 0, 1.0, -1.0)
        policies = self.end_policies[:count].copy()
        policies[values < 0] = 0  # a lost position has no policy to learn
        self.record(
            self.end_own[:count].copy(),
            self.end_mask[:count].copy(),
            policies,
            values,
            np.full(count, self.number[lane]),
            plies,
        )
        self.close(lane, result if ply % 2 == 0 else -result, ply + count)

    def close(self, lane: int, result: int, plies: int) -> None:
        """Store a game's result for red and begin the next game."""
        self.results[self.number[lane]] = result
        self.plies[self.number[lane]] = plies
        self.begin(lane)

    def noise(self) -> np.ndarray:
        """Return Gumbel or Dirichlet noise for the root of every game, float32[games, columns]."""
        shape = (len(self.own), self.rules.columns)
        if self.s.search == "gumbel":
            # Gumbel noise plus log prior ranks columns like sampling without replacement by the
            # prior (Danihelka et al., 2022).
            return self.rng.gumbel(size=shape).astype(np.float32)
        alpha = np.full(shape[1], self.s.dirichlet_alpha)
        return self.rng.dirichlet(alpha, shape[0]).astype(np.float32)

    def choose(self, roots: Roots, policies: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Return a column for every game."""
        if self.s.search == "gumbel":
            # Sequential halving leaves the most visited columns; noise and policy decide.
            allowed = roots.open & (policies > 0)
            visits = np.where(allowed, roots.visits, -1)
            score = noise + np.log(np.maximum(policies, 1e-30))
            finalists = visits == visits.max(axis=1, keepdims=True)
            best: np.ndarray = np.where(finalists, score, -np.inf).argmax(axis=1)
            return best
        return sampled(policies, self.s.temperature, self.rng.random(len(policies)))


def sampled(shares: np.ndarray, temperature: float, uniform: np.ndarray) -> np.ndarray:
    """Return a column for every row of shares, in proportion to shares ** (1 / temperature).

    `uniform` has a random number from 0 to 1 for every row.
    """
    # Relative to the greatest share, which stays 1, low temperatures make the others vanish;
    # at temperature 0 only the best remain, and one of them is sampled.
    power = 1 / temperature if temperature else math.inf
    weights = (np.maximum(shares, 0) / shares.max(axis=1, keepdims=True)) ** power
    cumulative = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    # Times the last sum, which rounding may leave below 1: the sample is then always a column.
    thresholds = uniform[:, None] * cumulative[:, -1:]
    columns: np.ndarray = (cumulative < thresholds).sum(axis=1)
    return columns


def expected(roots: Roots, policies: np.ndarray) -> np.ndarray:
    """Return the value of every root for the side to move, -1 to +1.

    This is the proven result, else the mean of the visited columns weighted by the policy.
    """
    visited = (roots.visits > 0) & roots.open
    weight = np.where(visited, policies, 0.0)
    mean = (weight * roots.means).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-30)
    value = np.where(weight.sum(axis=1) > 0, mean, roots.values)
    return np.where(roots.proven != nodes.UNPROVEN, 2.0 - roots.proven, value)
