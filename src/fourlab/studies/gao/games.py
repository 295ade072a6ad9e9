"""Gao's games against a random opponent, and a game like the one in Figure 1."""

from collections import Counter
from collections.abc import Iterator

from fourlab.arena.store import StoredGame
from fourlab.arena.tournament import Player, Tournament
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, Figure, frame, panels
from fourlab.studies.claims import Claim, Source, share, shares
from fourlab.studies.verdicts import at_least, may_happen
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

OPPONENTS = {
    "random": "random opponent in the tree",
    "player": "two players in the tree",
}
"""How the search models the opponent, by the value of the agent's option."""
SIMULATIONS = (500, 50)
ALMOST_ALL = 0.95
"""The share of games that a sound search must win against a random opponent."""
TWO_PLAYERS = (
    "the report gives no results. Its tree models a random opponent, which is no fault but what "
    "the assignment asks for; corrected is a tree of two players. True means that it wins "
    f"{100 * ALMOST_ALL:g} % of games or more"
)
OTHER_PROGRAM = {
    (500, "random"): "398 of 400",
    (500, "player"): "400 of 400",
    (50, "random"): "97.9 %",
    (50, "player"): "98.2 %",
}
"""The wins of an independent program, by simulations and opponent model."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Play all games; the searching player always moves first."""
    played = {
        (simulations, opponent): _games(bench, simulations, opponent)
        for simulations in SIMULATIONS
        for opponent in OPPONENTS
    }
    rows = []
    for simulations in SIMULATIONS:
        results = {
            opponent: Counter(game.result for game in played[simulations, opponent])
            for opponent in OPPONENTS
        }
        # In the order of OPPONENTS.
        faithful, corrected = results.values()
        yield Claim(
            f"games-{simulations}",
            f"{simulations} simulations per move: won / lost / drawn",
            "1,000 games, results not given" if simulations == SIMULATIONS[0] else "",
            Source.TEXT,
            # Red's results: the searching player has red.
            faithful=shares(faithful[1], faithful[-1], faithful[0]),
            corrected=shares(corrected[1], corrected[-1], corrected[0]),
            true=at_least(corrected[1], corrected.total(), ALMOST_ALL),
            why=TWO_PLAYERS,
        )
        for opponent, counts in results.items():
            length = sum(game.plies for game in played[simulations, opponent]) / counts.total()
            numbers = (counts[1], counts[0], counts[-1], f"{length:.1f}")
            rows.append(
                (simulations, OPPONENTS[opponent], *numbers, OTHER_PROGRAM[simulations, opponent])
            )
    head = ("simulations", "search", "won", "drawn", "lost", "mean plies", "another program won")
    yield Table("Games against a random opponent", head, tuple(rows))
    won = [
        [game for game in played[SIMULATIONS[0], opponent] if game.result == 1]
        for opponent in OPPONENTS
    ]
    yield from _example(*won)


def _games(bench: Workbench, simulations: int, opponent: str) -> list[StoredGame]:
    name = f"{simulations}-{opponent}"
    players = (
        Player(f"gao:simulations={simulations},opponent={opponent}", name=name),
        Player("random"),
    )
    games = bench.size["games"] if simulations == 500 else bench.size["weak_games"]
    # Every game from the empty board; they differ by their random numbers.
    tournament = Tournament(
        players, openings="empty", rounds=games, starts="fixed", seed=bench.seed
    )
    return bench.play(name, tournament, thoughts=True)


def direction(position: Position) -> str:
    """Return the direction of the winning line of a won position."""
    # Cells of all winning lines, as pairs (column, row).
    columns, rows = zip(*position.winning_cells(), strict=True)
    if len(set(rows)) == 1:
        return "horizontal"
    return "vertical" if len(set(columns)) == 1 else "diagonal, or several lines"


def _example(faithful: list[StoredGame], corrected: list[StoredGame]) -> Iterator[Part]:
    """Count the directions of winning lines and print the first game like that of Figure 1."""
    directions, others = (
        {game.number: direction(list(game.record.positions())[-1]) for game in won}
        for won in (faithful, corrected)
    )
    counts = Counter(directions.values())
    other_counts = Counter(others.values())
    yield Claim(
        "figure-1-horizontal",
        "games won by a horizontal line, of those won",
        "the game of Figure 1",
        Source.TEXT,
        faithful=share(counts["horizontal"], counts.total()) if directions else "none won",
        corrected=share(other_counts["horizontal"], other_counts.total()) if others else "none won",
        reproduced=may_happen(counts["horizontal"], counts.total()),
    )
    game = next((game for game in faithful if directions[game.number] == "horizontal"), None)
    if game is not None:
        yield Picture(
            "figure-1",
            "Figure 1: a game of ours that X wins by a horizontal line, and X's estimated chance "
            "to win at each of its moves",
            lambda: _draw(game),
            Table("", ("move of X", "column", "w/n"), tuple(_chances(game))),
        )
        yield Text("Figure 1: the moves of the game", _printed(game))


def _chances(game: StoredGame) -> list[tuple[int, int, str]]:
    """Return the number, the column and the estimated chance to win of X's moves."""
    # X searches, so its moves have values; O's have none.
    moves = list(zip(game.record.columns, game.record.thoughts, strict=True))[::2]
    return [
        (number, column + 1, "" if thought.value is None else f"{(thought.value + 1) / 2:.3f}")
        for number, (column, thought) in enumerate(moves, 1)
    ]


def _draw(game: StoredGame) -> Figure:
    figure, (board, chances) = panels(9, 3.8, columns=2)
    end = list(game.record.positions())[-1]
    winning = end.winning_cells()
    for row, cells in enumerate(reversed(end.grid())):
        for column, cell in enumerate(cells):
            ringed = (column, row) in winning
            board.text(
                column + 1,
                row,
                " XO"[cell],
                ha="center",
                va="center",
                fontsize=15,
                fontweight="bold" if ringed else "normal",
                color=COLOURS[1] if ringed else "black",
            )
    board.set(xticks=range(1, 8), yticks=[], xlim=(0.4, 7.6), ylim=(-0.6, 5.6), xlabel="column")
    points = [(number, float(share)) for number, _, share in _chances(game) if share]
    chances.plot(*zip(*points, strict=True), marker="o", color=COLOURS[0])
    frame(chances, None, "y", xlabel="move of X", ylabel="w/n of the move", ylim=(0, 1.05))
    return figure


def _printed(game: StoredGame) -> str:
    """Return the moves with X's estimated chance to win (w/n), and the final board."""
    record = game.record
    lines = []
    for ply in range(0, len(record.columns), 2):
        column = record.columns[ply]
        # X searches, so its moves have values; O's have none.
        value = record.thoughts[ply].value
        chance = "" if value is None else f" (w/n {(value + 1) / 2:.2f})"
        reply = f", O column {record.columns[ply + 1] + 1}" if ply + 1 < len(record.columns) else ""
        lines.append(f"{ply // 2 + 1:2}. X column {column + 1}{chance}{reply}")
    end = list(record.positions())[-1]
    board = str(end).splitlines()[:-1]  # without the side to move: the game is over
    return "\n".join([*lines, "", *board, str(end.outcome())])
