"""A chess match as a job: games are written to a file as they end."""

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
    """Play the missing games of a match."""

    extent: ClassVar[frozenset[str]] = frozenset({"games", "keep"})

    match: ChessMatch
    keep: Path | None = None
    """A file to copy the games to; games it already holds are not played again."""

    @property
    def name(self) -> str:
        """The default name of the run: chess-A-vs-B."""
        return f"chess-{'-vs-'.join(self.match.players)}"

    @property
    def config(self) -> dict[str, Any]:
        """The configuration that `read_job` reads back."""
        match = self.match
        config = {
            "kind": "chess",
            "players": list(match.players),
            "games": match.games,
            "plies": match.plies,
            "simulations": match.simulations,
            "seconds": match.seconds,
            "seed": match.seed,
            # Absolute, so that resuming works from another folder.
            "keep": None if self.keep is None else str(self.keep.resolve()),
        }
        return {name: value for name, value in config.items() if value is not None}

    @property
    def product(self) -> Path | None:
        """The file to write outside the run folder."""
        return self.keep

    def with_product(self, file: Path) -> "ChessJob":
        """Return the same job with another file."""
        return replace(self, keep=file)

    def check(self) -> None:
        """Raise UserError if `keep` cannot be written or holds games of another match."""
        if self.keep is None:
            return
        if not self.keep.parent.is_dir():
            raise UserError(f"cannot write {self.keep}: there is no such folder")
        if self.keep.exists():
            Games(self.match, self.keep, read_only=True)

    @property
    def games(self) -> int:
        """The number of games in total."""
        return self.match.games

    def with_games(self, games: int) -> "ChessJob":
        """Return the same job with this number of games in total."""
        return replace(self, match=replace(self.match, games=games))

    def extended(self, config: dict[str, Any]) -> "ChessJob":
        """Return the job with at least as many games as a run's configuration."""
        return self.with_games(max(self.match.games, config["games"]))

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Play the missing games; return the results if the match is complete, else None."""
        file = run.folder / "games.jsonl"
        games = Games(self.match, file)
        played = {game.number for game in games.games}
        if self.keep is not None and self.keep.exists():  # it may hold games of another run
            for game in Games(self.match, self.keep, read_only=True).games:
                if game.number not in played:
                    games.add(game)
                    played.add(game.number)
        # A game is a function of its number: any subset can be played later.
        missing = [number for number in range(self.match.games) if number not in played]
        self._emit_progress(session, games)
        batches = session.executor().map(self.match, missing)
        for number, game in chain.from_iterable(batches):
            if isinstance(game, Lost):
                raise ChildProcessError(f"game {number} was lost: {game.why}")
            games.add(game)
            self._emit_progress(session, games)
        if self.keep is not None:
            write_atomically(self.keep, file.read_bytes())
        # The executor was stopped; `resume` plays the rest.
        if missing and len(games.games) < self.match.games:
            return None
        summary = summarize(self.match, games.games)
        results = {"headline": standing(summary), **summary}
        run.write("results.json", results)
        return results

    def _emit_progress(self, session: Session, games: Games) -> None:
        words = standing(summarize(self.match, games.games)) if games.games else ""
        session.emit(Progress(len(games.games), self.match.games, "games", "playing", words))


def read_job(config: Mapping[str, Any]) -> ChessJob:
    """Return the job of a run's configuration."""
    # JSON has lists; the match wants a pair.
    one, other = config["players"]
    names = ("games", "plies", "simulations", "seconds", "seed")
    match = ChessMatch((one, other), **{name: config[name] for name in names if name in config})
    return ChessJob(match, Path(config["keep"]) if "keep" in config else None)


def standing(summary: dict[str, Any]) -> str:
    """Return the score of the first player in one line."""
    wins, draws, losses = (summary[name]["count"] for name in ("wins", "draws", "losses"))
    return f"W {wins} D {draws} L {losses}  score {summary['score']:.1%}"
