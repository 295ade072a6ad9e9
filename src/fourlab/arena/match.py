"""The settings of a match between two agents, and the tournament that they mean."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fourlab.agent import Limit
from fourlab.arena.openings import read_openings
from fourlab.arena.sprt import Sprt
from fourlab.arena.tournament import BOUNDS, MOST_GAMES, Player, Tournament
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules
from fourlab.options import check, option


@dataclass(frozen=True)
class MatchSettings:
    """How two agents play each other."""

    games: int = option(100, "Number of games; with --sprt the greatest.", least=1, most=MOST_GAMES)
    board: str | None = option(None, "COLUMNSxROWSxINAROW; default 7x6x4.", metavar="7x6x4")
    openings: str = option(
        "random:4",
        "empty, random:K, all:K, balanced:K (plies), a position, or file:FILE.",
        metavar="WHICH",
    )
    starts: Literal["alternate", "fixed"] = option(
        "alternate", "alternate: each opening twice, colours swapped; fixed: A is always red."
    )
    seconds: float | None = option(None, "Time limit per move.", above=0, unit="s")
    simulations: int | None = option(None, "Limit on simulations per move.", least=1)
    nodes: int | None = option(None, "Limit on nodes per move.", least=1)
    depth: int | None = option(None, "Limit on depth.", least=1, unit="plies")
    limit_a: str = option("", "A's own limits, such as seconds=0.1,nodes=500.", metavar="BOUNDS")
    limit_b: str = option("", "B's own limits.", metavar="BOUNDS")
    grace: float = option(1.0, "How much longer than its limit a move may take before the game is lost.", least=0, unit="s")
    alpha: float = option(0.05, "The SPRT's chance of accepting ELO1 wrongly.", above=0, most=0.5)
    beta: float = option(0.05, "The SPRT's chance of accepting ELO0 wrongly.", above=0, most=0.5)
    sprt_model: Literal["normalized", "logistic"] = option("normalized", "Which Elo the SPRT tests.")
    accuracy: bool = option(False, "Solve every position and count mistakes.")
    seed: int = option(0, "The same seed gives the same result.", least=0, most=2**63 - 1)

    def __post_init__(self) -> None:
        check(self)
        if self.starts == "alternate" and self.games % 2:
            raise UserError(f"every opening is played twice, so the number of games must be even, not {self.games}")

    def tournament(self, one: str, other: str, sprt: tuple[float, float] | None = None) -> Tournament:
        """The match of two agents; `sprt` is the two Elo differences that are tested."""
        players = (
            Player(one, self._limit(self.limit_a)),
            Player(other, self._limit(self.limit_b)),
        )
        if players[0] == players[1]:
            players = tuple(
                Player(each.spec, each.limit, f"{each.label} ({seat})") for seat, each in zip("AB", players, strict=True)
            )  # type: ignore[assignment]
        return Tournament(
            players,
            boards=(str(CLASSIC if self.board is None else Rules.parse(self.board)),),
            openings=read_openings(self.openings, Path(), self.board),
            rounds=self.games // 2 if self.starts == "alternate" else self.games,
            starts=self.starts,
            seed=self.seed,
            grace=self.grace,
            sprt=None if sprt is None else Sprt(*sprt, alpha=self.alpha, beta=self.beta, model=self.sprt_model),
        )

    def _limit(self, own: str) -> Limit:
        both = {bound: getattr(self, bound) for bound in BOUNDS}
        return Limit(**{**both, **read_bounds(own)})


def read_bounds(text: str) -> dict[str, float | int]:
    """Read limits written as seconds=0.1,nodes=500."""
    found: dict[str, float | int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        bound, _, value = part.partition("=")
        try:
            if bound not in BOUNDS:
                raise ValueError
            found[bound] = float(value) if bound == "seconds" else int(value)
        except ValueError:
            raise UserError(f"a limit is written bound=number, with {', '.join(BOUNDS)}, not {part!r}") from None
    return found
