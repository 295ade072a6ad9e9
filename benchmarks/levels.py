"""The levels, each against the one before, on the boards where they are graded.

    python benchmarks/levels.py [--board 7x6] [--level N] [--rounds 700] [--runs DIR] [--json FILE]
    python benchmarks/levels.py --board 7x6 --calibrate T T T ... [--above SPEC] [--step 100]

A round is an opening of four random discs, played twice with colours swapped. Matches are runs in
DIR: the same command again plays what is missing, and more rounds extend them. --json adds the
results to a file such as src/fourlab/agents/levels.json in place of older ones of the same matches.
--table prints the tables of docs/reference/levels.md from the file that comes with Fourlab.

--calibrate looks for new levels: PATH plays at each temperature T against the next, and the agent
of --above against the first. A smooth curve through the results says at which temperatures PATH is
one step, two steps, ... below that agent. The highest, 1000, is as good as a random player.

Agents are limited by nodes, so another machine plays the same games, and other work beside it
changes nothing.
"""

import argparse
import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fourlab import api
from fourlab.agents.levels import GAP, LEVELS, Level, MatchCounts
from fourlab.arena.statistics import Z_95
from fourlab.arena.tally import Tally
from fourlab.game.rules import Rules

BOARDS = ("7x6x4", "6x5x4", "8x6x4")
SEED = 4026
"""Of the openings and the agents, plus the level; no game of the calibration has it. A level that
is graded again gets another."""


CALIBRATION_SEED = 1026
"""The same for games of the calibration."""
PATH = "patterns:nodes=300,temperature={}"
TERMS = 3
"""The curve of the calibration is a polynomial of this degree in log(1 + 1 / temperature)."""


def play(
    spec: str, against: str, rules: Rules, seed: int, rounds: int, runs: Path, workers: int
) -> Tally:
    """Play a match as far as the run in `runs` has not done so; return its pairs of games."""
    result = api.match(
        spec,
        against,
        games=2 * rounds,
        board=rules,
        openings="random:4",
        seed=seed,
        runs=runs,
        workers=workers,
        # One worker needs no process of its own, which would compile and load everything again.
        executor="threads" if workers == 1 else "local",
        quiet=True,
    )
    return Tally(tuple(result.data["matches"][0]["counts"]))


def measure(
    level: Level, rules: Rules, seed: int, rounds: int, runs: Path, workers: int
) -> MatchCounts:
    """Play a level against the one before."""
    spec = level.spec_on(rules)
    against = LEVELS[level.number - 2].spec_on(rules)
    pairs = play(spec, against, rules, seed, rounds, runs, workers).counts
    assert len(pairs) == 5
    return MatchCounts(str(rules), level.number, spec, against, seed, pairs)


def row(level: Level, rules: Rules, match: MatchCounts | None) -> str:
    """Return a row of the table."""
    start = f"| {level.number} {level.name} | `{level.spec_on(rules)}` |"
    if match is None or match.elo.value is None:
        return f"{start} – | – | – |"
    elo = match.elo
    interval = "–" if elo.low is None or elo.high is None else f"[{elo.low:.0f}, {elo.high:.0f}]"
    games = f"{2 * sum(match.pairs):,}"
    return f"{start} {games} | {100 * match.score:.1f} % | {elo.value:.0f} {interval} |"


def is_within_goal(match: MatchCounts) -> bool:
    """Return whether the interval of a match is within the goal."""
    low, high = match.elo.low, match.elo.high
    return low is not None and high is not None and GAP[0] <= low and high <= GAP[1]


def print_table(rules: Rules) -> None:
    """Print the table of a board, from the results that come with Fourlab."""
    print(f"### {rules}\n\n| level | agent | games | score | Elo |\n|---|---|---|---|---|")
    for level in LEVELS:
        print(row(level, rules, level.result_on(rules)))
    print()


def calibrate(
    temperatures: Sequence[float],
    above: str,
    step: float,
    rules: Rules,
    rounds: int,
    runs: Path,
    workers: int,
) -> None:
    """Print the Elo between neighbours on PATH, and the temperatures at every step down it."""
    specs = [above, *(PATH.format(f"{temperature:g}") for temperature in temperatures)]
    elos, errors = [], []
    for spec, against in itertools.pairwise(specs):
        tally = play(spec, against, rules, CALIBRATION_SEED, rounds, runs, workers)
        elo = tally.elo()
        if elo.value is None or elo.low is None or elo.high is None:
            raise SystemExit(f"{spec} against {against}: {tally.why_not}")
        margin = (elo.high - elo.low) / 2
        elos.append(elo.value)
        errors.append(margin / Z_95)
        print(
            f"| {spec} | {against} | {tally.units} | {elo.value:.0f} ± {margin:.0f} |", flush=True
        )
    chi_squared, steps = steps_down(temperatures, elos, errors, step)
    print(f"sum {sum(elos):.0f}; χ² {chi_squared:.1f}, {len(elos) - 1 - TERMS} degrees of freedom")
    print(f"temperatures: {' '.join(f'{temperature:.3g}' for temperature in steps)}")


def steps_down(
    temperatures: Sequence[float], elos: Sequence[float], errors: Sequence[float], step: float
) -> tuple[float, list[float]]:
    """Return χ² of a smooth curve, and the temperatures at one step down it, two steps, ...

    `elos` are the differences from the agent above to the first temperature and from each to the
    next, `errors` their standard errors.
    """
    # In this variable the curve is nearly a straight line, down to infinite temperature at 0.
    x = np.log1p(1 / np.asarray(temperatures))
    powers = np.arange(1, TERMS + 1)
    terms = (x[:, None] - x[0]) ** powers  # [temperatures, TERMS]
    # The fall from each temperature to the next, in units of its standard error.
    weights = 1 / np.asarray(errors[1:])
    rows, falls = np.diff(terms, axis=0) * weights[:, None], np.asarray(elos[1:]) * weights
    curve, *_ = np.linalg.lstsq(rows, falls, rcond=None)
    grid = np.linspace(x[0], x[-1], 10_001)
    fallen = elos[0] + (grid[:, None] - x[0]) ** powers @ curve
    goals = np.arange(step, fallen[-1], step)
    steps = 1 / np.expm1(np.interp(goals[goals >= elos[0]], fallen, grid))
    return float(np.sum((rows @ curve - falls) ** 2)), steps.tolist()


def save(file: Path, matches: list[MatchCounts]) -> None:
    """Put results into a file in place of older ones of the same level and board."""
    old = json.loads(file.read_text())["matches"] if file.exists() else []
    new = {
        (match.board, match.level): {**vars(match), "pairs": list(match.pairs)} for match in matches
    }
    kept = [match for match in old if (match["board"], match["level"]) not in new]
    rows = sorted([*kept, *new.values()], key=lambda match: (match["board"], match["level"]))
    lines = ",\n".join(f"  {json.dumps(match)}" for match in rows)
    file.write_text(f'{{"openings": "random:4", "matches": [\n{lines}\n]}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--board", nargs="+", default=BOARDS)
    parser.add_argument("--level", nargs="+", type=int, default=range(len(LEVELS), 1, -1))
    parser.add_argument("--rounds", type=int, default=700)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", type=Path, help="add the results to this file")
    parser.add_argument("--table", action="store_true", help="play nothing, print the tables")
    parser.add_argument(
        "--calibrate", nargs="+", type=float, metavar="T", help="look for new levels"
    )
    parser.add_argument("--above", metavar="SPEC", default="patterns:nodes=300")
    parser.add_argument("--step", type=float, default=100, help="Elo between two levels")
    arguments = parser.parse_args()
    for name in arguments.board:
        rules = Rules.parse(name)
        if arguments.table:
            print_table(rules)
            continue
        how = arguments.rounds, arguments.runs, arguments.workers
        if arguments.calibrate:
            calibrate(arguments.calibrate, arguments.above, arguments.step, rules, *how)
            continue
        for number in arguments.level:
            level = LEVELS[number - 1]
            seed = arguments.seed + number
            match = measure(level, rules, seed, *how)
            remark = "" if is_within_goal(match) else " <- not within the goal"
            print(f"{rules} {row(level, rules, match)}{remark}", flush=True)
            if arguments.json:
                save(arguments.json, [match])


if __name__ == "__main__":
    main()
