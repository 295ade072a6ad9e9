"""Gao's experiments: tree search against a random opponent, from the empty board."""

from fourlab.studies.experiment import Experiment
from fourlab.studies.gao import future, games, root

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "002-games",
        ("D2-01", "D2-02", "D2-03", "D2-04"),
        "A thousand games against a random opponent, and Figure 1",
        "1,000 games were played against a random opponent (no results are given); "
        "Figure 1 shows a win by a horizontal line.",
        {
            "smoke": {"games": 10, "weak_games": 10},
            "quick": {"games": 1000, "weak_games": 1000},
            "full": {"games": 1000, "weak_games": 4000},
        },
        games.conduct,
        (7, 18, 30),
    ),
    Experiment(
        "002-table-1",
        ("D2-05",),
        "Table I: winning probabilities of the first move",
        "After 500 simulations, the columns win 75, 60, 85, 95, 70, 50 and 65 % of games; "
        "column 4 is best.",
        {"smoke": {"sets": 4}, "quick": {"sets": 200}, "full": {"sets": 2000}},
        root.table_1,
        (3, 8, 50),
    ),
    Experiment(
        "002-convergence",
        ("D2-06", "D2-07"),
        "Figures 2 and 3: values and visits during the search",
        "The values of the columns stabilise, and visits follow values.",
        {
            "smoke": {"runs": 20, "simulations": 500},
            "quick": {"runs": 400, "simulations": 20_000},
            "full": {"runs": 2000, "simulations": 100_000},
        },
        root.convergence,
        (2, 5, 100),
    ),
    Experiment(
        "002-future",
        ("D2-08",),
        "Future work: minimax opponents, heuristic evaluation, parallel search",
        "Stronger opponents, heuristic evaluation for deeper search and parallel execution "
        "are left for future work.",
        {
            "smoke": {"simulations": 50, "rounds": 1, "timed": 5000, "timed_rounds": 1},
            "quick": {"simulations": 500, "rounds": 15, "timed": 1_000_000, "timed_rounds": 20},
            "full": {"simulations": 500, "rounds": 200, "timed": 4_000_000, "timed_rounds": 200},
        },
        future.conduct,
        (10, 130, 1300),
    ),
)
