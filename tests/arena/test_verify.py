"""Damage to a run is found, and its games are repaired."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourlab.agent import Limit
from fourlab.agents.players import is_repeatable
from fourlab.analysis import overview
from fourlab.arena.job import TournamentJob
from fourlab.arena.store import DamagedStore, Store, StoredGame
from fourlab.arena.tournament import Player
from fourlab.arena.verify import LOST, lost_game, salvage, verify
from fourlab.errors import UserError
from fourlab.jobs.run import Run
from fourlab.jobs.runner import work
from fourlab.jobs.seal import SEAL_FILE, _hash_of, is_sealed, seal, unseal
from tests.arena.eight_games import TOURNAMENT, reasons, run_fourlab, session
from tests.promises import Report

PROGRESS = "progress.json"


def execute(run: Run, *statements: str) -> None:
    with sqlite3.connect(run.games_file) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def flip(file: Path, rng: random.Random) -> Callable[[], None]:
    """Change one bit of a file; returns the function that restores it."""
    place, bit = rng.randrange(file.stat().st_size), 1 << rng.randrange(8)

    def change() -> None:
        # In place: some file systems write a file to the disk at once if it is emptied first.
        with file.open("r+b", buffering=0) as stream:
            stream.seek(place)
            (byte,) = stream.read(1)
            stream.seek(place)
            stream.write(bytes([byte ^ bit]))

    change()
    return change


def found_flips(run: Run, flips: int, seed: int) -> int:
    """Flip single bits of all sealed files and of the seal; return how many flips are found."""
    rng = random.Random(seed)
    files = [
        file
        for file in sorted(run.folder.rglob("*"))
        if file.is_file() and file.name != "lock" and not file.name.endswith(("-shm", "-wal"))
    ]
    assert {file.name for file in files} >= {"config.toml", "games.sqlite", PROGRESS, SEAL_FILE}
    detected = 0
    for _ in range(flips):
        restore = flip(rng.choice(files), rng)
        detected += not verify(run).is_sound
        restore()
    assert verify(run).is_sound
    return detected


def test_a_finished_run_is_sealed_and_sound(run: Run) -> None:
    verification = verify(run)
    assert verification.is_sealed
    assert verification.is_sound
    assert verification.games == len(TOURNAMENT)


def test_every_one_of_a_thousand_flipped_bits_is_found(run: Run) -> None:
    assert found_flips(run, 1000, seed=0) == 1000


@pytest.mark.soak
def test_every_one_of_a_hundred_thousand_flipped_bits_is_found(run: Run, figure: Report) -> None:
    figure("flipped bits found", found_flips(run, 100_000, seed=1), 100_000, at_least=True)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE games SET result = -1 WHERE number = 3", "game 3 was changed"),
        ("UPDATE games SET moves = '4x' WHERE number = 3", "game 3 was changed"),
        ("UPDATE games SET thoughts = x'ff' WHERE number = 3", "game 3 was changed"),
        ("DELETE FROM games WHERE number = 3", "game 3 is missing"),
        (
            "INSERT INTO games SELECT 1000000000000, unit, red, yellow, board, start, moves, plies,"
            " result, cause, detail, seed, red_seconds, yellow_seconds, thoughts, scores"
            " FROM games WHERE number = 3",
            "game 1000000000000 was not stored by Fourlab",
        ),
        (
            "CREATE TRIGGER planted AFTER INSERT ON games BEGIN UPDATE games SET result = 1; END",
            "'planted'",
        ),
        ("DELETE FROM hashes WHERE number = 3", "game 3 was not stored by Fourlab"),
        ("UPDATE root SET games = 7", "root is wrong"),
    ],
)
def test_edited_games_are_named_and_not_resumed(run: Run, statement: str, reason: str) -> None:
    execute(run, statement.replace("result = -1", "result = 1 - abs(result)"))
    assert any(reason in text for text in reasons(verify(run)))
    with pytest.raises(DamagedStore, match="planted" if "planted" in reason else "verify"):
        Store(run.games_file)


def test_a_game_and_its_hash_that_are_deleted_together_are_missed_by_the_root(run: Run) -> None:
    execute(run, "DELETE FROM games WHERE number = 3", "DELETE FROM hashes WHERE number = 3")
    assert any("root is wrong" in text for text in reasons(verify(run)))


def test_the_games_of_a_killed_run_are_checked_without_a_seal(run: Run) -> None:
    unseal(run.folder)
    (run.folder / "results.json").unlink()
    assert verify(run).is_sound
    execute(run, "UPDATE games SET detail = 'edited' WHERE number = 0")
    assert reasons(verify(run)) == ["game 0 was changed since it was stored"]


def test_a_finished_run_without_a_seal_is_a_finding(run: Run) -> None:
    unseal(run.folder)
    (reason,) = reasons(verify(run))
    assert reason.startswith("seal.json is missing, although the run is finished")
    result = run_fourlab("verify", str(run.folder))
    assert result.returncode == 1
    assert reason in result.stdout
    assert run_fourlab("verify", str(run.folder), "--repair", "--quiet").returncode == 0
    assert is_sealed(run.folder)
    assert verify(run).is_sound


def test_a_stopped_run_needs_no_seal(run: Run) -> None:
    unseal(run.folder)
    results = json.loads((run.folder / "results.json").read_text())
    (run.folder / "results.json").write_text(json.dumps({**results, "games": 3}))
    assert verify(run).is_sound
    # Whoever removes the seal can damage the results as well.
    for damaged in ("", "[]", "{}", "null"):
        (run.folder / "results.json").write_text(damaged)
        assert not verify(run).is_sound


def test_a_changed_progress_file_is_found_and_does_not_prevent_a_resume(run: Run) -> None:
    (run.folder / PROGRESS).write_text('{"done": 7000}')
    assert reasons(verify(run)) == ["progress.json was changed"]
    result = run_fourlab("verify", str(run.folder), "--repair", "--quiet")
    assert result.returncode == 0, result.stderr
    assert verify(run).is_sound
    (run.folder / PROGRESS).write_text('{"done": 7000}')
    assert work(TournamentJob(TOURNAMENT), run, session()) is not None
    assert verify(run).is_sound
    assert "7000" not in (run.folder / PROGRESS).read_text()


@pytest.mark.parametrize(
    "files", [[], {"x": 1}, {"x": {}}, {"x": {"bytes": "1", "sha256": "1"}}, {"x": {"bytes": 1}}]
)
def test_a_seal_of_other_types_is_damaged_even_if_its_hash_is_right(run: Run, files: Any) -> None:
    content = {"version": 1, "files": files, "sha256": _hash_of(files)}
    (run.folder / SEAL_FILE).write_text(json.dumps(content))
    assert any("seal.json is damaged" in reason for reason in reasons(verify(run)))


def test_games_outside_the_tournament_are_reported_and_not_resumed(run: Run) -> None:
    """Somebody can add games and leave out all hashes, as version 1 did."""
    columns = ", ".join(StoredGame._fields[1:])
    without_hashes = ("DROP TABLE hashes", "DROP TABLE root", "PRAGMA user_version = 1")
    for change, reason in (
        (f"INSERT INTO games SELECT 10000000000, {columns} FROM games", "game 10000000000 is not"),
        (f"INSERT INTO games SELECT -1, {columns} FROM games", "game -1 is damaged"),
        ("UPDATE games SET red = 'else'", "game 3 is not of this tournament: red is 'else', not '"),
        ("UPDATE games SET unit = 77", "game 3 is not of this tournament: unit is 77, not 1"),
        ("UPDATE games SET plies = 1000000", "game 3 is damaged: plies is 1000000"),
    ):
        folder = run.folder.with_name("changed")
        shutil.copytree(run.folder, folder)
        changed = Run(folder)
        execute(changed, *without_hashes, f"{change} WHERE number = 3")
        unseal(folder)
        assert any(reason in text for text in reasons(verify(changed))), reason
        result = run_fourlab("resume", str(folder), "--quiet", "--workers", "1")
        assert (result.returncode, result.stderr.count("\n")) == (2, 1)
        assert reason in result.stderr
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("moves = moves || '1', thoughts = '[]'", "the game is over"),
        ("moves = '1111111', thoughts = '[]'", "column 1 is full"),
        ("moves = substr(moves, 2), plies = plies - 1", "game 3 is damaged: "),
        ("moves = '12', plies = 2 + length(start), thoughts = '[]'", "end with no result"),
        ("plies = plies + 1", "discs were played"),
        ("start = '9999'", "game 3 is damaged: "),
        ("start = 'x'", "game 3 is damaged: "),
        ("result = -result", "result is"),
        ("result = 0", "result is 0, but its moves end with"),
        ("result = NULL", "result is None, but its moves end with"),
        ("cause = 'timeout'", "cause is 'timeout', but its moves end with"),
        ("cause = 'interrupted'", "cause is 'interrupted', but its moves end with"),
        ("moves = '', plies = 4, thoughts = '[]', cause = 'crash', result = 0", "but cause is"),
        ("thoughts = '[[0.5, null, 0.1]]'", "1 thoughts on"),
        ("thoughts = '{}x'", "game 3 is damaged: "),
        ("thoughts = replace(thoughts, '[[', '[[NaN,null,0],[')", "game 3 is damaged: "),
        ("thoughts = replace(thoughts, 'null', '1e999')", "game 3 is damaged: "),
        ("thoughts = replace(thoughts, 'null,null', '0.5,[1,2]')", "thoughts of move 1 are"),
        ("thoughts = replace(thoughts, 'null,null', 'NaN,null')", "thoughts of move 1 are (nan"),
        ("scores = '[1]'", "it has 1 scores"),
    ],
)
def test_games_without_hashes_are_replayed_before_they_get_them(
    run: Run, change: str, reason: str
) -> None:
    execute(run, "DROP TABLE hashes", "DROP TABLE root", "PRAGMA user_version = 1")
    unseal(run.folder)
    (run.folder / "results.json").unlink()
    assert reasons(verify(run)) == []
    execute(run, f"UPDATE games SET {change} WHERE number = 3")
    before = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    (flaw,) = reasons(verify(run))
    assert "game 3 is damaged: " in flaw
    assert reason in flaw
    result = run_fourlab("resume", str(run.folder), "--quiet", "--workers", "1")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1), result
    assert reason in result.stderr
    after = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    assert after == before
    # The players are repeatable, so the repaired run has the game as it was.
    result = run_fourlab("verify", str(run.folder), "--repair", "--quiet")
    assert result.returncode == 0, result
    assert "1 damaged game;" in result.stdout
    assert verify(run).is_sound


def test_a_list_of_runs_names_games_outside_the_tournament(run: Run) -> None:
    (run.folder / "results.json").unlink()
    assert overview.row(run)["status"] == "stopped"
    execute(run, "UPDATE games SET number = 1000000 WHERE number = 3")
    row = overview.row(run)
    assert row["status"] == "damaged"
    assert row["headline"] == f"{run.name} has a game 1000000, but is of 8 games"


def test_damaged_files_are_not_resumed(run: Run) -> None:
    with (run.folder / "manifest.json").open("a") as file:
        file.write(" ")
    with pytest.raises(UserError, match=r"manifest\.json was changed since work on the run ended"):
        work(TournamentJob(TOURNAMENT), run, session())


def test_a_changed_report_does_not_prevent_a_resume(run: Run) -> None:
    (run.folder / "report.html").write_text("edited")
    assert work(TournamentJob(TOURNAMENT), run, session()) is not None
    assert verify(run).is_sound
    assert "edited" not in (run.folder / "report.html").read_text(encoding="utf-8")[:10]


def test_games_are_replayed_with_the_same_moves(run: Run) -> None:
    with Store(run.games_file, read_only=True) as store:
        before = {game.number: game.moves for game in store.games()}
    execute(
        run,
        "UPDATE games SET moves = '1111' WHERE number = 2",
        "DELETE FROM games WHERE number = 5",
    )
    result = run_fourlab("verify", str(run.folder), "--repair", "--quiet")
    assert result.returncode == 0, result.stderr
    assert "2 damaged games" in result.stdout
    assert verify(run).is_sound
    with Store(run.games_file, read_only=True) as store:
        assert {game.number: game.moves for game in store.games()} == before


def test_games_under_a_clock_are_marked_as_lost(run: Run) -> None:
    clocked = (Player("random", Limit(seconds=1.0)), Player("rules"))
    assert not is_repeatable(clocked[0])
    assert is_repeatable(clocked[1])
    execute(run, "UPDATE games SET moves = '1111' WHERE number = 2")
    damaged = salvage(run.games_file, len(TOURNAMENT), lambda number: lost_game(TOURNAMENT, number))
    assert damaged == 1
    with Store(run.games_file) as store:
        game = store.game(2)
        assert game is not None
        assert game.result is None
        assert game.detail == LOST
        assert 2 in store.finished()


@pytest.mark.parametrize(
    ("spec", "repeatable"),
    [
        ("mcts:simulations=10", True),
        ("mcts:seconds=1", False),
        ("mcts:simulations=10,threads=2", False),
        ("arya-vanilla", False),
        ("engine:cmd=true", False),
        ("human", False),
    ],
)
def test_which_agents_play_the_same_game_again(spec: str, repeatable: bool) -> None:
    assert is_repeatable(Player(spec)) is repeatable


def test_a_file_that_cannot_be_read_loses_only_what_is_unreadable(run: Run) -> None:
    data = bytearray(run.games_file.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 2000] = b"\xff" * 2000
    run.games_file.write_bytes(data)
    assert not verify(run).is_sound
    result = run_fourlab("verify", str(run.folder), "--repair", "--quiet")
    assert result.returncode == 0, result.stderr
    assert verify(run).is_sound


def test_games_of_a_file_without_hashes_get_them_when_it_is_written_to(run: Run) -> None:
    execute(run, "DROP TABLE hashes", "DROP TABLE root", "PRAGMA user_version = 1")
    seal(run.folder)
    assert verify(run).games == 0
    with Store(run.games_file) as store:
        assert store.has_hashes
    seal(run.folder)
    assert verify(run).games == len(TOURNAMENT)
    assert verify(run).is_sound


def test_hashes_that_were_dropped_are_missed(run: Run) -> None:
    execute(run, "DROP TABLE hashes", "DROP TABLE root", "UPDATE games SET result = 1")
    assert any("the hashes of its games are missing" in text for text in reasons(verify(run)))
    with pytest.raises(DamagedStore, match="hashes of its games are missing"):
        Store(run.games_file)


def test_changes_beside_a_sealed_database_are_found(run: Run) -> None:
    # Changes that SQLite has not yet moved into the file, without any hash.
    connection = sqlite3.connect(run.games_file)
    for statement in (
        *("PRAGMA wal_autocheckpoint = 0", "DROP TABLE hashes", "DROP TABLE root"),
        *("UPDATE games SET red_seconds = 9999", "PRAGMA user_version = 1"),
    ):
        connection.execute(statement)
    connection.commit()
    copy = run.folder.with_name("copy")
    shutil.copytree(run.folder, copy)  # with the changes still in games.sqlite-wal
    connection.close()
    verification = verify(Run(copy))
    assert "games.sqlite-wal" in [item.file for item in verification.files]
    (flaw,) = verification.flaws["games.sqlite"]
    assert flaw.why == "has no hashes, although the run was sealed"
    assert verify(run).flaws
    with pytest.raises(UserError, match=r"games\.sqlite-wal holds changes of a database"):
        work(TournamentJob(TOURNAMENT), Run(copy), session())


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.mark.parametrize("state", ["finished", "empty log", "log", "log and index"])
def test_a_verification_leaves_a_folder_as_it_is(run: Run, state: str) -> None:
    connection = sqlite3.connect(run.games_file)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("UPDATE games SET detail = 'edited'")
    connection.commit()
    copy = run.folder.with_name("copy")
    shutil.copytree(run.folder, copy)
    connection.close()
    log, index = copy / "games.sqlite-wal", copy / "games.sqlite-shm"
    assert log.stat().st_size
    assert index.stat().st_size
    if state == "empty log":
        log.write_bytes(b"")
    elif state == "finished":
        log.unlink()
    if state != "log and index":
        index.unlink()
    before = contents(copy)
    verification = verify(Run(copy))
    assert verification.is_sound == (not state.startswith("log"))
    after = contents(copy)
    if state == "empty log":
        assert before.pop(log.name) == b""  # SQLite removes its own file that holds nothing
    # The index, which is shared memory, is a file like another to SQLite.
    before.pop(index.name, None)
    assert (after.pop(index.name, None) is None) == (state != "log and index")
    assert after == before


@pytest.mark.parametrize(
    "name", [".x", ".hidden/file", "foo-journal", "x-wal", "checkpoints/y-shm", ".config.toml.old"]
)
def test_added_files_are_reported(run: Run, name: str) -> None:
    (run.folder / name).parent.mkdir(exist_ok=True)
    (run.folder / name).write_text("x")
    assert reasons(verify(run)) == [f"{name} was added"]
    assert work(TournamentJob(TOURNAMENT), Run(run.folder), session()) is not None
    # It is a file of the sealed run now.
    assert verify(run).is_sound
    (run.folder / name).write_text("y")
    assert reasons(verify(run)) == [f"{name} was changed"]


def test_links_are_reported(run: Run) -> None:
    (run.folder / "results").symlink_to("results.json")
    (run.folder / "folder").symlink_to(".")
    assert reasons(verify(run)) == ["folder was added", "results was added"]
    seal(run.folder)
    assert verify(run).is_sound
    (run.folder / "results").unlink()
    (run.folder / "results").symlink_to("config.toml")
    (run.folder / "folder").unlink()
    (run.folder / "report.html").rename(run.folder / "kept.html")
    (run.folder / "report.html").symlink_to("kept.html")
    assert sorted(reasons(verify(run))) == [
        "folder is missing",
        "kept.html was added",
        "report.html was changed",
        "results was changed",
    ]


def test_hidden_files_and_links_that_are_removed_do_not_prevent_a_resume(run: Run) -> None:
    (run.folder / ".DS_Store").write_text("x")
    (run.folder / "results").symlink_to("results.json")
    seal(run.folder)
    (run.folder / ".DS_Store").unlink()
    (run.folder / "results").unlink()
    assert reasons(verify(run)) == [".DS_Store is missing", "results is missing"]
    assert work(TournamentJob(TOURNAMENT), Run(run.folder), session()) is not None
    assert verify(run).is_sound


def test_what_a_killed_process_has_left_is_not_reported(run: Run) -> None:
    (run.folder / ".progress.json.ab_45xyz").write_text("{")
    assert verify(run).is_sound
    (run.folder / ".nothing.json.ab_45xyz").write_text("{")
    assert reasons(verify(run)) == [".nothing.json.ab_45xyz was added"]


def test_the_command_prints_damage_and_exits_with_1(run: Run) -> None:
    assert run_fourlab("verify", str(run.folder)).returncode == 0
    execute(run, "UPDATE games SET detail = 'edited' WHERE number = 0")
    result = run_fourlab("verify", str(run.folder))
    assert result.returncode == 1
    assert "game 0 was changed since it was stored" in result.stdout
    assert "damaged (8 games compared" in result.stdout


def test_a_damaged_checkpoint_is_beyond_repair(run: Run) -> None:
    (run.folder / "checkpoints").mkdir()
    (run.folder / "checkpoints" / "weights").write_bytes(b"weights")
    seal(run.folder)
    (run.folder / "checkpoints" / "weights").write_bytes(b"weightz")
    result = run_fourlab("verify", str(run.folder), "--repair")
    assert result.returncode == 2
    assert "checkpoints/weights was changed and cannot be made again" in result.stderr
    assert is_sealed(run.folder)
