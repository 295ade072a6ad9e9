"""The faults of the five reports, B1 to B20, and the options that reproduce them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A difference between a report's program and its text, or the method it names."""

    authors: tuple[str, ...]
    """Keys of `fourlab.sources.SOURCES`."""
    faulty: str
    corrected: str
    switch: str
    """In Markdown, the spec or command that has the fault, or the study that shows both forms."""


# docs/reference/faults.md shows the same table, which a test compares.
FAULTS = {
    "B1": Fault(
        ("vannucci-abril",),
        "the exploration term is √ln(N/n)",
        "√(ln N / n)",
        "`vannucci-abril:faithful=1` (`ucb=log-ratio`)",
    ),
    "B2": Fault(
        ("vannucci-abril", "sewell"),
        "the opponent's reply is sampled once and kept in the tree",
        "it is sampled at every visit",
        "`opponent=random-frozen`",
    ),
    "B3": Fault(
        ("vannucci-abril",),
        "boxes of running means, which depend on each other",
        "boxes of independent runs",
        "both in `vannucci-abril figure-2`",
    ),
    "B4": Fault(
        ("vannucci-abril",),
        "against a person, the program reads the board before the person's move",
        "after it",
        "both in `vannucci-abril ablation`",
    ),
    "B5": Fault(
        ("bhat",),
        "the tree grows beyond a win",
        "a win ends the game",
        "`bhat-mc200:faithful=1` (`terminal=past-wins`)",
    ),
    "B6": Fault(
        ("bhat",),
        "MC0 passes",
        "it plays a random column",
        "`fourlab train q --preset bhat --passing`",
    ),
    "B7": Fault(
        ("bhat",),
        "α is halved and ε raised with every update, so the learner soon plays at random",
        "α constant, ε falling",
        "`fourlab train q --preset bhat --faithful`",
    ),
    "B8": Fault(
        ("bhat",),
        "the saved table is never found when it is loaded",
        "it is found",
        "both in `bhat demos`",
    ),
    "B9": Fault(
        ("bhat",),
        "the legend of Figure 4 and the panels of Figure 6 are swapped",
        "in the right order",
        "both in `bhat table-5`, `bhat figure-6`",
    ),
    "B10": Fault(
        ("sewell",),
        "rollouts take the last child of a set, not the network's best",
        "the network's best",
        "`sewell-guided:faithful=1`",
    ),
    "B11": Fault(
        ("sewell",),
        "games follow the replies kept in the tree",
        "games against negamax itself",
        "both in `sewell experiment-1`",
    ),
    "B12": Fault(
        ("sewell",),
        "labels are −1, 0, 1 in one place and 0, ½, 1 in another",
        "one scale throughout",
        "`value:net=sewell`, `value:net=sewell-unit`",
    ),
    "B13": Fault(
        ("sewell",),
        "negamax breaks ties by taking the first column, as Kaggle's did then",
        "it breaks them at random, as Kaggle's does now",
        "`negamax:ties=first`",
    ),
    "B14": Fault(
        ("sewell",),
        "results are not negated on the way up",
        "correct, since only one side is in the tree",
        "kept",
    ),
    "B15": Fault(
        ("arya",),
        "a decided rollout counts as a win for the side that moved to the leaf, whoever won it",
        "it counts as a win for its winner",
        "`arya-vanilla:faithful=1` (`credit=leaf`)",
    ),
    "B16": Fault(
        ("arya",),
        "a draw counts 1 at the leaf and 0 above",
        "½ everywhere",
        "`arya-vanilla:faithful=1` (`draw_credit=leaf`)",
    ),
    "B17": Fault(
        ("arya",),
        "AlphaMCTS samples its moves in matches too, ends games a disc early, and adds the "
        "network's value of a finished game to its result; in its tree an unvisited column counts "
        "as even, and priors belong to the columns that are open at the root; it learns the "
        "search's values, not results, and its examples of blocks are wins",
        "none of these",
        "`alphazero:faithful=1,proofs=0,temperature=1.25`, "
        "`fourlab train alphazero --preset arya --faithful`",
    ),
    "B18": Fault(
        ("arya",),
        "the minimax of the window never reaches its depth and plays for one colour only",
        "it searches",
        "`arya-minimax:faithful=1`",
    ),
    "B19": Fault(
        ("arya",),
        "the axis of Figure 33 counts 101 games in a hundred",
        "100",
        "both in `arya figure-33`",
    ),
    "B20": Fault(
        ("arya",),
        "chess positions are compared by 32 bits",
        "by all",
        "not kept, it hardly matters; [chess](../explanation/chess.md)",
    ),
}
