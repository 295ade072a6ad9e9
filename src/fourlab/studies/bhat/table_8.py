"""Bhat's Table 8: the learner against MC_n, beside a corrected learner and a random player."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from fourlab.agents.q.kernel import CHANGE, EPSILON, UPDATES
from fourlab.studies.bhat.learner import (
    PUBLISHED_CODE,
    ROWS,
    Counts,
    evaluate,
    learn,
    random_player,
    settings_of,
)
from fourlab.studies.compare import homogeneity, p_value, share
from fourlab.studies.workbench import Finding, Part, Table, Workbench

TABLE_8: dict[int, Counts] = {2: (95, 34, 371), 3: (247, 56, 197), 4: (385, 95, 20)}
"""By rows: games won by MC_n, games won by the learner, and draws, of 500."""
LEVEL = 0.01
"""Counts differ if a test gives a smaller p-value."""
VARIANTS = {
    "faithful": "the report's text: alpha halved and epsilon raised by 0.01 at every update",
    "code": "the published code: alpha halved, epsilon 0.3, greedy after training",
    "corrected": "corrected: alpha 0.1, epsilon decreasing, greedy after training; "
    "opponents without B5 and B6",
    "random": "a random player against the report's opponents: "
    "MC_n searches below won positions (B5), MC0 passes (B6)",
    "random, corrected": "a random player against the corrected opponents: "
    "without B5, and MC0 plays at random instead of passing (B6)",
}
JOBS = [(rows, variant) for rows in ROWS[::-1] for variant in VARIANTS]  # the longest first
ALL_ROWS = f"{', '.join(map(str, ROWS))} rows"
Results = Mapping[tuple[int, str], Mapping[str, Any]]
"""The evaluations by rows and variant."""


def train_and_evaluate(seed: int, size: Mapping[str, int], number: int) -> dict[str, Any]:
    """Return results, positions learned, and the mean change of a value per update, of JOBS.

    `size` has the wins at which training ends in the text (`wins`) and in the published code
    (`code_wins`), the games of the corrected training (`training`) and of evaluations (`games`).
    """
    rows, variant = JOBS[number]
    # Training and evaluation have random streams of their own.
    seeds = [[seed, number, part] for part in (0, 1)]
    if variant.startswith("random"):
        # The opponents are those of the learner with which this player is compared.
        settings = settings_of(rows, variant == "random")
        return {"counts": random_player(settings, size["games"], seeds[1])}
    changes: dict[str, dict[str, Any]] = {
        "faithful": {"wins": size["wins"]},
        "code": {"wins": size["code_wins"], **PUBLISHED_CODE},
        "corrected": {"games": size["training"]},
    }
    settings = settings_of(rows, variant != "corrected", **changes[variant])
    table, progress = learn(settings, seeds[0])
    # The text explores after training, too; epsilon is then what training has left of it.
    epsilon = float(progress.pace[EPSILON]) if settings.exam_exploring else 0.0
    return {
        "counts": evaluate(settings, table, epsilon, size["games"], seeds[1]),
        "training": progress.games,
        "positions": len(table),
        "change": float(progress.pace[CHANGE] / max(progress.counts[UPDATES], 1)),
    }


def table_8(bench: Workbench) -> Iterator[Part]:
    """Test whether the learner has learned anything."""
    evaluations = bench.repeat("exams", train_and_evaluate, len(JOBS), bench.seed, bench.size)
    results = dict(zip(JOBS, evaluations, strict=True))
    for rows in ROWS:
        yield from _results(rows, results)
    for rows in ROWS:
        yield _beside_random(rows, results)
    yield _growth(results)
    yield _changes(results)
    yield _exploration(bench)
    yield _all_variants(results)


def _results(rows: int, results: Results) -> Iterator[Finding]:
    reported = TABLE_8[rows]
    faithful = results[rows, "faithful"]["counts"]
    corrected = results[rows, "corrected"]["counts"]
    for place, result in enumerate(("MC_n wins", "Q wins", "draws")):
        yield Finding(
            f"{rows} rows: {result}",
            share(reported[place], sum(reported)),
            share(faithful[place], sum(faithful)),
            share(corrected[place], sum(corrected)),
            why="B7: alpha vanishes and epsilon reaches 1 after about twenty games; "
            "B6: MC0 passes; B5: MC_n searches below won positions",
        )
    yield _together(rows, reported, faithful, corrected)


def _together(rows: int, reported: Counts, faithful: Counts, corrected: Counts) -> Finding:
    """Give the verdict by one test of all three counts, because they depend on each other."""
    # Pearson's test on a 2 x 3 table.
    chance = homogeneity([reported, faithful])
    agrees = chance >= LEVEL
    test = (
        f"one test of all three counts, which depend on each other; agrees if p is at least {LEVEL}"
    )
    return Finding(
        f"{rows} rows: all three together, "
        "and p that reported and faithful counts differ by chance",
        _slashed(reported),
        f"{_slashed(faithful)}, {p_value(chance)}",
        _slashed(corrected),
        agrees=agrees,
        why=test if agrees else f"no fault known to us explains it; {test}",
    )


def _slashed(counts: Counts) -> str:
    return " / ".join(f"{count:,}" for count in counts)


def _beside_random(rows: int, results: Results) -> Finding:
    """Test whether the results differ from a random player's."""
    counts = {variant: results[rows, variant]["counts"] for variant in VARIANTS}
    # A small p means that these are not the results of a random player.
    reported = homogeneity([TABLE_8[rows], counts["random"]])
    faithful = homogeneity([counts["faithful"], counts["random"]])
    corrected = homogeneity([counts["corrected"], counts["random, corrected"]])
    return Finding(
        f"{rows} rows: p of such results if the learner is a random player",
        f"it has learned, and generalises; its counts: {p_value(reported)}",
        p_value(faithful),
        p_value(corrected),
        # The claim is that it has learned: its results must differ from a random player's.
        agrees=faithful < 0.01,
        why="B7: epsilon is 1, so it plays at random; and a table does not generalise, "
        "it contains only positions it has met; each random player has its learner's opponents, "
        "for the corrected learner without B5 and B6",
    )


def _growth(results: Results) -> Finding:
    """Test the report's explanation of the learner's losses."""
    faithful, corrected = (
        [results[rows, variant] for rows in ROWS] for variant in ("faithful", "corrected")
    )
    # Ordered by rows; the claim is that losses grow with them.
    lost = [_shares(result["counts"])[0] for result in faithful]
    return Finding(
        f"{ALL_ROWS}: positions learned and share of games lost",
        "positions grow with the rows, so tree search wins",
        _by_rows(faithful),
        _by_rows(corrected),
        agrees=lost[-1] > _shares(faithful[-1]["counts"])[1] and lost == sorted(lost),
        why="B7: correctly trained, the learner wins "
        f"{100 * _shares(corrected[-1]['counts'])[1]:.0f} % with {ROWS[-1]} rows",
    )


def _shares(counts: Counts) -> list[float]:
    """Return the shares of games that the learner lost, won and drew."""
    return [count / sum(counts) for count in counts]


def _by_rows(results: list[Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{result['positions']:,}, {100 * _shares(result['counts'])[0]:.0f} %" for result in results
    )


def _changes(results: Results) -> Finding:
    """Compare how much an update changes a value."""
    faithful, corrected = (
        [results[rows, variant]["change"] for rows in ROWS] for variant in ("faithful", "corrected")
    )
    return Finding(
        f"{ALL_ROWS}: mean change of a value per update",
        "very small",
        ", ".join(f"{change:.1e}" for change in faithful),
        ", ".join(f"{change:.1e}" for change in corrected),
        exact="the alphas add up to less than twice the first; "
        "convergence requires that their sum diverges (Robbins and Monro 1951)",
        # Our reading of "very small", on a scale of rewards from -2 to 2.
        agrees=max(faithful) < 0.001,
        why="B7: alpha is halved at every update",
    )


def _exploration(bench: Workbench) -> Finding:
    """Count the games after which every move is exploration."""
    games = bench.calculate(
        "epsilon", lambda: [_games_until_random(rows, bench.seed) for rows in ROWS]
    )
    return Finding(
        f"{ALL_ROWS}: games until epsilon is 1",
        "epsilon + 0.01 at every update",
        ", ".join(map(str, games)),
        "never: epsilon decreases",
        why="B7: from then on every move is random",
    )


def _games_until_random(rows: int, seed: int) -> int:
    def epsilon(games: int) -> float:
        # The same seed plays the same games, only further.
        return float(learn(settings_of(rows, True, games=games), [seed, rows])[1].pace[EPSILON])

    return next(games for games in itertools.count(1) if epsilon(games) >= 1)


def _all_variants(results: Results) -> Table:
    table = []
    for rows in ROWS:
        table.append((rows, "the report", "", "", *_percent(TABLE_8[rows])))
        for variant, description in VARIANTS.items():
            result = results[rows, variant]
            learned = ("", "")
            # Random players have not been trained.
            if "training" in result:
                learned = (f"{result['training']:,}", f"{result['positions']:,}")
            table.append((rows, description, *learned, *_percent(result["counts"])))
    head = (
        "rows",
        "learner",
        "games of training",
        "positions learned",
        "MC_n wins",
        "Q wins",
        "draws",
    )
    return Table("Table 8, all variants", head, tuple(table))


def _percent(counts: Counts) -> tuple[str, ...]:
    return tuple(share(count, sum(counts)) for count in counts)
