"""The document's program: one game of part A, one of part C, and the table of values that part C was to use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.agents.q.agent import Q
from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import form_of
from fourlab.agents.registry import make
from fourlab.game.bitboard import from_key
from fourlab.game.position import Position
from fourlab.studies.bhat.learner import FAITHFUL_MC25, PUBLISHED_CODE, Counts, examine, learn, settings_of, values_of
from fourlab.studies.bhat.table_5 import BOARD
from fourlab.studies.compare import consistent, mean, share
from fourlab.studies.experiment import Experiment, Finding, Part, Text
from fourlab.studies.workbench import Workbench

ROWS = 4
SHIPPED = {
    "all": 81_371,
    "worth 1 as at first": 58_887,
    "worth -2, lost": 16_380,
    "worth +2, won": 4_203,
    "worth 0.5, drawn": 1_896,
    "with more discs of Q than of MC_n": 1_091,
    "worth something else": 5,
}
"""What the document's file of values holds."""
NEAR = 0.05
"""Trainings that differ by chance alone give numbers of positions so near to each other."""
LITTLE = 0.001
"""A value that has changed by no more has not changed."""
PSEUDOCODE = """\
Figure 2, tree search: select, expand, simulate, back up, then the most visited column.
  Here: agents/mcts/kernel.py, explained in docs/agents/mcts.md; bhat-mcN is the document's form of it.
Figure 7, Q-learning with a count N[s, a] for alpha and an exploration function f, values from 0.
  Here: agents/q/kernel.py, explained in docs/agents/q.md; alpha_by_visits is alpha(N[s, a]), and a high initial value does the
  work of f. The document's program has neither N nor f, and its values begin at 1: --preset bhat --faithful.
The board, the players and the tree of the document's classes are fourlab.Position, fourlab.make and the tree of an
agent's search."""


@dataclass(frozen=True)
class Training:
    """Tables trained as the document's was; the number is the seed's second word."""

    seed: int
    wins: int

    def __call__(self, number: int) -> dict[str, int]:
        """What the table holds, in the words of SHIPPED."""
        return composition(learn(settings_of(ROWS, True, wins=self.wins), [self.seed, number])[0])


def composition(table: QTable) -> dict[str, int]:
    """How many positions of which kind a table holds."""
    values, g = values_of(table), table.form.rules.geometry
    ends = {"worth -2, lost": table.form.loss, "worth +2, won": table.form.win, "worth 0.5, drawn": 0.5}
    counts = {name: int((values == value).sum()) for name, value in ends.items()}
    changed = (abs(values - 1) > LITTLE) & ~np.isin(values, list(ends.values()))
    boards = (from_key(key, g) for key in table.entries()[0].tolist())
    passed = sum(own.bit_count() > (own ^ mask).bit_count() for own, mask in boards)
    return {
        "all": len(values),
        "worth 1 as at first": int((abs(values - 1) <= LITTLE).sum()),
        **counts,
        "with more discs of Q than of MC_n": passed,
        "worth something else": int(changed.sum()),
    }


def demos(bench: Workbench) -> Iterator[Part]:
    """What the program prints, and what its table is worth."""
    found = bench.repeat("tables", Training(bench.seed, bench.size["wins"]), bench.size["tables"])
    for name, reported in SHIPPED.items():
        ours = [each[name] for each in found]
        yield Finding(
            f"positions in the file of values: {name}",
            f"{reported:,}",
            mean(ours, 0),
            agrees=consistent(reported, ours),
            why=_WHY.get(name, "B7: made by the text's rule, epsilon rising to 1, and the code's end of training, 5,001 wins"),
        )
    yield _other_trainings(bench)
    part_c = bench.calculate("part-c", lambda: _part_c(bench))
    yield from _worth(part_c)
    yield Text("1 = part A: MC200 against MC40 on 6 rows and 5 columns", bench.calculate("part-a", lambda: _part_a(bench.seed)))
    yield Text(
        "2 = part C: MC25 against Q-learning on 4 rows and 5 columns, the table not found (B8)", part_c["not found"]["game"]
    )
    yield Text("2 = part C with the table found", part_c["found"]["game"])
    yield Text("2 = part C with a table that has been trained rightly (B7, B8)", part_c["corrected"]["game"])
    yield Text("Figures 2 and 7: the pseudocode", PSEUDOCODE)


_WHY = {
    "with more discs of Q than of MC_n": "B6: MC0 passes",
    "worth something else": "B7: alpha is halved at every update, so only the first few change anything",
}


def _other_trainings(bench: Workbench) -> Finding:
    """The published code and the text would have made other files."""
    changes: tuple[dict[str, Any], ...] = ({"wins": bench.size["wins"], **PUBLISHED_CODE}, {"wins": 2 * bench.size["wins"]})
    positions = bench.calculate(
        "other-trainings", lambda: [len(learn(settings_of(ROWS, True, **each), [bench.seed, 0])[0]) for each in changes]
    )
    return Finding(
        "positions in the file of values, had epsilon stayed 0.3 as in the published code; had training gone on to twice the "
        "wins, 10,000, as in the text",
        f"{SHIPPED['all']:,}",
        "; ".join(f"{each:,}" for each in positions),
        agrees=any(abs(each / SHIPPED["all"] - 1) < NEAR for each in positions),
        why="B7: the file was made with epsilon rising, and to 5,001 wins",
    )


def _part_a(seed: int) -> str:
    names = [f"MCTS {playouts}" for playouts in (200, 40)]
    return play_printed(names, [make(f"bhat-mc{playouts}:faithful=1") for playouts in (200, 40)], BOARD, seed)


def _part_c(bench: Workbench) -> dict[str, Any]:
    """One game and many with each table."""
    settings = settings_of(ROWS, True, **FAITHFUL_MC25)
    tables = {
        "not found": QTable(form_of(settings)),
        "found": learn(settings_of(ROWS, True, wins=bench.size["wins"]), [bench.seed, 0])[0],
        "corrected": learn(settings_of(ROWS, False, games=bench.size["training"]), [bench.seed, 0])[0],
    }
    found = {}
    for name, table in tables.items():
        counts = examine(settings, table, 0.0, bench.size["games"], [bench.seed, 1])
        players = [make("bhat-mc25:c=2,faithful=1"), _player(table, bench.folder / f"{name}.q")]
        game = play_printed(["MCTS 25", "Q-learning"], players, settings.board, bench.seed)
        found[name] = {"counts": counts, "game": game}
    return found


def _player(table: QTable, file: Path) -> Agent:
    file.parent.mkdir(parents=True, exist_ok=True)
    table.save(file)
    return Q(str(file))


def play_printed(names: Sequence[str], agents: Sequence[Agent], board: str, seed: int) -> str:
    """A game in the lines that the document's program prints."""
    position, lines = Position(board=board), list[str]()
    rngs = [np.random.default_rng([seed, side]) for side in (0, 1)]
    while (outcome := position.outcome()) is None:
        side = position.to_move
        decision = agents[side].decide(position, Limit(), rngs[side])
        lines += [f"Player {side + 1} ({names[side]})", f"Action selected: {decision.column + 1}"]
        if decision.analysis.visits is not None:
            lines.append(f"Total playouts for next state: {decision.analysis.visits[decision.column]}")
            lines.append(f"Value of next state according to MCTS : {((decision.value or 0.0) + 1) / 2:.4f}")
        else:
            lines.append(f"Value of next state according to Q-learning : {decision.analysis.estimates[decision.column]:.4f}")
        position = position.play(decision.column)
        lines += [*(" ".join(map(str, row)) for row in position.grid()), ""]
    winner = 0 if outcome.winner is None else outcome.winner + 1
    return "\n".join([*lines, f"Player {winner} won the game!", f"Total number of moves = {position.ply}"])


def _worth(part_c: dict[str, Any]) -> Iterator[Finding]:
    """Part C is one game; many tell what the table is worth."""
    counts: dict[str, Counts] = {name: tuple(each["counts"]) for name, each in part_c.items()}
    for place, who in enumerate(("MC25 wins", "Q wins", "draws")):
        told = {name: share(each[place], sum(each)) for name, each in counts.items()}
        yield Finding(
            f"part C: {who}; faithful: table not found, and found",
            "",
            f"{told['not found']}, and {told['found']}",
            told["corrected"],
            why="B8: keys that never match, so the leftmost open column is played; B7: trained at random, then rightly",
        )


EXPERIMENT = Experiment(
    "001-demos",
    ("D1-01", "D1-02", "D1-03", "D1-12", "D1-14", "D1-15"),
    "The program: one game of parts A and C, and its file of values",
    "Part A shows a game of MC200 against MC40, part C one of MC25 against Q-learning with a file of 81,371 learned values.",
    {
        "smoke": {"tables": 2, "wins": 50, "training": 1000, "games": 200},
        "quick": {"tables": 12, "wins": 5001, "training": 200_000, "games": 4000},
        "full": {"tables": 20, "wins": 5001, "training": 200_000, "games": 20_000},
    },
    demos,
    (4, 22, 35),
)
