"""Figures show all there is to see."""

from pathlib import Path

from fourlab.reporting import figures
from fourlab.reporting.curves import Curve

CURVES = (Curve("shares", ("won", "lost")), Curve("change", ("change",), logarithmic=True))


def test_a_logarithmic_panel_with_nothing_above_zero_is_drawn_without_complaint(tmp_path: Path) -> None:
    """A warning would be an error here."""
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
