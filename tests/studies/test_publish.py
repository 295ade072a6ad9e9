"""Reports are published one by one, and their pages follow from their data."""

import json
from pathlib import Path

import pytest

from fourlab.errors import UserError
from fourlab.studies import made
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.publish import check_target, index_of, publish, reports_in, write_pages
from tests.studies.test_report import a_run


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder, by path."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_publishing_one_report_leaves_the_others(tmp_path: Path) -> None:
    target = tmp_path / "pages"
    publish(a_run(tmp_path / "runs", "000-exact"), target, ["000-exact"])
    before = contents(target / "vannucci-abril")
    files = {"report.md", "manifest.json", "parts.json", "claims.json", "data/exact-claims.csv"}
    assert before.keys() == files | {"data/exact-some-table.csv"}
    publish(a_run(tmp_path / "runs", "004-dqn", seed=1), target, ["004-dqn"])
    assert contents(target / "vannucci-abril") == before
    index = (target / "report.md").read_text(encoding="utf-8")
    assert "| vannucci-abril exact |" in index
    assert "| arya dqn |" in index
    assert "| Vannucci and Abril | 1 smoke | 0 | " in index
    assert "| Arya | 1 smoke | 1 | " in index


def test_an_experiment_replaces_its_own_results_only(tmp_path: Path) -> None:
    target = tmp_path / "pages"
    names = ["004-speed", "004-dqn"]
    publish(a_run(tmp_path / "runs", *names), target, names)
    before = contents(target / "arya")
    (target / "arya" / "data" / "of-yesterday.csv").write_text("old")
    # The run has both, but only one of them is to be published.
    publish(a_run(tmp_path / "runs", *names, seed=1), target, ["004-dqn"])
    manifest = json.loads((target / "arya" / "manifest.json").read_text())
    seeds = {name: made["seed"] for name, made in manifest["experiments"].items()}
    assert seeds == {"004-dqn": 1, "004-speed": 0}
    assert contents(target / "arya").keys() == before.keys()
    page = (target / "arya" / "report.md").read_text(encoding="utf-8")
    assert "`fourlab study arya dqn --scale smoke --seed 1`" in page
    assert "`fourlab study arya speed --scale smoke`" in page


def test_pages_say_why_an_experiment_is_not_of_full_scale(tmp_path: Path) -> None:
    long = all_experiments()["004-thinking-time"]
    reason = f"{long.quick} (full scale: about 67 minutes)"
    assert made.why_not_full(long, "quick") == reason
    assert made.why_not_full(long, "full") == ""
    assert made.why_not_full(all_experiments()["000-exact"], "quick") == "", "it has one size"
    dqn = all_experiments()["004-dqn"]
    assert made.why_not_full(dqn, "quick") == "full scale takes about 1 minute and was not run"
    names = [long.name, dqn.name]
    publish(a_run(tmp_path / "runs", *names, scale="quick"), tmp_path, names)
    file = tmp_path / "arya" / "manifest.json"
    file.write_text(file.read_text().replace(long.quick, "as an earlier version put it"))
    write_pages(tmp_path)
    assert reason in file.read_text()
    page = (tmp_path / "arya" / "report.md").read_text(encoding="utf-8")
    assert f"- thinking-time: {reason}\n" in page
    assert "would take about 68 minutes on two cores, which is more than the hour" in page
    assert "at the scales above they take about 1 minute." in page


def test_pages_are_written_again_from_their_data(tmp_path: Path) -> None:
    publish(a_run(tmp_path / "runs", "000-exact", "004-dqn"), tmp_path, ["000-exact", "004-dqn"])
    before = contents(tmp_path / "arya")
    index = (tmp_path / "report.md").read_text(encoding="utf-8")
    (tmp_path / "arya" / "report.md").unlink()
    (tmp_path / "arya" / "data" / "dqn-claims.csv").write_text("edited")
    (tmp_path / "report.md").write_text("nothing")
    assert write_pages(tmp_path) == ["vannucci-abril", "arya"]
    assert contents(tmp_path / "arya") == before
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == index == index_of(tmp_path)


def test_reports_of_an_earlier_version_stay_in_the_index(tmp_path: Path) -> None:
    (tmp_path / "gao").mkdir()
    (tmp_path / "gao" / "report.md").write_text("# Gao")
    (tmp_path / "manifest.json").write_text('{"config": {"kind": "reproduce"}}')
    publish(a_run(tmp_path / "runs", "000-exact"), tmp_path, ["000-exact"])
    index = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| [Gao](gao/report.md) | – |" in index
    assert "An earlier version published" in index
    assert (tmp_path / "manifest.json").exists(), "it is that of the report by Gao"
    publish(a_run(tmp_path / "runs", "002-games"), tmp_path, ["002-games"])
    assert not (tmp_path / "manifest.json").exists()
    assert [report.home.name for report in reports_in(tmp_path)] == ["vannucci-abril", "gao"]


@pytest.mark.parametrize("name", ["parts.json", "manifest.json"])
@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"000-exact": [{}]}',
        '{"000-exact": 1}',
        '{"experiments": {"000-exact": {}}}',
        '{"experiments": {"000-exact": {"scale": "tiny", "seed": 0}}}',
        '{"experiments": {"000-exact": {"scale": "full", "seed": 0, "commit": 1}}}',
    ],
)
def test_damaged_reports_are_one_line_before_anything_runs(
    tmp_path: Path, name: str, content: str
) -> None:
    publish(a_run(tmp_path / "runs", "000-exact"), tmp_path, ["000-exact"])
    check_target(tmp_path)
    (tmp_path / "vannucci-abril" / name).write_text(content)
    with pytest.raises(UserError, match=r"damaged .*remove that folder and publish"):
        check_target(tmp_path)


@pytest.mark.parametrize("name", ["bhat", "bhat/figures", "vannucci-abril/data"])
def test_a_file_in_the_place_of_a_folder_is_one_line_before_anything_runs(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(UserError, match=f"cannot publish to .*{name} is not a folder"):
        check_target(tmp_path)
    assert (tmp_path / name).read_text() == "mine"
