"""What the faults of Vannucci & Abril's program cost, one fix at a time."""

from collections.abc import Iterator

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.agents.registry import make
from fourlab.game.outcome import RED
from fourlab.game.position import Position
from fourlab.studies.ablation import Arm, Program, fixed, measure, present
from fourlab.studies.claims import Claim, Counts, Estimate, Kind, Source
from fourlab.studies.vannucci_abril.exact import ACTIONS
from fourlab.studies.vannucci_abril.runs import box, published_runs, running
from fourlab.studies.verdicts import larger_share
from fourlab.studies.workbench import Part, Workbench

FAITHFUL = "vannucci-abril:faithful=1"
PROGRAM = Program(
    "search",
    "Vannucci & Abril's search, 2,048 simulations",
    (
        Arm("faithful", "", FAITHFUL, "nothing (the program as coded)"),
        Arm(
            "b1",
            "B1",
            fixed(FAITHFUL, ucb="standard"),
            "divide by n outside the logarithm: √(ln N / n)",
        ),
        Arm(
            "b2",
            "B2",
            fixed(FAITHFUL, opponent="random"),
            "sample the opponent's reply at every visit",
        ),
        Arm("corrected", "B1, B2", "vannucci-abril", "both"),
    ),
    "minimax:depth=2,ties=random",
    "minimax(2)",
)
CAPTION = (
    "What each fix of Vannucci & Abril's program gains: Elo against the program as coded in pairs "
    "of games from balanced openings, and the share of moves that keep the exact value in solved "
    "positions where it can be lost, both with 95 % intervals. The program expects random replies; "
    "both measures here are against good ones"
)
POINTS = 20
"""Margin of shares of games, in percentage points."""
PERSONS = {"random": "plays at random", "rules": "wins and blocks when possible"}
"""Who plays the person's side, and how."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Measure B1 and B2 in games, B3 by the boxes of Figure 2, and B4 in games with a person."""
    rows = measure(bench, PROGRAM)
    yield from present(rows, CAPTION)
    yield from _boxes()
    for person in PERSONS:
        yield _with_a_person(bench, person)


def _boxes() -> Iterator[Part]:
    """Compare the boxes of Figure 2 with those of independent runs (B3)."""
    runs = published_runs()
    for place, action in enumerate(ACTIONS):
        drawn, independent = (
            float(box(values[None, :, place])[0]) for values in (running(runs), runs)
        )
        yield Claim(
            f"ablation-b3-{action}",
            f"Figure 2, action {action}: height of the box, drawn from running means, and of the "
            "same 25 runs",
            Estimate(drawn, digits=4),
            Source.CODE,
            corrected=Estimate(
                independent, digits=4, note=f"{independent / drawn:.2g} times as high"
            ),
            labels={"corrected": "of the runs"},
            why="B3: a running mean depends on all runs before it, so its box says nothing about "
            "the spread of runs. Both boxes are of the authors' own 25 values",
            kind=Kind.DIAGNOSTIC,
        )


def _with_a_person(bench: Workbench, person: str) -> Part:
    """Play against a person with the loop as coded, and with the loop fixed (B4)."""
    games = bench.size["person"]
    results = bench.repeat(f"person-{person}", _play_person, 2 * games, person, bench.seed)
    faithful, corrected = (
        Counts({outcome: half.count(outcome) for outcome in OUTCOMES})
        for half in (results[0::2], results[1::2])
    )
    won = [counts.counts["won"] for counts in (faithful, corrected)]
    return Claim(
        f"ablation-b4-{person}",
        f"the program against a person who {PERSONS[person]}: won / lost / drawn / ended by an "
        "illegal column; the fixed program wins more",
        "",
        Source.OURS,
        faithful=faithful,
        corrected=corrected,
        true=larger_share(won[1], games, won[0], games, POINTS),
        why="B4: as coded, the program chooses its column before it sees the person's, and "
        "chooses the one that is best for the person; if the person has just filled that column, "
        "the program ends with an error. Fixed, it searches after the person's move and for its "
        "own side. Both use the corrected search",
    )


OUTCOMES = ("won", "lost", "drawn", "illegal")


def _play_person(spec: str, seed: int, number: int) -> str:
    """Play a game; odd numbers have the fixed loop. Returns the program's result."""
    rng = np.random.default_rng([seed, number // 2])
    return play_person(make(spec), make("vannucci-abril"), number % 2 == 1, rng)


def play_person(person: Agent, program: Agent, is_fixed: bool, rng: np.random.Generator) -> str:
    """Play one game in which the person moves first; return the program's result."""
    position = Position()
    while True:
        before = position
        position = position.play(person.decide(position, Limit(), rng).column)
        if (outcome := position.outcome()) is None:
            # As coded: the board before the person's move, on which the person is to move.
            column = program.decide(position if is_fixed else before, Limit(), rng).column
            if column not in position.legal_columns():
                return "illegal"
            position = position.play(column)
            outcome = position.outcome()
        if outcome is not None:
            return OUTCOMES[{-1: 0, 1: 1, 0: 2}[outcome.score(RED)]]
