"""SVG drawings of positions."""

import xml.etree.ElementTree as ElementTree

from hypothesis import given

from fourlab import Position
from fourlab.game.drawing import cell_name, last_cell, svg, text
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


def test_the_last_disc_has_a_white_dot() -> None:
    assert [last_cell(Position(moves)) for moves in ("", "4", "4453", "44444")] == [
        None,
        (3, 0),
        (2, 0),
        (3, 4),
    ]
    assert last_cell(Position("7/7/7/7/7/3r3 y 4")) is None  # a board has no last move
    assert svg(Position("44")).count('fill="#fff"') == 1
    assert svg(Position()).count('fill="#fff"') == 0


def test_as_text_the_winning_line_is_in_parentheses() -> None:
    assert text(Position("1212121", board="4x4")).splitlines() == [
        " (X) .  .  . ",
        " (X) O  .  . ",
        " (X) O  .  . ",
        " (X) O  .  . ",
        "  1  2  3  4 ",
        "red wins with a1 a2 a3 a4",
    ]
