"""Arya's appendix: chess by tree search, as in the thesis and improved, against random moves."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fourlab.arena.tally import Tally
from fourlab.studies.ablation import gains
from fourlab.studies.claims import Claim, Estimate, Source, shares
from fourlab.studies.verdicts import same_number
from fourlab.studies.workbench import Part, Table, Text, Workbench

if TYPE_CHECKING:
    from fourlab.chess.match import ChessMatch

PAIRS = (("arya", "random"), ("improved", "arya"), ("improved", "random"))
"""Players of the three matches; "arya" is the player of the thesis."""
HASH_BITS = 32
NODES = 50
"""Rollouts per move of Arya's player; a search holds about as many positions."""
BETTER = (
    "true means that the first player is the stronger one. Improved has 400 rollouts that end "
    "after four plies with a count of material, tries captures first, and proves mates"
)
HASHED = (
    "B20: the listing compares positions by 32 bits of a hash, ours in full. With 50 positions "
    "per search that is harmless"
)


@dataclass(frozen=True)
class _Games:
    """Plays one chess game by number; numbers run through the matches one after the other."""

    games: int
    """Per match."""
    seed: int

    def match(self, pair: int) -> "ChessMatch":
        """Return the match of `PAIRS[pair]`; every player has its own number of rollouts."""
        from fourlab.chess.match import ChessMatch

        return ChessMatch(PAIRS[pair], self.games, seed=self.seed)

    def rollouts(self, *pair: str) -> str:
        """Return the rollouts per move of a pair of players, as text."""
        from fourlab.chess.players import Searcher, player

        players = map(player, pair)
        return " and ".join(
            str(searcher.simulations) for searcher in players if isinstance(searcher, Searcher)
        )

    def __call__(self, number: int) -> dict[str, Any]:
        """Play one game, then replay it with python-chess to count illegal moves."""
        # Numbers go through all games of a pair first.
        pair, game = divmod(number, self.games)
        played = self.match(pair)(game)
        return {**asdict(played), "illegal": _illegal(played.start, played.moves.split())}


def _illegal(start: str, moves: list[str]) -> int:
    """Return the number of moves from the first illegal one on; 0 if all are legal."""
    import chess

    # python-chess judges, although it also generates the moves: a replay from the record shows that
    # no state was damaged on the way.
    board = chess.Board(start)
    for place, text in enumerate(moves):
        move = chess.Move.from_uci(text)
        if move not in board.legal_moves:
            return len(moves) - place
        board.push(move)
    return 0


def appendix(bench: Workbench) -> Iterator[Part]:
    """Play matches between Arya's chess player, the improved one and a random one."""
    work = _Games(bench.size["games"], bench.seed)
    games = bench.repeat("games", work, work.games * len(PAIRS))
    illegal = sum(game["illegal"] for game in games)
    unfinished = sum(not game["ending"] for game in games)
    plies = sum(len(game["moves"].split()) for game in games)
    yield Claim(
        "chess-rules",
        "illegal moves, of all moves; every game ends",
        "the rules are kept",
        Source.TEXT,
        faithful=Estimate(illegal, n=plies, digits=0),
        reproduced=same_number(illegal + unfinished, 0, 0),
    )
    yield from _matches(work, games)
    # The birthday bound: pairs of positions, each equal in all bits with probability 2^-32.
    collision = NODES * (NODES - 1) / 2 / 2**HASH_BITS
    yield Claim(
        "chess-hash",
        f"probability that two of {NODES} positions in a search are confused",
        "",
        Source.OURS,
        faithful=Estimate(collision, digits=8),
        corrected=Estimate(0, digits=0),
        why=HASHED,
    )
    yield Text("A game of Arya's player", _record(games[0]))


def _matches(work: _Games, games: list[dict[str, Any]]) -> Iterator[Part]:
    """Yield a claim for every match, then a table of all matches."""
    from fourlab.chess.match import ChessGame, summarize

    rows = []
    # Results are those of the first player of a pair.
    for pair, (one, other) in enumerate(PAIRS):
        of_pair = [
            ChessGame(**{key: value for key, value in game.items() if key != "illegal"})
            for game in games[pair * work.games : (pair + 1) * work.games]
        ]
        summary = summarize(work.match(pair), of_pair)
        won, drawn, lost = (summary[name]["count"] for name in ("wins", "draws", "losses"))
        rollouts = work.rollouts(one, other)
        results = shares(won, lost, drawn)
        # Arya's own player is the faithful one.
        is_corrected = one == "improved"
        yield Claim(
            f"chess-{one}-{other}",
            f"{one} against {other}, {rollouts} rollouts per move: won / lost / drawn",
            "",
            Source.OURS,
            faithful="" if is_corrected else results,
            corrected=results if is_corrected else "",
            true=gains(Tally(tuple(summary["counts"]))),
            why=BETTER,
            labels={"corrected": "improved"},
        )
        length = f"{summary['plies']['mean']:.0f}"
        endings = ", ".join(f"{ending} {count}" for ending, count in summary["endings"].items())
        match = f"{one} against {other}"
        rows.append((match, rollouts, work.games, won, drawn, lost, length, endings))
    head = ("match", "rollouts a move", "games", "won", "drawn", "lost", "plies a game", "endings")
    yield Table("Chess matches", head, tuple(rows))


def _record(game: dict[str, Any]) -> str:
    """Return a game of the first pair in standard algebraic notation, wrapped at 100 columns."""
    import textwrap

    import chess

    board = chess.Board(game["start"])
    moves = board.variation_san([chess.Move.from_uci(move) for move in game["moves"].split()])
    white, black = PAIRS[0]
    return "\n".join(
        [
            f"{white} against {black}, from {game['start']}",
            *textwrap.wrap(moves, 100),
            f"{game['result']}: {game['ending']}",
        ]
    )
