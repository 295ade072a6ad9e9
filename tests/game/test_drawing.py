"""SVG drawings of positions."""

import xml.etree.ElementTree as ElementTree

from hypothesis import given

from fourlab import Position
from fourlab.game.drawing import cell_name, svg
from tests.strategies import positions


@given(positions())
def test_the_drawing_is_well_formed_and_shows_every_disc(position: Position) -> None:
    drawing = svg(position)
    root = ElementTree.fromstring(drawing)
    assert root.tag.endswith("svg")
    assert drawing.count('fill="#d83933"') == position.red.bit_count()
    assert drawing.count('fill="#f2b90d"') == position.yellow.bit_count()
    assert drawing.count('stroke-width="5"') == len(position.winning_cells())


def test_cells_are_named_as_in_chess() -> None:
    assert [cell_name(0, 0), cell_name(6, 5), cell_name(30, 0)] == ["a1", "g6", "#311"]
