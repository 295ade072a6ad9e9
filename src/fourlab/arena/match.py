"""The settings of matches and tournaments, and the tournaments that they describe."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from fourlab.agent import Limit
from fourlab.arena.openings import read_openings
from fourlab.arena.sprt import Sprt
from fourlab.arena.tournament import BOUNDS, MOST_GAMES, Player, Tournament
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules
from fourlab.options import check, option, whole_number


@dataclass(frozen=True)
class GameSettings:
    """What the settings of matches and of tournaments share."""

    games: int | None = None
    openings: str = option(
        "random:4",
        "empty, random:K, all:K, balanced:K (plies), a position, or file:FILE.",
        metavar="WHICH",
    )
    starts: Literal["alternate", "fixed"] = option(
        "alternate",
        "alternate: each opening twice, colours swapped; fixed: once, the first-named agent red.",
    )
    seconds: float | None = option(None, "Time limit per move.", above=0, most=86_400, unit="s")
    simulations: int | None = option(None, "Limit on simulations per move.", least=1, most=10**9)
    nodes: int | None = option(None, "Limit on nodes per move.", least=1, most=10**15)
    depth: int | None = option(None, "Limit on depth.", least=1, most=10_000, unit="plies")
    grace: float = option(
        1.0,
        "Time by which a move may exceed its limit before the game is forfeited.",
        least=0,
        most=86_400,
        unit="s",
    )
    accuracy: bool = option(False, "Solve every position and count mistakes.")
    seed: int = option(0, "The same seed gives the same result.", least=0, most=2**63 - 1)

    def __post_init__(self) -> None:
        check(self)
        if self.starts == "alternate" and self.games is not None and self.games % 2:
            raise UserError(
                "every opening is played twice, so the number of games must be even, "
                f"not {self.games}"
            )

    def _rounds(self) -> int | None:
        """Return the number of openings: two games each, or one without swapped colours."""
        if self.games is None:
            return None
        return self.games // 2 if self.starts == "alternate" else self.games

    def _player(self, agent: str | Player, own: str = "") -> Player:
        """Return an agent as a player with the common bounds, overridden by its own."""
        common = {bound: getattr(self, bound) for bound in BOUNDS}
        limit = Limit(**{**common, **read_bounds(own)})
        return Player(agent, limit) if isinstance(agent, str) else replace(agent, limit=limit)


@dataclass(frozen=True)
class MatchSettings(GameSettings):
    """How two agents play each other."""

    games: int = option(100, "Number of games; with --sprt the maximum.", least=1, most=MOST_GAMES)
    board: str | None = option(None, "COLUMNSxROWSxINAROW; default 7x6x4.", metavar="7x6x4")
    limit_a: str = option("", "A's own limits, such as seconds=0.1,nodes=500.", metavar="BOUNDS")
    limit_b: str = option("", "B's own limits.", metavar="BOUNDS")
    alpha: float = option(
        0.05, "The SPRT's probability of accepting ELO1 wrongly.", above=0, most=0.5
    )
    beta: float = option(
        0.05, "The SPRT's probability of accepting ELO0 wrongly.", above=0, most=0.5
    )
    sprt_model: Literal["normalized", "logistic"] = option(
        "normalized", "Which Elo the SPRT tests."
    )

    def tournament(
        self, one: str | Player, other: str | Player, sprt: tuple[float, float] | None = None
    ) -> Tournament:
        """Return the match of two agents, specs or players without limits.

        `sprt` is the pair (elo0, elo1) to test, if any.
        """
        player_a = self._player(one, self.limit_a)
        player_b = self._player(other, self.limit_b)
        # Results are kept by name, so an agent against itself needs two.
        if player_a == player_b:
            player_a = replace(player_a, name=f"{player_a.label} (A)")
            player_b = replace(player_b, name=f"{player_b.label} (B)")
        test = None
        if sprt is not None:
            test = Sprt(*sprt, alpha=self.alpha, beta=self.beta, model=self.sprt_model)
        return Tournament(
            (player_a, player_b),
            boards=(str(CLASSIC if self.board is None else Rules.parse(self.board)),),
            openings=read_openings(self.openings, Path(), self.board),
            rounds=self._rounds(),
            starts=self.starts,
            seed=self.seed,
            grace=self.grace,
            sprt=test,
        )


@dataclass(frozen=True)
class TournamentSettings(GameSettings):
    """How several agents play a round robin."""

    games: int | None = option(
        None,
        "Number of games between every two agents on every board; default: 100, or two from each "
        "opening of a list.",
        least=1,
        most=MOST_GAMES,
    )
    rounds: int | None = option(None, "Number of openings instead of --games.", least=1, most=10**8)
    boards: tuple[str, ...] = option(
        (str(CLASSIC),),
        "Boards, each COLUMNSxROWSxINAROW, separated by commas.",
        separator=",",
        metavar="7x6x4",
        aliases=("board",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.games is not None and self.rounds is not None:
            raise UserError("games and rounds say the same; give one of them")

    def tournament(self, agents: Iterable[str | Player]) -> Tournament:
        """Return the tournament of agents, specs or players without limits."""
        boards = tuple(str(Rules.parse(board)) for board in self.boards)
        return Tournament(
            tuple(map(self._player, agents)),
            boards=boards,
            openings=read_openings(self.openings, Path(), boards[0] if len(boards) == 1 else None),
            rounds=self._rounds() if self.rounds is None else self.rounds,
            starts=self.starts,
            seed=self.seed,
            grace=self.grace,
        )


def read_bounds(text: str) -> dict[str, float | int]:
    """Parse limits written as seconds=0.1,nodes=500."""
    types: dict[str, Callable[[str], float | int]] = {
        **dict.fromkeys(BOUNDS, whole_number),
        "seconds": float,
    }
    bounds: dict[str, float | int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        try:
            bounds[name] = types[name](value)
        except (KeyError, ValueError):
            raise UserError(
                f"a limit is written bound=number, with {', '.join(BOUNDS)}, not {part!r}"
            ) from None
    return bounds
