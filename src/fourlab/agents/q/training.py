"""Q-learning in a table: games by the block, examinations, and what is kept to go on.

Against itself, at random or against a tree search the learner plays whole games inside one compiled loop; against any other
agent Python asks both in turn, the learner by the same compiled steps.
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
from fourlab.agents.q.settings import SELF, QSettings
from fourlab.agents.q.table import QForm, QTable
from fourlab.agents.q.worst_case import beside_the_truth
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

CHUNK = 4096
"""So many games are played between two looks at the table's room."""
SAMPLE, SAMPLE_GAMES = 500, 200
"""In so many positions, or as many as so many games have, it is watched whether the best column changes."""
MOST_CELLS = 20
"""On boards of so many cells all replies to what was learned are tried."""
FEW_GAMES: dict[str, Any] = {"block": 200, "exam_games": 100}
"""Of games in which an agent is asked from Python, a piece of work has so many, unless told otherwise."""
TARGETS = {"played": q_learning.PLAYED, "best": q_learning.BEST, "negamax": q_learning.NEGAMAX}
SEATS = {"first": 1, "second": 2, "both": 0}
NEVER = 1 << 62


def rule_of(settings: QSettings, learning: bool) -> q_learning.Rule:
    """The settings as compiled code wants them."""
    same = {name: getattr(settings, name) for name in q_learning.Rule._fields if hasattr(settings, name)}
    typed: dict[str, Any] = {name: float(value) for name, value in same.items() if isinstance(value, int | float)}
    typed["alpha_by_visits"] = settings.alpha_by_visits
    return q_learning.Rule(
        **typed,
        learning=learning,
        target=TARGETS[settings.target],
        set_endings=settings.endings == "set",
        random_ties=settings.tie == "random",
    )


def form_of(settings: QSettings) -> QForm:
    """The form of the table that the settings learn."""
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
    """What changes as games are played, apart from the table."""

    pace: np.ndarray
    """float64[4], as `fourlab.agents.q.kernel` tells."""
    counts: np.ndarray
    """int64[5]"""
    state: int
    """The learner's random generator's."""
    seed: list[int]
    """With a game's number this is the seed of opponents that are asked from Python."""

    @classmethod
    def new(cls, alpha: float, epsilon: float, seed: list[int]) -> "Progress":
        """Before the first game."""
        state = seed_state(np.random.SeedSequence(seed))
        return cls(np.array([alpha, epsilon, 0.0, 0.0]), np.zeros(5, np.int64), state, seed)

    @property
    def games(self) -> int:
        """How many games have been played."""
        return int(self.counts[q_learning.GAMES])

    @property
    def results(self) -> np.ndarray:
        """Wins, draws and losses."""
        return self.counts[q_learning.WINS : q_learning.LOSSES + 1].copy()


class Opposition:
    """Those who play the other side; each game one of them, drawn by lot."""

    def __init__(self, specs: tuple[str, ...], settings: QSettings) -> None:
        self.agents = [None if spec == SELF else opponent(_without_mc0(spec)) for spec in specs]
        self.seats = SEATS[settings.seat]
        self.rules, self.memory = Rules.parse(settings.board), settings.memory
        self.compiled = _compiled(self.agents, self.seats, settings.passing)
        if settings.passing and self.compiled is None:
            raise UserError("passing goes with opponents that are random or bhat-mcN and alike but for N")

    def play(self, table: QTable, rule: q_learning.Rule, games: int, wins: int, progress: Progress) -> None:
        """Play games until so many are played in all, or so many are won, or there is no room to learn more."""
        while progress.games < games and progress.counts[q_learning.WINS] < wins:
            if rule.learning:
                if table.is_full(self.memory):
                    return
                table.make_room()
            if self.compiled is None:
                self.play_one(table, rule, progress)
                continue
            trainer, simulations = self.compiled
            _, progress.state = q_learning.play_games(
                self.rules.geometry,
                table.words,
                table.numbers,
                table.layout,
                rule,
                trainer,
                simulations,
                min(CHUNK, games - progress.games),
                wins,
                progress.pace,
                progress.counts,
                progress.state,
            )

    def play_one(self, table: QTable, rule: q_learning.Rule, progress: Progress) -> list[Position]:
        """Play a game, asking both sides in turn; returns the positions in which the learner was to move."""
        rng = np.random.default_rng([*progress.seed, progress.games])
        agent = self.agents[int(rng.integers(len(self.agents)))]
        seats = 3 if agent is None else self.seats or 1 + (progress.games & 1)
        position, met = Position(board=self.rules), list[Position]()
        last, worth = np.full(2, -1), np.empty(self.rules.columns)
        g, memory, both = self.rules.geometry, (table.words, table.numbers, table.layout), (progress.pace, progress.counts)
        learner = q_learning.Learner(last, worth, *both)
        while (outcome := position.outcome()) is None:
            side = position.to_move
            if seats >> side & 1:
                met.append(position)
                keys, mask = q_learning.keys_of(position.own, position.mask, table.layout, g), position.mask
                column, progress.state = q_learning.choose(
                    keys, mask, g, *memory, rule, float(progress.pace[q_learning.EPSILON]), worth, progress.state
                )
                if rule.learning:
                    won = position.makes_line(column, side)
                    q_learning.look_back(keys, mask, column, won, side, g, *memory, rule, learner)
            else:
                assert agent is not None
                column = agent.decide(position, Limit(), rng).column
            position = position.play(column)
        waiting = position.to_move
        if seats >> waiting & 1:
            q_learning.see_end(waiting, outcome.winner is not None, last, table.numbers, table.layout, rule, *both)
        q_learning.close_game(outcome.score(YELLOW if seats == 2 else RED), rule, *both)
        return met


def with_short_pieces(settings: QSettings, given: Container[str]) -> QSettings:
    """The settings with fewer games to a piece of work, for which Ctrl-C waits, where games are slow; what was given stays."""
    players = {"block": settings.opponents, "exam_games": settings.examiners}
    slow = [name for name, specs in players.items() if name not in given and Opposition(specs, settings).compiled is None]
    return replace(settings, **{name: FEW_GAMES[name] for name in slow})


def _without_mc0(spec: str) -> str:
    """MC0 has nothing to search with, so no options of a search either."""
    return "random" if parse_spec(spec)[0] == "bhat-mc0" else spec


def _compiled(agents: list[Agent | None], seats: int, passing: bool) -> tuple[q_learning.Trainer, np.ndarray] | None:
    """The opponents for the compiled loop: only oneself, or random players and searches alike but for their simulations."""
    if all(agent is None for agent in agents):
        return q_learning.Trainer(3, passing, verbs.Switches()), np.zeros(1, np.int64)
    switches, simulations = set(), []
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
    trainer = q_learning.Trainer(seats, passing, *(switches or {verbs.Switches()}))
    return trainer, np.array(simulations, np.int64)


def _is_plain(agent: MCTS) -> bool:
    """Whether a search does what `search_move` does: some simulations in a new tree, then the first of the most visited."""
    counted = agent.simulations is not None and agent.seconds is None and agent.runs == agent.threads == 1
    fresh = agent.reuse == "none" and not agent.solver and not agent.transpositions
    return counted and fresh and (agent.final, agent.final_tie, agent.opponent) == ("visits", "first", "player")


class QTrainee:
    """A table that learns block by block."""

    unit = "games"
    curves: tuple[Curve, ...] = (
        Curve("share of examined games", ("exam.won", "exam.drawn", "exam.lost")),
        Curve("positions known", ("states",)),
        Curve("mean change of a value", ("change",), logarithmic=True),
        Curve("best columns changed", ("policy_changes",)),
        Curve("epsilon, alpha", ("epsilon", "alpha")),
    )

    def __init__(self, settings: QSettings) -> None:
        self.settings = settings
        self._trainers, self._examiners = Opposition(settings.opponents, settings), Opposition(settings.examiners, settings)
        self.table = QTable(form_of(settings), asdict(settings))
        self._progress = Progress.new(settings.alpha, settings.epsilon, [settings.seed, 0])
        self._sample: list[Position] = []
        self._columns: list[int] = []

    @property
    def done(self) -> int:
        """How many games have been played."""
        return self._progress.games

    @property
    def total(self) -> int:
        """How many games there are to play, at most."""
        return self.settings.games

    @property
    def finished(self) -> bool:
        """Whether all games are played, or enough are won, or the table is full."""
        return self._played_enough or self.table.is_full(self.settings.memory)

    @property
    def _played_enough(self) -> bool:
        return self.done >= self.total or bool(self._progress.counts[q_learning.WINS] >= self._wins)

    @property
    def _wins(self) -> int:
        return NEVER if self.settings.wins is None else self.settings.wins

    def advance(self) -> dict[str, Any]:
        """Play the next block."""
        progress, begun = self._progress, time.perf_counter()
        before, updates, results = self.done, progress.counts[q_learning.UPDATES], progress.results
        progress.pace[[q_learning.CHANGE, q_learning.LARGEST]] = 0
        games = min(before + self.settings.block, self.total)
        self._trainers.play(self.table, rule_of(self.settings, learning=True), games, self._wins, progress)
        seconds = time.perf_counter() - begun
        wins, draws, losses = (int(each) for each in progress.results - results)
        return {
            "games": self.done,
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "change": float(progress.pace[q_learning.CHANGE] / max(progress.counts[q_learning.UPDATES] - updates, 1)),
            "largest_change": float(progress.pace[q_learning.LARGEST]),
            "states": len(self.table),
            "policy_changes": self._policy_changes(),
            "epsilon": float(progress.pace[q_learning.EPSILON]),
            "alpha": float(progress.pace[q_learning.ALPHA]),
            "exam": self.examine(),
            "games_a_second": round((self.done - before) / max(seconds, 1e-9)),
        }

    def _policy_changes(self) -> float | None:
        """In which share of the sample the best column has changed since the last block; None after the first."""
        if first := not self._sample:
            self._sample = self._positions_met()
        before, self._columns = self._columns, [self.table.greedy(position) for position in self._sample]
        return None if first else sum(map(int.__ne__, before, self._columns)) / len(self._sample)

    def _positions_met(self) -> list[Position]:
        """Positions as the learner meets them in training, none of them twice."""
        met: dict[Position, None] = {}
        progress = Progress.new(0.0, self.settings.epsilon, [self.settings.seed, 1])
        while len(met) < SAMPLE and progress.games < SAMPLE_GAMES:
            met |= dict.fromkeys(self._trainers.play_one(self.table, rule_of(self.settings, learning=False), progress))
        return list(met)[:SAMPLE]

    def examine(self) -> dict[str, Any] | None:
        """Let the learner play without learning, and greedily unless told otherwise; None if no games are wished for."""
        games = self.settings.exam_games
        if games == 0:
            return None
        epsilon = float(self._progress.pace[q_learning.EPSILON]) if self.settings.exam_exploring else 0.0
        progress = Progress.new(0.0, epsilon, [self.settings.seed, 2, self.done])
        self._examiners.play(self.table, rule_of(self.settings, learning=False), games, NEVER, progress)
        wins, draws, losses = (int(each) for each in progress.results)
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
        """Write the table and all that goes with it."""
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
        """Become what was saved."""
        self.table = QTable.load(folder / "table.q")
        state = json.loads((folder / "state.json").read_text())
        self._progress = Progress(
            np.array(state["pace"]), np.array(state["counts"], np.int64), int(state["state"]), self._progress.seed
        )
        rules = self.table.form.rules
        self._sample = [Position.from_key(key, rules) for key in state["sample"]]
        self._columns = list(state["columns"])

    def finish(self, run: Run) -> dict[str, Any]:
        """Write table.q; tell the examination and, on small boards, what all replies to the learned play come to."""
        file = run.folder / "table.q"
        self.table.save(file)
        rules, exam = self.table.form.rules, self.examine()
        close_all([agent for agent in (*self._trainers.agents, *self._examiners.agents) if agent is not None])
        results: dict[str, Any] = {"states": len(self.table), "exam": exam}
        words = [f"{len(self.table):,} positions learned in {self.done:,} games on {rules}"]
        if not self._played_enough:
            words.append(f"stopped there: the table may not take more than {self.settings.memory:,.1f} megabytes (--memory)")
        if exam is not None:
            words.append(f"examined: won {_share(exam, 'won')}, drawn {exam['drawn']:.1%}, lost {_share(exam, 'lost')}")
        if rules.columns * rules.rows <= MOST_CELLS:
            found = beside_the_truth(self.table.greedy, rules)
            results["all_replies"] = {seat: found[seat] for seat in self.settings.seats}
            for seat, result in results["all_replies"].items():
                worst, perfect = Result(result["worst"]), Result(result["perfect"])
                words.append(f"as {seat} player at worst a {worst.word}, perfect play gets a {perfect.word}")
        results["headline"] = "; ".join(words)
        results["lines"] = [f"play it: fourlab play --board {rules} --yellow q:table={file}"]
        return results


def _share(exam: dict[str, Any], name: str) -> str:
    low, high = exam[f"{name}_interval"]
    return f"{exam[name]:.1%} [{low:.1%}, {high:.1%}]"


def trainee_of(settings: QSettings) -> QTrainee:
    """What learns with these settings."""
    return QTrainee(settings)
