"""The settings of a match between two agents, and the tournament they describe."""

from collections.abc import Callable
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
class MatchSettings:
    """How two agents play each other."""

    games: int = option(100, "Number of games; with --sprt the maximum.", least=1, most=MOST_GAMES)
    board: str | None = option(None, "COLUMNSxROWSxINAROW; default 7x6x4.", metavar="7x6x4")
    openings: str = option(
        "random:4",
        "empty, random:K, all:K, balanced:K (plies), a position, or file:FILE.",
        metavar="WHICH",
    )
    starts: Literal["alternate", "fixed"] = option(
        "alternate", "alternate: each opening twice, colours swapped; fixed: A is always red."
    )
    seconds: float | None = option(None, "Time limit per move.", above=0, most=86_400, unit="s")
    simulations: int | None = option(None, "Limit on simulations per move.", least=1, most=10**9)
    nodes: int | None = option(None, "Limit on nodes per move.", least=1, most=10**15)
    depth: int | None = option(None, "Limit on depth.", least=1, most=10_000, unit="plies")
    limit_a: str = option("", "A's own limits, such as seconds=0.1,nodes=500.", metavar="BOUNDS")
    limit_b: str = option("", "B's own limits.", metavar="BOUNDS")
    grace: float = option(
        1.0,
        "Time by which a move may exceed its limit before the game is forfeited.",
        least=0,
        most=86_400,
        unit="s",
    )
    alpha: float = option(
        0.05, "The SPRT's probability of accepting ELO1 wrongly.", above=0, most=0.5
    )
    beta: float = option(
        0.05, "The SPRT's probability of accepting ELO0 wrongly.", above=0, most=0.5
    )
    sprt_model: Literal["normalized", "logistic"] = option(
        "normalized", "Which Elo the SPRT tests."
    )
    accuracy: bool = option(False, "Solve every position and count mistakes.")
    seed: int = option(0, "The same seed gives the same result.", least=0, most=2**63 - 1)

    def __post_init__(self) -> None:
        check(self)
        if self.starts == "alternate" and self.games % 2:
            raise UserError(
                "every opening is played twice, so the number of games must be even, "
                f"not {self.games}"
            )

    def tournament(
        self, one: str | Player, other: str | Player, sprt: tuple[float, float] | None = None
    ) -> Tournament:
        """Return the match of two agents, specs or players without limits.

        `sprt` is the pair (elo0, elo1) to test, if any.
        """
        player_a = _player(one, self._limit(self.limit_a))
        player_b = _player(other, self._limit(self.limit_b))
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
            # A round of two agents is one opening: two games, or one without swapped colours.
            rounds=self.games // 2 if self.starts == "alternate" else self.games,
            starts=self.starts,
            seed=self.seed,
            grace=self.grace,
            sprt=test,
        )

    def _limit(self, own: str) -> Limit:
        """Return the limit of one player: the common bounds, overridden by its own."""
        common = {bound: getattr(self, bound) for bound in BOUNDS}
        return Limit(**{**common, **read_bounds(own)})


def _player(agent: str | Player, limit: Limit) -> Player:
    return Player(agent, limit) if isinstance(agent, str) else replace(agent, limit=limit)


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
