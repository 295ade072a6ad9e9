"""Document 002's games against a random opponent, and the one that its Figure 1 shows."""

from collections import Counter
from collections.abc import Iterator

from fourlab.arena.store import StoredGame
from fourlab.arena.tables import Table
from fourlab.arena.tournament import Player, Tournament
from fourlab.game.position import Position
from fourlab.studies.compare import may_happen, share
from fourlab.studies.experiment import Finding, Part, Text
from fourlab.studies.workbench import Workbench

OPPONENTS = {"random": "the opponent draws lots in the tree, too", "player": "two players in the tree"}
SIMULATIONS = (500, 50)
TWO_PLAYERS = "no fault: the assignment asks for a random opponent; a tree for two players is beside it"
OTHER_PROGRAM = {(500, "random"): "398 of 400", (500, "player"): "400 of 400", (50, "random"): "97.9 %", (50, "player"): "98.2 %"}
"""What an independent program won."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """All games; the document's player always begins."""
    found = {
        (simulations, opponent): _games(bench, simulations, opponent) for simulations in SIMULATIONS for opponent in OPPONENTS
    }
    rows = []
    for simulations in SIMULATIONS:
        counts = [Counter(game.result for game in found[simulations, opponent]) for opponent in OPPONENTS]
        for what, result in (("won", 1), ("drawn", 0), ("lost", -1)):
            yield Finding(
                f"games {what}, {simulations} simulations a move",
                "1,000 games, their results are not told" if (simulations, result) == (500, 1) else "",
                share(counts[0][result], counts[0].total()),
                share(counts[1][result], counts[1].total()),
                why=TWO_PLAYERS if result == 1 else "",
            )
        for opponent, each in zip(OPPONENTS, counts, strict=True):
            length = sum(game.plies for game in found[simulations, opponent]) / each.total()
            numbers = (each[1], each[0], each[-1], f"{length:.1f}")
            rows.append((simulations, OPPONENTS[opponent], *numbers, OTHER_PROGRAM[simulations, opponent]))
    head = ("simulations", "search", "won", "drawn", "lost", "mean plies", "another program won")
    yield Table("Games against a random opponent", head, tuple(rows))
    yield from _example([game for game in found[500, "random"] if game.result == 1])


def _games(bench: Workbench, simulations: int, opponent: str) -> list[StoredGame]:
    name = f"{simulations}-{opponent}"
    players = (Player(f"gao:simulations={simulations},opponent={opponent}", name=name), Player("random"))
    games = bench.size["games"] if simulations == 500 else bench.size["weak_games"]
    tournament = Tournament(players, openings="empty", rounds=games, starts="fixed", seed=bench.seed)
    return bench.play(name, tournament, thoughts=True)


def direction(position: Position) -> str:
    """How the line of a won game runs."""
    columns, rows = zip(*position.winning_cells(), strict=True)
    if len(set(rows)) == 1:
        return "horizontal"
    return "vertical" if len(set(columns)) == 1 else "diagonal, or several lines"


def _example(won: list[StoredGame]) -> Iterator[Part]:
    """How lines run, and the first game like the document's."""
    ways = {game.number: direction(list(game.record.positions())[-1]) for game in won}
    counts = Counter(ways.values())
    agrees = may_happen(counts["horizontal"], counts.total())
    yield Finding("wins by a horizontal line", "Figure 1", share(counts["horizontal"], counts.total()), agrees=agrees)
    game = next((game for game in won if ways[game.number] == "horizontal"), None)
    if game is not None:
        yield Text("Figure 1: a game that X wins by a horizontal line", _printed(game))


def _printed(game: StoredGame) -> str:
    """The moves, with what X thought its chance to win, and the board at the end."""
    record, lines = game.record, []
    for ply in range(0, len(record.columns), 2):
        column, value = record.columns[ply], record.thoughts[ply].value
        chance = "" if value is None else f" (w/n {(value + 1) / 2:.2f})"
        reply = f", O column {record.columns[ply + 1] + 1}" if ply + 1 < len(record.columns) else ""
        lines.append(f"{ply // 2 + 1:2}. X column {column + 1}{chance}{reply}")
    end = list(record.positions())[-1]
    board = str(end).splitlines()[:-1]  # whose turn it would be does not matter any more
    return "\n".join([*lines, "", *board, str(end.outcome())])
