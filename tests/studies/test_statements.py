"""Statements of the reports, besides their tables and figures, that must have a claim."""

import pytest

from fourlab.sources import SOURCES
from fourlab.studies.catalogue import FOLDERS, items_of
from fourlab.studies.parts import claims_of
from fourlab.studies.publish import read_report
from tests.studies.test_published import PUBLISHED

STATEMENTS = {
    "vannucci-abril": {
        "dag-nodes": "the search builds a DAG",
        "dag-ranking": "what merging equal positions changes",
        "win-probability": "values are not directly winning probabilities",
    },
    "bhat": {
        "figure-1-expansion": "Figure 1, the four phases",
        "gamma-09": "gamma reduces the number of moves",
        "unique-games": "every game ever played is unique",
        "sarsa": "what is called Q-learning learns from the move played",
        "table-7-from-figure-8": "Table 7 picks gamma 0.9 for 3 rows",
        "truth-2-rows": "the exact value of 5x2",
        "truth-3-rows": "the exact value of 5x3",
        "truth-4-rows": "the exact value of 5x4",
    },
    "gao": {"optimal-last": "the search converges to an optimal strategy"},
    "sewell": {"figure-1-axis": "Figure 1 over all 10,000 passes"},
    "arya": {
        "state-space": "10^12 states",
        "chess-state-space": "10^120 states of chess",
        "supercomputer": "minimax of the whole game would need supercomputers",
        "branching-factor": "an average branching factor of 7",
        "branching-and-tree-search": "tree search where the branching factor is large (Clune)",
        "dqn-against-minimax-4": "DQN beats minimax",
        "dqn-against-mcts-corrected": "tree search beats DQN",
        "maximisation-bias": "maximisation bias, double DQN on and off",
        "catastrophic-forgetting": "catastrophic forgetting, replay on and off",
        "thinking-time-4": "Figures 9 and 10, minimax against tree search by thinking time",
        "alphamcts-with-proofs": "alpha-beta combined with AlphaMCTS",
        "chess-network": "a network for chess",
        "learning-speed": "speed of learning per agent",
        "text-mode-score": "the running text mode with rollouts and score",
        "chess-rating": "a rating of 142 Elo",
        "ablation-b17-unvisited": "an unvisited child counts 0",
        "ablation-b17-finished": "the first visit of a finished game keeps the evaluation",
        "ablation-b17-masks": "priors are misaligned once a column fills",
        "ablation-b17-discs-play": "games end a disc early only outside of the tree",
    },
}
"""By report and name of the claim, or the beginning of its name."""


@pytest.mark.parametrize(
    "document", [number for number in FOLDERS if FOLDERS[number] in STATEMENTS]
)
def test_every_statement_of_a_published_report_has_a_claim(document: str) -> None:
    parts = read_report(PUBLISHED, document).parts.values()
    names = {claim.name for of_one in parts for claim in claims_of(of_one)}
    missing = {
        name: statement
        for name, statement in STATEMENTS[FOLDERS[document]].items()
        if not any(one.startswith(name) for one in names)
    }
    assert not missing


def test_every_report_has_statements_and_an_index() -> None:
    assert STATEMENTS.keys() == SOURCES.keys()
    for folder in FOLDERS.values():
        assert folder not in SOURCES or items_of(folder)
