"""Training by tabular Q-learning: blocks of games, evaluations and checkpoints.

Against itself, a random player or a tree search, the learner plays whole games in one compiled
loop. Against any other agent, Python alternates between the two, with the same compiled steps for
the learner.
"""

import json
import time
from collections.abc import Container
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.agents.mcts import verbs
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.opponents import opponent
from fourlab.agents.q import kernel as q_learning
from fourlab.agents.q.rule import Learner, Opponent, Rule
from fourlab.agents.q.settings import SELF, QSettings
from fourlab.agents.q.table import QForm, QTable
from fourlab.agents.q.worst_case import worst_and_perfect
from fourlab.agents.registry import parse_spec
from fourlab.agents.simple.random import Random
from fourlab.arena.game import close_all
from fourlab.arena.statistics import wilson
from fourlab.compiled.random import seed_state
from fourlab.errors import UserError
from fourlab.game.outcome import RED, YELLOW, Result
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.jobs.run import Run
from fourlab.reporting.curves import Curve
from fourlab.training.loop import CHECKPOINT_SECONDS
from fourlab.training.state import State

# Large enough that Python takes no time, small enough that Ctrl-C and memory limits are noticed.
CHUNK = 4096
"""Games per call of the compiled loop; between calls the table may grow."""
SAMPLE = 500
"""Positions in which changes of the best column are counted, fewer if SAMPLE_GAMES have fewer."""
SAMPLE_GAMES = 200
MOST_CHANGE = 1e300
"""Changes of values are sums of rewards; a checkpoint with a greater one is damaged."""
MOST_CELLS = 20
"""Maximum number of cells for which all replies to the learned play are tried."""
FEW_GAMES: dict[str, Any] = {"block": 200, "exam_games": 100}
"""Defaults for games played from Python, which are slow."""
TARGETS = {"played": q_learning.PLAYED, "best": q_learning.BEST, "negamax": q_learning.NEGAMAX}
SEATS = {"first": 1, "second": 2, "both": 0}
NEVER = 1 << 62
"""A number of wins that is never reached."""


def rule_of(settings: QSettings, learning: bool) -> Rule:
    """Return the settings as the kernels need them: numbers as floats, words as flags."""
    fields: dict[str, Any] = {
        "learning": learning,
        "target": TARGETS[settings.target],
        "set_endings": settings.endings == "set",
        "random_ties": settings.ties == "random",
        "learn_start": settings.learn_start,
        "store_seen": settings.store_seen,
        "alpha_by_visits": settings.alpha_by_visits,
    }
    # The other fields are numbers with the names of settings. Numba compiles for types, so an int
    # where a float was before would compile everything again.
    for name in Rule._fields:
        if name not in fields:
            fields[name] = float(getattr(settings, name))
    return Rule(**fields)


def form_of(settings: QSettings) -> QForm:
    """Return the form of the table that the settings train."""
    return QForm(
        Rules.parse(settings.board),
        settings.form,
        settings.mirror,
        settings.alpha_by_visits,
        settings.initial,
        settings.win,
        settings.loss,
    )


@dataclass
class Progress:
    """The state of a training, apart from the table."""

    pace: np.ndarray
    """float64[4]; see `fourlab.agents.q.kernel`."""
    counts: np.ndarray
    """int64[5]; see `fourlab.agents.q.kernel`."""
    state: int
    """The random state of the compiled steps."""
    seed: list[int]
    """With the game's number appended, the seed of a game played from Python."""

    @classmethod
    def new(cls, alpha: float, epsilon: float, seed: list[int]) -> "Progress":
        """Return the state before the first game."""
        state = seed_state(np.random.SeedSequence(seed))
        return cls(np.array([alpha, epsilon, 0.0, 0.0]), np.zeros(5, np.int64), state, seed)

    @property
    def games(self) -> int:
        """Return the number of games played."""
        return int(self.counts[q_learning.GAMES])

    @property
    def results(self) -> np.ndarray:
        """Return wins, draws and losses, int64[3]."""
        return self.counts[q_learning.WINS : q_learning.LOSSES + 1].copy()


class Opponents:
    """The learner's opponents, of whom one is sampled for every game."""

    def __init__(self, specs: tuple[str, ...], settings: QSettings) -> None:
        self.agents = [None if spec == SELF else opponent(_without_mc0(spec)) for spec in specs]
        self.seats = SEATS[settings.seat]
        self.rules = Rules.parse(settings.board)
        self.memory = settings.memory_mb
        self.compiled = _compiled(self.agents, self.seats, settings.passing)
        if settings.passing and self.compiled is None:
            raise UserError(
                "passing needs opponents that are random or bhat-mcN and differ only in N"
            )

    def play(self, table: QTable, rule: Rule, games: int, wins: int, progress: Progress) -> None:
        """Play until `games` are played or `wins` won in all, or the table reaches its limit."""
        while progress.games < games and progress.counts[q_learning.WINS] < wins:
            # Growing is not possible inside the compiled loop, which returns when room is short.
            if rule.learning:
                if table.is_full(self.memory):
                    return
                table.make_room()
            if self.compiled is None:
                self.play_one(table, rule, progress)
                continue
            player, simulations = self.compiled
            _, progress.state = q_learning.play_games(
                self.rules.geometry,
                table.words,
                table.numbers,
                table.layout,
                rule,
                player,
                simulations,
                min(CHUNK, games - progress.games),
                wins,
                progress.pace,
                progress.counts,
                progress.state,
            )

    def play_one(self, table: QTable, rule: Rule, progress: Progress) -> list[Position]:
        """Play a game from Python; return the positions in which the learner was to move."""
        # A game is a function of the seed and its number, so an interrupted run continues
        # identically.
        rng = np.random.default_rng([*progress.seed, progress.games])
        agent = self.agents[int(rng.integers(len(self.agents)))]
        # Bit 0 is red, bit 1 yellow; 0 in `self.seats` means red and yellow in turn.
        seats = 3 if agent is None else self.seats or 1 + (progress.games & 1)
        position = Position(board=self.rules)
        visited: list[Position] = []
        g = self.rules.geometry
        memory = (table.words, table.numbers, table.layout)
        last = np.full(2, q_learning.start_value(*memory, rule, g))
        q = np.empty(self.rules.columns)
        learner = Learner(last, q, progress.pace, progress.counts)
        while (outcome := position.outcome()) is None:
            side = position.to_move
            if seats >> side & 1:
                visited.append(position)
                mask = position.mask
                keys = q_learning.keys_of(position.own, mask, table.layout, g)
                epsilon = float(progress.pace[q_learning.EPSILON])
                column, progress.state = q_learning.choose(
                    keys, mask, g, *memory, rule, epsilon, q, progress.state
                )
                if rule.learning:
                    won = position.makes_line(column, side)
                    q_learning.learn_from_move(
                        keys, mask, column, won, side, g, *memory, rule, learner
                    )
            else:
                assert agent is not None
                column = agent.decide(position, Limit(), rng).column
            position = position.play(column)
        # The side that did not make the last move learns from the end now.
        waiting = position.to_move
        counters = (progress.pace, progress.counts)
        if seats >> waiting & 1:
            won = outcome.winner is not None
            q_learning.learn_from_end(
                waiting, won, last, table.numbers, table.layout, rule, *counters
            )
        q_learning.close_game(outcome.score(YELLOW if seats == 2 else RED), rule, *counters)
        return visited


def with_short_pieces(settings: QSettings, set_names: Container[str]) -> QSettings:
    """Return the settings with fewer games per block and evaluation where games are slow.

    An interrupted run finishes its block first. Settings in `set_names` stay as they are.
    """
    players = {"block": settings.opponents, "exam_games": settings.exam_opponents}
    slow = [
        name
        for name, specs in players.items()
        if name not in set_names and Opponents(specs, settings).compiled is None
    ]
    return replace(settings, **{name: FEW_GAMES[name] for name in slow})


def _without_mc0(spec: str) -> str:
    """Replace MC0 by `random`, without the options of a search, which it does not make."""
    return "random" if parse_spec(spec)[0] == "bhat-mc0" else spec


def _compiled(
    agents: list[Agent | None], seats: int, passing: bool
) -> tuple[Opponent, np.ndarray] | None:
    """Return the opponents for the compiled loop, or None if they cannot be compiled.

    They must be the learner itself, or random players and searches that differ only in their
    simulations.
    """
    if all(agent is None for agent in agents):
        return Opponent(3, passing, verbs.Switches()), np.zeros(1, np.int64)
    # One compiled call takes one set of switches and several numbers of simulations.
    switches = set()
    simulations = []
    for agent in agents:
        if isinstance(agent, MCTS) and _is_plain(agent):
            switches.add(agent.switches())
            simulations.append(agent.simulations)
        elif isinstance(agent, Random):
            simulations.append(0)
        else:
            return None
    if len(switches) > 1:
        return None
    player = Opponent(seats, passing, *(switches or {verbs.Switches()}))
    return player, np.array(simulations, np.int64)


def _is_plain(agent: MCTS) -> bool:
    """Return whether a search is what `q.kernel.search_move` does.

    That is a fixed number of simulations in a new tree, then the first most visited column.
    """
    # No clock, one thread and one tree: what the compiled loop can reproduce exactly.
    counted = (
        agent.simulations is not None and agent.seconds is None and agent.runs == agent.threads == 1
    )
    fresh = agent.reuse == "none" and not agent.proofs and not agent.transpositions
    choice = (agent.final, agent.final_ties, agent.opponent)
    return counted and fresh and choice == ("visits", "first", "player")


class QTrainee:
    """A table in training, block by block."""

    unit = "games"
    checkpoint_seconds = CHECKPOINT_SECONDS
    curves: tuple[Curve, ...] = (
        Curve("evaluation: share of games", ("exam.won", "exam.drawn", "exam.lost")),
        Curve("positions in the table", ("states",)),
        Curve("mean change of a value", ("change",), logarithmic=True),
        Curve("best columns changed", ("policy_changes",)),
        Curve("epsilon, alpha", ("epsilon", "alpha")),
    )

    def __init__(self, settings: QSettings) -> None:
        self.settings = settings
        self._opponents = Opponents(settings.opponents, settings)
        self._exam_opponents = Opponents(settings.exam_opponents, settings)
        self.table = QTable(form_of(settings), asdict(settings))
        # The second number separates the random streams: 0 training, 1 sample, 2 evaluations.
        self._progress = Progress.new(settings.alpha, settings.epsilon, [settings.seed, 0])
        self._sample: list[Position] = []
        self._columns: list[int] = []
        """The best columns in the sample after the last block."""

    @property
    def done(self) -> int:
        """Return the number of games played."""
        return self._progress.games

    @property
    def total(self) -> int:
        """Return the maximum number of games."""
        return self.settings.games

    @property
    def finished(self) -> bool:
        """Return whether all games are played, enough are won, or the table is full."""
        return self._played_enough or self.table.is_full(self.settings.memory_mb)

    @property
    def _played_enough(self) -> bool:
        return self.done >= self.total or bool(self._progress.counts[q_learning.WINS] >= self._wins)

    @property
    def _wins(self) -> int:
        return NEVER if self.settings.wins is None else self.settings.wins

    def advance(self) -> dict[str, Any]:
        """Learn from the next block of games and evaluate; return the row of metrics."""
        begun = time.perf_counter()
        progress = self._progress
        games_before = self.done
        updates_before = progress.counts[q_learning.UPDATES]
        results_before = progress.results
        # Sum and maximum of changes are per block; alpha and epsilon continue.
        progress.pace[[q_learning.CHANGE, q_learning.LARGEST]] = 0
        games = min(games_before + self.settings.block, self.total)
        rule = rule_of(self.settings, learning=True)
        self._opponents.play(self.table, rule, games, self._wins, progress)
        seconds = time.perf_counter() - begun
        wins, draws, losses = (progress.results - results_before).tolist()
        updates = progress.counts[q_learning.UPDATES] - updates_before
        return {
            "games": self.done,
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "change": float(progress.pace[q_learning.CHANGE] / max(updates, 1)),
            "largest_change": float(progress.pace[q_learning.LARGEST]),
            "states": len(self.table),
            "policy_changes": self._policy_changes(),
            "epsilon": float(progress.pace[q_learning.EPSILON]),
            "alpha": float(progress.pace[q_learning.ALPHA]),
            "exam": self.evaluate(),
            "games_a_second": round((self.done - games_before) / max(seconds, 1e-9)),
        }

    def _policy_changes(self) -> float | None:
        """Return the share of the sample whose best column changed in this block.

        Returns None after the first block, which makes the sample.
        """
        is_first = not self._sample
        if is_first:
            self._sample = self._sample_positions()
        before = self._columns
        self._columns = [self.table.greedy(position) for position in self._sample]
        if is_first:
            return None
        return sum(map(int.__ne__, before, self._columns)) / len(self._sample)

    def _sample_positions(self) -> list[Position]:
        """Return distinct positions from games of the learner with its training opponents."""
        # The same sample for the whole training: only then do counts of changes compare.
        positions: dict[Position, None] = {}  # in order, unlike a set
        progress = Progress.new(0.0, self.settings.epsilon, [self.settings.seed, 1])
        rule = rule_of(self.settings, learning=False)
        while len(positions) < SAMPLE and progress.games < SAMPLE_GAMES:
            positions |= dict.fromkeys(self._opponents.play_one(self.table, rule, progress))
        return list(positions)[:SAMPLE]

    def evaluate(self) -> dict[str, Any] | None:
        """Play without learning, greedily unless `exam_exploring`; None if `exam_games` is 0."""
        games = self.settings.exam_games
        if games == 0:
            return None
        epsilon = 0.0
        if self.settings.exam_exploring:
            epsilon = float(self._progress.pace[q_learning.EPSILON])
        # Seeded by the number of games, so that an evaluation is the same after a resume.
        progress = Progress.new(0.0, epsilon, [self.settings.seed, 2, self.done])
        rule = rule_of(self.settings, learning=False)
        self._exam_opponents.play(self.table, rule, games, NEVER, progress)
        wins, draws, losses = progress.results.tolist()
        return {
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "won": wins / games,
            "drawn": draws / games,
            "lost": losses / games,
            "won_interval": [round(bound, 4) for bound in wilson(wins, games)],
            "lost_interval": [round(bound, 4) for bound in wilson(losses, games)],
        }

    def save(self, folder: Path) -> None:
        """Write the table and the state of the training."""
        self.table.save(folder / "table.q")
        progress = self._progress
        state = {
            "pace": progress.pace.tolist(),
            "counts": progress.counts.tolist(),
            "state": progress.state,
            "sample": [position.key for position in self._sample],
            "columns": self._columns,
        }
        (folder / "state.json").write_text(json.dumps(state))

    def load(self, folder: Path) -> None:
        """Restore what `save` wrote."""
        # The table may have grown to the limit, and its entries are in memory twice.
        self.table = QTable.load(folder / "table.q", 2 * self.settings.memory_mb)
        state = State.read(folder / "state.json")
        # Compiled code indexes these arrays without a check, so they have exactly this length.
        pace = np.array(state.numbers("pace", (1.0, 1.0, MOST_CHANGE, MOST_CHANGE)))
        counts = np.array(state.counts("counts", len(self._progress.counts)), np.int64)
        results = counts[q_learning.WINS : q_learning.LOSSES + 1]
        if any(results > counts[q_learning.GAMES]):
            state.refuse("counts")
        # The seed follows from the settings and is not stored.
        self._progress = Progress(pace, counts, state.count("state"), self._progress.seed)
        rules = form_of(self.settings).rules
        if self.table.form.rules != rules:
            raise ValueError(f"its table is for {self.table.form.rules}")
        sample = state.counts("sample")
        try:
            self._sample = [Position.from_key(key, rules) for key in sample[: SAMPLE + 1]]
        except UserError:
            state.refuse("sample", f"is not a list of positions on {rules}")
        if len(self._sample) > SAMPLE or any(
            position.outcome() is not None for position in self._sample
        ):
            state.refuse("sample", "has too many positions, or a game that is over")
        self._columns = state.counts("columns", len(self._sample), rules.columns - 1)

    def finish(self, run: Run) -> dict[str, Any]:
        """Write table.q and evaluate; on small boards also try all replies to the learned play."""
        file = run.folder / "table.q"
        self.table.save(file)
        rules = self.table.form.rules
        exam = self.evaluate()
        agents = [*self._opponents.agents, *self._exam_opponents.agents]
        close_all([agent for agent in agents if agent is not None])
        results: dict[str, Any] = {"states": len(self.table), "exam": exam}
        headline = [f"{len(self.table):,} positions learned in {self.done:,} games on {rules}"]
        if not self._played_enough:
            headline.append(
                "stopped because the table may not take more than "
                f"{self.settings.memory_mb:,.1f} MB (--memory-mb)"
            )
        if exam is not None:
            headline.append(
                f"evaluation: won {_share(exam, 'won')}, drawn {exam['drawn']:.1%}, "
                f"lost {_share(exam, 'lost')}"
            )
        # The policy's own moves are fixed, so far fewer positions are reached than the board has.
        if rules.columns * rules.rows <= MOST_CELLS:
            by_seat = worst_and_perfect(self.table.greedy, rules)
            results["all_replies"] = {seat: by_seat[seat] for seat in self.settings.seats}
            for seat, result in results["all_replies"].items():
                worst = Result(result["worst"]).word
                perfect = Result(result["perfect"]).word
                headline.append(
                    f"as {seat} player at worst a {worst}, with perfect play a {perfect}"
                )
        results["headline"] = "; ".join(headline)
        results["lines"] = [f"play it: fourlab play --board {rules} --yellow q:table={file}"]
        return results


def _share(exam: dict[str, Any], name: str) -> str:
    low, high = exam[f"{name}_interval"]
    return f"{exam[name]:.1%} [{low:.1%}, {high:.1%}]"


trainee_of = QTrainee
"""Makes a new trainee; called by `fourlab.training.kind` by name."""
