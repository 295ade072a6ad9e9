"""Table 8: the trained learner against MC_n, beside the same trained rightly and beside a random player."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fourlab.agents.q.kernel import CHANGE, EPSILON, UPDATES
from fourlab.arena.tables import Table
from fourlab.studies.bhat.learner import PUBLISHED_CODE, ROWS, Counts, examine, learn, random_player, settings_of
from fourlab.studies.compare import homogeneity, p_value, share
from fourlab.studies.experiment import Experiment, Finding, Part
from fourlab.studies.workbench import Workbench

TABLE_8: dict[int, Counts] = {2: (95, 34, 371), 3: (247, 56, 197), 4: (385, 95, 20)}
"""By rows: games that MC_n won, that the learner won, and drawn, of 500."""
LEVEL = 0.01
"""Counts that chance alone would make so different less often than this differ."""
VARIANTS = {
    "faithful": "the document's text: alpha halved and epsilon + 0.01 at every update",
    "code": "its published code: alpha halved, epsilon 0.3, greedy after the training",
    "corrected": "corrected: alpha 0.1, epsilon falling, greedy after the training; opponents without B5, B6",
    "random": "a random player against the document's opponents: a won position is searched on (B5), MC0 passes (B6)",
    "random, corrected": "a random player against the corrected's opponents: without B5, MC0 at random instead of passing (B6)",
}


@dataclass(frozen=True)
class Exam:
    """Each number a variant and a number of rows: trained, then examined."""

    seed: int
    wins: int
    """The text's training ends with so many wins."""
    code_wins: int
    """The published code's."""
    training: int
    """The corrected training has so many games."""
    games: int
    """So many games are examined."""

    def __call__(self, number: int) -> dict[str, Any]:
        """Results, positions learned, and the mean change of a value by an update."""
        rows, variant = JOBS[number]
        seeds = [[self.seed, number, part] for part in (0, 1)]
        if variant.startswith("random"):
            settings = settings_of(rows, variant == "random")  # the same opponents as the learner beside it has
            return {"counts": random_player(settings, self.games, seeds[1])}
        settings = settings_of(rows, variant != "corrected")
        if variant == "corrected":
            settings = replace(settings, games=self.training)
        elif variant == "code":
            settings = replace(settings, wins=self.code_wins, **PUBLISHED_CODE)
        else:
            settings = replace(settings, wins=self.wins)
        table, progress = learn(settings, seeds[0])
        epsilon = float(progress.pace[EPSILON]) if settings.exam_exploring else 0.0
        return {
            "counts": examine(settings, table, epsilon, self.games, seeds[1]),
            "training": progress.games,
            "positions": len(table),
            "change": float(progress.pace[CHANGE] / max(progress.counts[UPDATES], 1)),
        }


JOBS = [(rows, variant) for rows in ROWS[::-1] for variant in VARIANTS]  # the longest first
Found = Mapping[tuple[int, str], Mapping[str, Any]]


def table_8(bench: Workbench) -> Iterator[Part]:
    """Has anything been learned?"""
    size = bench.size
    exam = Exam(bench.seed, size["wins"], size["code_wins"], size["training"], size["games"])
    found = dict(zip(JOBS, bench.repeat("exams", exam, len(JOBS)), strict=True))
    for rows in ROWS:
        yield from _results(rows, found)
    for rows in ROWS:
        yield _beside_random(rows, found)
    yield _growth(found)
    yield _changes(found)
    yield _exploration(bench)
    yield _all_variants(found)


def _results(rows: int, found: Found) -> Iterator[Finding]:
    faithful, corrected = (found[rows, variant]["counts"] for variant in ("faithful", "corrected"))
    reported = TABLE_8[rows]
    faults = "B7: alpha vanishes and epsilon is 1 after some twenty games; B6: MC0 passes; B5: MC_n searches a won position on"
    for place, who in enumerate(("MC_n wins", "Q wins", "draws")):
        yield Finding(
            f"{rows} rows: {who}",
            share(reported[place], sum(reported)),
            share(faithful[place], sum(faithful)),
            share(corrected[place], sum(corrected)),
            why=faults,
        )
    yield _together(rows, reported, faithful, corrected)


def _together(rows: int, reported: Counts, faithful: Counts, corrected: Counts) -> Finding:
    """The verdict: three counts of the same games depend on each other, so there is one test of all, not one of each."""
    chance = homogeneity([reported, faithful])
    agrees = chance >= LEVEL
    test = f"one test of all three counts, which depend on each other; agrees: p is at least {LEVEL}"
    return Finding(
        f"{rows} rows: all three together, and p that the document's and the faithful differ by chance",
        _slashed(reported),
        f"{_slashed(faithful)}, {p_value(chance)}",
        _slashed(corrected),
        agrees=agrees,
        why=test if agrees else f"no fault known to us explains it; {test}",
    )


def _slashed(counts: Counts) -> str:
    return " / ".join(f"{count:,}" for count in counts)


def _beside_random(rows: int, found: Found) -> Finding:
    """Are the results others than a random player's?"""
    counts = {variant: found[rows, variant]["counts"] for variant in VARIANTS}
    reported, faithful = (homogeneity([each, counts["random"]]) for each in (TABLE_8[rows], counts["faithful"]))
    corrected = homogeneity([counts["corrected"], counts["random, corrected"]])
    return Finding(
        f"{rows} rows: p of such results if the learner is a random player",
        f"it has learned, and generalises; its counts: {p_value(reported)}",
        p_value(faithful),
        p_value(corrected),
        agrees=faithful < 0.01,
        why="B7: epsilon is 1, so it plays at random; and no table generalises, it knows the positions it has met;"
        " each random player has its learner's opponents, on the right without B5 and B6",
    )


def _growth(found: Found) -> Finding:
    """The document's reason for its losses."""
    shares = {variant: [_lost(found[rows, variant]["counts"]) for rows in ROWS] for variant in ("faithful", "corrected")}
    beaten = {variant: [_won(found[rows, variant]["counts"]) for rows in ROWS] for variant in ("faithful", "corrected")}
    told = {variant: _by_rows(found, variant, shares[variant]) for variant in shares}
    return Finding(
        f"{', '.join(map(str, ROWS))} rows: positions learned and share lost",
        "positions grow with the rows, so tree search wins",
        told["faithful"],
        told["corrected"],
        agrees=shares["faithful"][-1] > beaten["faithful"][-1] and shares["faithful"] == sorted(shares["faithful"]),
        why=f"B7: trained rightly it wins {100 * beaten['corrected'][-1]:.0f} % with {ROWS[-1]} rows",
    )


def _by_rows(found: Found, variant: str, lost: list[float]) -> str:
    return "; ".join(f"{found[rows, variant]['positions']:,}, {100 * part:.0f} %" for rows, part in zip(ROWS, lost, strict=True))


def _lost(counts: Counts) -> float:
    return counts[0] / sum(counts)


def _won(counts: Counts) -> float:
    return counts[1] / sum(counts)


def _changes(found: Found) -> Finding:
    changes = {variant: [found[rows, variant]["change"] for rows in ROWS] for variant in ("faithful", "corrected")}
    return Finding(
        f"{', '.join(map(str, ROWS))} rows: mean change of a value by an update",
        "very small",
        ", ".join(f"{each:.1e}" for each in changes["faithful"]),
        ", ".join(f"{each:.1e}" for each in changes["corrected"]),
        truth="all alphas add up to less than twice the first; to converge they must add up to infinity (Robbins and Monro 1951)",
        agrees=max(changes["faithful"]) < 0.001,
        why="B7: alpha is halved at every update",
    )


def _exploration(bench: Workbench) -> Finding:
    """After how many games is there nothing but exploration?"""
    games = bench.calculate("epsilon", lambda: [_games_until_random(rows, bench.seed) for rows in ROWS])
    return Finding(
        f"{', '.join(map(str, ROWS))} rows: games until epsilon is 1",
        "epsilon + 0.01 at every update",
        ", ".join(map(str, games)),
        "never: epsilon falls",
        why="B7: from then on every column is drawn by lot",
    )


def _games_until_random(rows: int, seed: int) -> int:
    def epsilon(games: int) -> float:
        return float(learn(settings_of(rows, True, games=games), [seed, rows])[1].pace[EPSILON])

    return next(games for games in itertools.count(1) if epsilon(games) >= 1)


def _all_variants(found: Found) -> Table:
    rows = []
    for each in ROWS:
        rows.append((each, "the document", "", "", *_percent(TABLE_8[each])))
        for variant, about in VARIANTS.items():
            got = found[each, variant]
            learned = (f"{got['training']:,}", f"{got['positions']:,}") if "training" in got else ("", "")
            rows.append((each, about, *learned, *_percent(got["counts"])))
    head = ("rows", "learner", "games of training", "positions learned", "MC_n wins", "Q wins", "draws")
    return Table("Table 8, all variants", head, tuple(rows))


def _percent(counts: Counts) -> tuple[str, ...]:
    return tuple(share(count, sum(counts)) for count in counts)


EXPERIMENT = Experiment(
    "001-table-8",
    ("D1-09", "D1-10", "D1-12", "D1-13", "D1-16"),
    "Table 8: Q-learning against MC_n",
    "Trained to 10,000 wins against MC_n, n from 0 to 25, the learner wins 6.8, 11.2 and 19.0 % on boards of 2, 3 and 4 rows, "
    "and MC_n 19.0, 49.4 and 77.0 %.",
    {
        "smoke": {"wins": 100, "code_wins": 100, "training": 2000, "games": 500},
        "quick": {"wins": 10_000, "code_wins": 5001, "training": 200_000, "games": 4000},
        "full": {"wins": 10_000, "code_wins": 5001, "training": 200_000, "games": 20_000},
    },
    table_8,
    (5, 22, 30),
)
