"""Bhat's program: one game of part A, one of part C, and the value file meant for part C."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.agents.q.agent import Q
from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import form_of
from fourlab.agents.registry import make
from fourlab.game.bitboard import from_key
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, SMALL, Figure, frame, panels
from fourlab.studies.bhat.learner import (
    FAITHFUL_MC25,
    MC25,
    PUBLISHED_CODE,
    evaluate,
    learn,
    settings_of,
)
from fourlab.studies.bhat.table_5 import BOARD
from fourlab.studies.claims import (
    Claim,
    Counts,
    Estimate,
    Kind,
    Source,
    Verdict,
    counts_over_trainings,
    difference,
    mean_of,
    over_trainings,
)
from fourlab.studies.reported import reported
from fourlab.studies.verdicts import FEWEST_TRAININGS, larger_mean, same_mean
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

ROWS = 4
MADE: dict[str, Any] = {"alpha": 1.0, "gamma": 0.9}
"""What the published value file was made with; the empty board's value of 0.9 shows it."""
WINS = 5001
"""The published code ends its training there."""
PASSED = 1_091
"""Positions of the file with more discs of Q than of MC_n."""
LABELS = {
    "all": "all",
    "unchanged": "still at the initial value 1",
    "lost": "value -2 (lost)",
    "won": "value +2 (won)",
    "drawn": "value 0.5 (drawn)",
    "passed": "with more discs of Q than of MC_n",
    "learned": "any other value",
}
"""The kinds of positions, as pages show them."""
TRAINING = (
    "B7: produced with epsilon rising to 1, as in the text, "
    "and with training to 5,001 wins, as in the code"
)
CAUSES = {
    "passed": "B6: MC0 passes",
    "learned": "B7: alpha is halved at every update, so only the first few updates have an effect",
}
NEAR = 0.1
"""Margin of a number of positions, relative to the reported one."""
LEARNED = 3.0
"""Margin of the number of positions about which something was learned."""
LITTLE = 0.001
"""A smaller change of a value counts as none."""
DEFAULT_ALPHA = 0.5
"""The program's first alpha, unless another one is given."""
OTHERS = 6
"""Trainings of each kind that the file was not made with."""
SCORE = 5.0
"""Margin of the score of part C, in percentage points."""


def _shipped() -> dict[str, int]:
    """Return the contents of the published value file by kind."""
    data = reported("bhat-value-file")
    values = data["value"]
    kinds = _kinds(values, (2.0, -2.0))
    counts = {kind: int(data["positions"][chosen].sum()) for kind, chosen in kinds.items()}
    return {"all": int(data["positions"].sum()), **counts, "passed": PASSED}


def _kinds(values: Any, ends: tuple[float, float]) -> dict[str, Any]:
    """Return which values are of which kind; `ends` are the values of a win and of a loss."""
    won, lost = (values == end for end in ends)
    drawn = values == 0.5
    unchanged = abs(values - 1) <= LITTLE
    # Neither initial nor terminal: something was learned about the position.
    learned = ~(won | lost | drawn | unchanged)
    kinds = {"unchanged": unchanged, "lost": lost, "won": won, "drawn": drawn, "learned": learned}
    return kinds


SHIPPED = _shipped()
PSEUDOCODE = """\
Tables 1 and 2, the classes Board and Player.
  Here: fourlab.Position (play, legal_columns, outcome, str) and fourlab.make.
Tables 3 and 4, the classes MonteCarloTreeSearch and Node.
  Here: the functions select, expand, simulate and back_up of agents/mcts/textbook.py, and its Node.
Figure 2, tree search: select, expand, simulate, back up, then play the most visited column.
  Here: agents/mcts/kernel.py, explained in docs/agents/mcts.md; bhat-mcN is the report's variant.
Figure 7, Q-learning with a count N[s, a] for alpha, an exploration function f, and values from 0.
  Here: agents/q/kernel.py, explained in docs/agents/q.md; alpha_by_visits is alpha(N[s, a]), and
  a high initial value replaces f. The report's program has neither N nor f, and its values start
  at 1: --preset bhat --faithful. It learns from the move played, not from the best: SARSA.
Table 6, the class QLearning (getQ, getReward, nextAction, updateTable, nextState).
  Here: look_up, the settings win, draw and loss, choose, update, and a loop over whole games."""


def trained_composition(seed: int, wins: int, number: int) -> dict[str, float]:
    """Train one table as the report's was; return its contents, and the empty board's value."""
    table = learn(settings_of(ROWS, True, wins=wins, **MADE), [seed, number])[0]
    return {**composition(table), "empty": _empty_board(table)}


def composition(table: QTable) -> dict[str, int]:
    """Count a table's positions by kind."""
    keys, entries = table.entries()
    values = entries[:, 0]  # float32[positions]: the value of the position itself
    geometry = table.form.rules.geometry
    kinds = _kinds(values, (table.form.win, table.form.loss))
    # A key is seen by the side that has just moved, the learner. It moves second, so it has more
    # discs than its opponent only if the opponent has passed.
    boards = (from_key(key, geometry) for key in keys.tolist())
    passed = sum(own.bit_count() > (own ^ mask).bit_count() for own, mask in boards)
    counts = {kind: int(chosen.sum()) for kind, chosen in kinds.items()}
    return {"all": len(values), **counts, "passed": passed}


def _empty_board(table: QTable) -> float:
    """Return the value of the empty board, which the learner's loop begins with."""
    keys, entries = table.entries()
    # Its key is the smallest: every disc adds to a key.
    return float(entries[0, 0]) if len(keys) else table.form.initial


def demos(bench: Workbench) -> Iterator[Part]:
    """Compare the value file, measure how well tables play, and print games."""
    size = bench.size
    judged = size["wins"] == WINS and size["tables"] >= FEWEST_TRAININGS
    tables = bench.repeat("tables", trained_composition, size["tables"], bench.seed, size["wins"])
    for kind, number in SHIPPED.items():
        ours = [table[kind] for table in tables]
        margin = LEARNED if kind == "learned" else NEAR * number
        yield Claim(
            f"value-file-{kind}",
            f"positions in the value file: {LABELS[kind]}",
            Estimate(number, digits=0),
            Source.CODE,
            mean_of(ours, 0),
            # The file is a single training, so it is compared with the spread of ours.
            reproduced=same_mean(number, 1, ours, margin) if judged else None,
            why=CAUSES.get(kind, TRAINING),
            statement="value-file",
        )
    yield _first_alpha([table["empty"] for table in tables], judged)
    yield from _other_trainings(bench, judged)
    part_c = bench.repeat("part-c", play_part_c, size["seeds"], bench.seed, dict(size))
    yield from _strength(part_c, judged and size["seeds"] >= FEWEST_TRAININGS)
    yield Text(
        "1 = part A: MC200 against MC40 on 6 rows and 5 columns",
        bench.calculate("part-a", lambda: _part_a(bench.seed)),
    )
    yield Text(
        "2 = part C: MC25 against Q-learning on 4 rows and 5 columns, table not found (B8)",
        part_c[0]["not found"]["game"],
    )
    yield Text("2 = part C with the table found", part_c[0]["found"]["game"])
    yield Text(
        "2 = part C with a correctly trained table (B7, B8)",
        part_c[0]["corrected"]["game"],
    )
    yield Text("Tables 1 to 4 and 6, Figures 2 and 7: classes and pseudocode", PSEUDOCODE)
    yield _picture(tables)


def _picture(tables: Sequence[Mapping[str, float]]) -> Picture:
    """Draw the contents of the published file beside those of ours."""
    rows = []
    for kind, number in SHIPPED.items():
        ours = [table[kind] for table in tables]
        rows.append((LABELS[kind], number, round(fmean(ours), 1), min(ours), max(ours)))

    def draw() -> Figure:
        figure, (axes,) = panels(8, 3.6)
        places = np.arange(len(rows))
        _, published, means, lows, highs = zip(*rows, strict=True)
        errors = [np.subtract(means, lows), np.subtract(highs, means)]
        # Points, because the length of a bar means nothing on a logarithmic axis.
        axes.plot(published, places - 0.12, "x", color=REPORTED_COLOUR, label="published")
        ours: dict[str, Any] = {"marker": "o", "markersize": 4, "linestyle": "", "capsize": 3}
        axes.errorbar(means, places + 0.12, xerr=errors, color=COLOURS[1], label="ours", **ours)
        axes.set_yticks(places, [label for label, *_ in rows])
        axes.invert_yaxis()
        frame(axes, SMALL, "x", xscale="log", xlabel="positions")
        return figure

    caption = (
        f"Positions in the value file, published and ours: the mean of {len(tables)} trainings, "
        "and their range."
    )
    head = ("positions", "published", "ours", "fewest", "most")
    return Picture("value-file", caption, draw, Table("", head, tuple(rows)))


def _first_alpha(ours: Sequence[float], judged: bool) -> Claim:
    """Determine the first alpha from the value of the empty board."""
    data = reported("bhat-value-file")["value"]
    # The least value that is neither initial nor terminal.
    value = float(data[_kinds(data, (2.0, -2.0))["learned"]].min())
    # The first update is 1 + alpha (gamma - 1), and later ones hardly change it.
    alpha = (1 - value) / (1 - MADE["gamma"])
    by_default = 1 - DEFAULT_ALPHA * (1 - MADE["gamma"])
    return Claim(
        "value-file-empty-board",
        "value of the empty board in the file",
        Estimate(value, digits=4),
        Source.CODE,
        mean_of(ours, 4),
        # The nearest other reading, the default alpha, must not agree.
        reproduced=same_mean(value, 1, ours, (by_default - value) / 2) if judged else None,
        why="the first update gives 1 + alpha (gamma - 1), so the first alpha was "
        f"{alpha:.2f} with gamma 0.9; the program's default of {DEFAULT_ALPHA:g} would give "
        f"{by_default:.2f}, and the margin is half of that difference. With Table 8's gamma of 1 "
        "for 4 rows no update would change a value",
    )


def other_training(seed: int, wins: int, number: int) -> int:
    """Return the positions of a table trained in another way than the file's."""
    changes: tuple[dict[str, Any], ...] = ({"wins": wins, **PUBLISHED_CODE}, {"wins": 2 * wins})
    which, training = number % 2, number // 2
    return len(learn(settings_of(ROWS, True, **MADE, **changes[which]), [seed, training])[0])


def _other_trainings(bench: Workbench, judged: bool) -> Iterator[Claim]:
    """Show that neither the published code nor the text alone reproduces the file."""
    times = 2 * min(bench.size["tables"], OTHERS)
    positions = bench.repeat(
        "other-trainings", other_training, times, bench.seed, bench.size["wins"]
    )
    for name, words, ours in (
        ("code", "if epsilon stays at 0.3, as in the published code", positions[0::2]),
        ("text", "if training lasts twice the wins, 10,000, as in the text", positions[1::2]),
    ):
        number = SHIPPED["all"]
        yield Claim(
            f"value-file-by-{name}",
            f"positions in the value file {words}",
            Estimate(number, digits=0),
            Source.CODE,
            mean_of(ours, 0),
            reproduced=same_mean(number, 1, ours, NEAR * number) if judged else None,
            why=TRAINING,
            kind=Kind.READING,
        )


def _part_a(seed: int) -> str:
    names = [f"MCTS {simulations}" for simulations in (200, 40)]
    agents = [make(f"bhat-mc{simulations}:faithful=1") for simulations in (200, 40)]
    return play_printed(names, agents, BOARD, seed)


def play_part_c(seed: int, size: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Play one printed game and many counted games with each table of a training."""
    settings = settings_of(ROWS, True, **FAITHFUL_MC25)
    # The same seed for all tables: they differ by settings alone.
    faithful, _ = learn(settings_of(ROWS, True, wins=size["wins"], **MADE), [seed, number])
    corrected, _ = learn(settings_of(ROWS, False, games=size["training"]), [seed, number])
    tables = {"not found": QTable(form_of(settings)), "found": faithful, "corrected": corrected}
    results: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        sound = settings_of(ROWS, False, **MC25)
        # Greedy, as the published program plays after training.
        counts = evaluate(settings, table, 0.0, size["games"], [seed, number, 1])
        against_sound = evaluate(sound, table, 0.0, size["games"], [seed, number, 2])
        results[name] = {"counts": counts, "sound": against_sound}
        if number == 0:
            with TemporaryDirectory() as folder:
                players = [make("bhat-mc25:c=2,faithful=1"), _player(table, Path(folder))]
                names = ["MCTS 25", "Q-learning"]
                results[name]["game"] = play_printed(names, players, settings.board, seed)
    return results


def _player(table: QTable, folder: Path) -> Agent:
    table.save(folder / "table.q")
    return Q(str(folder / "table.q"))


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


def _strength(part_c: Sequence[Mapping[str, Any]], judged: bool) -> Iterator[Claim]:
    """Compare how well the tables play; part C itself is only one game."""
    names = ("MC25", "Q", "draw")
    for name, words in (("not found", "the table not found"), ("found", "the table found")):
        as_coded, without_b5 = (
            counts_over_trainings(
                [Counts(dict(zip(names, part[name][kind], strict=True))) for part in part_c]
            )
            for kind in ("counts", "sound")
        )
        # Without a table nothing was trained.
        if name == "not found":
            as_coded, without_b5 = Counts(as_coded.counts), Counts(without_b5.counts)
        yield Claim(
            f"part-c-{name.replace(' ', '-')}",
            f"part C with {words}: MC25 wins / Q wins / draws",
            "",
            Source.OURS,
            faithful=as_coded,
            corrected=without_b5,
            labels={"faithful": "MC25 as coded (B5)", "corrected": "MC25 without B5"},
            why="B8: the keys of the file never match, so the leftmost legal column is played",
        )
    without, sound, with_table, corrected = (
        _scores([part[name][kind] for part in part_c])
        for name, kind in (
            ("not found", "counts"),
            ("not found", "sound"),
            ("found", "counts"),
            ("corrected", "sound"),
        )
    )
    yield Claim(
        "part-c-gain",
        "part C: score with the table found, less the score without it",
        "the values of 81,371 states are put into the agent",
        Source.TEXT,
        faithful=difference(over_trainings(with_table), over_trainings(without)),
        corrected=difference(over_trainings(corrected), over_trainings(sound)),
        reproduced=_larger(with_table, without, judged),
        true=_larger(corrected, sound, judged),
        why="B7: the faithful table comes from random play, the corrected one from learning. "
        "The claim is that the table helps",
    )


def _scores(counts: Sequence[Sequence[int]]) -> list[float]:
    """Return the learner's points in per cent, training by training."""
    return [100 * (won + drawn / 2) / (lost + won + drawn) for lost, won, drawn in counts]


def _larger(ones: Sequence[float], others: Sequence[float], judged: bool) -> Verdict | None:
    return larger_mean(ones, others, SCORE, "points", trained=True) if judged else None
