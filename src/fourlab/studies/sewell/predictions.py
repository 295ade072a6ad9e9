"""Document 003's Figures 2 to 4: what its network says of six boards, and how often it is badly wrong."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fourlab.arena.statistics import Z_95, wilson
from fourlab.arena.tables import Table
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.studies.compare import same_share
from fourlab.studies.experiment import Finding, Part, Picture
from fourlab.studies.sewell.network import EPOCHS, ROWS, SHIPPED, Trainings
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOARDS = {"2l": 1.223, "2r": 1.25, "3l": -0.021, "3r": -0.233, "4l": 0.693, "4r": 0.524}
"""The figures' boards, left and right, with the predictions printed below them."""
SIDES = {"l": "left", "r": "right"}
BADLY_WRONG, REPORTED_WRONG = 0.9, 87
MOST_IN_THE_CENTRE = 4
"""Of four own discs, which is all that a position of the data set has."""
DISCS = ("white", "#d83933", "#f2b90d")
"""Empty, red's, yellow's."""
Floats = NDArray[np.float64]


def conduct(bench: Workbench) -> Iterator[Part]:
    """Networks on both scales beside the exact results."""
    if bench.size["networks"] and find_spec("torch") is None:  # others need none: their networks come with Fourlab
        raise UserError("003-figures-2-4 needs torch: pip install 'fourlab[train]'")
    work = _Answers(bench.folder.resolve(), bench.seed)
    answers = bench.repeat("networks", work, 2 + 2 * bench.size["networks"])
    said = {labels: answers[place::2] for place, labels in enumerate(SHIPPED)}
    exact = bench.calculate("exact", _solve)
    for name, reported in BOARDS.items():
        yield _board_finding(name, reported, said, exact[name])
    yield from _badly_wrong(said)
    yield from _limits(said["unit"][0])
    boards = {name: (said["unit"][0]["boards"][name], said["signed"][0]["boards"][name], exact[name]) for name in BOARDS}
    yield Picture(
        "figures-2-to-4",
        "The boards of Figures 2 to 4 with the document's predictions, ours by a network of the same kind, and the exact results:"
        " on the scale 0 lost, 1 won, and on the scale -1 lost, 1 won. Red is to move.",
        lambda: _draw(boards),
        Table(
            "",
            ("board", "document", "ours", "ours, -1 to 1", "exact"),
            tuple((name, BOARDS[name], *boards[name]) for name in BOARDS),
        ),
    )


@dataclass(frozen=True)
class _Answers:
    """The work: what networks say, labels -1, 0, 1 and 0, 1/2, 1 in turn; first those that come with Fourlab, then new ones."""

    folder: Path
    seed: int

    def __call__(self, number: int) -> dict[str, Any]:
        copy, place = divmod(number, len(SHIPPED))
        labels, net = list(SHIPPED.items())[place]
        if copy:
            settings = {"labels": labels, "epochs": EPOCHS, "seed": self.seed + copy}
            trainings = Trainings(self.folder / f"network-{number}", (settings,))
            trainings(0)
            net = str(trainings.place(0) / "value.onnx")
        return _ask(net, labels)


def _position(name: str) -> Position:
    return Position(f"sewell-{name}")


def _solve() -> dict[str, float]:
    """What the boards are worth to red, who is to move: 1, 1/2 or 0."""
    from fourlab.solver import Solver

    solver, found = Solver(), {}
    for name in BOARDS:
        result = solver.solve(_position(name), weak=True).result
        assert result is not None
        found[name] = (result + 1) / 2
    return found


def _ask(net: str, labels: str) -> dict[str, Any]:
    """What a network says of the boards and of the whole data set."""
    from fourlab.datasets.labels import uci8
    from fourlab.nets.evaluator import load

    judge, data = load(net), uci8()
    positions = [_position(name) for name in BOARDS]
    own, mask = (np.array([getattr(each, name) for each in positions], np.int64) for name in ("own", "mask"))
    answers = judge.heads(judge.planes(own, mask))["value"][:, 0]  # not clipped to what results can be
    values = judge.heads(judge.planes(*data.discs))["value"][:, 0].astype(np.float64)
    actual = data.results if labels == "signed" else (data.results + 1) / 2
    centre = (data.cells[:, data.rules.columns // 2] == 1).sum(axis=1)
    return {
        "boards": {name: round(float(answer), 3) for name, answer in zip(BOARDS, answers, strict=True)},
        "badly_wrong": int((np.abs(values - actual) > BADLY_WRONG).sum()),
        "centre": _by(centre, values, actual),
        "expected": _by(np.floor(10 * values).clip(0, 9).astype(np.int64), values, actual),
    }


def _by(kinds: NDArray[np.int64], values: Floats, actual: Floats) -> dict[str, dict[str, float]]:
    """By kind: how many positions, what the network says and what is so on average, and the spread of the difference."""
    found = {}
    for kind in np.unique(kinds):
        chosen = kinds == kind
        errors = values[chosen] - actual[chosen]
        found[str(kind)] = {
            "positions": int(chosen.sum()),
            "said": round(float(values[chosen].mean()), 4),
            "actual": round(float(actual[chosen].mean()), 4),
            "error": float(errors.mean()),
            "sd": float(errors.std()),
        }
    return found


def _board_finding(name: str, reported: float, said: Mapping[str, Sequence[Mapping[str, Any]]], exact: float) -> Finding:
    unit, signed = ([each["boards"][name] for each in said[labels]] for labels in ("unit", "signed"))
    return Finding(
        f"Figure {name[0]} {SIDES[name[1]]}: prediction",
        f"{reported}",
        f"{_range(unit)} of 0, 1/2, 1",
        f"{_range(signed)} of -1, 0, 1",
        truth={1.0: "won: 1, or 1", 0.5: "drawn: 1/2, or 0", 0.0: "lost: 0, or -1"}[exact],
        agrees=(reported > 0.5) == (median(unit) > 0.5),
        why="B12: the figures' 0 for lost boards is of the scale 0, 1/2, 1, the text's labels are -1, 0, 1; agrees: on the same"
        " side of 1/2, more than that one network's value does not tell",
    )


def _range(values: Sequence[float]) -> str:
    return f"{values[0]:.3f}" if len(values) == 1 else f"{median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def _badly_wrong(said: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Finding]:
    why = "B12: possible only with labels 0, 1/2, 1"
    for labels, told in (("unit", "0, 1/2, 1"), ("signed", "-1, 0, 1")):
        counts = [each["badly_wrong"] for each in said[labels]]
        yield Finding(
            f"wrong by more than {BADLY_WRONG} with labels {told}",
            _counted(REPORTED_WRONG),
            _counted(round(median(counts)))
            + (f" ({min(counts):,} to {max(counts):,}, {len(counts)} networks)" if len(counts) > 1 else ""),
            agrees=same_share(REPORTED_WRONG, ROWS, round(median(counts)), ROWS),
            why=why,
        )


def _counted(count: int) -> str:
    """A count of the data set's positions, with Wilson's interval of such counts."""
    low, high = (round(ROWS * end) for end in wilson(count, ROWS))
    return f"{count:,} [{low:,}, {high:,}] of {ROWS:,}"


def _limits(said: Mapping[str, Any]) -> Iterator[Part]:
    """The limits that the document names: discs in the centre are over-valued, some positions are like the toss of a coin."""
    most, fewer = (said["centre"][str(discs)] for discs in (MOST_IN_THE_CENTRE, MOST_IN_THE_CENTRE - 1))
    yield Finding(
        f"said minus actual, {MOST_IN_THE_CENTRE} own discs in the centre",
        "over-valued",
        _error(most),
        agrees=_over_valued(most),
        why="by the network with labels 0, 1/2, 1 on the data set, where both sides have four discs; fitted to these positions,"
        " it has by construction a mean error near 0 on every kind of which there are many, so only few extreme ones can tell:"
        f" with {MOST_IN_THE_CENTRE - 1} it is {_error(fewer)}",
    )
    for title, head, kinds in (
        ("What the network says, by own discs in the centre column", "own discs in the centre", said["centre"]),
        ("What the network says, and what is so", "said, tenths", said["expected"]),
    ):
        rows = (
            (
                int(kind) if kinds is said["centre"] else f"{int(kind) / 10:.1f} to {(int(kind) + 1) / 10:.1f}",
                each["positions"],
                f"{each['said']:.3f}",
                f"{each['actual']:.3f}",
                f"{each['error']:+.3f} ± {_half(each):.3f}",
            )
            for kind, each in kinds.items()
        )
        yield Table(title, (head, "positions", "said, average", "actual, average", "said minus actual"), tuple(rows))


def _error(kind: Mapping[str, float]) -> str:
    return f"{kind['error']:+.3f} ± {_half(kind):.3f} ({kind['positions']:,} positions)"


def _half(kind: Mapping[str, float]) -> float:
    """Half the 95 % interval of a mean error."""
    return Z_95 * kind["sd"] / math.sqrt(kind["positions"])


def _over_valued(kind: Mapping[str, float]) -> bool | None:
    """Whether the mean error is above 0; None if its interval has 0 inside."""
    return kind["error"] > 0 if abs(kind["error"]) > _half(kind) else None


def _draw(boards: Mapping[str, tuple[float, float, float]]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.4), layout="constrained")
    panels = figure.subplots(2, 3)
    for place, (name, (unit, signed, exact)) in enumerate(boards.items()):
        axes = panels[place % 2, place // 2]
        _draw_board(axes, _position(name))
        axes.set_title(f"Figure {name[0]} {SIDES[name[1]]}: predicted {BOARDS[name]}", fontsize="medium")
        axes.set_xlabel(f"ours {unit:.3f}, exact {exact:g}\nof -1 to 1: ours {signed:.3f}, exact {2 * exact - 1:g}")
    return figure


def _draw_board(axes: "Axes", position: Position) -> None:
    """The board; yellow discs have a ring, so that colour is not needed."""
    from matplotlib.patches import Circle

    for below_top, cells in enumerate(position.grid()):
        for column, cell in enumerate(cells):
            axes.add_patch(Circle((column, -below_top), 0.42, facecolor=DISCS[cell], edgecolor="#445"))
            if cell == 2:
                axes.add_patch(Circle((column, -below_top), 0.25, facecolor="none", edgecolor="#8a6500"))
    axes.set_xlim(-0.6, position.rules.columns - 0.4)
    axes.set_ylim(0.4 - position.rules.rows, 0.6)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
