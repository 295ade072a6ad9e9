"""What would make Gao's program stronger, one change at a time.

No fault of it is known, since its code is not public. These are the choices of the report that
cost strength against an opponent that plays well.
"""

from collections.abc import Iterator

from fourlab.studies.ablation import Arm, Program, fixed, measure, present
from fourlab.studies.workbench import Part, Workbench

FAITHFUL = "gao:faithful=1"
PROGRAM = Program(
    "search",
    "Gao's search, 500 simulations",
    (
        Arm("faithful", "", FAITHFUL, "nothing (the report's search)"),
        Arm("draws", "", fixed(FAITHFUL, draw=0.5), "count a draw as half a win"),
        Arm("final", "", fixed(FAITHFUL, final="visits"), "play the most visited column"),
        Arm(
            "two-players",
            "",
            fixed(FAITHFUL, opponent="player"),
            "let the opponent in the tree choose, too",
        ),
    ),
    "minimax:depth=2,ties=random",
    "minimax(2)",
)
CAPTION = (
    "What each change of Gao's program gains: Elo against the report's own search in pairs of "
    "games from balanced openings, and the share of moves that keep the exact value in solved "
    "positions where it can be lost, both with 95 % intervals"
)


def conduct(bench: Workbench) -> Iterator[Part]:
    """Measure every change alone."""
    rows = measure(bench, PROGRAM)
    yield from present(rows, CAPTION)
