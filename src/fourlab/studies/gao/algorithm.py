"""Gao's Algorithm 1, step by step: the first simulations of the search, in plain Python."""

import math
from collections.abc import Iterator

import numpy as np

from fourlab.agents.mcts.textbook import ConnectFour, Node, TextbookSearch
from fourlab.agents.registry import make
from fourlab.game.position import Position
from fourlab.reporting.figures import COLOURS, SMALL, Figure, frame, panels
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Verdict, mean_of
from fourlab.studies.verdicts import same_mean
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

C = math.sqrt(2)
"""The report's exploration constant, for w/n from 0 to 1."""
SIMULATIONS = 500
SHOWN = 12
"""Simulations that are printed: seven try the columns, the others select."""
MARGIN = 0.05
"""Margin of the w/n of column 4, of 1."""
WORDS = {1: "X wins", 0: "draw", -1: "O wins"}


def conduct(bench: Workbench) -> Iterator[Part]:
    """Print the four steps, and compare the plain program with the compiled search."""
    yield Claim(
        "algorithm-1-cell",
        "where a disc goes",
        "the topmost empty cell of the column",
        Source.TEXT,
        exact="the lowest empty cell",
        true=Verdict(Answer.DIFFERS, "comparison"),
        why="a slip of the text: discs fall; whether the program has it is unknown",
    )
    runs = bench.size["runs"]
    plain = bench.repeat("plain", _plain_value, runs, bench.seed)
    compiled = bench.repeat("compiled", _compiled_value, runs, bench.seed)
    one, other = mean_of(plain), mean_of(compiled)
    difference = one.value - other.value
    half = math.hypot(one.half, other.half)
    yield Claim(
        "algorithm-1-twin",
        f"w/n of column 4 after {SIMULATIONS} simulations: Algorithm 1 in plain Python, "
        "less the compiled search of the other experiments",
        "",
        Source.OURS,
        faithful=Estimate(difference, difference - half, difference + half, runs),
        exact=Estimate(0.0, digits=0),
        # Both programs are ours: do the experiments run what the report describes?
        true=same_mean(other.value, runs, plain, MARGIN),
    )
    yield Picture(
        "algorithm-1",
        f"w/n of column 4 in {runs} searches of {SIMULATIONS} simulations: Algorithm 1 in plain "
        "Python, and the compiled search",
        lambda: _draw(plain, compiled),
        Table(
            "",
            ("rank", "plain", "compiled"),
            tuple(
                (rank, f"{one:.4f}", f"{other:.4f}")
                for rank, (one, other) in enumerate(
                    zip(sorted(plain), sorted(compiled), strict=True), 1
                )
            ),
        ),
    )
    yield Text(f"Algorithm 1: the first {SHOWN} simulations", _transcript(bench.seed))


def _draw(plain: list[float], compiled: list[float]) -> Figure:
    figure, (axes,) = panels(7, 3.4)
    for values, label, colour in ((plain, "plain", COLOURS[1]), (compiled, "compiled", COLOURS[0])):
        shares = [(rank + 1) / len(values) for rank in range(len(values))]
        axes.step(sorted(values), shares, where="post", label=label, color=colour)
    frame(axes, SMALL, "both", xlabel="w/n of column 4", ylabel="share of runs up to it")
    return figure


def _search(rng: np.random.Generator) -> TextbookSearch[Position, int]:
    """Return the search of Algorithm 1: results are -1 or +1, so c is twice as large."""
    return TextbookSearch(
        ConnectFour(),
        lambda n: int(rng.integers(n)),
        c=2 * C,
        # Wins are counted, so a draw is as bad as a loss.
        draw=-1.0,
        reply=lambda position, below: ConnectFour().random_move(position, below),
    )


def _plain_value(seed: int, number: int) -> float:
    """Return the w/n of column 4 after a search in plain Python."""
    rng = np.random.default_rng([seed, number])
    root = _search(rng).search(Position(), SIMULATIONS)
    edge = root.edges[3]
    return (edge.total / edge.visits + 1) / 2


def _compiled_value(seed: int, number: int) -> float:
    """Return the w/n of column 4 after a compiled search."""
    decision = make("gao").decide(Position(), rng=np.random.default_rng([seed, number]))
    return ((decision.analysis.columns[3].value or 0.0) + 1) / 2


def _transcript(seed: int) -> str:
    """Return what the four steps do in each of the first simulations."""
    search = _search(np.random.default_rng(seed))
    root = search.make_node(Position(), visits=0)
    lines = ["    select and expand  simulate  back up: wins/visits of columns 1 to 7", ""]
    for number in range(1, SHOWN + 1):
        path, result, _, rolled_out = search.descend(root)
        search.back_up(path, result, rolled_out)
        root.visits += 1
        # The result is that of the side that moved last; X moves at even plies.
        winner = WORDS[int(result) if len(path) % 2 else -int(result)]
        played = ", ".join(f"{'XO'[ply % 2]} {edge.move + 1}" for ply, (_, edge) in enumerate(path))
        lines.append(f"{number:2}. {played:<18} {winner:<8}  {_counts(root)}")
    lines += ["", "After the last simulation the search returns the column with the highest w/n."]
    return "\n".join(lines)


def _counts(root: Node[Position, int]) -> str:
    """Return wins and visits by column, such as 1/2; a dot for a column without visits."""
    # Totals are wins less the other results.
    cells = (
        f"{round((edge.total + edge.visits) / 2)}/{edge.visits}" if edge.visits else "."
        for edge in root.edges
    )
    return " ".join(f"{cell:<3}" for cell in cells).rstrip()
