"""Arya's statements about Connect Four, chess and minimax, beside what is known exactly."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import numpy as np

from fourlab.agents.opponents import chooser
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC
from fourlab.solver import Solver
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Verdict, mean_of, share
from fourlab.studies.verdicts import at_least, same_number
from fourlab.studies.workbench import Part, Table, Workbench
from fourlab.training.test_set import EXAMPLES, win_block_accuracy

POSITIONS = 4_531_985_219_092
"""Legal positions of Connect Four (Edelkamp and Kissmann, 2008)."""
CHESS_POSITIONS = 4.8e44
"""Estimate of the legal positions of chess (Tromp, 2021)."""
BLOCKED = 0.9
"""A player that blocks fewer threats fails to block."""


def theory(bench: Workbench) -> Iterator[Part]:
    """Check Arya's statements about the game, and whether the window-mode minimax can block."""
    yield from _first_moves(bench)
    yield from _sizes(bench)
    yield from _blocking(bench)


def _first_moves(bench: Workbench) -> Iterator[Part]:
    scores = bench.calculate("first-columns", _first_columns)
    # From the first player's point of view.
    values = [Result.of_score(score).word for score in scores]
    yield Claim(
        "first-columns",
        "values of the first player's columns 1 to 7",
        "win in the middle, draw everywhere else",
        Source.TEXT,
        exact=", ".join(values),
        true=_compared(values == ["draw"] * 3 + ["win"] + ["draw"] * 3),
        why="the columns next to the middle draw, those further out lose",
    )
    # A win with the side's last disc scores 1, one disc earlier 2, and so on.
    ply = 43 - 2 * max(scores)
    yield Claim(
        "winning-ply",
        "the ply at which the middle column wins",
        Estimate(41, digits=0),
        Source.TEXT,
        exact=Estimate(ply, digits=0),
        true=same_number(41, ply, 0),
    )
    yield Claim(
        "supercomputer",
        "solving the whole game by minimax",
        "would need supercomputers",
        Source.TEXT,
        exact="solved here by one processor; first by Allen and by Allis in 1988",
        # One processor has proven the values above.
        true=_compared(not scores),
        why="alpha-beta with a transposition table, good move ordering and symmetry visits a small "
        "part of the game tree; the values above are proven by the solver of this program",
    )


def _sizes(bench: Workbench) -> Iterator[Part]:
    yield Claim(
        "state-space",
        "positions of Connect Four, as a power of ten",
        "10^12",
        Source.TEXT,
        exact=Estimate(float(np.log10(POSITIONS)), digits=2, note=f"{POSITIONS:,} positions"),
        # The report gives the order of magnitude only.
        true=same_number(12, float(np.log10(POSITIONS)), 1),
    )
    yield Claim(
        "chess-state-space",
        "positions of chess, as a power of ten",
        "10^120",
        Source.TEXT,
        exact=Estimate(float(np.log10(CHESS_POSITIONS)), digits=1, note="estimate of Tromp, 2021"),
        true=same_number(120, float(np.log10(CHESS_POSITIONS)), 1),
        why="10^120 is Shannon's number of games, not of positions",
    )
    games = bench.calculate("open-columns", partial(_open_columns, bench.size["games"], bench.seed))
    # The reported 7 is the number of columns; in later positions some are full.
    branching = per_game(games)
    yield Claim(
        "branching-factor",
        "mean number of legal columns in random games",
        Estimate(7, digits=0),
        Source.TEXT,
        corrected=mean_of(branching, 2),
        true=same_number(7, fmean(branching), 0.05),
        why="7 is the maximum",
    )


def _blocking(bench: Workbench) -> Iterator[Part]:
    accuracies = {
        name: bench.calculate(name, partial(_wins_and_blocks, spec))
        for name, spec in _MINIMAXES.items()
    }
    rows = tuple(
        (name, *(str(share(*_counts(accuracy[kind]))) for kind in ("wins", "blocks")))
        for name, accuracy in accuracies.items()
    )
    head = ("minimax", "wins", "blocks")
    yield Table("Immediate wins taken and threats blocked (B18)", head, rows)
    window, corrected = (
        _counts(accuracies[name]["blocks"]) for name in ("window, depth 4", "corrected, depth 4")
    )
    yield Claim(
        "window-blocks",
        f"minimax fails to block: threats that it blocks, of {EXAMPLES}",
        "fails to block",
        Source.TEXT,
        faithful=share(*window),
        corrected=share(*corrected),
        reproduced=_not(at_least(*window, BLOCKED)),
        true=_not(at_least(*corrected, BLOCKED)),
        why="B18: every disc is placed as the searcher's own, so it never sees the opponent move",
    )


def _compared(agrees: bool) -> Verdict:
    return Verdict(Answer.AGREES if agrees else Answer.DIFFERS, "comparison")


def _not(verdict: Verdict) -> Verdict:
    """Return the verdict on the opposite claim, with the same p-value and power."""
    opposite = {Answer.AGREES: Answer.DIFFERS, Answer.DIFFERS: Answer.AGREES}
    answer = opposite.get(verdict.answer, verdict.answer)
    return replace(verdict, answer=answer, test=verdict.test.replace("at least", "below"))


_MINIMAXES = {
    "window, depth 4": "arya-minimax:depth=4,faithful=1",
    "window, depth 6": "arya-minimax:depth=6,faithful=1",
    "window, depth 8": "arya-minimax:depth=8,faithful=1",
    "no heuristic, depth 4": "minimax:depth=4,evaluation=terminal",
    "corrected, depth 4": "arya-minimax:depth=4",
}
"""By the names of their rows, which are also the names of stored results."""


def _first_columns() -> list[int]:
    """Return the exact scores of the first player's columns, from left to right."""
    # Without a limit the solver proves every score, so both bounds are equal.
    return [score.lower for score in Solver().columns(Position()).values()]


def _counts(accuracy: float) -> tuple[int, int]:
    """Return how often the column was correct, of how many examples."""
    return round(EXAMPLES * accuracy), EXAMPLES


def _open_columns(games: int, seed: int) -> list[tuple[int, int]]:
    """Play random games; return for each the sum of its legal columns and its positions."""
    rng = np.random.default_rng(seed)
    totals = []
    for _ in range(games):
        position = Position()
        counts = []
        while position.outcome() is None:
            counts.append(len(position.legal_columns()))
            position = position.play(int(rng.choice(position.legal_columns())))
        totals.append((sum(counts), len(counts)))
    return totals


def per_game(games: Sequence[Sequence[int]]) -> list[float]:
    """Return one value per game whose mean is the mean over all positions of all games.

    `games` holds pairs (sum over the positions of a game, number of positions). Positions of one
    game depend on each other, games do not; the values linearise the ratio of the two sums, so
    the usual interval of their mean is the interval of the ratio (the delta method).
    """
    # Over all games.
    columns, positions = (sum(totals) for totals in zip(*games, strict=True))
    ratio = columns / positions
    return [ratio + (total - ratio * count) * len(games) / positions for total, count in games]


def _wins_and_blocks(spec: str) -> dict[str, float]:
    return dict(win_block_accuracy(chooser(spec, CLASSIC), CLASSIC))
