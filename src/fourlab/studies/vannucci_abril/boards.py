"""Document 000's Figure 1: games against a random opponent, with the search's values above the columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.registry import make
from fourlab.arena.tables import Table
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS
from fourlab.studies.compare import may_happen, share
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.searches import Floats, band, within
from fourlab.studies.vannucci_abril.exact import ACTIONS, DRAWN, GIVEN, exact_values, told
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DISCS = ("white", "#2ecc71", "#3498db")
"""Empty, ours, the opponent's: the document's colours."""
SPECS = {"faithful": "vannucci-abril:faithful=1", "corrected": "vannucci-abril"}
LINE = [4, 4, 4]
"""What both sides play in Figure 1."""
Values = dict[int, float]


@dataclass(frozen=True)
class _Games:
    """The work: games against a random opponent, by their numbers; the first half as coded, the second corrected."""

    games: int
    seed: int

    def __call__(self, number: int) -> dict[str, Any]:
        agent = make(SPECS["faithful" if number < self.games else "corrected"])
        assert isinstance(agent, MCTS)
        rng = np.random.default_rng([self.seed, number])
        position, columns, searches = GIVEN, list[int](), list[dict[str, float]]()
        while (outcome := position.outcome()) is None:
            if position.to_move == GIVEN.to_move:
                found = agent.search(position, Limit(), rng)
                searches.append({str(each.column): each.value or 0.0 for each in found.columns})
                columns.append(found.decision.column)
            else:
                columns.append(int(rng.choice(position.legal_columns())))
            position = position.play(columns[-1])
        return {"columns": columns, "searches": searches, "score": outcome.score(GIVEN.to_move)}


def conduct(bench: Workbench) -> Iterator[Part]:
    """Games, and the document's one among them."""
    number = bench.size["games"]
    games = bench.repeat("games", _Games(number, bench.seed), 2 * number)
    faithful, corrected = games[:number], games[number:]
    yield from _values(faithful, corrected)
    yield from _games(faithful, corrected)
    game = next((each for each in faithful if each["columns"] == LINE), faithful[0])
    yield from _pictures(game)


def _values(faithful: list[dict[str, Any]], corrected: list[dict[str, Any]]) -> Iterator[Finding]:
    """The values printed above the boards."""
    both = GIVEN.play(4).play(4)
    for place, (position, when) in enumerate(((GIVEN, "before the first move"), (both, "after 4 by both"))):
        exact = exact_values(position)
        for action in ACTIONS:
            ours = _printed(faithful, place, action)
            yield Finding(
                f"value of action {action} {when}",
                DRAWN[action][place],
                _band(ours),
                _band(_printed(corrected, place, action)),
                told(exact[action]),
                within(float(DRAWN[action][place]), ours) if ours.size else None,
                "B1, B2: one run of the search as coded is worth little",
            )


def _printed(games: list[dict[str, Any]], place: int, action: int) -> Floats:
    """An action's values in the first or second search of all games that went as the document's up to there."""
    known = [game["searches"][place] for game in games if game["columns"][: 2 * place] == LINE[: 2 * place]]
    return np.array([each[str(action)] for each in known], dtype=np.float64)


def _band(values: Floats) -> str:
    return band(values) if values.size else "did not come about"


def _games(faithful: list[dict[str, Any]], corrected: list[dict[str, Any]]) -> Iterator[Finding]:
    """How games end."""
    won = [sum(game["score"] == 1 for game in games) for games in (faithful, corrected)]
    yield Finding(
        "games won",
        "1 of 1",
        share(won[0], len(faithful)),
        share(won[1], len(corrected)),
        "all of them, after action 4",
        may_happen(won[0], len(faithful)),
        "B1, B2: who begins with action 6 may lose",
    )
    right = [[game for game in games if game["columns"][0] == 4] for games in (faithful, corrected)]
    shares = [share(sum(game["score"] == 1 for game in games), len(games)) for games in right]
    yield Finding(
        "games won after action 4",
        "1 of 1",
        shares[0],
        shares[1],
        "all of them",
    )
    lengths = [sorted((len(game["columns"]) + 1) // 2 for game in games if game["score"] == 1) for games in (faithful, corrected)]
    yield Finding(
        "own moves until the game is won",
        "2",
        f"{lengths[0][0]} to {lengths[0][-1]}" if lengths[0] else "never",
        f"{lengths[1][0]} to {lengths[1][-1]}" if lengths[1] else "never",
        "2 to 5",
        may_happen(lengths[0].count(2), len(lengths[0])),
    )


def _pictures(game: dict[str, Any]) -> Iterator[Picture]:
    """The boards before each own move and at the end; the document prints the values of the search before, not of the board."""
    boards, position = [GIVEN], GIVEN
    for ply, column in enumerate(game["columns"]):
        position = position.play(column)
        if ply % 2 or position.outcome() is not None:
            boards.append(position)
    searches: list[Values] = [{int(column): mean for column, mean in each.items()} for each in game["searches"]]
    line = "→".join(map(str, game["columns"]))
    caption = (
        f"Figure 1 as the document drew it, the line {line} of both sides: each board with the values of the search before it"
    )
    yield _picture("figure-1-as-drawn", caption, boards, [{}, *searches])
    caption = (
        f"Figure 1 as it should be, the line {line}: each board with the values of its own search, and below them the exact ones"
    )
    yield _picture("figure-1", caption, boards, [*searches, {}], exactly=True)


def _picture(name: str, caption: str, boards: list[Position], values: list[Values], exactly: bool = False) -> Picture:
    columns = range(GIVEN.rules.columns)
    rows = [
        (board.write("fen"), *(_above(known, column) for column in columns)) for board, known in zip(boards, values, strict=True)
    ]
    data = Table("", ("board", *(f"action {column}" for column in columns)), tuple(rows))
    return Picture(name, caption, lambda: _draw(boards, values, exactly), data)


def _above(values: Values, column: int) -> str:
    """What stands above a column: its value, a cross if it was never open, nothing if nothing is known."""
    if column in values:
        return f"{values[column]:.2f}"
    return "" if column in ACTIONS else "X"


def _draw(boards: list[Position], values: list[Values], exactly: bool) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(boards), 4.4), layout="constrained")
    for number, axes in enumerate(figure.subplots(1, len(boards), squeeze=False)[0]):
        board = boards[number]
        _draw_board(axes, board, values[number])
        if exactly and board.outcome() is None:
            for column, value in exact_values(board).items():
                axes.text(column, -0.75, f"{float(value):.4g}", ha="center", va="center", fontsize=9, color=COLOURS[3])
        axes.set_xlabel(f"({'abcdefgh'[number]})")
    return figure


def _draw_board(axes: "Axes", board: Position, values: Values) -> None:
    for row, cells in enumerate(board.grid()):
        axes.scatter(range(len(cells)), [row] * len(cells), s=620, c=[DISCS[cell] for cell in cells], edgecolors="black")
    for column in range(board.rules.columns):
        axes.text(column, -1.2, _above(values, column), ha="center", va="center", fontsize=13)
    axes.set_xlim(-0.6, board.rules.columns - 0.4)
    axes.set_ylim(board.rules.rows - 0.4, -1.6)
    axes.set_xticks(range(board.rules.columns))
    axes.set_yticks([])
    axes.set_aspect("equal")
    for side in axes.spines.values():
        side.set_visible(False)
