"""Claims as data and as words, and the page that shows them."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from fourlab.reporting.blocks import (
    Bullets,
    Drawing,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
    to_html,
    to_markdown,
)
from fourlab.reporting.page import page
from fourlab.sources import SOURCES
from fourlab.studies.catalogue import Item, all_experiments, items_of
from fourlab.studies.claims import (
    COUNTS,
    Answer,
    Claim,
    Estimate,
    Source,
    Verdict,
    band_of,
    brief,
    counts_over_trainings,
    difference,
    mean_of,
    named,
    over_trainings,
    plain,
    share,
    shares,
)
from fourlab.studies.pages import fill, item_words
from fourlab.studies.rules import Difference, directed, within_error
from fourlab.studies.stored_claims import CLAIMS_HEAD, from_json, is_claim, table_of
from fourlab.studies.verdicts import same_counts

MATCH = Claim(
    "experiment-3b",
    "MCTS 1 s against minimax(6)",
    shares(71, 16, 13),
    Source.TEXT,
    faithful=shares(730, 210, 60),
    corrected=shares(990, 5, 5),
    reproduced=same_counts(shares(71, 16, 13), shares(730, 210, 60), 15),
    true=Verdict(Answer.AGREES, "Wilson interval, at least 50 %"),
    why="B15: the result of a rollout is lost",
)
VALUE = Claim(
    "value-4",
    "value of action 4",
    Estimate(0.7, n=25),
    Source.NOTEBOOK,
    mean_of([0.6, 0.7, 0.65]),
    exact=Estimate(1.0, note="1/1"),
    why="B15: the result of a rollout is lost",
)


def test_numbers_become_words_only_on_the_page() -> None:
    assert str(share(71, 100)) == "71.0 % [61.5, 79.0] of 100"
    assert str(shares(71, 16, 13)) == "71.0 / 16.0 / 13.0 % of 100"
    assert str(shares(0, 0, 0)) == "none"
    assert str(mean_of([1.0, 2.0, 3.0])) == "2.000 [-0.484, 4.484] of 3, sd 1.000"
    # A count cannot be negative, and a share not above 100 %.
    assert str(mean_of([1.0, 2.0, 3.0], within=COUNTS)) == "2.000 [0.000, 4.484] of 3, sd 1.000"
    assert mean_of([98.0, 99.0, 100.0], unit="%").high == 100
    assert str(mean_of([2.0])) == "2.000 of 1"
    assert difference(over_trainings([2.0]), over_trainings([1.0])).low is None
    assert str(Estimate(21 / 32, note="21/32")) == "0.656 (21/32)"
    assert str(Estimate(-98, -150, -46, 1000, unit="Elo", digits=0)) == (
        "-98 Elo [-150, -46] of 1,000"
    )


LABELLED = replace(
    VALUE, name="threads", corrected=Estimate(2.0), labels={"corrected": "two threads"}
)
TRAINED = replace(
    MATCH, name="trained", faithful=counts_over_trainings([shares(60, 30, 10), shares(70, 20, 10)])
)


@pytest.mark.parametrize("claim", [MATCH, VALUE, LABELLED, TRAINED])
def test_a_claim_survives_json(claim: Claim) -> None:
    assert from_json(json.loads(json.dumps(claim.as_json()))) == claim


@pytest.mark.parametrize(
    "changed",
    [
        {"source": "hearsay"},
        {"faithful": []},
        {"faithful": {"counts": {"won": -1}}},
        {"faithful": {"counts": [1]}},
        {"faithful": {"value": "1"}},
        {"faithful": {"value": 1.0, "digits": 10**9}},
        {"reproduced": {"answer": "perhaps", "test": "", "margin": "", "p": None, "power": None}},
        {"reproduced": {"answer": "agrees", "test": 1, "margin": "", "p": None, "power": None}},
        {"true": []},
        {"why": 1},
    ],
)
def test_other_data_are_no_claim(changed: dict[str, object]) -> None:
    stored = json.loads(json.dumps(MATCH.as_json()))
    assert is_claim(stored)
    assert not is_claim({**stored, **changed})


def test_the_file_of_claims_has_bare_numbers_tests_and_sources() -> None:
    table = table_of([MATCH, VALUE])
    assert table.head == CLAIMS_HEAD
    rows = [dict(zip(table.head, row, strict=True)) for row in table.rows]
    assert [row["outcome"] for row in rows[:3]] == ["won", "lost", "drawn"]
    assert [row["value"] for row in rows[:3]] == [71.0, 16.0, 13.0]
    verdicts = [row for row in rows if row["question"]]
    assert [row["question"] for row in verdicts] == ["reproduced", "true"]
    assert verdicts[0]["test"] == "Fisher-Freeman-Halton test"
    assert 0 < verdicts[0]["p"] < 1
    assert verdicts[0]["power"] > 0.8
    reported = next(row for row in rows if row["claim"] == "value-4")
    assert (reported["version"], reported["source"]) == ("reported", "author's notebook")


def test_summaries_are_filled_with_the_values_of_claims() -> None:
    claims = {claim.name: claim for claim in (MATCH, VALUE)}
    text = "It won {experiment-3b.faithful}; {experiment-3b.true}, {experiment-3b.reproduced}."
    assert fill(text, claims) == "It won 73.0 / 21.0 / 6.0 % of 1,000; holds, agrees."
    assert fill("{value-4.exact}", claims) == "1.000 (1/1)"
    assert fill("{value-4.faithful:brief}", claims) == "0.650 [0.526, 0.774]"
    assert fill("{value-4.reported:brief}", claims) == "0.700"
    assert fill("{value-4.faithful:plain}", claims) == "0.650"
    assert fill("{value-4.corrected}", claims) is None, "there is no such value"
    assert fill("{value-5.exact}", claims) is None, "there is no such claim"
    optional = "One [[is {value-4.exact} ]][[of {value-5.exact} ]]left."
    assert fill(optional, claims) == "One is 1.000 (1/1) left."


def test_blocks_as_markdown_and_html(tmp_path: Path) -> None:
    drawn = tmp_path / "a.svg"
    drawn.write_text("<?xml?><svg>drawn</svg>")
    blocks = [
        Heading("A <b>", 2, "here"),
        Paragraph("`x < 1` and **bold** [link](data/a.csv)"),
        Bullets(["one", "two"]),
        Grid(("a", "b"), [("x|y", 3), ("`code`", "")]),
        Drawing(drawn, "figures/a.svg", "Of `c`.", "data/a.csv", "fourlab study a", "of-c"),
        Drawing(tmp_path / "no.svg", "figures/no.svg", "Not there."),
        Folded("More", [Listing("a < b")]),
    ]
    markdown = "\n".join(to_markdown(blocks))
    assert '<a id="here"></a>\n\n## A <b>' in markdown
    assert "| x\\|y | 3 |" in markdown
    assert (
        '<a id="of-c"></a>\n\n![a](figures/a.svg)\n\n'
        "Of `c`. ([data](data/a.csv), `fourlab study a`)" in markdown
    )
    assert "\n\nNot there.\n" in markdown
    assert "<details><summary>More</summary>\n\n```text\na < b\n```" in markdown
    html = "\n".join(to_html(blocks))
    assert '<h2 id="here">A &lt;b&gt;</h2>' in html
    expected = (
        '<p><code>x &lt; 1</code> and <strong>bold</strong> <a href="data/a.csv">link</a></p>'
    )
    assert expected in html
    assert '<figure id="of-c"><svg>drawn</svg>' in html
    assert '(<a href="data/a.csv">data</a>, <code>fourlab study a</code>)' in html
    assert "fourlab[plots]" in html
    assert "<td><code>code</code></td>" in html


def test_a_link_of_somebody_else_runs_no_script() -> None:
    (html,) = to_html([Paragraph("[x](javascript:alert(1)) [y](https://example.org/a)")])
    assert 'href="javascript' not in html
    assert '<a href="https://example.org/a">y</a>' in html
    assert "default-src 'none'" in page("title", [])


def test_every_item_of_the_index_belongs_to_an_experiment_of_its_report() -> None:
    for author in ("vannucci-abril", "bhat", "gao", "sewell", "arya"):
        for item in items_of(author):
            assert item.experiment in all_experiments(), item


def test_small_numbers_have_an_exponent() -> None:
    number = Estimate(9e-9, 0.0, 3.2e-8, 20, 4e-9, digits=9)
    assert str(number) == "9e-09 [0, 3.2e-08] of 20, sd 4e-09"
    assert str(Estimate(0.0158, digits=4)) == "0.0158"


def test_counts_over_trainings_have_the_variance_of_training() -> None:
    one, other = shares(60, 30, 10), shares(70, 20, 10)
    both = counts_over_trainings([one, other])
    assert str(both) == "65.0 / 25.0 / 10.0 % of 200 (2 trainings)"
    won = both.share("won")
    mean = over_trainings([60.0, 70.0], "%")
    assert (won.value, won.low, won.high) == (mean.value, mean.low, mean.high)
    pooled = shares(130, 50, 20).share("won")
    assert won.half > pooled.half
    assert both.share("drawn").low is None, "equal shares have an unknown spread"
    rows = [row for row in table_of([TRAINED]).rows if row[2] == "faithful"]
    assert rows[0][5:8] == pytest.approx((65.0, won.low, won.high), rel=1e-5)
    assert rows[0][11] == "130 of 200, 2 trainings"


def test_labels_name_the_columns_that_hold_something_else() -> None:
    versions = [row[2] for row in table_of([LABELLED]).rows]
    assert versions == ["reported", "faithful", "two threads", "exact"]
    assert LABELLED.label("corrected") == "two threads"
    assert LABELLED.label("faithful") == "faithful"
    with pytest.raises(ValueError, match="labels of"):
        replace(VALUE, labels={"reported": "read off"})


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (
            within_error("t-test", Difference(8, 2, None), 10),
            "different, but perhaps by less than the margin",
        ),
        (within_error("t-test", Difference(3, 5, None), 10), ""),
        (within_error("t-test", Difference(3, 1, None), 10), ""),
        (directed("t-test", Difference(2, 0.8, None), 3, "points"), ""),
        (directed("t-test", Difference(1, 0.3, None), 3, "points"), "by less than the margin"),
        (directed("t-test", Difference(1, 0.9, None), 3, "points"), ""),
    ],
)
def test_an_answer_says_what_it_leaves_out_about_the_margin(verdict: Verdict, words: str) -> None:
    assert verdict.qualification == words


def test_equal_values_have_no_interval_and_a_band_says_that_it_is_none() -> None:
    assert str(mean_of([100.0] * 4, 1, "%")) == "100.0 % of 4, sd 0.0"
    assert str(mean_of([0.1 * 3, 0.3, 0.3], 1)) == "0.3 of 3, sd 0.0"
    assert brief(band_of([1.0, 2.0, 3.0], 1)) == "2.0 [1.1, 3.0] (central 95 %)"
    assert brief(mean_of([1.0, 2.0, 3.0], 1)) == "2.0 [-0.5, 4.5]"
    assert plain(mean_of([1.0, 2.0, 3.0], 1)) == "2"
    assert plain(share(1, 8)) == "12.5 %"
    assert plain(shares(13, 2, 1)) == "81.2 / 12.5 / 6.2 %"
    assert plain(shares(3, 1, 0)) == "75 / 25 / 0 %"
    assert plain(replace(share(1, 8), digits=2)) == "12.50 %"
    best = Estimate(283, 246, 327, 280, unit="Elo", digits=0, note="minimax(4)")
    assert named(best) == "283 Elo [246, 327] (minimax(4))"
    assert named("as coded") == plain("as coded") == "as coded"


def test_words_about_an_item_are_borne_out_or_left_out() -> None:
    for author in SOURCES:
        for item in items_of(author):
            assert bool(item.outcome) == bool(item.expects), item.name
            assert item.sentence.endswith((".", "?")), item.name
            assert not re.search(r"\bas reported\b|\bnot true\b", item.sentence), item.name
    words = {"outcome": "It wins.", "expects": ["best.true holds"]}
    item = Item("table-1", "Table I", "002-table-1", "Levels.", **words)  # type: ignore[arg-type]
    holds = Claim("best", "best", "yes", Source.TEXT, true=Verdict(Answer.AGREES, "comparison"))
    assert item_words(item, {"best": holds}) == "Levels. It wins."
    for claims in ({}, {"best": replace(holds, true=Verdict(Answer.CANNOT_TELL, "interval"))}):
        assert item_words(item, claims) == "Levels."
