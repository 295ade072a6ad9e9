"""The published pages in docs/experiments are complete, and the README shows their league."""

import csv
import json
import re

from fourlab.studies.catalogue import DOCUMENTS, all_experiments
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
    for name, experiment in all_experiments().items():
        assert f"| {name} | {experiment.claim} |" in index
        page = (PUBLISHED / experiment.document / "report.md").read_text(encoding="utf-8")
        assert f"`{name}`, " in page


def test_reports_show_all_figures_and_data_and_nothing_else() -> None:
    for document in DOCUMENTS:
        home = PUBLISHED / document
        linked = set(LINK.findall((home / "report.md").read_text(encoding="utf-8")))
        files = {
            f"{file.parent.name}/{file.name}"
            for file in [*home.glob("figures/*"), *home.glob("data/*")]
        }
        findings = {
            f"data/{name}.csv"
            for name, experiment in all_experiments().items()
            if experiment.document == document
        }
        assert linked == files - findings
        assert findings <= files


def test_the_readme_shows_the_published_league() -> None:
    with (PUBLISHED / "all" / "data" / "league-0.csv").open(encoding="utf-8", newline="") as file:
        league = [
            (row["agent"], row["Elo (95 %)"], row["right where it matters"], row["CPU s a move"])
            for row in csv.DictReader(file)
        ]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.partition("| agent | Elo (95 %) |")[2].partition("\n\n")[0].splitlines()[2:]
    assert [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table] == league
    assert "docs/experiments/all/figures/league-strength.svg" in readme
