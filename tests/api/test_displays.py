"""Results in notebooks: well-formed, escaped, and one line if something is not installed."""

import sys
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

import fourlab as fl
from fourlab import display
from fourlab.agents.listing import AgentInfo

NASTY = '<script>alert(1)</script> & "quotes"'


def well_formed(html: str) -> ElementTree.Element:
    """Parse HTML that is also XML, as ours is."""
    return ElementTree.fromstring(f"<div>{html}</div>")


@pytest.mark.parametrize(
    "shown",
    [
        fl.make("rules").decide(fl.Position("4453")),
        fl.make("mcts", simulations=50).decide(fl.Position("445566")),
        fl.make("minimax", depth=2).decide(fl.Position()),
        fl.solve("445566"),
        fl.solve("445566", all_columns=True),
        fl.analyse("445566", "mcts", simulations=50),
        fl.analyse("445566", "rules", proof=0),
        fl.review("1212121"),
        fl.review(""),
        fl.list_agents(),
        fl.list_agents()["mcts"],
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_html_is_well_formed(shown: Any) -> None:
    assert "".join(well_formed(shown._repr_html_()).itertext()).strip()


def test_html_says_what_the_text_says() -> None:
    review = fl.review("4455661")
    html = "".join(well_formed(review._repr_html_()).itertext())
    assert "column 5 turns a win into a loss; column 4 wins in 39" in html
    assert "red: accuracy 74.4%" in html
    solution = fl.solve("445566", all_columns=True)
    assert "wins in 1" in "".join(well_formed(solution._repr_html_()).itertext())


def test_texts_are_escaped() -> None:
    table = display.table((NASTY,), [(NASTY,), (NASTY,)])
    for html in (table, display.paragraph(NASTY), display.preformatted(NASTY)):
        assert "<script" not in html
        assert NASTY in "".join(well_formed(html).itertext())
    assert "<script" not in AgentInfo(NASTY, NASTY, NASTY)._repr_html_()

    class Named:
        __name__ = NASTY

        def __call__(self, position: fl.Position) -> int:
            return position.legal_columns()[0]

    assert "<script" not in fl.analyse("44", Named(), proof=0)._repr_html_()


def test_numbers_are_aligned_to_the_right() -> None:
    table = display.table(("a", "b"), [("1,000", "x"), ("-3.5%", "1")])
    assert table.count("text-align: right") == 3  # the heading and both cells
    assert table.count("text-align: left") == 3


def test_figures_show_themselves_in_notebooks() -> None:
    figures: list[Any] = [
        fl.analyse("4453", "mcts", simulations=200, proof=0).plot(),
        fl.review("4455661").plot(),
        fl.solve("445566", all_columns=True).plot(),
    ]
    drawings = [figure._repr_svg_() for figure in figures]
    for drawing in drawings:
        assert ElementTree.fromstring(drawing).tag.endswith("svg")
    assert len(set(drawings)) == 3


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = fl.solve("445566")
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(fl.UserError, match=r"pip install 'fourlab\[notebook\]'$"):
        solution.to_pandas()
    with pytest.raises(fl.UserError, match=r"^plot\(\) needs matplotlib: pip install 'fourlab\["):
        solution.plot()
