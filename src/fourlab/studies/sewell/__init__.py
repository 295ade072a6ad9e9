"""Replication of SeWell's experiments.

They are a tree search with negamax as part of the tree, a value network, and rollouts played by
that network.
"""

from fourlab.studies.experiment import Experiment
from fourlab.studies.sewell import experiment_1, experiment_3, future, network, predictions

TORCH = (("torch", "train"),)

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "003-experiment-1",
        ("D3-01", "D3-02", "D3-03", "D3-04"),
        "Experiment 1: one tree for 500 games against negamax",
        "With five rollouts per move the average result starts between -0.6 and 0.6, reaches 1.0 "
        "after about 200 games and stays there.",
        {
            "smoke": {"runs": 1, "games": 20, "afterwards": 1},
            "quick": {"runs": 5, "games": 500, "afterwards": 20},
            "full": {"runs": 40, "games": 500, "afterwards": 100},
        },
        experiment_1.conduct,
        (6, 140, 2000),
    ),
    Experiment(
        "003-figure-1",
        ("D3-05", "D3-06", "D3-07", "D3-08"),
        "Figure 1: the training of the value network",
        "After 10,000 epochs the error is 0.31 on the training set and 0.35 on the test set, and "
        "momentum helps.",
        {"smoke": {"epochs": 3}, "quick": {"epochs": 1000}, "full": {"epochs": 10_000}},
        network.conduct,
        (9, 80, 500),
        TORCH,
    ),
    Experiment(
        "003-figures-2-4",
        ("D3-09", "D3-10", "D3-13"),
        "Figures 2 to 4: predictions for six boards, and the worst errors",
        "The network recognises won and lost boards, errs on two, and is wrong by more than 0.9 in "
        "only 87 positions.",
        {"smoke": {"networks": 0}, "quick": {"networks": 0}, "full": {"networks": 4}},
        predictions.conduct,  # trains only at full scale, and checks for torch itself
        (5, 6, 1800),
    ),
    Experiment(
        "003-experiment-3",
        ("D3-11",),
        "Experiment 3: rollouts played by the network",
        "Rollouts in which the network chooses three moves out of four give improved results; no "
        "number or figure is shown.",
        {
            "smoke": {"runs": 1, "games": 10},
            "quick": {"runs": 4, "games": 500},
            "full": {"runs": 20, "games": 500},
        },
        experiment_3.conduct,
        (6, 80, 450),
    ),
    Experiment(
        "003-future",
        ("D3-12", "D3-13"),
        "Future work: either side, the perfect player, the network in the selection",
        "Planned: playing both sides, playing a perfect player, and using the network in the "
        "selection step (PUCT).",
        {
            "smoke": {
                "runs": 1,
                "games": 10,
                "afterwards": 1,
                "rounds": 1,
                "pairs": 1,
                "simulations": 20,
            },
            "quick": {
                "runs": 4,
                "games": 500,
                "afterwards": 5,
                "rounds": 10,
                "pairs": 30,
                "simulations": 200,
            },
            "full": {
                "runs": 20,
                "games": 500,
                "afterwards": 20,
                "rounds": 100,
                "pairs": 500,
                "simulations": 1000,
            },
        },
        future.conduct,
        (12, 90, 1200),
    ),
)
