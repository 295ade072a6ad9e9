"""Vannucci & Abril's experiments: tree search against a random opponent.

They start from a given position and, as a bonus, from the empty board.
"""

from fourlab.studies.experiment import Experiment
from fourlab.studies.vannucci_abril import boards, empty_board, exact, runs, variants

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "000-exact",
        ("D0-01", "D0-02", "D0-08"),
        "The given position, solved exactly",
        "Action 4 has the value 0.70 and action 6 has the value 0.52.",
        {"smoke": {}, "quick": {}, "full": {}},
        exact.conduct,
        (1, 1, 1),
    ),
    Experiment(
        "000-figure-1",
        ("D0-09", "D0-15"),
        "Figure 1: a game with the values above the columns",
        "The agent plays 4 (0.71 against 0.61 for 6), the opponent plays 4, "
        "and the agent wins with 4 (1.0 against -1.0).",
        {"smoke": {"games": 20}, "quick": {"games": 500}, "full": {"games": 5000}},
        boards.conduct,
        (3, 6, 50),
    ),
    Experiment(
        "000-figure-2",
        ("D0-07", "D0-10", "D0-12"),
        "Figure 2: the mean of 25 runs",
        "Over 25 runs, action 4 has a mean of 0.70 and action 6 a mean of 0.52, "
        "and the values converge.",
        {"smoke": {"sets": 4}, "quick": {"sets": 100}, "full": {"sets": 800}},
        runs.figure_2,
        (2, 4, 20),
    ),
    Experiment(
        "000-own-moves",
        ("D0-11",),
        "The agent's moves along the line of play",
        "Ranked by means of 25 runs, the agent's moves are 4, 6 and 4.",
        {"smoke": {"sets": 2}, "quick": {"sets": 50}, "full": {"sets": 400}},
        runs.own_moves,
        (2, 4, 20),
    ),
    Experiment(
        "000-variants",
        ("D0-03", "D0-04", "D0-05", "D0-06", "D0-16"),
        "The search as coded and corrected",
        "Averaging runs repairs the search; sampling the opponent's reply at every visit "
        "would be better but is way harder.",
        {
            "smoke": {"sets": 4, "long_sets": 1},
            "quick": {"sets": 160, "long_sets": 20},
            "full": {"sets": 800, "long_sets": 4000},
        },
        variants.conduct,
        (3, 20, 2400),
    ),
    Experiment(
        "000-empty-board",
        ("D0-13",),
        "The bonus: the empty board",
        "From the empty board, column 4 has the best mean of 15 runs, 0.353, "
        "and the agent wins with its 8th move.",
        {
            "smoke": {"sets": 2, "games": 12},
            "quick": {"sets": 50, "games": 100},
            "full": {"sets": 400, "games": 1000},
        },
        empty_board.conduct,
        (4, 8, 60),
    ),
)
