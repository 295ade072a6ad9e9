"""What pictures of the studies have in common: colours, legends, captions and bands."""

import re
from pathlib import Path

import numpy as np
from matplotlib.colors import to_hex

from fourlab.reporting.figures import COLOURS, REPORTED_COLOUR, panels
from fourlab.studies import forest
from fourlab.studies.arya import bouts
from fourlab.studies.bhat import truth_picture
from fourlab.studies.claims import Claim, Estimate, Source, share, shares
from fourlab.studies.vannucci_abril import empty_board, runs
from fourlab.studies.workbench import Picture

GAMES = Claim(
    "games", "games: won / lost / drawn", shares(7, 2, 1), Source.TEXT, faithful=shares(70, 20, 10)
)
ONE_KIND = Claim(
    "dqn", "DQN: won / lost / drawn", "DQN wins", Source.TEXT, corrected=shares(6, 4, 0)
)
MOVES = Claim("moves", "moves that keep the value", "", Source.OURS, faithful=share(3, 4))


def test_an_automatic_picture_says_what_its_shares_are() -> None:
    captions = {}
    for name, claims in {"won": [GAMES], "moves": [MOVES], "both": [GAMES, MOVES]}.items():
        picture = forest.with_picture("Title", claims)[-1]
        assert isinstance(picture, Picture)
        captions[name] = picture.caption
    assert captions == {
        "won": f"Title: {forest.WON}, with 95 % intervals.",
        "moves": "Title: shares, with 95 % intervals.",
        "both": f"Title: shares; of games, the {forest.WON}, with 95 % intervals.",
    }


def test_a_picture_of_one_version_has_no_legend() -> None:
    assert forest.draw([ONE_KIND]).axes[0].get_legend() is None, "nothing was corrected"
    legend = forest.draw([GAMES]).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["reported", "faithful"]


def test_reported_numbers_have_one_colour_on_every_page() -> None:
    assert REPORTED_COLOUR not in COLOURS
    points = forest.draw([GAMES]).axes[0].containers
    assert to_hex(points[0].lines[0].get_color()) == REPORTED_COLOUR
    score = bouts.Score(9, 1, 0)
    readings = {"faithful": bouts.Reading("random", "random")}
    bout = bouts.Bout("bout", ("X", "O"), "X", score, readings)
    _, (axes,) = panels(4, 3)
    bouts._draw_scores(axes, bout, {})
    bars = axes.patches
    assert {to_hex(bar.get_facecolor()) for bar in bars} == {REPORTED_COLOUR}
    boxes = runs._boxes({"the authors' 25 runs": np.zeros((25, 2))}, {}).axes[0].patches
    assert {to_hex(box.get_facecolor()) for box in boxes} == {REPORTED_COLOUR}
    # No other page chooses a grey or black of its own for what was reported.
    own = re.compile(r'color="(?:black|#[0-9a-f]{6})"[^)]*label="(?:as reported|published)"')
    for file in Path(forest.__file__).parent.rglob("*.py"):
        assert not own.search(file.read_text(encoding="utf-8")), file


def test_figure_2_names_its_boxes_and_writes_exact_values_below_the_axis() -> None:
    values = np.zeros((25, 2))
    figure = runs._boxes({"ours": values}, {4: runs.Fraction(1), 6: runs.Fraction(21, 32)})
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["Action 4\n(exact 1)", "Action 6\n(exact 0.656)"]
    assert not axes.texts


def test_values_of_the_empty_board_have_intervals() -> None:
    values = {"report": [Estimate(0.1)] * 7, "faithful": [Estimate(0.1, 0.0, 0.2)] * 7}
    figure = empty_board._bars(values, {str(column): "draw" for column in range(7)})
    (axes,) = figure.axes
    assert len(axes.collections) == 1, "those of our own bars"


def test_the_truth_has_bands() -> None:
    points = [
        truth_picture.Point(6, "c", c, f"{name}, {form}", 80.0, 70.0, 90.0, 50)
        for name in truth_picture.NAMES
        for form in ("as coded", "corrected")
        for c in (0.0, 1.0)
    ]
    picture = truth_picture.picture(points, (6, 4), 1.4)
    assert picture.data.head[-3:] == ("low", "high", "positions")
    right = picture.draw().axes[2]
    assert len(right.collections) == len(right.lines) == 4
    # Two forms of one player have one colour.
    assert len({line.get_color() for line in right.lines}) == 2
