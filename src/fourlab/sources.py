"""The five student reports whose experiments Fourlab repeats."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One of the reports."""

    number: str
    """The number that named run folders and pages, and is still accepted in commands."""
    authors: str
    title: str
    """As the report gives it, or what kind of work it is."""
    year: int | None
    """None if the report does not say."""
    about: str
    made: str
    """Where it was written, as far as the report says."""
    public: str
    """What has been published besides the report."""
    addresses: tuple[str, ...] = ()
    """Where that is."""
    unseen: str = ""
    """What we do not have, so that nothing can be compared with it."""
    columns: str = "Columns count from 1."
    """How the page of the report counts columns."""
    names: str = ""
    """The authors with their first names, as far as the report gives them."""


# In the order of their numbers, which run folders and pages still use.
SOURCES = {
    "vannucci-abril": Source(
        "000",
        "Vannucci and Abril",
        "Assignment 3",
        2024,
        "tree search against a random opponent, from a given position",
        "course DPRL, VU, December",
        "programs, notebooks with their output, the assignment",
        ("https://github.com/michelexyz/RL-assignments",),
        columns="Columns count from 0, as in the report, which calls them actions.",
    ),
    "bhat": Source(
        "001",
        "Bhat",
        "course report",
        None,
        "MC40, MC200 and Q-learning with afterstates on small boards",
        "course CS F407, BITS Pilani, Goa",
        "the final program and its table of values",
        ("https://github.com/shikha-16/Connect4",),
        "the programs of the experiments",
        names="Shikha Bhat",
    ),
    "gao": Source(
        "002",
        "Gao",
        "DPRL assignment 3",
        None,
        "tree search against a random opponent, from the empty board",
        "course DPRL, VU",
        "nothing",
        unseen="its program and the pictures of its figures",
        names="Gordon Gao (group 76)",
    ),
    "sewell": Source(
        "003",
        "SeWell",
        'final project, "Apply MCTS + Q learning to Connect4"',
        2020,
        "tree search on ConnectX with a value network",
        "course CS546, PSU, March",
        "programs",
        ("https://github.com/DavidRSeWell/Connect4MCTS",),
        "its data, the weights of its network and the graphs of Experiment 3",
        names="David SeWell",
    ),
    "arya": Source(
        "004",
        "Arya",
        "thesis",
        None,
        "tree search, minimax, Q-learning and AlphaMCTS",
        "title and place not stated",
        "the programs it builds on: Qi Wang's tree search, auxeno's AlphaZero notebook on Kaggle, "
        "and a chess recipe of the book Artificial Intelligence with Python Cookbook",
        (
            "https://github.com/HarryWangATX/website",
            "https://www.kaggle.com/code/auxeno/alphazero-connect-4-rl",
            "https://github.com/PacktPublishing/Artificial-Intelligence-with-Python-Cookbook",
        ),
        "its own programs, trained networks and the pictures of its figures",
        names="Rohan Arya",
    ),
}
"""The reports by the name that commands take."""

AUTHOR_OF = {source.number: author for author, source in SOURCES.items()}
