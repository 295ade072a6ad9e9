"""The levels, each against the one before, on the boards where they are graded.

    python benchmarks/levels.py [--board 7x6] [--level N] [--rounds 700] [--runs DIR] [--json FILE]

A round is an opening of four random discs, played twice with colours swapped. Matches are runs in
DIR: the same command again plays what is missing, and more rounds extend them. --json adds the
results to a file such as src/fourlab/agents/levels.json in place of older ones of the same matches.
--table prints the tables of docs/reference/levels.md from the file that comes with Fourlab.

Agents are limited by nodes, so another machine plays the same games, and other work beside it
changes nothing.
"""

import argparse
import json
from pathlib import Path

from fourlab import api
from fourlab.agents.levels import GAP, LEVELS, Level, MatchCounts
from fourlab.game.rules import Rules

BOARDS = ("7x6x4", "6x5x4", "8x6x4")
SEED = 4026
"""Of the openings and the agents, plus the level; no game of the calibration has it. A level that
is graded again gets another."""


def measure(
    level: Level, rules: Rules, rounds: int, seed: int, runs: Path, workers: int
) -> MatchCounts:
    """Play a level against the one before, as far as the run in `runs` has not done so."""
    below = LEVELS[level.number - 2]
    spec = level.spec_on(rules)
    against = below.spec_on(rules)
    result = api.match(
        spec,
        against,
        games=2 * rounds,
        board=rules,
        openings="random:4",
        seed=seed,
        runs=runs,
        workers=workers,
        quiet=True,
    )
    pairs = tuple(result.data["matches"][0]["counts"])
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
    arguments = parser.parse_args()
    for name in arguments.board:
        rules = Rules.parse(name)
        if arguments.table:
            print_table(rules)
            continue
        for number in arguments.level:
            level = LEVELS[number - 1]
            seed = arguments.seed + number
            match = measure(level, rules, arguments.rounds, seed, arguments.runs, arguments.workers)
            remark = "" if is_within_goal(match) else " <- not within the goal"
            print(f"{rules} {row(level, rules, match)}{remark}", flush=True)
            if arguments.json:
                save(arguments.json, [match])


if __name__ == "__main__":
    main()
