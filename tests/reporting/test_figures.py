"""Figures and compact SVG files."""

from pathlib import Path

from fourlab.reporting import figures
from fourlab.reporting.curves import Curve
from fourlab.reporting.svg import compact

CURVES = (Curve("shares", ("won", "lost")), Curve("change", ("change",), logarithmic=True))


def test_a_logarithmic_panel_with_nothing_above_zero_is_linear(
    tmp_path: Path,
) -> None:
    """Warnings are errors in tests, so drawing must not warn."""
    rows = [{"games": games, "change": 0.0} for games in (10, 20)]
    figure = figures.training(rows, "games", CURVES[1:])
    figures.save(figure, tmp_path / "a.svg")
    assert figure.axes[0].get_yscale() == "linear"
    rows[0]["change"] = 0.5
    assert figures.training(rows, "games", CURVES[1:]).axes[0].get_yscale() == "log"


def test_a_legend_hides_no_points() -> None:
    rows = [{"games": games, "won": 0.5, "lost": 0.4} for games in range(30)]
    figure = figures.training(rows, "games", CURVES)
    figure.draw_without_rendering()
    panel = figure.axes[0]
    legend = panel.get_legend()
    assert legend is not None
    assert legend.get_window_extent().x0 >= panel.get_window_extent().x1
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_svg_files_are_compact_and_the_same_picture() -> None:
    drawn = (
        '<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x"\n "y">\n<svg viewBox="0 0 5.5 2">\n'
        " <metadata>\n  <a/>\n </metadata>\n"
        ' <path d="M 1.234567 -0.0001 \nL 2.5 3 \nz\n" style="fill: #abc"/>\n'
        ' <text x="1.0">two  words 1.23456</text>\n</svg>\n'
    )
    assert compact(drawn) == (
        '<svg viewBox="0 0 5.5 2"><path d="M 1.23 0 L 2.5 3 z" style="fill: #abc"/>'
        '<text x="1">two  words 1.23456</text></svg>\n'
    )
    assert compact(compact(drawn)) == compact(drawn)
