"""Self-play as in Arya's program, the games between two updates played in step.

Arya's program plays one game after another and puts every position into a memory. When that is
full, the network learns from it at once, in the middle of a game; the new network plays the rest.
Until then the network does not change, so the order in which games are played makes no
difference: some are played in step here, for larger batches. Noise and choices come from a random
generator for every ply of every game, [seed, game, ply], so whatever is played too far is played
again later with the new network, and every game is what it would have been on its own.
"""

from dataclasses import dataclass, field

import numpy as np

from fourlab.agents.alphazero.choosing import FIXES
from fourlab.agents.alphazero.forest import ForestSearch
from fourlab.agents.alphazero.self_play import CACHE, Samples, sampled, switches_of
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.compiled.batches import ONGOING, WON, play_columns
from fourlab.evaluator import Evaluator
from fourlab.game.rules import Rules


@dataclass(frozen=True)
class Start:
    """Where a memory begins: a game, by number, and its position after `ply` plies."""

    number: int = 0
    ply: int = 0
    own: int = 0
    mask: int = 0


@dataclass(frozen=True)
class Memory:
    """A full memory, or what the last games left of one."""

    samples: Samples
    """In the order of the games; results are 0 if nothing learns from them."""
    lengths: list[int]
    """Plies of the games that ended, also of one that ends with the last sample."""
    results: list[int]
    """+1, 0 or -1 for red, of the same games."""
    next: Start
    """The first position that is not in it; a new game if the last one has ended."""
    searched: int
    """Positions searched, with those that did not fit."""
    simulations: int
    evaluations: int


@dataclass
class _Game:
    start: Start
    own: list[int]
    """Discs of the side to move before every ply, and after the last."""
    mask: list[int]
    policies: list[np.ndarray] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    result: int | None = None
    """+1, 0 or -1 for red once the game is over."""

    @property
    def made(self) -> int:
        """Plies since the start."""
        return len(self.values)


def simulations_of(game: int, s: AlphaZeroSettings) -> int:
    """Return the simulations per move of a game: one more with every epoch."""
    return min(s.simulations + game // s.simulations_games, max(s.simulations_end, s.simulations))


def fill_memory(
    evaluator: Evaluator,
    s: AlphaZeroSettings,
    start: Start,
    expected: float,
    ends_early: bool = True,
    fixed: str = "nothing",
) -> Memory:
    """Play from `start` until `window` positions are searched or all games are over.

    If the network learns from results, too, the last game of the memory is played to its end first.
    What follows the memory's last position is played again with the network that has learned.
    Arya's games end one disc before the board is full (`ends_early`). `fixed`, one of FIXES, names
    one fault of the search that is corrected.

    `expected` is a guess of the length of a game. It decides how far games run ahead of those
    before them, which costs or saves time and changes nothing else.
    """
    return _Play(evaluator, s, start, expected, ends_early, fixed).run()


class _Play:
    """Games in progress, in order of their numbers."""

    def __init__(
        self,
        evaluator: Evaluator,
        s: AlphaZeroSettings,
        start: Start,
        expected: float,
        ends_early: bool,
        fixed: str,
    ) -> None:
        self.s = s
        self.expected = expected
        self.rules = Rules.parse(s.board)
        self.games = [_Game(start, [start.own], [start.mask])]
        self.search = ForestSearch(
            evaluator,
            self.rules,
            s.lanes,
            simulations_of(s.games, s),
            switches_of(s)._replace(fixed=FIXES[fixed]),
            cache=CACHE,
        )
        self.searched = self.simulations = 0
        self.needs_results = s.search_share < 1
        # Plies after which a game is over.
        self.longest = self.rules.columns * self.rules.rows - (1 if ends_early else 0)

    def run(self) -> Memory:
        """Play until the memory is full."""
        while games := self.movers():
            self.move(games)
        return self.memory()

    def movers(self) -> list[_Game]:
        """Return the games that make the next move, none if the memory is full.

        A game moves if the games before it will probably leave room for its position.
        """
        movers: list[_Game] = []
        ahead = 0.0
        for game in self.games:
            if ahead + game.made >= self.s.window:
                if self.needs_results and game.result is None:
                    movers.append(game)
                return movers
            if game.result is None:
                movers.append(game)
                if len(movers) == self.s.lanes:
                    return movers
                ahead += max(game.made + 1, self.expected - game.start.ply)
            else:
                ahead += game.made
        while ahead < self.s.window and len(movers) < self.s.lanes:
            number = self.games[-1].start.number + 1
            if number >= self.s.games:
                break
            self.games.append(_Game(Start(number), [0], [0]))
            movers.append(self.games[-1])
            ahead += self.expected
        return movers

    def move(self, games: list[_Game]) -> None:
        """Search the positions of some games and play a column in each."""
        lanes = self.s.lanes
        own, mask = np.zeros((2, lanes), np.int64)
        goals = np.full(lanes, -1)
        noise = np.zeros((lanes, self.rules.columns), np.float32)
        uniform = np.zeros(len(games))
        alpha = np.full(self.rules.columns, self.s.dirichlet_alpha)
        for lane, game in enumerate(games):
            own[lane], mask[lane] = game.own[-1], game.mask[-1]
            goals[lane] = simulations_of(game.start.number, self.s)
            ply = game.start.ply + game.made
            rng = np.random.default_rng([self.s.seed, game.start.number, ply])
            noise[lane] = rng.dirichlet(alpha)
            uniform[lane] = rng.random()
        self.search.reset(own, mask, goals, noise)
        self.search.run()
        self.searched += len(games)
        self.simulations += int(goals[: len(games)].sum())
        which = np.arange(len(games))
        shares = self.search.roots(which).shares()
        values = self.search.backed_up(which)
        columns = sampled(shares, self.s.temperature, uniform)
        own, mask = own[: len(games)], mask[: len(games)]
        statuses = play_columns(own, mask, columns, self.rules.geometry)
        for lane, game in enumerate(games):
            game.policies.append(shares[lane])
            game.values.append(float(values[lane]))
            game.own.append(int(own[lane]))
            game.mask.append(int(mask[lane]))
            plies = game.start.ply + game.made
            if statuses[lane] == WON:
                # After an odd number of plies red has just moved.
                game.result = 1 if plies % 2 == 1 else -1
            elif statuses[lane] != ONGOING or plies >= self.longest:
                game.result = 0

    def outcomes(self, game: _Game) -> list[float]:
        """Return the result of a game for the side to move in each of its positions, or 0."""
        if not self.needs_results:
            return [0.0] * game.made
        assert game.result is not None
        # Red is to move after an even number of plies.
        plies = range(game.start.ply, game.start.ply + game.made)
        return [float(game.result if ply % 2 == 0 else -game.result) for ply in plies]

    def memory(self) -> Memory:
        """Collect the positions in order; what does not fit was played in vain."""
        own: list[int] = []
        mask: list[int] = []
        policies: list[np.ndarray] = []
        values: list[float] = []
        outcomes: list[float] = []
        ended: list[_Game] = []
        following = self.games[0].start
        for game in self.games:
            used = min(game.made, self.s.window - len(own))
            own += game.own[:used]
            mask += game.mask[:used]
            policies += game.policies[:used]
            values += game.values[:used]
            outcomes += self.outcomes(game)[:used]
            if game.result is None or used < game.made:
                ply = game.start.ply + used
                following = Start(game.start.number, ply, game.own[used], game.mask[used])
                break
            ended.append(game)
            following = Start(game.start.number + 1)
            if len(own) == self.s.window:
                break
        samples = Samples(
            np.array(own, np.int64),
            np.array(mask, np.int64),
            np.array(policies, np.float32),
            np.array(values, np.float32),
            np.array(outcomes, np.float32),
        )
        lengths = [game.start.ply + game.made for game in ended]
        results = [game.result for game in ended if game.result is not None]
        evaluations = self.search.evaluations
        return Memory(
            samples, lengths, results, following, self.searched, self.simulations, evaluations
        )
