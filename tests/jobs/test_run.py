import json
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import pytest

from fourlab.errors import UserError
from fourlab.jobs.run import Run, all_runs, differences, find_run, open_run, settings_of, toml

CONFIG = {
    "kind": "match",
    "seed": 3,
    "openings": ["1", "2"],
    "agents": [{"spec": "a", "seconds": 0.5}, {"spec": 'b:x="1,2"'}],
}


def test_the_same_configuration_finds_its_folder_again(tmp_path: Path) -> None:
    run = open_run(tmp_path, "a / b", CONFIG)
    assert run.folder.name.split("_")[1] == "a-b"
    assert open_run(tmp_path, "a / b", CONFIG) == run
    assert open_run(tmp_path, "a / b", {**CONFIG, "seed": 4}) != run
    assert len(all_runs(tmp_path)) == 2


def test_the_folder_records_how_it_was_made(tmp_path: Path) -> None:
    run = open_run(tmp_path, "x", CONFIG)
    assert tomllib.loads((run.folder / "config.toml").read_text()) == CONFIG
    manifest = json.loads((run.folder / "manifest.json").read_text())
    assert manifest["config"] == CONFIG
    assert manifest["seed"] == 3
    assert {"fourlab", "python", "numpy"} <= manifest["versions"].keys()
    assert manifest["command"].startswith("fourlab")
    assert run.results is None
    run.check()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"seed": 4}, "seed = 3, not 4"),
        (
            {"agents": [{"spec": "a", "seconds": 0.6}, CONFIG["agents"][1]]},
            r"agents\.0\.seconds = 0\.5, not 0\.6",
        ),  # type: ignore[index]
        ({"extra": 1}, "extra = None, not 1"),
    ],
)
def test_a_changed_configuration_is_refused_naming_the_setting(
    change: dict[str, object], word: str, tmp_path: Path
) -> None:
    run = open_run(tmp_path, "x", CONFIG, tmp_path / "here")
    with pytest.raises(UserError, match=word):
        open_run(tmp_path, "x", {**CONFIG, **change}, tmp_path / "here")
    (run.folder / "config.toml").write_text(toml({**CONFIG, **change}))
    with pytest.raises(UserError, match=word):
        Run(run.folder).check()


def test_files_of_the_user_are_not_overwritten_by_a_new_run(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    open_run(tmp_path, "a", {"x": 1}, folder)  # an empty folder becomes a run
    (folder / "manifest.json").unlink()
    open_run(tmp_path, "a", {"x": 1}, folder)  # interrupted before it had a manifest
    (folder / "manifest.json").unlink()
    (folder / "config.toml").write_text("mine = 1")
    for name in ("config.toml", "report.html"):
        (folder / name).write_text("mine = 1")
        with pytest.raises(UserError, match="mine has files but is no run"):
            open_run(tmp_path, "a", {"x": 1}, folder)
        assert (folder / name).read_text() == "mine = 1"
    assert not (folder / "manifest.json").exists()


def test_a_run_is_found_by_folder_name_part_of_a_name_or_last(tmp_path: Path) -> None:
    first = open_run(tmp_path, "alpha", CONFIG)
    second = open_run(tmp_path, "beta", {**CONFIG, "seed": 4})
    assert find_run(tmp_path, str(first.folder)).folder == first.folder
    assert find_run(tmp_path, second.name) == second
    assert find_run(tmp_path, "alph") == first
    assert find_run(tmp_path, "last") == second
    with pytest.raises(UserError, match="could be"):
        find_run(tmp_path, "20")
    with pytest.raises(UserError, match="there is no run 'gamma'"):
        find_run(tmp_path, "gamma")


def test_a_folder_with_a_damaged_manifest_is_not_a_run(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("[1]")
    with pytest.raises(UserError, match="not a run folder"):
        _ = Run(tmp_path).config
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(UserError, match="not a run folder"):
        _ = Run(tmp_path).config


def test_a_lock_excludes_other_processes_and_ends_with_its_own(tmp_path: Path) -> None:
    run = open_run(tmp_path, "x", CONFIG)
    program = (
        "import sys, time; from pathlib import Path; from fourlab.jobs.run import Run\n"
        f"with Run(Path({str(run.folder)!r})).locked():\n"
        "    print('locked', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        assert run.is_locked
        with pytest.raises(UserError, match="another process"), run.locked():
            pass
    finally:
        holder.kill()
        holder.communicate()
    assert not run.is_locked
    with run.locked():
        assert run.is_locked


def test_reading_is_locked_does_not_keep_others_from_locking(tmp_path: Path) -> None:
    run = open_run(tmp_path, "x", CONFIG)
    done = threading.Event()
    states: list[bool] = []
    assert not run.is_locked
    assert not (run.folder / "lock").exists()

    def poll() -> None:
        while not done.is_set():
            states.append(run.is_locked)
            time.sleep(0.0005)

    poller = threading.Thread(target=poll)
    poller.start()
    try:
        for _ in range(200):
            with run.locked():
                pass
    finally:
        done.set()
        poller.join()
    assert states


def test_every_string_survives_toml() -> None:
    texts = ['"', "\\", "\n\t\x00\x1f\x7f\x80", "é🙂", "a = 1", ""]
    config = {
        "texts": texts,
        "n": 1,
        "x": 1e-9,
        "big": 1e300,
        "yes": True,
        "sprt": {"elo0": -1.5},
        "agents": [{"spec": text} for text in texts],
    }
    assert tomllib.loads(toml(config)) == config


def test_differences_are_named_by_setting() -> None:
    assert differences(CONFIG, CONFIG) == {}
    assert differences({"a": [{"b": 1}], "c": [1, 2]}, {"a": [{"b": 2}], "c": [1]}) == {
        "a.0.b": (1, 2),
        "c": ([1, 2], [1]),
    }
    assert settings_of({"a": {"b": {"c": 1}}}) == {"a.b.c": 1}
