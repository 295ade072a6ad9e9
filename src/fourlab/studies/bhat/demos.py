"""Bhat's program: one game of part A, one of part C, and the value file meant for part C."""

from collections.abc import Iterator, Sequence
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
from fourlab.studies.bhat.learner import (
    FAITHFUL_MC25,
    PUBLISHED_CODE,
    Counts,
    evaluate,
    learn,
    settings_of,
)
from fourlab.studies.bhat.table_5 import BOARD
from fourlab.studies.compare import consistent, mean, share
from fourlab.studies.workbench import Finding, Part, Text, Workbench

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
"""The contents of the published value file; the names are keys of stored results."""
LABELS = {
    "worth 1 as at first": "still at the initial value 1",
    "worth -2, lost": "value -2 (lost)",
    "worth +2, won": "value +2 (won)",
    "worth 0.5, drawn": "value 0.5 (drawn)",
    "worth something else": "any other value",
}
"""The names as pages show them, where they differ."""
CAUSES = {
    "with more discs of Q than of MC_n": "B6: MC0 passes",
    "worth something else": "B7: alpha is halved at every update, "
    "so only the first few updates have an effect",
}
TRAINING = (
    "B7: produced with epsilon rising to 1, as in the text, "
    "and with training to 5,001 wins, as in the code"
)
NEAR = 0.05
"""Trainings that differ by chance alone agree in their number of positions to this fraction."""
LITTLE = 0.001
"""A smaller change of a value counts as none."""
PSEUDOCODE = """\
Figure 2, tree search: select, expand, simulate, back up, then play the most visited column.
  Here: agents/mcts/kernel.py, explained in docs/agents/mcts.md; bhat-mcN is the report's variant.
Figure 7, Q-learning with a count N[s, a] for alpha, an exploration function f, and values from 0.
  Here: agents/q/kernel.py, explained in docs/agents/q.md; alpha_by_visits is alpha(N[s, a]), and
  a high initial value replaces f. The report's program has neither N nor f, and its values start
  at 1: --preset bhat --faithful.
The report's classes for the board, the players and the tree correspond to fourlab.Position,
fourlab.make and the tree of an agent's search."""


def trained_composition(seed: int, wins: int, number: int) -> dict[str, int]:
    """Train one table as the report's was; return its contents, by the names of SHIPPED."""
    return composition(learn(settings_of(ROWS, True, wins=wins), [seed, number])[0])


def composition(table: QTable) -> dict[str, int]:
    """Count a table's positions by kind."""
    keys, entries = table.entries()
    values = entries[:, 0]  # float32[positions]: the value of the position itself
    geometry = table.form.rules.geometry
    # Terminal values in the file; -2 and +2 are the report's rewards.
    ends = {
        "worth -2, lost": table.form.loss,
        "worth +2, won": table.form.win,
        "worth 0.5, drawn": 0.5,
    }
    counts = {name: int((values == value).sum()) for name, value in ends.items()}
    # Neither initial nor terminal: something was learned about the position.
    changed = (abs(values - 1) > LITTLE) & ~np.isin(values, list(ends.values()))
    # A key is seen by the side that has just moved, the learner. It moves second, so it has more
    # discs than its opponent only if the opponent has passed.
    boards = (from_key(key, geometry) for key in keys.tolist())
    passed = sum(own.bit_count() > (own ^ mask).bit_count() for own, mask in boards)
    return {
        "all": len(values),
        "worth 1 as at first": int((abs(values - 1) <= LITTLE).sum()),
        **counts,
        "with more discs of Q than of MC_n": passed,
        "worth something else": int(changed.sum()),
    }


def demos(bench: Workbench) -> Iterator[Part]:
    """Compare the value file, measure how well tables play, and print games."""
    tables = bench.repeat(
        "tables", trained_composition, bench.size["tables"], bench.seed, bench.size["wins"]
    )
    for name, reported in SHIPPED.items():
        ours = [counts[name] for counts in tables]
        yield Finding(
            f"positions in the value file: {LABELS.get(name, name)}",
            f"{reported:,}",
            mean(ours, 0),
            # The file is a single training, so it is compared with the spread of ours.
            agrees=consistent(reported, ours),
            why=CAUSES.get(name, TRAINING),
        )
    yield _other_trainings(bench)
    part_c = bench.calculate("part-c", lambda: _part_c(bench))
    yield from _strength(part_c)
    yield Text(
        "1 = part A: MC200 against MC40 on 6 rows and 5 columns",
        bench.calculate("part-a", lambda: _part_a(bench.seed)),
    )
    yield Text(
        "2 = part C: MC25 against Q-learning on 4 rows and 5 columns, table not found (B8)",
        part_c["not found"]["game"],
    )
    yield Text("2 = part C with the table found", part_c["found"]["game"])
    yield Text(
        "2 = part C with a correctly trained table (B7, B8)",
        part_c["corrected"]["game"],
    )
    yield Text("Figures 2 and 7: the pseudocode", PSEUDOCODE)


def _other_trainings(bench: Workbench) -> Finding:
    """Show that neither the published code nor the text alone reproduces the file."""
    changes: tuple[dict[str, Any], ...] = (
        {"wins": bench.size["wins"], **PUBLISHED_CODE},
        {"wins": 2 * bench.size["wins"]},
    )
    positions = bench.calculate(
        "other-trainings",
        lambda: [
            len(learn(settings_of(ROWS, True, **change), [bench.seed, 0])[0]) for change in changes
        ],
    )
    return Finding(
        "positions in the value file if epsilon stayed at 0.3, as in the published code; "
        "if training lasted twice the wins, 10,000, as in the text",
        f"{SHIPPED['all']:,}",
        "; ".join(f"{number:,}" for number in positions),
        agrees=any(abs(number / SHIPPED["all"] - 1) < NEAR for number in positions),
        why="B7: the file was produced with rising epsilon and training to 5,001 wins",
    )


def _part_a(seed: int) -> str:
    names = [f"MCTS {simulations}" for simulations in (200, 40)]
    agents = [make(f"bhat-mc{simulations}:faithful=1") for simulations in (200, 40)]
    return play_printed(names, agents, BOARD, seed)


def _part_c(bench: Workbench) -> dict[str, Any]:
    """Play one printed game and many counted games with each table."""
    size = bench.size
    settings = settings_of(ROWS, True, **FAITHFUL_MC25)
    # The same seed for all tables: they differ by settings alone.
    faithful, _ = learn(settings_of(ROWS, True, wins=size["wins"]), [bench.seed, 0])
    corrected, _ = learn(settings_of(ROWS, False, games=size["training"]), [bench.seed, 0])
    tables = {"not found": QTable(form_of(settings)), "found": faithful, "corrected": corrected}
    results = {}
    for name, table in tables.items():
        # Greedy, as the published program plays after training.
        counts = evaluate(settings, table, 0.0, size["games"], [bench.seed, 1])
        players = [make("bhat-mc25:c=2,faithful=1"), _player(table, bench.folder / f"{name}.q")]
        game = play_printed(["MCTS 25", "Q-learning"], players, settings.board, bench.seed)
        results[name] = {"counts": counts, "game": game}
    return results


def _player(table: QTable, file: Path) -> Agent:
    file.parent.mkdir(parents=True, exist_ok=True)
    table.save(file)
    return Q(str(file))


def play_printed(names: Sequence[str], agents: Sequence[Agent], board: str, seed: int) -> str:
    """Play a game and return the lines that the report's program prints."""
    position = Position(board=board)
    lines = list[str]()
    # One stream per side, so that neither depends on the other's search.
    rngs = [np.random.default_rng([seed, side]) for side in (0, 1)]
    while (outcome := position.outcome()) is None:
        side = position.to_move
        decision = agents[side].decide(position, Limit(), rngs[side])
        column = decision.column
        analysis = decision.analysis
        lines += [f"Player {side + 1} ({names[side]})", f"Action selected: {column + 1}"]
        if analysis.visits is not None:
            lines.append(f"Total playouts for next state: {analysis.visits[column]}")
            # Agents' values are in [-1, +1], the report's in [0, 1].
            method, value = "MCTS", ((decision.value or 0.0) + 1) / 2
        else:
            method, value = "Q-learning", analysis.estimates[column]
        lines.append(f"Value of next state according to {method} : {value:.4f}")
        position = position.play(column)
        lines += [*(" ".join(map(str, row)) for row in position.grid()), ""]
    # The program prints player 0 for a draw.
    winner = 0 if outcome.winner is None else outcome.winner + 1
    lines += [f"Player {winner} won the game!", f"Total number of moves = {position.ply}"]
    return "\n".join(lines)


def _strength(part_c: dict[str, Any]) -> Iterator[Finding]:
    """Compare how well the tables play; part C itself is only one game."""
    counts: dict[str, Counts] = {name: tuple(part["counts"]) for name, part in part_c.items()}
    for place, result in enumerate(("MC25 wins", "Q wins", "draws")):
        shares = {name: share(counted[place], sum(counted)) for name, counted in counts.items()}
        yield Finding(
            f"part C: {result}; faithful: table not found, and found",
            "",
            f"{shares['not found']}, and {shares['found']}",
            shares["corrected"],
            why="B8: keys never match, so the leftmost legal column is played; "
            "B7: the faithful table comes from random play, the corrected one from learning",
        )
