"""The lab over the web: links lead nowhere, and a long list of runs is cheap."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from fourlab.errors import UserError
from fourlab.jobs.run import Run, toml
from fourlab.web import run_folders, searching
from fourlab.web.settings import Caps, Settings
from tests.processes import wait_until
from tests.web.conftest import nothing_to_compile, serving


def make_run(home: Path, name: str, **settings: Any) -> Path:
    """Make the folder of a run that has not begun."""
    folder = home / name
    (folder / "figures").mkdir(parents=True)
    config = {"kind": "other", "seed": 1, **settings}
    (folder / "manifest.json").write_text(json.dumps({"config": config, "created": "now"}))
    (folder / "config.toml").write_text(toml(config))
    (folder / "figures" / "curve.svg").write_text("<svg></svg>")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def lab(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr("fourlab.web.run_list.LIST_SECONDS", 0.0)
    with serving(Settings(home=home), nothing_to_compile()) as client:
        yield client


def rows(lab: httpx.Client) -> dict[str, Any]:
    answer = lab.get("/api/v1/runs")
    assert answer.status_code == 200, answer.text
    return {row["name"]: row for row in answer.json()}


def test_figures_are_served(lab: httpx.Client, home: Path) -> None:
    make_run(home, "one")
    answer = lab.get("/api/v1/runs/one/figures/curve.svg")
    assert (answer.status_code, answer.text) == (200, "<svg></svg>")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert lab.get("/api/v1/runs/one/figures/other.svg").status_code == 404
    assert lab.get("/api/v1/runs/two/figures/curve.svg").status_code == 404


LINKS = [
    "figures/x.svg",
    "figures",
    "manifest.json",
    "results.json",
    "training.json",
    "metrics.jsonl",
    "games.sqlite",
    "progress.json",
    "work",
    "work/a/found.json",
    "lock",
]


@pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege on Windows")
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("link", LINKS)
def test_no_link_leads_out_of_a_run(
    lab: httpx.Client, home: Path, tmp_path: Path, link: str, relative: bool
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    for name in ("x.svg", "curve.svg", "found.json"):
        (secret / name).write_text('{"config": {"kind": "hidden"}, "headline": "hidden"}')
    folder = make_run(home, "one")
    place = folder / link
    target = secret if link in ("figures", "work") else secret / "x.svg"
    if place.is_dir():
        (place / "curve.svg").unlink()
        place.rmdir()
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(os.path.relpath(target, place.parent) if relative else target)
    for path in ("", "/figures/x.svg", "/figures/curve.svg", "/games", "/games/0"):
        answer = lab.get(f"/api/v1/runs/one{path}")
        assert "hidden" not in answer.text
        assert answer.status_code in (400, 404)
    assert lab.get("/api/v1/compare", params={"run": "one"}).status_code == 400
    row = rows(lab)["one"]
    assert row["status"] == "damaged"
    assert row["headline"] == f"one: {link} is not a file of its folder but a link to elsewhere"


@pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege on Windows")
def test_links_inside_a_run_and_to_a_run_are_followed(
    lab: httpx.Client, home: Path, tmp_path: Path
) -> None:
    folder = make_run(tmp_path / "disk", "one")
    home.mkdir()
    (home / "linked").symlink_to(folder)
    (folder / "figures" / "again.svg").symlink_to("curve.svg")
    assert rows(lab)["linked"]["status"] == "stopped"
    assert lab.get("/api/v1/runs/linked/figures/again.svg").status_code == 200
    assert lab.get("/api/v1/runs/linked").json()["figures"] == ["again", "curve"]


def test_a_figure_must_be_a_file_of_bounded_size(
    lab: httpx.Client, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(home, "one")
    (folder / "figures" / "folder.svg").mkdir()
    assert lab.get("/api/v1/runs/one/figures/folder.svg").status_code in (400, 404)
    monkeypatch.setattr(run_folders, "MOST_FIGURE_BYTES", 5)
    with pytest.raises(ValueError, match="too large"):
        run_folders.figure(Run(folder), "curve")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on Windows")
def test_a_run_with_a_pipe_is_not_read(lab: httpx.Client, home: Path) -> None:
    folder = make_run(home, "one")
    os.mkfifo(folder / "results.json")
    assert rows(lab)["one"]["status"] == "damaged"
    assert lab.get("/api/v1/runs/one").status_code == 400


@pytest.mark.parametrize("manifest", [{"config": {"kind": 5}}, {"config": {}, "created": 7}])
def test_a_damaged_manifest_hides_no_other_run(
    lab: httpx.Client, home: Path, manifest: dict[str, Any]
) -> None:
    make_run(home, "good")
    (make_run(home, "bad") / "manifest.json").write_text(json.dumps(manifest))
    assert rows(lab)["bad"]["status"] == "damaged"
    assert rows(lab)["good"]["status"] == "stopped"


def test_a_row_is_read_again_only_when_its_run_changes(lab: httpx.Client, home: Path) -> None:
    one = make_run(home, "one")
    make_run(home, "two")
    assert {name: row["status"] for name, row in rows(lab).items()} == {
        "one": "stopped",
        "two": "stopped",
    }
    before = run_folders.stamp(home, "one")
    (one / "progress.json").write_text('{"done": 3, "total": 7, "unit": "things"}')
    assert run_folders.stamp(home, "one") != before
    assert (rows(lab)["one"]["done"], rows(lab)["one"]["total"]) == (3, 7)
    (one / "manifest.json").write_text("{}")
    assert rows(lab)["one"]["status"] == "damaged"
    for file in (one / "manifest.json", one / "progress.json"):
        file.unlink()
    assert list(rows(lab)) == ["two"]


def test_a_run_is_running_as_long_as_it_is_locked(lab: httpx.Client, home: Path) -> None:
    run = Run(make_run(home, "one"))
    assert rows(lab)["one"]["status"] == "stopped"
    with run.locked():
        assert rows(lab)["one"]["status"] == "running"
        assert lab.get("/api/v1/runs/one").json()["status"] == "running"
    assert rows(lab)["one"]["status"] == "stopped"


def test_of_many_runs_only_the_changed_ones_are_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fourlab.web.pool import Pool

    asked: list[tuple[int, int]] = []
    run = Pool.run

    async def counted(self: Pool, do: str, fields: dict[str, Any], seconds: float) -> str:
        asked.append((len(fields["names"]), len(fields["changed"])))
        return await run(self, do, fields, seconds)

    monkeypatch.setattr(Pool, "run", counted)
    monkeypatch.setattr("fourlab.web.run_list.LIST_SECONDS", 0.0)
    monkeypatch.setattr("fourlab.web.run_list.MOST_AT_ONCE", 50)
    for number in range(80):
        make_run(home, f"run-{number:04}", number=number)
    with serving(Settings(home=home), nothing_to_compile()) as client:
        assert len(rows(client)) == 80
        assert asked == [(50, 50), (30, 30)]
        (home / "run-0070" / "progress.json").write_text('{"done": 1, "total": 2, "unit": "x"}')
        assert rows(client)["run-0070"]["done"] == 1
        assert asked[2:] == [(50, 0), (30, 1)]
        monkeypatch.setattr("fourlab.web.run_list.LIST_SECONDS", 600.0)
        rows(client)
        rows(client)
        assert len(asked) <= 6, "a list of this moment is sent again"


def test_a_missing_folder_of_runs_is_an_empty_list(lab: httpx.Client) -> None:
    wait_until(lambda: lab.get("/api/v1/ping").status_code == 200)
    assert rows(lab) == {}


@pytest.mark.parametrize(
    "manifest",
    [
        {"config": {"kind": 7}},
        {"config": {"kind": ["x"]}},
        {"config": {"kind": "other"}, "created": 7},
        {"config": {"kind": "other"}, "created": {}},
    ],
)
def test_values_of_other_types_are_one_line(home: Path, manifest: dict[str, Any]) -> None:
    folder = make_run(home, "one")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    fields = {"home": str(home), "name": "one"}
    with pytest.raises(UserError, match=r"^the files of the run are damaged: \w+: [\w ]+$"):
        searching.run(fields, Caps(), lambda: False, lambda text: None)


def test_metrics_of_other_types_are_one_line(home: Path) -> None:
    folder = make_run(home, "one")
    training = {"unit": 7, "total": 3, "curves": []}
    (folder / "training.json").write_text(json.dumps(training))
    fields = {"home": str(home), "name": "one"}
    with pytest.raises(UserError, match="the files of the run are damaged"):
        searching.run(fields, Caps(), lambda: False, lambda text: None)
