"""Exact values of Vannucci & Abril's position, which is small enough to search exhaustively."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fourlab.agents.minimax.expectimax_random import ExpectimaxRandom
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.solver import Solver
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Verdict, exactly
from fourlab.studies.verdicts import same_number
from fourlab.studies.workbench import Part, Table, Text, Workbench

GIVEN = Position("vannucci-abril")
ACTIONS = (4, 6)
"""The legal columns; the report counts columns from 0 and calls them actions."""
REPORTED = {4: 0.7035, 6: 0.5252}
"""The reported means of 25 runs, by action, before rounding."""
CAPTION = {4: "0.70", 6: "0.52"}
"""The same means as the caption of Figure 2 prints them."""
PRINTED = 0.01
"""Margin of values: the report prints two decimals."""
DRAWN = {4: ("0.71", "1.0"), 6: ("0.61", "-1.0")}
"""The values above the boards of Figure 1: before the first move, and after both sides play 4."""

Chances = tuple[Fraction, Fraction, Fraction]
"""Probabilities of a win, a draw and a loss."""


class AgainstRandom(dict[Position, Chances]):
    """Exact chances of our side, by position, against an opponent who plays uniformly at random.

    A missing position is computed, with all below it, when it is looked up. With `best`, our side
    plays to maximise its expected result; otherwise it plays at random, too.
    """

    def __init__(self, best: bool) -> None:
        super().__init__()
        self.best = best

    def __missing__(self, position: Position) -> Chances:
        if (outcome := position.outcome()) is not None:
            score = outcome.score(GIVEN.to_move)
            win, draw, loss = (
                Fraction(score == result) for result in (Result.WIN, Result.DRAW, Result.LOSS)
            )
        else:
            children = [self[position.play(column)] for column in position.legal_columns()]
            if self.best and position.to_move == GIVEN.to_move:
                children = [max(children, key=value)]
            # The mean over all columns, or over the best one alone.
            win, draw, loss = (
                sum(chances, Fraction(0)) / len(children) for chances in zip(*children, strict=True)
            )
        self[position] = win, draw, loss
        return self[position]


def value(chances: Chances) -> Fraction:
    """Return the expected result, with a win counted as +1 and a loss as -1."""
    # Draws count 0.
    return chances[0] - chances[2]


def exact_values(position: Position) -> dict[int, Fraction]:
    """Return the value of every legal column under best play against a random opponent."""
    return ExpectimaxRandom().values(position)[0]


def with_decimals(number: Fraction) -> str:
    """Return a fraction as text, with its decimals unless it is an integer: 21/32 = 0.65625."""
    return str(number) if number.denominator == 1 else f"{number} = {float(number):.5g}"


def _solve() -> dict[str, Any]:
    """Return the table of exact values and the number of reachable positions."""
    best = AgainstRandom(best=True)
    random = AgainstRandom(best=False)
    values = exact_values(GIVEN)
    # Perfect play by both sides, beside best play against chance.
    solved = Solver().columns(GIVEN)
    rows = []
    for action in ACTIONS:
        after = GIVEN.play(action)
        # Cells are text, because fractions do not survive JSON.
        row = [
            str(action),
            with_decimals(values[action]),
            " / ".join(str(float(chance)) for chance in best[after]),
            with_decimals(value(random[after])),
            str(solved[action]),
        ]
        rows.append(row)
    root = [
        "best of both",
        with_decimals(value(best[GIVEN])),
        "",
        with_decimals(value(random[GIVEN])),
        str(Solver().solve(GIVEN)),
    ]
    return {
        "rows": [*rows, root],
        # Play at random on both sides reaches every position.
        "positions": len(random),
        "over": sum(position.outcome() is not None for position in random),
    }


def conduct(bench: Workbench) -> Iterator[Part]:
    """Compare the reported values with the exact ones."""
    exact = bench.calculate("exact", _solve)
    values = exact_values(GIVEN)
    for action in ACTIONS:
        yield Claim(
            f"exact-value-{action}",
            f"value of action {action} against a random opponent",
            Estimate(float(CAPTION[action]), digits=2),
            Source.TEXT,
            exact=exactly(values[action]),
            true=same_number(REPORTED[action], float(values[action]), PRINTED),
            why="B1, B2: the search as coded averages over good and bad moves "
            "and sees a single frozen reply to each",
            statement="exact-values",
        )
    ranking = "action 4 before action 6"
    agrees = Answer.AGREES if values[4] > values[6] else Answer.DIFFERS
    yield Claim(
        "exact-ranking",
        "ranking",
        ranking,
        Source.TEXT,
        exact=ranking if agrees == Answer.AGREES else "action 6 before action 4",
        true=Verdict(agrees, "comparison"),
    )
    yield Claim(
        "exact-positions",
        "reachable positions",
        "2048 iterations certainly exhaust the tree",
        Source.TEXT,
        exact=f"{exact['positions']}, of which {exact['over']} are terminal",
        why="B2: they exhaust a tree with one frozen reply to every move, not the game",
    )
    head = (
        "action",
        "best play against a random opponent",
        "P(win) / P(draw) / P(loss)",
        "both at random",
        "both perfect",
    )
    table = tuple(tuple(row) for row in exact["rows"])
    yield Table("Exact values of the given position", head, table)
    # The last two lines number the columns from 1 and name the side to move.
    rows = str(GIVEN).splitlines()[: GIVEN.rules.rows]
    numbers = " ".join(map(str, range(GIVEN.rules.columns)))
    yield Text("The given position, X to move", "\n".join([*rows, numbers]))
