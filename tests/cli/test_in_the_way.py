"""A file in the place of a run's folder, or a folder in that of a file: one line, nothing lost."""

import json
import shutil
from pathlib import Path

import pytest

from fourlab.jobs.seal import SEAL_FILE
from tests.cli.hostile_runs import ALONE, IN_PARALLEL, SMALL, run


@pytest.mark.parametrize("is_sealed", [True, False], ids=["sealed", "killed"])
@pytest.mark.parametrize(
    ("kind", "folder"),
    [
        ("match", "figures"),
        ("train-q", "figures"),
        ("reproduce", "vannucci-abril/figures"),
    ],
)
def test_a_file_in_the_place_of_a_folder(
    kind: str, folder: str, is_sealed: bool, tmp_path: Path
) -> None:
    words = [*([] if kind in IN_PARALLEL else ALONE), "--quiet", "--run", "runs/run"]
    made = run(SMALL[kind], tmp_path, *words)
    assert made.returncode == 0, made
    home = tmp_path / "runs/run"
    place = home / folder
    names = {file.name for file in place.iterdir()}
    assert names
    if not is_sealed:
        (home / SEAL_FILE).unlink()
    shutil.rmtree(place)
    place.write_text("mine")
    assert run("runs --json", tmp_path).returncode == 0
    assert "Traceback" not in run("verify last", tmp_path).stderr
    for command in (f"{SMALL[kind]} --run runs/run", "resume last"):
        refused = run(command, tmp_path, *words[:-2])
        assert refused.returncode == 2, refused
        assert refused.stderr == (
            f"fourlab: runs/run/{folder} is in the way: it is a file, and a folder is needed\n"
        )
        assert place.read_text() == "mine"
    assert f"{folder} was added" in run("verify last", tmp_path).stdout
    place.unlink()
    resumed = run("resume last", tmp_path, *words[:-2])
    assert resumed.returncode == 0, resumed
    assert names <= {file.name for file in place.iterdir()}
    assert run("verify last", tmp_path).returncode == 0


def test_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    made = run(SMALL["match"], tmp_path, *ALONE, "--quiet", "--run", "runs/run")
    assert made.returncode == 0, made
    home = tmp_path / "runs/run"
    shutil.copytree(home, tmp_path / "kept")
    beside = [f"games.sqlite-{end}" for end in ("wal", "shm", "journal")]
    for name in ("games.sqlite", *beside, "lock-journal", "progress.json"):
        place = home / name
        place.unlink(missing_ok=True)
        place.mkdir()
        (place / "mine").touch()
        why = f"{name} is in the way: it is a folder, and a file is needed"
        for command in ("games last", "verify last --repair", "resume last --quiet"):
            refused = run(command, tmp_path)
            assert (refused.returncode, refused.stderr) == (2, f"fourlab: runs/run: {why}\n")
        listed = run("runs --json", tmp_path)
        (row,) = json.loads(listed.stdout)
        assert row["status"] == "damaged"
        assert why in row["headline"]
        assert (place / "mine").exists()
        shutil.rmtree(home)
        shutil.copytree(tmp_path / "kept", home)
