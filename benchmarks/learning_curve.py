"""The learning curve of pattern networks: mistakes one ply ahead against CPU seconds.

A run's metrics have the share of mistakes on the validation set after every block of games. The
table gives it by phase after some CPU minutes; the figure has a line for every run, and if a
Q-table for the usual board is given, its share of mistakes on the same positions.

    python benchmarks/learning_curve.py RUNS… [--minutes 1 5 30] [--table FILE.q] [--plot FILE.svg]
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from fourlab import Position
from fourlab.agents.q.table import load_table
from fourlab.game.rules import CLASSIC
from fourlab.training.test_set import shipped_positions, validation_set

PHASES = ("mistakes", "early", "middle", "late")
Row = dict[str, Any]


def rows_of(run: Path) -> list[Row]:
    """Return the metrics of a run."""
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def at(rows: list[Row], minutes: float) -> Row | None:
    """Return the last row within this many CPU minutes; None if the run is shorter."""
    within = [row for row in rows if row["cpu_seconds"] <= 60 * minutes]
    # The end of a run may be a little before or after the full minutes.
    is_long_enough = rows[-1]["cpu_seconds"] > 0.97 * 60 * minutes
    return within[-1] if within and is_long_enough else None


def table_exam(file: Path) -> Row:
    """Return how a Q-table plays on the validation set, and the share of positions it knows."""
    table = load_table(file, memory_mb=4000)
    solved = shipped_positions("validation_set")
    columns = []
    complete = 0
    for key in solved.keys.tolist():
        values, stored = table.look_up(Position.from_key(key, CLASSIC))
        columns.append(max(values, key=lambda column: values[column]))
        complete += stored == len(values)
    exam = validation_set(CLASSIC).evaluate(lambda own, mask, rng: np.array(columns))
    return exam | {"complete": complete / len(solved)}


def draw(runs: dict[str, list[Row]], table: Row | None, file: Path) -> None:
    """Draw the mistakes of every run against its CPU seconds."""
    from matplotlib.figure import Figure

    from fourlab.reporting.figures import COLOURS, MARKS, save

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (name, rows), colour, mark in zip(runs.items(), COLOURS, MARKS, strict=False):
        xs = [row["cpu_seconds"] for row in rows]
        ys = [100 * row["exam"]["mistakes"] for row in rows]
        # Marks at equal distances of the logarithmic axis.
        wanted = np.geomspace(xs[0], xs[-1], 8)
        marked = sorted({int(np.abs(np.subtract(xs, x)).argmin()) for x in wanted})
        axes.plot(
            xs, ys, color=colour, marker=mark, markevery=marked, markersize=4, lw=1, label=name
        )
    if table is not None:
        axes.axhline(
            100 * table["mistakes"], color=COLOURS[3], linestyle="--", lw=1, label="Q-table"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_yticks(
        [3, 4, 5, 7, 10, 15, 20, 30], labels=["3", "4", "5", "7", *"", "10", "15", "20", "30"]
    )
    axes.minorticks_off()
    axes.set_xlabel("CPU seconds")
    axes.set_ylabel("mistakes one ply ahead, %")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path, help="run folders, one per seed")
    parser.add_argument("--minutes", nargs="+", type=float, default=[1, 5, 30])
    parser.add_argument("--table", type=Path, help="a Q-table for the usual board")
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    runs = {f"seed {number}": rows_of(run) for number, run in enumerate(arguments.runs)}
    print("run      minutes       games  " + "  ".join(f"{name:>8}" for name in PHASES))
    for name, rows in runs.items():
        for minutes in arguments.minutes:
            if row := at(rows, minutes):
                shares = "  ".join(f"{row['exam'][phase]:8.2%}" for phase in PHASES)
                print(f"{name:8} {minutes:7g}  {row['games']:10,}  {shares}")
    table = None
    if arguments.table:
        table = table_exam(arguments.table)
        shares = "  ".join(f"{table[phase]:8.2%}" for phase in PHASES)
        print(f"Q-table, knows {table['complete']:.2%} of the positions   {shares}")
    if arguments.plot:
        draw(runs, table, arguments.plot)


if __name__ == "__main__":
    main()
