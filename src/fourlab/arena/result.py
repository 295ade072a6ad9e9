"""The results of matches and tournaments, as Python gets them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fourlab import display
from fourlab.arena import tables, words
from fourlab.arena.statistics import Estimate
from fourlab.errors import UserError
from fourlab.jobs.result import RunResult
from fourlab.terminal import in_one_line

if TYPE_CHECKING:
    from fourlab.arena.store import StoredGame
    from fourlab.reporting.figures import Figure

GAME_FIELDS = (
    *("number", "red", "yellow", "board", "start", "moves", "plies", "result", "cause", "detail"),
    *("red_seconds", "yellow_seconds"),
)
"""The fields of a stored game that a table of games has."""


@dataclass(frozen=True, repr=False)
class GamesResult(RunResult):
    """The results of games between agents."""

    def __str__(self) -> str:
        return "\n".join(words.of_games(in_one_line(self.data)))

    def __len__(self) -> int:
        return int(self.data["games"])

    @property
    def agents(self) -> list[str]:
        """The names of the agents, in the order in which they were given."""
        return list(self.data["agents"])

    def games(self) -> "Iterator[StoredGame]":
        """Yield the stored games with the agents' thoughts, in the order of their numbers."""
        from fourlab.arena.store import Store

        with Store(self.folder.games_file, read_only=True) as store:
            yield from store.games(thoughts=True)

    def games_to_pandas(self) -> display.DataFrame:
        """Return one row per game."""
        return display.data_frame(
            {name: getattr(game, name) for name in GAME_FIELDS} for game in self.games()
        )

    def plot(self, figure: str | None = None) -> "Figure":
        """Draw a figure of the report with matplotlib; by default the most important one.

        A match has `score`, a tournament `ratings` and `cross-table`, both `lengths` and
        `first-columns`.
        """
        from fourlab.arena.job import read_job
        from fourlab.arena.report import figures_of
        from fourlab.arena.store import Store
        from fourlab.reporting.figures import in_notebooks, require

        require("plot()")
        tournament = read_job(self.folder.config).tournament
        with Store(self.folder.games_file, read_only=True) as store:
            drawings = dict(figures_of(tournament, self.data, store))
            name = next(iter(drawings), None) if figure is None else figure
            if name not in drawings:
                listed = ", ".join(drawings) or "none, since there are no games"
                raise UserError(f"there is no figure {figure!r}; figures are {listed}")
            return in_notebooks(drawings[name]())

    def _repr_html_(self) -> str:
        parts = []
        for table in tables.of_games(self.data):
            parts += [display.paragraph(table.title), display.table(table.head, table.rows)]
        if self.data["sprt"] is not None:
            parts.append(display.paragraph(f"SPRT: {self.data['sprt']['sentence']}"))
        return "".join([*parts, display.paragraph(f"run: {self.run}")])


@dataclass(frozen=True, repr=False)
class MatchResult(GamesResult):
    """The result of a match, from the first agent's point of view."""

    def __repr__(self) -> str:
        one, other = self.agents
        score = "no games" if self.score is None else f"score {self.score:.1%}"
        return f"<MatchResult {one} against {other}: {len(self)} games, {score}, Elo {self.elo}>"

    @property
    def _match(self) -> dict[str, Any]:
        (match,) = self.data["matches"]
        return dict(match)

    @property
    def wins(self) -> int:
        """Games that the first agent won."""
        return int(self._match["wins"]["count"])

    @property
    def draws(self) -> int:
        """Drawn games."""
        return int(self._match["draws"]["count"])

    @property
    def losses(self) -> int:
        """Games that the first agent lost."""
        return int(self._match["losses"]["count"])

    @property
    def score(self) -> float | None:
        """The share of points, 0 to 1, where a draw is half a point; None without games."""
        score: float | None = self._match["score"]
        return score

    @property
    def elo(self) -> Estimate:
        """The Elo difference with its 95 % interval."""
        return _estimate(self._match["elo"])

    @property
    def sprt(self) -> str | None:
        """What the sequential test says; None without one."""
        verdict = self.data["sprt"]
        return None if verdict is None else str(verdict["sentence"])

    def to_pandas(self) -> display.DataFrame:
        """Return one row per game."""
        return self.games_to_pandas()


@dataclass(frozen=True, repr=False)
class TournamentResult(GamesResult):
    """The result of a tournament."""

    def __repr__(self) -> str:
        return f"<TournamentResult of {len(self.agents)} agents: {len(self)} games>"

    @property
    def ratings(self) -> dict[str, Estimate]:
        """Bradley-Terry Elo ratings with 95 % intervals, best first; empty for two agents."""
        return {rating["agent"]: _estimate(rating["elo"]) for rating in self.data["ratings"] or ()}

    def score(self, one: str, other: str) -> float | None:
        """Return the score, 0 to 1, of an agent against another; None if they have not met."""
        from fourlab.arena.summary import head_to_head

        return head_to_head(self.data).get((one, other))

    def to_pandas(self) -> display.DataFrame:
        """Return one row per agent, best first."""
        ratings = self.ratings
        return display.data_frame(
            {
                "agent": name,
                "games": self.data["agents"][name]["games"],
                "score": self.data["agents"][name]["score"],
                "as_red": self.data["agents"][name]["as_red"]["score"],
                "as_yellow": self.data["agents"][name]["as_yellow"]["score"],
                **({"elo": ratings[name].value} if name in ratings else {}),
                **({"low": ratings[name].low} if name in ratings else {}),
                **({"high": ratings[name].high} if name in ratings else {}),
            }
            for name in ratings or self.agents
        )


def _estimate(data: dict[str, Any]) -> Estimate:
    """Return an estimate from its data in results.json."""
    names = ("value", "low", "high", "why", "regularised")
    return Estimate(**{name: data[name] for name in names if name in data})
