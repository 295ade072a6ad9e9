"""The page of a report: source, verdicts, explanations, pictures, and what is folded."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from fourlab.arena.tables import Table
from fourlab.faults import FAULTS
from fourlab.reporting import figures
from fourlab.reporting.blocks import Bullets, Drawing, Folded, to_markdown
from fourlab.sources import SOURCES
from fourlab.studies import answers, pages
from fourlab.studies.answers import findings
from fourlab.studies.catalogue import Item, all_experiments, items_of, statement_titles
from fourlab.studies.claims import (
    Answer,
    Claim,
    Estimate,
    Kind,
    Source,
    Verdict,
    share,
    shares,
)
from fourlab.studies.forest import with_picture
from fourlab.studies.made import Made, from_json
from fourlab.studies.pages import bears_out, blocks_of, fill, picture_of
from fourlab.studies.parts import digest_of, stored
from fourlab.studies.report import save_parts, write_reports
from fourlab.studies.rules import Difference, directed, within_error
from fourlab.studies.stored_claims import CLAIMS_HEAD
from fourlab.studies.verdicts import half_of_decided
from fourlab.studies.workbench import Picture
from tests.studies.sentences import repeated_sentences
from tests.studies.test_claims import MATCH, VALUE
from tests.studies.test_report import a_run

AGREES = Verdict(Answer.AGREES, "a test")
DIFFERS = Verdict(Answer.DIFFERS, "a test")
CANNOT_TELL = Verdict(Answer.CANNOT_TELL, "a test")


def a_picture(name: str) -> Picture:
    """Return a picture with the smallest data."""
    draw = lambda: figures.panels(1, 1)[0]  # noqa: E731
    return Picture(name, f"Caption of {name}", draw, Table("", ("x",), (("1",),)))


def test_a_page_has_claims_reasons_once_and_folded_tests(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    experiment = all_experiments()["004-experiment-3"]
    save_parts(run, experiment, [MATCH, VALUE])
    results = write_reports(run)
    kept = results["experiments"]["004-experiment-3"]
    assert [part["kind"] for part in kept] == ["claim", "claim"]
    text_page = (run.folder / "arya" / "report.md").read_text(encoding="utf-8")
    assert "| MCTS 1 s against minimax(6) | 71.0 / 16.0 / 13.0 % of 100 |" in text_page
    assert text_page.count("B15: the result of a rollout is lost") == 1
    assert "(author's notebook)" in text_page
    html = (run.folder / "arya" / "report.html").read_text(encoding="utf-8")
    for page in (text_page, html):
        for title in ("All 2 claims", "The tests"):
            assert f"<details><summary>{title}</summary>" in page
    text = (run.folder / "arya" / "data" / "experiment-3-claims.csv").read_text(encoding="utf-8")
    head, *rows = csv.reader(io.StringIO(text))
    assert tuple(head) == CLAIMS_HEAD
    assert {row[0] for row in rows} == {"experiment-3b", "value-4"}
    assert "| arya experiment-3 |" in (run.folder / "report.md").read_text(encoding="utf-8")


def test_a_page_states_its_source_its_columns_and_where_numbers_come_from() -> None:
    experiment = all_experiments()["000-figure-2"]
    done = {experiment.name: [stored(experiment, claim) for claim in (MATCH, VALUE)]}
    page = "\n".join(to_markdown(blocks_of("000", Path(), done)))
    assert "Vannucci and Abril: Assignment 3, 2024" in page
    assert "](https://github.com/michelexyz/RL-assignments)" in page
    assert "Columns count from 0" in page
    assert "Sources of the reported values: 1 report text, 1 author's notebook." in page
    assert f"| B15 | {FAULTS['B15'].faulty} | {FAULTS['B15'].corrected} |" in page
    assert "| B16 |" not in page, "nothing on the page names it"
    for number in (source.number for source in SOURCES.values()):
        empty = "\n".join(to_markdown(blocks_of(number, Path(), {})))
        assert "Columns count from" in empty
        assert "Public besides the report" in empty


def test_statements_are_listed_by_their_verdicts_with_values_where_these_differ() -> None:
    claim = Claim(
        "a", "the first", Estimate(75, unit="%", digits=0), Source.TEXT, exact=Estimate(0, digits=0)
    )
    several = [
        replace(claim, name=str(n), statement=str(n), quantity=f"no. {n}", true=AGREES)
        for n in range(2)
    ]
    rows = [
        replace(claim, name=f"row-{n}", statement="rows", quantity=f"row {n}", reproduced=verdict)
        for n, verdict in enumerate((AGREES, DIFFERS, AGREES))
    ]
    lines = list(
        findings(
            [
                replace(claim, quantity="unknown"),
                *several,
                *rows,
                replace(claim, reproduced=AGREES, true=DIFFERS),
                replace(
                    claim,
                    quantity="a match",
                    statement="match",
                    reported=shares(71, 16, 13),
                    faithful=shares(1, 2, 1),
                    exact="",
                    reproduced=DIFFERS,
                    true=CANNOT_TELL,
                ),
            ],
            {"rows": "all rows", "0": "a short name"},
        )
    )
    assert lines == [
        "**Reproduced, but does not hold:** the first (reported: 75 %, exact: 0).",
        "**Reproduced:** all rows (2 of 3 rows).",
        "**Not reproduced; cannot tell whether it holds:** a match "
        "(reported: 71.0 / 16.0 / 13.0 % of 100, faithful: 25.0 / 50.0 / 25.0 % of 4).",
        "**Not reproduced:** all rows (1 of 3 rows; row 1).",
        ("**Holds:**", ["a short name", "no. 1"]),
    ]
    many = [replace(claim, statement=str(n), quantity=f"no. {n}", true=AGREES) for n in range(20)]
    ((_, names),) = findings(many, {})
    assert names[-1] == "and 13 more"
    assert len(names) == answers.MOST_NAMED


def test_answers_say_if_a_difference_is_below_the_margin() -> None:
    holds = directed("t-test", Difference(1, 0.3, None), 3, "points")
    unclear = within_error("t-test", Difference(8, 2, None), 10)
    claim = Claim("a", "the first", "yes", Source.TEXT, reproduced=unclear, true=holds)
    assert list(findings([claim], {})) == [
        "**Holds (by less than the margin); cannot tell whether reproduced "
        "(different, but perhaps by less than the margin):** the first."
    ]
    filled = fill("{a.reproduced}; {a.true}", {"a": claim})
    assert filled == (
        "cannot tell: different, but perhaps by less than the margin; "
        "holds, but by less than the margin"
    )
    assert bears_out({"a": claim}, ["a.reproduced cannot tell", "a.true holds"])


def test_what_the_report_does_not_claim_is_folded(tmp_path: Path) -> None:
    experiment = all_experiments()["002-table-1"]
    ours = replace(VALUE, name="ours", statement="", reported="", true=DIFFERS, why="It is ours")
    theirs = replace(VALUE, name="theirs", statement="", true=DIFFERS, why="It is theirs")
    stored_parts = [stored(experiment, replace(one, kind=Kind.CLAIM)) for one in (ours, theirs)]
    blocks = list(blocks_of("002", tmp_path, {experiment.name: stored_parts}))
    (bullets,) = [block for block in blocks if isinstance(block, Bullets)]
    assert bullets.lines == [
        "**Does not hold:** value of action 4 (reported: 0.700, exact: 1.000)."
    ]
    folded = {block.title: block for block in blocks if isinstance(block, Folded)}
    text = "\n".join(to_markdown(folded["Our own comparisons, notes"].blocks))
    assert "It is ours." in text
    assert "It is theirs" not in text
    alone = list(blocks_of("002", tmp_path, {experiment.name: stored_parts[:1]}))
    assert sum(isinstance(block, Bullets) for block in alone) == 1, "there is nothing else to show"


def test_values_with_other_meanings_have_a_table_of_their_own(tmp_path: Path) -> None:
    experiment = all_experiments()["002-parallel"]
    speed = replace(VALUE, name="speed", labels={"faithful": "one thread"})
    parts = [stored(experiment, one) for one in (VALUE, speed)]
    page = "\n".join(to_markdown(blocks_of("002", tmp_path, {experiment.name: parts})))
    assert "| claim | reported | faithful | exact | reproduced? | true? |" in page
    assert "| claim | reported | one thread | exact | reproduced? | true? |" in page
    assert "All 2 claims" in page
    page = "\n".join(to_markdown(blocks_of("002", tmp_path, {experiment.name: parts[:1]})))
    assert "<summary>The claim</summary>" in page


def test_the_index_says_which_seed_the_numbers_of_the_page_have(tmp_path: Path) -> None:
    name = "002-table-1"
    parts = {name: [stored(all_experiments()[name], MATCH)]}
    page = "\n".join(to_markdown(blocks_of("002", tmp_path, parts, {name: Made("full", 2)})))
    assert "at the scale quick with seed 0. The numbers of this page have seed 2;" in page
    page = "\n".join(to_markdown(blocks_of("002", tmp_path, parts, {name: Made("quick", 0)})))
    assert "with seed 0" not in page


def test_a_page_with_matches_says_what_it_means_to_beat_a_player(tmp_path: Path) -> None:
    name = "001-table-5"
    match = replace(MATCH, true=half_of_decided(30, 10))
    meaning = "holds if it wins more than half of the games that are not drawn"
    for claim, is_there in ((match, True), (VALUE, False)):
        parts = {name: [stored(all_experiments()[name], claim)]}
        page = "\n".join(to_markdown(blocks_of("001", tmp_path, parts)))
        assert (meaning in page) == is_there


def test_a_paragraph_with_a_condition_is_left_out_without_it() -> None:
    texts = {}
    for answer, begin in (
        (Answer.CANNOT_TELL, "**Not decided.**"),
        (Answer.AGREES, "**True.** A working network"),
        (Answer.DIFFERS, "**Not true, either.**"),
    ):
        claims = claims_for_the_summary_of_sewell(Verdict(answer, "a test"))
        lines = list(to_markdown(pages._summary("sewell", claims)))
        texts[answer] = "\n".join(lines)
        assert begin in texts[answer]
        assert "<!--" not in texts[answer]
        assert sum(line.startswith("**") for line in lines) == 7
    assert len(set(texts.values())) == 3


def claims_for_the_summary_of_sewell(network: Verdict) -> dict[str, Claim]:
    """Return the claims that the summary names, all with the same values."""
    value = Estimate(0.8, 0.7, 0.9)
    names = ("experiment-1-found", "experiment-1-iterations", "figure-1-train", "figure-1-test")
    names += ("wrong-unit", "always-wins-now", "experiment-3-network", "ablation-b10")
    claims = {
        name: Claim(name, name, "1", Source.TEXT, faithful=value, corrected=value) for name in names
    }
    claims["always-wins-now"] = replace(claims["always-wins-now"], true=DIFFERS)
    claims["experiment-3-network"] = replace(claims["experiment-3-network"], true=network)
    return claims


def test_titles_of_statements_are_short_and_belong_to_a_report() -> None:
    for author in SOURCES:
        for statement, title in statement_titles(author).items():
            assert len(title) <= answers.LONG, title
            assert not title.endswith("."), title
            assert statement == statement.lower()


def test_every_item_has_one_picture_and_others_are_folded(tmp_path: Path) -> None:
    experiment = all_experiments()["002-convergence"]
    names = ["figure-2", "figure-3", "optimal"]
    parts = [stored(experiment, a_picture(name)) for name in names]
    made = {experiment.name: Made("quick", 1)}
    blocks = list(blocks_of("002", tmp_path, {experiment.name: parts}, made))
    shown = [block for block in blocks if isinstance(block, Drawing)]
    assert [block.caption for block in shown] == ["Caption of figure-2", "Caption of figure-3"]
    (folded,) = [block for block in blocks if isinstance(block, Folded)]
    assert folded.title == "More pictures"
    command = "fourlab study gao convergence --scale quick --seed 1"
    assert all(block.command == command and block.data for block in shown)
    page = "\n".join(to_markdown(blocks))
    assert "[Figure 3: visits of the columns](#picture-convergence-figure-3)" in page
    assert '<a id="picture-convergence-figure-3"></a>' in page
    assert not any(isinstance(block, Bullets) for block in blocks), "there are no verdicts"


def test_an_item_may_name_its_picture() -> None:
    experiment = all_experiments()["002-convergence"]
    parts = [stored(experiment, a_picture(name)) for name in ("figure-2", "optimal")]
    item = Item("table-9", "Table 9", experiment.name, "", "optimal")
    assert picture_of(item, parts) == "convergence-optimal"
    assert picture_of(replace(item, picture=""), parts) == "convergence-figure-2"
    assert picture_of(item, []) is None


def test_an_explanation_is_given_once_on_a_page() -> None:
    both = [all_experiments()[name] for name in ("000-figure-2", "000-variants")]
    done = {
        experiment.name: [
            stored(experiment, replace(MATCH, quantity=title, why=f"{MATCH.why}. Of {title}"))
        ]
        for experiment, title in ((one, one.title.lower()) for one in both)
    }
    page = "\n".join(to_markdown(blocks_of("000", Path(), done)))
    assert page.count("B15: the result of a rollout is lost") == 1
    assert all(f"Of {experiment.title.lower()}." in page for experiment in both)
    assert not repeated_sentences(page)
    assert repeated_sentences("This much is said here. And so on.\n\nThis much is said here.")


def test_sentences_of_the_index_end_and_commands_are_short() -> None:
    for author in SOURCES:
        for item in items_of(author):
            assert item.sentence.endswith("."), item
            assert item.name == item.name.lower()


def test_an_experiment_without_a_picture_gets_one_of_its_shares() -> None:
    won = Claim("won", "games won", "", Source.OURS, faithful=share(7, 10), corrected=share(9, 10))
    parts = with_picture("Games", [won, MATCH])
    assert parts[:2] == [won, MATCH]
    picture = parts[2]
    assert isinstance(picture, Picture)
    assert picture.data.rows == (
        ("games won", "faithful", "70.00", "39.68", "89.22"),
        ("games won", "corrected", "90.00", "59.58", "98.21"),
        (MATCH.quantity, "reported", "71.00", "61.46", "78.99"),
        (MATCH.quantity, "faithful", "73.00", "70.16", "75.66"),
        (MATCH.quantity, "corrected", "99.00", "98.17", "99.46"),
    )
    assert figures.render(picture.draw(), "svg", salt="x").startswith(b"<svg")
    assert with_picture("Games", [VALUE]) == [VALUE], "it has no shares"
    own = a_picture("own")
    assert with_picture("Games", [won, own]) == [won, own]


def test_a_page_says_which_commit_judged_stored_numbers_again(tmp_path: Path) -> None:
    names = ["000-exact", "000-figure-2"]
    one = Made("quick", 0, created="2026-11-18T08:00:00", commit="abc1234", machine="a machine")
    later = replace(one, judged="2026-11-19T08:00:00", judged_commit="def5678")
    done = {name: [stored(all_experiments()[name], replace(MATCH, name=name))] for name in names}
    made = dict(zip(names, (one, later), strict=True))
    page = "\n".join(to_markdown(blocks_of("000", tmp_path, done, made)))
    assert "| experiments | scale | seed | commit | date | judged by |" in page
    assert "| exact | quick | 0 | abc1234 | 2026-11-18 |  |" in page
    assert "| figure-2 | quick | 0 | abc1234 | 2026-11-18 | def5678, 2026-11-19 |" in page
    assert "without a new run" in page
    page = "\n".join(to_markdown(blocks_of("000", tmp_path, done, dict.fromkeys(names, one))))
    assert "judged by" not in page
    assert from_json(later.as_json()) == later


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("c = 2", "c = 2"),
        ("ε = 0.5 instead", "ε = 0.5 instead"),
        ("arya-5000 with 50 simulations", "arya-5000 with 50 simulations"),
        ("a tree each", "A tree each"),
        ("one run ranks action 4 first", "One run ranks action 4 first"),
        ("self-play", "Self-play"),
    ],
)
def test_symbols_and_names_keep_their_first_letter(text: str, begun: str) -> None:
    assert answers._begun(text) == begun


def test_a_picture_is_stored_with_the_digest_of_its_data() -> None:
    experiment = all_experiments()["004-experiment-3"]
    picture = a_picture("p")
    other = replace(picture, data=Table("", ("x",), (("2",),)))
    assert stored(experiment, picture)["data"] == digest_of(b"x\n1\n")
    assert stored(experiment, other)["data"] == digest_of(b"x\n2\n")


def test_a_source_names_its_authors_in_full() -> None:
    assert all(SOURCES[author].names for author in ("bhat", "gao", "sewell", "arya"))
    (paragraph, *_) = pages._source("sewell", [])
    words = 'David SeWell: final project, "Apply MCTS + Q learning to Connect4", 2020'
    assert any(words in line for line in to_markdown([paragraph]))
