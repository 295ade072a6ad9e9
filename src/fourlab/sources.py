"""The five student reports that Fourlab runs again."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A report."""

    number: str
    """By which older versions named it; it still names run folders and pages."""
    authors: str
    about: str
    made: str
    """Where and when, as far as the report says."""
    public: str
    """What is public of it besides the report."""


SOURCES = {
    "vannucci-abril": Source(
        "000",
        "Vannucci and Abril",
        "tree search against a random opponent, from a given position",
        "assignment 3 of the course DPRL, VU, December 2024",
        "programs, notebooks with their output, the assignment",
    ),
    "bhat": Source(
        "001",
        "Bhat",
        "MC40, MC200 and Q-learning with afterstates on small boards",
        "course CS F407, BITS Pilani, Goa",
        "the final program and its table of values; not the programs of the experiments",
    ),
    "gao": Source(
        "002",
        "Gao",
        "tree search against a random opponent, from the empty board",
        "assignment 3 of the course DPRL, VU",
        "nothing",
    ),
    "sewell": Source(
        "003",
        "SeWell",
        "tree search on ConnectX with a value network",
        "course CS546, PSU, March 2020",
        "programs, without data and weights",
    ),
    "arya": Source(
        "004",
        "Arya",
        "tree search, minimax, Q-learning and AlphaMCTS",
        "a thesis",
        "not its own programs, but those it builds on",
    ),
}
"""By the name that commands take."""

AUTHOR_OF = {source.number: author for author, source in SOURCES.items()}
