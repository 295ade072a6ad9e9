"""The published pages in docs/experiments are complete, and the map shows their league."""

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fourlab.arena.tables import Table
from fourlab.sources import AUTHOR_OF
from fourlab.studies import data, forest
from fourlab.studies.answers import title_of_statement
from fourlab.studies.catalogue import (
    FOLDERS,
    NO_PICTURE,
    all_experiments,
    items_of,
    statement_titles,
    title_of,
)
from fourlab.studies.claims import Claim, Estimate
from fourlab.studies.league import KEPT
from fourlab.studies.pages import NOT_BORNE_OUT, anchor_of, picture_of
from fourlab.studies.parts import HOLM, claims_json, claims_of, data_files, digest_of
from fourlab.studies.publish import index_of, read_report, reports_in
from fourlab.studies.questions import answers_of
from fourlab.studies.sewell import experiment_3
from fourlab.studies.stored_claims import CLAIMS_HEAD
from tests import league_table
from tests.conftest import ROOT
from tests.studies.sentences import repeated_sentences

PUBLISHED = ROOT / "docs" / "experiments"
LINK = re.compile(r"\]\(([^)]+)\)")
LINE, MOST_LINES = 110, 10
"""Characters of a line of a summary, and how many lines it may have."""


def text_of(file: Path) -> str:
    """Return the contents of a text file."""
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("document", FOLDERS)
def test_a_page_follows_from_its_data(document: str) -> None:
    report = read_report(PUBLISHED, document)
    assert text_of(report.home / "report.md") == report.page(), (
        "`fourlab study pages docs/experiments` writes it again from parts.json"
    )
    assert (report.home / "claims.json").read_bytes() == claims_json(report.parts)
    assert (report.home / "manifest.json").read_bytes() == report.manifest()
    for name, parts in report.parts.items():
        for file, content in data_files(all_experiments()[name], parts).items():
            assert (report.home / "data" / file).read_bytes() == content


@pytest.mark.parametrize("document", FOLDERS)
def test_every_experiment_is_published_and_names_its_scale(document: str) -> None:
    report = read_report(PUBLISHED, document)
    own = [name for name, one in all_experiments().items() if one.document == document]
    assert list(report.parts) == own
    for made in report.made.values():
        assert made.scale in ("quick", "full")
        assert made.scale == "full" or made.why_not_full
        assert made.created
        assert made.commit
        assert made.versions["fourlab"]


@pytest.mark.parametrize("document", FOLDERS)
def test_reports_show_all_figures_and_data_and_nothing_else(document: str) -> None:
    report = read_report(PUBLISHED, document)
    page = text_of(report.home / "report.md")
    linked = {link for link in LINK.findall(page) if link.startswith(("data/", "figures/"))}
    files = {
        f"{file.parent.name}/{file.name}"
        for file in [*report.home.glob("figures/*"), *report.home.glob("data/*")]
    }
    assert linked == files == report.files()
    anchors = {link for link in LINK.findall(page) if link.startswith("#")}
    assert all(f'<a id="{anchor[1:]}"></a>' in page for anchor in anchors)


@pytest.mark.parametrize("document", FOLDERS)
def test_every_item_of_the_index_has_a_picture_and_a_link(document: str) -> None:
    report = read_report(PUBLISHED, document)
    page = text_of(report.home / "report.md")
    for item in items_of(AUTHOR_OF.get(document, "")):
        picture = picture_of(item, report.parts[item.experiment])
        # Descriptions of a program say so; other things, such as an appendix, may be texts.
        has_none = item.picture == NO_PICTURE or not item.name.startswith(("figure", "table"))
        assert picture is not None or has_none, item
        anchor = item.experiment if picture is None else anchor_of(picture)
        assert f"[{item.title}](#{anchor})" in page


@pytest.mark.parametrize(
    "page", [*(f"{folder}/report.md" for folder in FOLDERS.values()), "report.md"]
)
def test_no_page_says_the_same_twice(page: str) -> None:
    assert not repeated_sentences(text_of(PUBLISHED / page))


def test_the_index_lists_every_report() -> None:
    index = text_of(PUBLISHED / "report.md")
    assert index == index_of(PUBLISHED)
    for folder in FOLDERS.values():
        assert f"]({folder}/report.md)" in index
        assert (PUBLISHED / folder / "report.md").exists()
    for report in reports_in(PUBLISHED):
        for name in report.parts:
            experiment = all_experiments()[name]
            assert f"| {title_of(experiment)} | {experiment.claim} |" in index


def test_every_answer_to_a_question_is_borne_out_by_its_data() -> None:
    for document in FOLDERS:
        report = read_report(PUBLISHED, document)
        claims = {
            claim.name: claim for parts in report.parts.values() for claim in claims_of(parts)
        }
        for question, answer in answers_of(FOLDERS[document], claims).items():
            assert answer is not None, question


@pytest.mark.parametrize("folder", AUTHOR_OF.values())
def test_a_summary_is_short_and_borne_out_by_its_data(folder: str) -> None:
    page = text_of(PUBLISHED / folder / "report.md")
    summary = page.partition("## Summary\n")[2].partition("\n## ")[0]
    paragraphs = [line for line in summary.splitlines() if line]
    assert NOT_BORNE_OUT not in summary
    assert len(paragraphs) >= 4
    assert sum(-(-len(paragraph) // LINE) for paragraph in paragraphs) <= MOST_LINES


def test_a_paragraph_that_the_data_do_not_bear_out_is_not_shown() -> None:
    report = read_report(PUBLISHED, "000")
    assert NOT_BORNE_OUT not in report.page()
    parts = json.loads(json.dumps(report.parts))
    for part in parts["000-exact"]:
        if part.get("name") == "exact-ranking":
            part["true"]["answer"] = "differs"
    page = replace(report, parts=parts).page()
    assert f"**True.** {NOT_BORNE_OUT}" in page
    assert "<!--" not in page


def numbers(claim: Claim, version: str) -> Estimate:
    """Return a value of a claim that is a number."""
    value = claim.versions()[version]
    assert isinstance(value, Estimate)
    return value


def test_explanations_agree_with_the_published_numbers() -> None:
    means = [
        claim
        for claim in claims_in("vannucci-abril").values()
        if claim.statement == "empty-board-values"
    ]
    assert len(means) == 7
    for claim in means:
        assert "both raise the means" in claim.why
        assert numbers(claim, "faithful").value > numbers(claim, "corrected").value
    for claim in claims_in("bhat").values():
        if "more games do not show it" in claim.why:
            assert all(verdict.answer != "agrees" for verdict in claim.verdicts().values())
    sewell = claims_in("sewell")
    if "behind" in sewell["figure-1-momentum"].why:
        assert isinstance(sewell["figure-1-momentum"].corrected, Estimate)
    averages = {
        experiment_3.RANDOM: numbers(sewell["experiment-3-network"], "faithful").value,
        experiment_3.LOOK: numbers(sewell["experiment-3-look"], "corrected").value,
        experiment_3.NETWORK: numbers(sewell["experiment-3-network"], "corrected").value,
        experiment_3.BOTH: numbers(sewell["experiment-3-look-network"], "corrected").value,
    }
    words = sewell["experiment-3-network"].why
    for arm, ours in re.findall(r"\d\.\d\d \(([^;()]+); ours (\d\.\d\d)\)", words):
        assert float(ours) == pytest.approx(averages[arm], abs=0.006), arm


MOST_WORDS = 4200
"""Words of a page that are not folded, with its index and captions."""


@pytest.mark.parametrize("folder", FOLDERS.values())
def test_what_is_not_folded_is_read_in_minutes(folder: str) -> None:
    page = text_of(PUBLISHED / folder / "report.md")
    assert len(re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL).split()) < MOST_WORDS


@pytest.mark.parametrize("folder", ["vannucci-abril", "bhat", "gao", "sewell"])
def test_lists_and_headings_name_statements_in_short(folder: str) -> None:
    titles = statement_titles(folder)
    for claim in claims_in(folder).values():
        assert len(title_of_statement(claim, titles)) <= 120, claim.name


def rows_of(file: Path) -> list[dict[str, str]]:
    """Return the rows of a data file by their headers."""
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def claims_in(folder: str) -> dict[str, Claim]:
    """Return the published claims of a report by name."""
    report = next(one for one in reports_in(PUBLISHED) if one.home.name == folder)
    return {claim.name: claim for parts in report.parts.values() for claim in claims_of(parts)}


def same(cells: Sequence[str], value: object, within: float) -> bool:
    """Return whether a value with its interval is that of three cells of a data file."""
    assert isinstance(value, Estimate)
    numbers = (value.value, value.low, value.high)
    return all(
        (number is None and not cell)
        or (number is not None and float(cell) == pytest.approx(number, rel=1e-5, abs=within))
        for cell, number in zip(cells, numbers, strict=True)
    )


@pytest.mark.parametrize("folder", AUTHOR_OF.values())
def test_pictures_of_gains_have_the_numbers_of_the_claims(folder: str) -> None:
    gained = [
        claim.corrected
        for claim in claims_in(folder).values()
        if claim.name.startswith("ablation-") and claim.quantity.startswith("Elo gained")
    ]
    rows = rows_of(PUBLISHED / folder / "data" / "ablation-gains.csv")
    drawn = [row for row in rows if row["gain"]]
    estimates = [value for value in gained if isinstance(value, Estimate)]
    assert len(drawn) == len(estimates) > 0
    for row, value in zip(drawn, estimates, strict=True):
        assert same([row["gain"], row["gain low"], row["gain high"]], value, 1e-4), row


def test_the_picture_of_experiment_3_has_the_numbers_of_the_claims() -> None:
    claims = claims_in("sewell")
    values = {
        experiment_3.RANDOM: claims["experiment-3-network"].faithful,
        experiment_3.NETWORK: claims["experiment-3-network"].corrected,
        experiment_3.LOOK: claims["experiment-3-look"].corrected,
        experiment_3.BOTH: claims["experiment-3-look-network"].corrected,
        experiment_3.HALF: claims["experiment-3-epsilon"].faithful,
        experiment_3.BLIND: claims["experiment-3-blind"].corrected,
        experiment_3.FIXED: claims["experiment-3-fixed"].corrected,
    }
    rows = rows_of(PUBLISHED / "sewell/data/experiment-3-one-change-at-a-time.csv")
    assert [row["rollouts"] for row in rows] == list(experiment_3.ARMS)
    for row in rows:
        cells = [row[name] for name in ("average result", "average low", "average high")]
        assert same(cells, values[row["rollouts"]], 1e-4), row


@pytest.mark.parametrize("folder", AUTHOR_OF.values())
def test_pictures_of_shares_have_the_numbers_of_the_claims(folder: str) -> None:
    for unit, name in forest.KINDS.items():
        for file in sorted((PUBLISHED / folder / "data").glob(f"*-{name}.csv")):
            if "share" not in (rows := rows_of(file))[0] and unit not in rows[0]:
                continue
            values = {
                (claim.quantity, version): value
                for claim in claims_in(folder).values()
                for version, value in forest.numbers_of(claim, unit).items()
            }
            for row in rows:
                cells = [row["share" if unit == "%" else unit], row["low"], row["high"]]
                assert same(cells, values[row["claim"], row["version"]], 0.006), (file, row)


@pytest.mark.parametrize("document", FOLDERS)
def test_the_data_of_every_picture_are_those_of_its_results(document: str) -> None:
    report = read_report(PUBLISHED, document)
    for name, parts in report.parts.items():
        for part in parts:
            if part["kind"] == "picture":
                content = (report.home / "data" / f"{part['file']}.csv").read_bytes()
                assert digest_of(content) == part["data"], (name, part["file"])


def test_data_files_have_plain_headers_and_bare_numbers() -> None:
    files = [
        file
        for file in sorted(PUBLISHED.glob("*/data/*.csv"))
        # Earlier versions published findings.
        if not file.stem.endswith("-findings")
    ]
    assert len(files) > 50
    for file in files:
        with file.open(encoding="utf-8", newline="") as lines:
            head, *rows = (tuple(row) for row in csv.reader(lines))
        if file.stem.endswith("-claims"):
            assert head == CLAIMS_HEAD
            columns = [head.index(name) for name in ("value", "low", "high", "n", "p", "power")]
            cells = [row[column] for row in rows for column in columns]
            assert all(not cell or float(cell) is not None for cell in cells)
        else:
            # What has bare numbers already is not changed.
            assert data.numeric(Table("", head, tuple(rows))) == Table("", head, tuple(rows)), file
            assert len(set(head)) == len(head)
            assert all(head)


@pytest.mark.parametrize("document", FOLDERS)
def test_claims_are_data_with_values_intervals_tests_and_power(document: str) -> None:
    report = read_report(PUBLISHED, document)
    rows = json.loads(text_of(report.home / "claims.json"))
    claims = [claim for parts in report.parts.values() for claim in claims_of(parts)]
    assert {row["claim"] for row in rows} == {claim.name for claim in claims}
    for row in rows:
        assert row.keys() <= {"experiment", HOLM, *CLAIMS_HEAD}
        assert ("p" in row) == (HOLM in row)
        assert row.get(HOLM, 0) >= row.get("p", 0)
        numbers = [row[name] for name in ("value", "low", "high", "n", "p", "power") if name in row]
        assert all(isinstance(number, int | float) for number in numbers), row
        # What chance decides has a p-value and a power; the rest is arithmetic.
        if "question" in row:
            assert "p" not in row or "power" in row, row
    assert sum("question" in row for row in rows) == sum(len(one.verdicts()) for one in claims)


def test_the_map_shows_the_published_league() -> None:
    page = text_of(ROOT / "docs" / "index.md")
    assert page == league_table.updated(page), (
        "`python -m tests.league_table` writes the table again"
    )
    assert league_table.table(league_table.rows()) in page
    assert "experiments/league/figures/league-strength.svg" in page


def test_a_league_without_all_bounds_has_a_table() -> None:
    kept = {f"{KEPT}{end}": "1" for end in (" (%)", " low (%)", " high (%)", " of")}
    row = {"agent": "A", "CPU seconds per move": "2", **kept}
    bounded = {**row, "Elo": "10.04", "Elo low": "-1", "Elo high": ""}
    assert "| A | +10.0 [-1.0, no bound] | 1 % [1, 1] of 1 | 2 |" in league_table.table([bounded])
    unbounded = {**row, "Elo": "", "Elo low": "", "Elo high": "", "Elo note": "won every game"}
    assert "| A | won every game |" in league_table.table([unbounded])
