"""Document 004's appendix: chess by tree search, as it was, improved, and beside random moves."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fourlab.arena.tables import Table
from fourlab.studies.compare import share
from fourlab.studies.experiment import Experiment, Finding, Part, Text
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from fourlab.chess.match import ChessMatch

PAIRS = (("document", "random"), ("improved", "document"), ("improved", "random"))
HASH_BITS = 32


@dataclass(frozen=True)
class _Games:
    """Plays the games of all pairs of players, numbered one pair after the other."""

    games: int
    simulations: int | None
    seed: int

    def match(self, pair: int) -> "ChessMatch":
        """The match of a pair."""
        from fourlab.chess.match import ChessMatch

        return ChessMatch(PAIRS[pair], self.games, simulations=self.simulations, seed=self.seed)

    def rollouts(self, *pair: str) -> str:
        """How many rollouts a move the players of a pair make: as many as are asked for, or each its own number."""
        from fourlab.chess.players import Searcher, player

        own = [each.simulations for name in pair if isinstance(each := player(name), Searcher)]
        return str(self.simulations) if self.simulations else " and ".join(map(str, own))

    def __call__(self, number: int) -> dict[str, Any]:
        """Play one game and go through it again, to see that every move was allowed."""
        pair, game = divmod(number, self.games)
        played = self.match(pair)(game)
        return {**asdict(played), "illegal": _illegal(played.start, played.moves.split())}


def _illegal(start: str, moves: list[str]) -> int:
    """How many moves were not allowed."""
    import chess

    board = chess.Board(start)
    for place, text in enumerate(moves):
        move = chess.Move.from_uci(text)
        if move not in board.legal_moves:
            return len(moves) - place
        board.push(move)
    return 0


def appendix(bench: Workbench) -> Iterator[Part]:
    """Matches between the three players."""
    from fourlab.chess.match import ChessGame, summarize

    work = _Games(bench.size["games"], bench.size["simulations"], bench.seed)
    rows = bench.repeat("games", work, work.games * len(PAIRS))
    illegal, endless = sum(row["illegal"] for row in rows), sum(not row["ending"] for row in rows)
    plies = sum(len(row["moves"].split()) for row in rows)
    yield Finding(
        "moves against the rules, and games without an end",
        "the rules are kept",
        f"{illegal} of {plies:,} moves, {endless} of {len(rows)} games",
        agrees=illegal == endless == 0,
    )
    told = []
    for pair, (one, other) in enumerate(PAIRS):
        games = [
            ChessGame(**{name: value for name, value in row.items() if name != "illegal"})
            for row in rows[pair * work.games : (pair + 1) * work.games]
        ]
        found = summarize(work.match(pair), games)
        won, drawn, lost = (found[name]["count"] for name in ("wins", "draws", "losses"))
        in_column = ("", share(won, work.games))
        rollouts = work.rollouts(one, other)
        yield Finding(
            f"{one} against {other}: wins, {rollouts} rollouts a move",
            "",
            *(in_column if one == "improved" else in_column[::-1]),
            why=f"{work.games} games a pair; the document's player has 50 rollouts a move" if work.simulations else "",
        )
        length, endings = f"{found['plies']['mean']:.0f}", _endings(found["endings"])
        told.append((f"{one} against {other}", rollouts, work.games, won, drawn, lost, length, endings))
    head = ("match", "rollouts a move", "games", "won", "drawn", "lost", "plies a game", "endings")
    yield Table("Chess matches", head, tuple(told))
    yield Finding(
        "rating",
        "142 on chess.com",
        "cannot be tested",
        why="no games are listed; the player is beside random moves instead",
    )
    nodes = 50
    chance = nodes * (nodes - 1) / 2 / 2**HASH_BITS
    yield Finding(
        f"chance that two of {nodes:,} positions of a search are taken for one",
        "",
        f"{chance:.1e}",
        "0",
        why="B20: positions are compared by 32 bits of a hash; ours by all that they are made of",
    )
    yield Text("A game of the document's player", _record(rows[0]))


def _endings(counted: dict[str, int]) -> str:
    return ", ".join(f"{ending} {count}" for ending, count in counted.items())


def _record(row: dict[str, Any]) -> str:
    """A game in the usual notation, some moves a line."""
    import textwrap

    import chess

    board = chess.Board(row["start"])
    moves = board.variation_san([chess.Move.from_uci(each) for each in row["moves"].split()])
    white, black = PAIRS[0]
    return "\n".join(
        [f"{white} against {black}, from {row['start']}", *textwrap.wrap(moves, 100), f"{row['result']}: {row['ending']}"]
    )


EXPERIMENTS = (
    Experiment(
        "004-chess",
        ("D4-22",),
        "Appendix: chess",
        "The same search plays chess by the rules with 50 rollouts a move, at a rating of 142.",
        {
            "smoke": {"games": 2, "simulations": 1},
            "quick": {"games": 4, "simulations": 5},
            "full": {"games": 100, "simulations": None},
        },
        appendix,
        (4, 40, 40_000),
        (("chess", "chess"),),
    ),
)
