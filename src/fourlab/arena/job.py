"""A match or tournament as a job: games are stored as they end, and a run can be extended."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Literal

from fourlab.arena.play import play_tournament, solve_games
from fourlab.arena.results import Results
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.summary import summarize
from fourlab.arena.tournament import Tournament, read_config
from fourlab.errors import UserError
from fourlab.jobs.executors import Executor, make_executor
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run

Kind = Literal["match", "tournament"]
STANDING_SECONDS = 0.25
"""Shortest time between two updates of the standing in the progress line."""


@dataclass(frozen=True)
class TournamentJob:
    """Play the missing games of a tournament and, if `accuracy` is set, solve all games."""

    extent: ClassVar[frozenset[str]] = frozenset({"rounds", "accuracy"})

    tournament: Tournament
    kind: Kind = "tournament"
    accuracy: bool = False
    """Whether to solve every position, so that mistakes can be counted."""

    @property
    def name(self) -> str:
        """The default name of the run: A-vs-B, or tournament-of-N."""
        specs = [player.spec for player in self.tournament.players]
        return "-vs-".join(specs) if len(specs) == 2 else f"tournament-of-{len(specs)}"

    @property
    def config(self) -> dict[str, Any]:
        """The configuration that `read_job` reads back."""
        config = {"kind": self.kind, **self.tournament.as_data()}
        return {**config, "accuracy": True} if self.accuracy else config

    def check(self) -> None:
        """Raise UserError if an agent cannot be made or an opening cannot be played."""
        # The registry of agents is above this layer, so it is imported by name.
        import_module("fourlab.agents.players").check_players(self.tournament)

    @property
    def games(self) -> int:
        """The number of games in total."""
        return len(self.tournament)

    def with_games(self, games: int) -> "TournamentJob":
        """Return the same job with this number of games in total."""
        games_per_round = len(self.tournament) // self.tournament.all_rounds
        if games % games_per_round:
            raise UserError(
                f"a round has {games_per_round} games, so the number of games must be a multiple, "
                f"not {games}"
            )
        return replace(self, tournament=replace(self.tournament, rounds=games // games_per_round))

    def extended(self, config: dict[str, Any]) -> "TournamentJob":
        """Return the job with at least the rounds, and the accuracy, of a run's configuration."""
        rounds = max(self.tournament.all_rounds, config["rounds"])
        accuracy = self.accuracy or config.get("accuracy", False)
        return replace(self, tournament=replace(self.tournament, rounds=rounds), accuracy=accuracy)

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Play and solve games; write the summary and the report, also of a stopped run.

        Returns the summary if the run is complete, else None.
        """
        from fourlab.arena.report import write_report

        # By name, as in `check`.
        make = import_module("fourlab.agents.own").maker(self.tournament)
        reporter = _ProgressReporter(self.tournament, session)
        with Store(run.games_file) as store:
            games_before = store.progress()
            session.emit(Progress(games_before, len(self.tournament), "games", "playing"))
            # Nobody is tied to anything if all games are played.
            tied = make.tied if games_before < len(self.tournament) else ()
            executor = self._place(tied, session)
            results = play_tournament(self.tournament, store, executor, make, reporter.on_games)
            if self.accuracy and not session.stopped:
                solve_games(
                    store,
                    session.executor(),
                    lambda done, total: session.emit(
                        Progress(done, total, "games solved", "solving")
                    ),
                )
            summary = summarize(results, store)
            run.write("results.json", summary)
            write_report(run, self.tournament, summary, store)
            # The report may take seconds; afterwards the line shows the final standing.
            if results.games != games_before:
                reporter.on_games(results, ())
        # A sequential test may end a match before all its games are played.
        all_played = results.games >= len(self.tournament) or results.decided_at is not None
        is_complete = all_played and not (self.accuracy and session.stopped)
        return summary if is_complete else None

    def _place(self, tied: Sequence[str], session: Session) -> Executor:
        """Return where games are played: in this process if agents are tied to it."""
        if not tied or session.conduct.executor == "threads":
            return session.executor()
        # Objects are shared by all games, so only one is played at a time.
        session.note(
            f"{' and '.join(tied)} cannot be sent to other processes, so games are played one "
            "after another in this one; agents in modules or files use all processors"
        )
        return session.use(make_executor("threads", workers=1))


def read_job(config: Mapping[str, Any]) -> TournamentJob:
    """Return the job of a run's configuration."""
    return TournamentJob(read_config(config), config["kind"], config.get("accuracy", False))


def standing(results: Results) -> str:
    """Return the score so far in one line: the match, or the three leaders of a tournament."""
    if len(results.names) > 2:
        shares = {name: results.share(name) for name in results.names}
        scores = {name: share.score or 0.0 for name, share in shares.items() if share.games}
        leaders = sorted(scores, key=lambda name: -scores[name])[:3]
        return "  ".join(f"{name} {scores[name]:.1%}" for name in leaders)
    share = results.share(results.names[0])
    if not share.games:
        return ""
    tally = results.tally(*results.names)
    words = f"W {share.wins} D {share.draws} L {share.losses}  score {share.score:.1%}"
    elo = tally.elo()
    if elo.value is not None:
        words += f"  {tally.units} {tally.unit}s: Elo {elo}"
    verdict = results.verdict()
    if verdict is not None and verdict.llr is not None:
        words += f"  LLR {verdict.llr:.2f} ({verdict.bounds[0]:.2f}, {verdict.bounds[1]:.2f})"
    return words


class _ProgressReporter:
    """Emits progress events as games come in."""

    def __init__(self, tournament: Tournament, session: Session) -> None:
        self._total = len(tournament)
        self._session = session
        self._standing = ""
        self._updated_at = -math.inf

    def on_games(self, results: Results, games: Sequence[StoredGame]) -> None:
        """Emit the progress; the standing is refreshed only every STANDING_SECONDS."""
        # Computing Elo and its interval takes longer than a game of fast agents.
        now = time.monotonic()
        if now - self._updated_at >= STANDING_SECONDS or results.games == self._total:
            self._standing = standing(results)
            self._updated_at = now
        self._session.emit(Progress(results.games, self._total, "games", "playing", self._standing))
