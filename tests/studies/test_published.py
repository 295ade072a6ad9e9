"""The published pages in docs/experiments are complete, and the README shows their league."""

import csv
import json
import re

from fourlab.arena.tables import Table
from fourlab.studies import data
from fourlab.studies.catalogue import FOLDERS, all_experiments, title_of
from fourlab.studies.league import KEPT
from tests.conftest import ROOT

PUBLISHED = ROOT / "docs" / "experiments"
LINK = re.compile(r"\]\(([^)]+)\)")


def test_every_experiment_is_published_at_quick_scale() -> None:
    assert json.loads((PUBLISHED / "manifest.json").read_text())["config"] == {
        "kind": "reproduce",
        "scale": "quick",
        "seed": 0,
    }
    index = (PUBLISHED / "report.md").read_text(encoding="utf-8")
    for experiment in all_experiments().values():
        assert f"| {title_of(experiment)} | {experiment.claim} |" in index
        home = PUBLISHED / FOLDERS[experiment.document]
        page = (home / "report.md").read_text(encoding="utf-8")
        assert f"`{title_of(experiment)}`, " in page


def test_reports_show_all_figures_and_data_and_nothing_else() -> None:
    for document, folder in FOLDERS.items():
        home = PUBLISHED / folder
        linked = set(LINK.findall((home / "report.md").read_text(encoding="utf-8")))
        files = {
            f"{file.parent.name}/{file.name}"
            for file in [*home.glob("figures/*"), *home.glob("data/*")]
        }
        findings = {
            f"data/{name.removeprefix(f'{document}-')}-findings.csv"
            for name, experiment in all_experiments().items()
            if experiment.document == document
        }
        assert linked == files - findings
        assert findings <= files


def test_data_files_have_plain_headers_and_bare_numbers() -> None:
    files = sorted(PUBLISHED.glob("*/data/*.csv"))
    assert len(files) > 100
    for file in files:
        with file.open(encoding="utf-8", newline="") as lines:
            head, *rows = (tuple(row) for row in csv.reader(lines))
        if file.stem.endswith("-findings"):
            assert head == data.FINDINGS_HEAD
            # Notes and explanations are text.
            numbers = [row[2:5] + row[6:8] for row in rows]
            assert all(not cell or float(cell) is not None for row in numbers for cell in row)
        else:
            # What has bare numbers already is not changed.
            assert data.numeric(Table("", head, tuple(rows))) == Table("", head, tuple(rows)), file
            assert len(set(head)) == len(head)
            assert all(head)


def test_the_readme_shows_the_published_league() -> None:
    file = PUBLISHED / "league" / "data" / "league-table.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        league = [
            (
                row["agent"],
                "{:+.1f} [{:+.1f}, {:+.1f}]".format(
                    *(float(row[name]) for name in ("Elo", "Elo low", "Elo high"))
                ),
                f"{row[f'{KEPT} (%)']} % [{row[f'{KEPT} low (%)']}, {row[f'{KEPT} high (%)']}] "
                f"of {row[f'{KEPT} of']}",
                row["CPU seconds per move"],
            )
            for row in csv.DictReader(lines)
        ]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.partition("| agent | Elo (95 %) |")[2].partition("\n\n")[0].splitlines()[2:]
    assert [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table] == league
    assert "docs/experiments/league/figures/league-strength.svg" in readme
