"""Vannucci & Abril's Figure 1: games against a random opponent, with values above the columns."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.mcts.agent import MCTS
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, Axes, Figure, panels
from fourlab.studies.claims import RESULTS, Claim, Estimate, Source, Value, band_of, exactly, share
from fourlab.studies.searches import Floats
from fourlab.studies.vannucci_abril.exact import ACTIONS, DRAWN, GIVEN, PRINTED, exact_values
from fourlab.studies.verdicts import at_least, may_happen, same_number, typical
from fourlab.studies.workbench import Part, Picture, Table, Workbench

DISCS = ("white", "#2ecc71", "#3498db")
"""The report's colours of empty cells, our discs and the opponent's."""
SPECS = {"faithful": "vannucci-abril:faithful=1", "corrected": "vannucci-abril"}
MARGIN = 0.4
"""Margin of the values of single runs, which vary widely."""
LINE = [4, 4, 4]
"""The moves of both sides in Figure 1."""
Values = dict[int, float]
"""Mean results by column, as a search estimates them."""


def _play(games: int, seed: int, number: int) -> dict[str, Any]:
    """Play a game against a random opponent; return its columns, our values and our score.

    The first `games` numbers use the search as coded, the second `games` the corrected one.
    """
    agent = make(SPECS["faithful" if number < games else "corrected"])
    assert isinstance(agent, MCTS)
    rng = np.random.default_rng([seed, number])
    position = GIVEN
    columns = list[int]()
    searches = list[dict[str, float]]()
    while (outcome := position.outcome()) is None:
        # Ours is the side to move in the given position; the opponent plays at random.
        if position.to_move == GIVEN.to_move:
            search = agent.search(position, Limit(), rng)
            # Keys are text because JSON has no others.
            searches.append({str(column.column): column.value or 0.0 for column in search.columns})
            columns.append(search.decision.column)
        else:
            columns.append(int(rng.choice(position.legal_columns())))
        position = position.play(columns[-1])
    return {"columns": columns, "searches": searches, "score": outcome.score(GIVEN.to_move)}


def conduct(bench: Workbench) -> Iterator[Part]:
    """Play games, compare their values and lengths, and draw the published game."""
    number = bench.size["games"]
    games = bench.repeat("games", _play, 2 * number, number, bench.seed)
    # As `_play` divides the numbers.
    faithful, corrected = games[:number], games[number:]
    yield from _values(faithful, corrected)
    yield from _games(faithful, corrected)
    # The published line if we have it; at small scales it may not occur.
    game = next((game for game in faithful if game["columns"] == LINE), faithful[0])
    yield from _pictures(game)


def _values(faithful: list[dict[str, Any]], corrected: list[dict[str, Any]]) -> Iterator[Claim]:
    """Compare the values that the report prints above its boards with ours and the exact ones."""
    boards = (
        (GIVEN, "before the first move"),
        (GIVEN.play(4).play(4), "after both sides play 4"),
    )
    for place, (position, when) in enumerate(boards):
        exact = exact_values(position)
        for action in ACTIONS:
            ours = _printed(faithful, place, action)
            reported = float(DRAWN[action][place])
            yield Claim(
                f"figure-1-value-{action}-{place + 1}",
                f"value of action {action} {when}",
                Estimate(reported, digits=2),
                Source.FIGURE,
                _band(ours),
                _band(_printed(corrected, place, action)),
                exactly(exact[action]),
                typical(reported, ours.tolist(), MARGIN, f"{MARGIN:g} of value", RESULTS)
                if ours.size
                else None,
                same_number(reported, float(exact[action]), PRINTED),
                "B1, B2: single runs of the search as coded vary widely",
                statement="figure-1-values",
            )


def _printed(games: list[dict[str, Any]], place: int, action: int) -> Floats:
    """Return an action's values in search `place` of the games that follow Figure 1 so far."""
    # Two plies, ours and the reply, between one search of ours and the next.
    before = LINE[: 2 * place]
    searches = [
        game["searches"][place] for game in games if game["columns"][: len(before)] == before
    ]
    return np.array([values[str(action)] for values in searches], dtype=np.float64)


def _band(values: Floats) -> Value:
    return band_of(values.tolist()) if values.size else "did not occur"


def _games(faithful: list[dict[str, Any]], corrected: list[dict[str, Any]]) -> Iterator[Claim]:
    """Compare the results and lengths of the games."""
    both = (faithful, corrected)
    won = [sum(game["score"] == 1 for game in games) for games in both]
    yield Claim(
        "figure-1-won",
        "games won",
        "1 of 1",
        Source.FIGURE,
        faithful=share(won[0], len(faithful)),
        corrected=share(won[1], len(corrected)),
        exact="all, after action 4",
        reproduced=may_happen(won[0], len(faithful)),
        true=at_least(won[1], len(corrected), 0.95),
        why="B1, B2: games that begin with action 6 may be lost",
    )
    # With best play, action 4 always wins against this opponent, action 6 does not.
    after_4 = [[game for game in games if game["columns"][0] == 4] for games in both]
    shares = [
        share(sum(game["score"] == 1 for game in games), len(games)) if games else "none"
        for games in after_4
    ]
    yield Claim(
        "figure-1-won-after-4",
        "games won after action 4",
        "",
        Source.OURS,
        faithful=shares[0],
        corrected=shares[1],
        exact="all",
    )
    lengths = [
        # We move first, so n plies contain (n + 1) // 2 moves of ours.
        sorted((len(game["columns"]) + 1) // 2 for game in games if game["score"] == 1)
        for games in both
    ]
    ranges = [f"{moves[0]} to {moves[-1]}" if moves else "never" for moves in lengths]
    yield Claim(
        "figure-1-moves",
        "the agent's moves until it wins",
        "2",
        Source.FIGURE,
        ranges[0],
        ranges[1],
        "2 to 5",
        may_happen(lengths[0].count(2), len(lengths[0])) if lengths[0] else None,
    )


def _pictures(game: dict[str, Any]) -> Iterator[Picture]:
    """Draw the boards before each of our moves and at the end: as reported, and of our game.

    The report prints above each board the values of the previous search, not of the board's own.
    """
    values = [{action: float(DRAWN[action][place]) for action in ACTIONS} for place in (0, 1)]
    yield _picture(
        "figure-1-as-drawn",
        f"Figure 1 with the reported values, for the line {_line(LINE)}: "
        "each board with the values of the search before it",
        _boards(LINE),
        # Shifted by one: the first board has no values, as in the report.
        [{}, *values],
    )
    searches: list[Values] = [
        {int(column): mean for column, mean in values.items()} for values in game["searches"]
    ]
    yield _picture(
        "figure-1",
        "Figure 1 with the values of one game of ours, by the search as coded (B1, B2), for the "
        f"line {_line(game['columns'])}: each board with the values of its own search and, below "
        "them, the exact values",
        _boards(game["columns"]),
        [*searches, {}],
        exactly=True,
    )


def _line(columns: list[int]) -> str:
    return "→".join(map(str, columns))


def _boards(columns: list[int]) -> list[Position]:
    """Return the given position, those in which it is our turn again, and the last one."""
    boards = [GIVEN]
    position = GIVEN
    for ply, column in enumerate(columns):
        position = position.play(column)
        # Odd plies are replies: after them it is our turn again.
        if ply % 2 or position.outcome() is not None:
            boards.append(position)
    return boards


def _picture(
    name: str, caption: str, boards: list[Position], values: list[Values], exactly: bool = False
) -> Picture:
    columns = range(GIVEN.rules.columns)
    rows = [
        (board.write("fen"), *(_above(board_values, column) for column in columns))
        for board, board_values in zip(boards, values, strict=True)
    ]
    data = Table("", ("board", *(f"action {column}" for column in columns)), tuple(rows))
    return Picture(name, caption, lambda: _draw(boards, values, exactly), data)


def _above(values: Values, column: int) -> str:
    """Return the label above a column: its value, X if it was full from the start, or nothing."""
    if column in values:
        return f"{values[column]:.2f}"
    return "" if column in ACTIONS else "X"


def _draw(boards: list[Position], values: list[Values], exactly: bool) -> Figure:
    figure, all_axes = panels(4.2 * len(boards), 4.4, columns=len(boards))
    for number, axes in enumerate(all_axes):
        board = boards[number]
        _draw_board(axes, board, values[number])
        if exactly and board.outcome() is None:
            for column, value in exact_values(board).items():
                axes.text(
                    column,
                    -0.75,
                    f"{float(value):.4g}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color=COLOURS[3],
                )
        axes.set_xlabel(f"({'abcdefgh'[number]})")
    return figure


def _draw_board(axes: Axes, board: Position, values: Values) -> None:
    # Grid cells are 0, 1 or 2, the indices of DISCS.
    for row, cells in enumerate(board.grid()):
        axes.scatter(
            range(len(cells)),
            [row] * len(cells),
            s=620,
            c=[DISCS[cell] for cell in cells],
            edgecolors="black",
        )
    for column in range(board.rules.columns):
        axes.text(column, -1.2, _above(values, column), ha="center", va="center", fontsize=13)
    axes.set(
        xticks=range(board.rules.columns),
        yticks=[],
        xlim=(-0.6, board.rules.columns - 0.4),
        ylim=(board.rules.rows - 0.4, -1.6),  # the first row of the grid is the top one
        aspect="equal",
    )
    axes.spines[:].set_visible(False)
