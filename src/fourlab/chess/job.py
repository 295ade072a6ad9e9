"""A match of chess as a job: games are kept in a file as they end."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from fourlab.chess.match import ChessMatch, Games, summarize
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.jobs.executors import Lost
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run


@dataclass(frozen=True)
class ChessJob:
    """Play what is missing of a match."""

    extent: ClassVar[frozenset[str]] = frozenset({"games", "keep"})

    match: ChessMatch
    keep: Path | None = None
    """Where a copy of the games is wanted."""

    @property
    def name(self) -> str:
        """Who plays whom."""
        return f"chess-{'-vs-'.join(self.match.players)}"

    @property
    def config(self) -> dict[str, Any]:
        """The match, and where its games are copied to."""
        match = self.match
        config = {
            "kind": "chess",
            "players": list(match.players),
            "games": match.games,
            "plies": match.plies,
            "simulations": match.simulations,
            "seconds": match.seconds,
            "seed": match.seed,
            "keep": None if self.keep is None else str(self.keep.resolve()),
        }
        return {name: value for name, value in config.items() if value is not None}

    def check(self) -> None:
        """Refuse a file that cannot be written or holds other games."""
        if self.keep is None:
            return
        if not self.keep.parent.is_dir():
            raise UserError(f"cannot write {self.keep}: there is no such folder")
        if self.keep.exists():
            Games(self.match, self.keep, read_only=True)

    def with_games(self, games: int) -> "ChessJob":
        """The same with this many games in all."""
        return replace(self, match=replace(self.match, games=games))

    def extended(self, config: dict[str, Any]) -> "ChessJob":
        """With as many games as the run has, if that is more."""
        return replace(self, match=replace(self.match, games=max(self.match.games, config["games"])))

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Play, and write what came out."""
        file = run.folder / "games.jsonl"
        games = Games(self.match, file)
        if self.keep is not None and self.keep.exists():  # perhaps with games of another run
            known = {game.number for game in games.games}
            for game in Games(self.match, self.keep, read_only=True).games:
                if game.number not in known:
                    games.add(game)
        missing = sorted(set(range(self.match.games)) - {game.number for game in games.games})
        self._tell(session, games)
        batches = session.executor().map(self.match, missing)
        for number, game in chain.from_iterable(batches):
            if isinstance(game, Lost):
                raise ChildProcessError(f"game {number} was lost: {game.why}")
            games.add(game)
            self._tell(session, games)
        if self.keep is not None:
            write_atomically(self.keep, file.read_bytes())
        if missing and len(games.games) < self.match.games:
            return None
        summary = summarize(self.match, games.games)
        results = {"headline": standing(summary), **summary}
        run.write("results.json", results)
        return results

    def _tell(self, session: Session, games: Games) -> None:
        words = standing(summarize(self.match, games.games)) if games.games else ""
        session.tell(Progress(len(games.games), self.match.games, "games", "playing", words))


def read_job(config: Mapping[str, Any]) -> ChessJob:
    """The job of a run's configuration."""
    one, other = config["players"]
    names = ("games", "plies", "simulations", "seconds", "seed")
    match = ChessMatch((one, other), **{name: config[name] for name in names if name in config})
    return ChessJob(match, Path(config["keep"]) if "keep" in config else None)


def standing(summary: dict[str, Any]) -> str:
    """The score in a few words."""
    wins, draws, losses = (summary[name]["count"] for name in ("wins", "draws", "losses"))
    return f"W {wins} D {draws} L {losses}  score {summary['score']:.1%}"
