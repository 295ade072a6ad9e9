"""What is exactly so in document 000's position: it is small enough to be worked out to the end."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fourlab.agents.minimax.expectimax_random import ExpectimaxRandom
from fourlab.arena.tables import Table
from fourlab.game.position import Position
from fourlab.solver import Solver
from fourlab.studies.experiment import Finding, Part, Text
from fourlab.studies.workbench import Workbench

GIVEN = Position("vannucci-abril")
ACTIONS = (4, 6)
"""The open columns; the document counts columns from 0 and calls them actions."""
REPORTED = {4: 0.7035, 6: 0.5252}
"""The means of the document's 25 runs, before it shortened them."""
CAPTION = {4: "0.70", 6: "0.52"}
DRAWN = {4: ("0.71", "1.0"), 6: ("0.61", "-1.0")}
"""The values that Figure 1 prints above its boards: before the first move, and after both sides have played 4."""

Chances = tuple[Fraction, Fraction, Fraction]
"""To win, to draw, to lose."""


class AgainstLots:
    """Exact chances against an opponent who draws lots, when we play our best against that, or draw lots too."""

    def __init__(self, us: int, best: bool) -> None:
        self.us, self.best = us, best
        self.known: dict[Position, Chances] = {}

    def chances(self, position: Position) -> Chances:
        """In a position, of whichever side to move."""
        if position not in self.known:
            self.known[position] = self._work_out(position)
        return self.known[position]

    def _work_out(self, position: Position) -> Chances:
        if (outcome := position.outcome()) is not None:
            score = outcome.score(self.us)
            return Fraction(score == 1), Fraction(score == 0), Fraction(score == -1)
        after = [self.chances(position.play(column)) for column in position.legal_columns()]
        if self.best and position.to_move == self.us:
            return max(after, key=value)
        return tuple(sum(each, Fraction(0)) / len(after) for each in zip(*after, strict=True))  # type: ignore[return-value]


def value(chances: Chances) -> Fraction:
    """What chances are worth: a win 1, a loss -1."""
    return chances[0] - chances[2]


def exact_values(position: Position) -> dict[int, Fraction]:
    """What each open column is worth against a random opponent."""
    return ExpectimaxRandom().values(position)[0]


def told(number: Fraction) -> str:
    """A fraction for people, with its decimals if it has any: 21/32 = 0.65625."""
    return str(number) if number.denominator == 1 else f"{number} = {float(number):.5g}"


def _work_out_all() -> dict[str, Any]:
    """The table of all values, and how many positions there are."""
    best, lots = AgainstLots(GIVEN.to_move, best=True), AgainstLots(GIVEN.to_move, best=False)
    values, solved, rows = exact_values(GIVEN), Solver().columns(GIVEN), []
    for action in ACTIONS:
        after = GIVEN.play(action)
        chances = " / ".join(str(float(each)) for each in best.chances(after))
        random = told(value(lots.chances(after)))
        rows.append([f"{action} (column {action + 1})", told(values[action]), chances, random, str(solved[action])])
    whole = Solver().solve(GIVEN)
    rows.append(["best of both", told(value(best.chances(GIVEN))), "", told(value(lots.chances(GIVEN))), str(whole)])
    over = sum(position.outcome() is not None for position in lots.known)
    return {
        "rows": rows,
        "positions": len(lots.known),
        "over": over,
        "values": [float(values[action]) for action in ACTIONS],
    }


def conduct(bench: Workbench) -> Iterator[Part]:
    """The position's exact values."""
    found = bench.calculate("exact", _work_out_all)
    for place, action in enumerate(ACTIONS):
        exact = found["values"][place]
        yield Finding(
            f"value of action {action} against a random opponent",
            CAPTION[action],
            "",
            truth=found["rows"][place][1],
            agrees=abs(exact - REPORTED[action]) < 0.01,
            why="B1, B2: the document's search converges to a mixture of good and bad play, and to one frozen reply of each",
        )
    ranked = "action 4 before action 6"
    yield Finding("ranking", ranked, "", truth=ranked, agrees=found["values"][0] > found["values"][1])
    yield Finding(
        "positions that can come about",
        "2048 iterations certainly exhaust the tree",
        "",
        truth=f"{found['positions']}, of which {found['over']} are final",
        why="B2: what they exhaust is a tree with one frozen reply to every move, not the game",
    )
    head = ("action", "best play against lots", "P(win) / P(draw) / P(loss)", "both draw lots", "both perfect")
    yield Table("Exact values of the given position", head, tuple(tuple(row) for row in found["rows"]))
    yield Text("The given position, we (x) to move; the document counts columns from 0", str(GIVEN))
