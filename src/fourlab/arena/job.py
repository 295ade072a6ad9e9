"""A match or tournament as a job: games are stored as they end, and more games extend a run."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Literal

from fourlab.agent import Agent
from fourlab.arena.play import judge_games, play_tournament
from fourlab.arena.results import Results
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.summary import summarize
from fourlab.arena.tournament import Tournament, read_config
from fourlab.errors import UserError
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run

Kind = Literal["match", "tournament"]
STANDING_SECONDS = 0.25
"""The standing is worked out no more often than this."""


@dataclass(frozen=True)
class TournamentJob:
    """Play what is missing of a tournament, and judge it if wished."""

    extent: ClassVar[frozenset[str]] = frozenset({"rounds", "accuracy"})

    tournament: Tournament
    kind: Kind = "tournament"
    accuracy: bool = False
    """Whether every position is solved, so that mistakes can be counted."""

    @property
    def name(self) -> str:
        """Who plays whom; of a tournament that has no name, how many there are."""
        specs = [player.spec for player in self.tournament.players]
        return "-vs-".join(specs) if len(specs) == 2 else f"tournament-of-{len(specs)}"

    @property
    def config(self) -> dict[str, Any]:
        """The tournament as data."""
        config = {"kind": self.kind, **self.tournament.as_data()}
        return {**config, "accuracy": True} if self.accuracy else config

    def check(self) -> None:
        """Refuse agents and openings that cannot be had."""
        import_module("fourlab.agents.players").check_players(self.tournament)

    def with_games(self, games: int) -> "TournamentJob":
        """The same with this many games in all."""
        a_round = len(self.tournament) // self.tournament.all_rounds
        if games % a_round:
            raise UserError(f"a round has {a_round} games, so the number of games must be a multiple, not {games}")
        return replace(self, tournament=replace(self.tournament, rounds=games // a_round))

    def extended(self, config: dict[str, Any]) -> "TournamentJob":
        """With as many rounds as the run has, if that is more, and judged if it was to be."""
        rounds = max(self.tournament.all_rounds, config["rounds"])
        accuracy = self.accuracy or config.get("accuracy", False)
        return replace(self, tournament=replace(self.tournament, rounds=rounds), accuracy=accuracy)

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Play, judge, and write what came out: the summary and the report, of stopped runs too."""
        from fourlab.arena.report import write_report

        played = _GamesTold(self.tournament, session)
        with Store(run.games_file) as store:
            executor = session.executor()
            done = store.progress()
            session.tell(Progress(done, len(self.tournament), "games", "playing"))
            results = play_tournament(self.tournament, store, executor, _make(), played.tell)
            if self.accuracy and not session.stopped:
                judge_games(store, executor, lambda done, of: session.tell(_solved(done, of)))
            summary = summarize(results, store)
            run.write("results.json", summary)
            write_report(run, self.tournament, summary, store)
            if results.games != done:
                played.tell(results, ())
        all_played = results.games >= len(self.tournament) or results.decided_at is not None
        is_complete = all_played and not (self.accuracy and session.stopped)
        return summary if is_complete else None


def read_job(config: Mapping[str, Any]) -> TournamentJob:
    """The job of a run's configuration."""
    return TournamentJob(read_config(config), config["kind"], config.get("accuracy", False))


def standing(results: Results) -> str:
    """The score so far, in a few words."""
    if len(results.names) > 2:
        scores = {name: share.score for name in results.names if (share := results.share(name)).games}
        leaders = sorted(scores, key=lambda name: -(scores[name] or 0))[:3]
        return "  ".join(f"{name} {scores[name]:.1%}" for name in leaders)
    share = results.share(results.names[0])
    if not share.games:
        return ""
    tally = results.tally(*results.names)
    words = f"W {share.wins} D {share.draws} L {share.losses}  score {share.score:.1%}"
    if tally.elo().value is not None:
        words += f"  {tally.units} {tally.unit}s: Elo {tally.elo()}"
    if (verdict := results.verdict()) is not None and verdict.llr is not None:
        words += f"  LLR {verdict.llr:.2f} ({verdict.bounds[0]:.2f}, {verdict.bounds[1]:.2f})"
    return words


class _GamesTold:
    """Tells a session of games as they come in."""

    def __init__(self, tournament: Tournament, session: Session) -> None:
        self._total = len(tournament)
        self._session = session
        self._text = ""
        self._text_made_at = -math.inf

    def tell(self, results: Results, games: Sequence[StoredGame]) -> None:
        # Elo and its interval take longer than a quick game.
        now = time.monotonic()
        if now - self._text_made_at >= STANDING_SECONDS or results.games == self._total:
            self._text = standing(results)
            self._text_made_at = now
        self._session.tell(Progress(results.games, self._total, "games", "playing", self._text))


def _solved(done: int, of: int) -> Progress:
    return Progress(done, of, "games solved", "solving")


def _make() -> Callable[[str], Agent]:
    """How agents are made from specs: the registry is above this layer, so it is named by import string."""
    make: Callable[[str], Agent] = import_module("fourlab.agents.registry").make
    return make
