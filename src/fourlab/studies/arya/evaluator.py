"""Document 004's Figure 33: how many wins and blocks a network sees without search, against the games it has learned from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, MARKS
from fourlab.studies.arya.alpha import NETWORKS
from fourlab.studies.arya.lessons import VERSIONS, teach
from fourlab.studies.compare import falls, share
from fourlab.studies.experiment import Experiment, Finding, Part, Picture
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from fourlab.nets.evaluator import OnnxEvaluator

EXAMPLES = 500
"""So many of each kind."""
KINDS = ("listed wins", "listed blocks", "wins", "blocks")
"""The document's examples, whose blocks are wins of the other side (B17), and real ones, which are of other games."""
WHY = (
    "B17: blocks as listed are wins of the second player. That is not the only difference: the listed examples are the last "
    "positions of games between players that win and block, the others are met in random games, and any right column counts in "
    "them. Trained without faults, the search sees wins and blocks on the discs and stops there, so the network need not learn "
    "them"
)


@cache
def listed_examples() -> "tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]":
    """The document's examples: `own`, `mask`, the one column that counts, and whether the second player is to move.

    They are the last positions of games between players that win if they can, else block, else play at random. Where the second
    player wins, the board is turned round and called a block.
    """
    import numpy as np

    from fourlab.compiled.batches import GOES_ON, WON, play_columns, urgent_columns
    from fourlab.game.rules import CLASSIC
    from fourlab.training.games import draw

    g, rng = CLASSIC.geometry, np.random.default_rng(33)
    found: dict[bool, list[tuple[int, int, int]]] = {False: [], True: []}
    own, mask = np.zeros((2, 200), np.int64)
    while min(map(len, found.values())) < EXAMPLES:
        urgent = urgent_columns(own, mask, False, g)
        before, first = list(zip(own.tolist(), mask.tolist(), strict=True)), urgent.argmax(axis=1)
        stands = play_columns(own, mask, draw(urgent, rng), g)
        for i in np.flatnonzero(stands == WON).tolist():
            second = before[i][1].bit_count() % 2 == 1
            if len(found[second]) < EXAMPLES:
                found[second].append((*before[i], int(first[i])))
        own[stands != GOES_ON] = mask[stands != GOES_ON] = 0
    rows = np.array(found[False] + found[True])
    return rows[:, 0], rows[:, 1], rows[:, 2], np.arange(len(rows)) >= EXAMPLES


def accuracy(judge: "OnnxEvaluator") -> dict[str, float]:
    """The share of each kind of examples to which a network's first thought is right."""
    import numpy as np

    from fourlab.compiled.batches import open_columns
    from fourlab.training.test_set import win_block_accuracy

    def first_thought(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        logits = judge.heads(judge.planes(own, mask))["policy"]
        columns: np.ndarray = np.where(open_columns(mask, judge.rules.geometry), logits, -np.inf).argmax(axis=1)
        return columns

    own, mask, columns, second = listed_examples()
    logits = judge.heads(judge.planes(own, mask))["policy"]
    right = logits.argmax(axis=1) == columns  # full columns are not left out
    real = win_block_accuracy(first_thought, judge.rules)
    return {
        "listed wins": float(right[~second].mean()),
        "listed blocks": float(right[second].mean()),
        "wins": real["wins"],
        "blocks": real["blocks"],
    }


@dataclass(frozen=True)
class _Piece:
    """The document's training up to so many games."""

    folder: str
    network: str
    games: int
    """How many there will be in the end."""
    until: int
    first: bool
    """Whether nothing was learned before."""
    seed: int

    def __call__(self, number: int) -> list[dict[str, float]]:
        """Learn, in version so-and-so, and be examined; at the very beginning also before that."""
        from fourlab.agents.alphazero.settings import preset
        from fourlab.agents.alphazero.training import AlphaZeroTrainee
        from fourlab.jobs.executors.threads import Threads
        from fourlab.nets.evaluator import OnnxEvaluator

        settings = replace(
            preset("arya", faithful=number == 0),
            networks=(self.network,),
            games=self.games + 1,  # so that no examination of its own ends it
            exam_every=self.games,
            seed=self.seed,
        )
        trainee = AlphaZeroTrainee(settings, Threads(1))
        folder = Path(self.folder) / VERSIONS[number]
        found = [accuracy(OnnxEvaluator(trainee.playing, "the network"))] if self.first else []
        teach(trainee, folder, self.until)
        return [*found, accuracy(OnnxEvaluator(trainee.playing, "the network"))]


def figure_33(bench: Workbench) -> Iterator[Part]:
    """Train as the document did, with its faults and without, and examine every so many games."""
    size = bench.size
    step, games = size["step"], size["games"]
    marks = list(range(0, games + 1, step))
    folder = str(bench.folder.resolve() / "network")
    pieces = [_Piece(folder, size["network"], games, mark, mark == step, bench.seed) for mark in marks[1:]]
    rows = [bench.repeat(f"accuracy-{piece.until}", piece, len(VERSIONS)) for piece in pieces]
    curves: dict[str, list[Mapping[str, float]]] = {
        name: [each for row in rows for each in row[place]] for place, name in enumerate(VERSIONS)
    }
    for kind in KINDS:
        first, last = ({name: curve[end][kind] for name, curve in curves.items()} for end in (0, -1))
        faithful, corrected = (f"{share(*_counted(first[name]))} to {share(*_counted(last[name]))}" for name in VERSIONS)
        yield Finding(
            f"accuracy of {kind}, before training and after {games:,} games of a network {size['network']}",
            "rises" if kind.startswith("listed") else "",
            faithful,
            corrected,
            agrees=falls(*_counted(last["faithful"]), *_counted(first["faithful"])) if kind.startswith("listed") else None,
            why=WHY,
        )
    shipped = bench.calculate("shipped", _shipped)
    yield Table(
        "The networks of the document's own size (128 filters, 8 blocks) that come with Fourlab, trained without the faults",
        ("network", *KINDS),
        tuple((each["network"], *(share(*_counted(each[kind])) for kind in KINDS)) for each in shipped),
    )
    data = [
        (name, mark, round(wrong), *curve[place].values())
        for name, curve in curves.items()
        for place, (mark, wrong) in enumerate(zip(marks, _axis_as_drawn(marks, step), strict=True))
    ]
    yield Picture(
        "figure-33",
        "Accuracy against games of training: left as the document draws it, all its examples together on its own axis (B19), "
        "right by kind and on the right one.",
        lambda: _draw(curves, marks, step),
        Table("accuracy", ("training", "games", "games as drawn", *KINDS), tuple(data)),
    )


def _counted(accuracy: float) -> tuple[int, int]:
    """The right answers to all examples of a kind."""
    return round(EXAMPLES * accuracy), EXAMPLES


def _shipped() -> list[dict[str, Any]]:
    from fourlab.nets.evaluator import load

    return [{"network": net, **accuracy(load(net))} for net in dict.fromkeys(NETWORKS.values())]


def _axis_as_drawn(marks: Sequence[int], step: int) -> list[float]:
    """The document's axis: as many values from 0 to 101 times their number, for 100 games a step (B19)."""
    return [place * (step + 1) * len(marks) / (len(marks) - 1) for place in range(len(marks))]


def _draw(curves: Mapping[str, Sequence[Mapping[str, float]]], marks: Sequence[int], step: int) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.4), layout="constrained")
    drawn, kinds = figure.subplots(1, 2)
    for place, (name, curve) in enumerate(curves.items()):
        together = [50 * (each["listed wins"] + each["listed blocks"]) for each in curve]
        drawn.plot(_axis_as_drawn(marks, step), together, color=COLOURS[place], marker=MARKS[place], markersize=3, label=name)
        for style, kind in zip(("-", "--"), ("wins", "blocks"), strict=True):
            shares = [100 * each[kind] for each in curve]
            kinds.plot(marks, shares, style, color=COLOURS[place], marker=MARKS[place], markersize=3, label=f"{name}: {kind}")
    drawn.set_title("as drawn", fontsize="medium")
    kinds.set_title("wins and real blocks", fontsize="medium")
    for axes in (drawn, kinds):
        axes.set_xlabel("number of games")
        axes.set_ylabel("accuracy, %")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small")
    return figure


EXPERIMENTS = (
    Experiment(
        "004-figure-33",
        ("D4-08", "D4-09", "D4-10", "D4-04"),
        "Figure 33: the evaluator's accuracy against games of training",
        "The accuracy on 1,000 examples of wins and blocks rises with the number of games.",
        {
            "smoke": {"network": "4x1", "games": 16, "step": 16},
            "quick": {"network": "16x2", "games": 1000, "step": 250},
            "full": {"network": "128x8", "games": 5000, "step": 100},
        },
        figure_33,
        (8, 120, 17_000),
        (("torch", "train"),),
        networks=tuple(NETWORKS.values()),
    ),
)
