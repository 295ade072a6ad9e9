"""Stored games survive a killed writer, a damaged log and a full disk."""

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Position
from fourlab.arena.store import RECENT, VERSION, DamagedStore, Store, StoredGame, StoreError
from fourlab.errors import UserError
from fourlab.game.outcome import RED, YELLOW, Outcome
from fourlab.game.record import Cause, Record, Thought
from tests.arena.kill_writer import game
from tests.conftest import ROOT
from tests.in_process import run_in_process
from tests.strategies import examples
from tests.strategies import games as games_played

WIDE = Position(board="12x4x4")
SPLIT = Position("7/7/7/3r3/3y3/2ryr2 y 4")
"""A board from a FEN, without the moves that led to it."""
HAND_MADE = Position([[0] * 7] * 5 + [[1, 1, 0, 0, 1, 1, 0]], to_move=YELLOW, check_counts=False)
"""Four red discs, no yellow one, and yellow to move, which the number of discs contradicts."""
THOUGHTS = (
    Thought(0.25, (1, 2, 300), 0.125),
    Thought(None, None, 0.5),
    Thought(-1.0, (), 0.000001),
)

RECORDS = {
    "normal": Record(Position(), (0, 1, 0, 1, 0, 1, 0), Outcome.RED_WINS),
    "draw": Record(Position(board="2x2x3"), (0, 0, 1, 1), Outcome.DRAW),
    "illegal move": Record(
        Position("44"),
        (3,),
        Outcome.RED_WINS,
        Cause.ILLEGAL,
        "yellow: played column 9, which is not open",
    ),
    "timeout": Record(
        Position("4"),
        (3, 3),
        Outcome.RED_WINS,
        Cause.TIMEOUT,
        "yellow: thought 3.100 s, 2.000 s too long",
    ),
    "crash": Record(
        Position("44"),
        (),
        Outcome.YELLOW_WINS,
        Cause.CRASH,
        "red: ZeroDivisionError('ü, \"€\"\\x00')",
    ),
    "crash without result": Record(
        Position(), (), None, Cause.CRASH, "the process died 3 times (SIGKILL)"
    ),
    "interrupted": Record(Position("44"), (3, 4), None, Cause.INTERRUPTED),
    "from a FEN": Record(SPLIT, (0, 6), None, Cause.INTERRUPTED),
    "from a hand-made board": Record(
        HAND_MADE, (3, 2), Outcome.RED_WINS, Cause.ILLEGAL, "yellow: played column 0"
    ),
    "wide": Record(WIDE.play(11).play(10), (9, 0, 11), None, Cause.INTERRUPTED),
    "one move in column 10": Record(WIDE.play(9), (9,), None, Cause.INTERRUPTED),
    "one move in column 1 of a wide board": Record(WIDE, (0,), None, Cause.INTERRUPTED),
    "no moves": Record(Position(), (), None, Cause.INTERRUPTED),
    "thoughts": Record(Position("4"), (3, 3, 3), None, Cause.INTERRUPTED, "", THOUGHTS),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


@contextlib.contextmanager
def folder_in_memory() -> Iterator[Path]:
    """Yield a temporary folder, in memory if possible, for tests that make many files."""
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    ) as folder:
        yield Path(folder)


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    with folder_in_memory() as folder:
        yield folder


def stored(number: int, record: Record) -> StoredGame:
    return StoredGame.of(number, number // 2, "one", "other", record, 2**63 - 1)


def check_same(game: StoredGame, record: Record) -> None:
    assert game.record == record
    assert game.record.start.moves == record.start.moves
    assert game.columns == record.columns
    assert game.start_position.to_move == record.start.to_move
    assert game.plies == record.start.ply + len(record.columns)
    assert game.at_fault == {None: "", RED: "one", YELLOW: "other"}[record.at_fault]


def integrity(file: Path) -> str:
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
    return str(answer)


@pytest.mark.parametrize("kind", RECORDS)
def test_every_kind_of_game_is_read_back_unchanged(file: Path, kind: str) -> None:
    with Store(file) as store:
        store.add([stored(5, RECORDS[kind])])
        check_same(store.game(5), RECORDS[kind])
    with Store(file, read_only=True) as store:
        check_same(store.game(5), RECORDS[kind])
        assert store.game(5) == stored(5, RECORDS[kind])


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Generate the beginning of a game with any opening, end and thoughts."""
    board, moves = draw(games_played())
    start = Position(board=board)
    for column in moves[: (opening := draw(st.integers(0, len(moves))))]:
        start = start.play(column)
    if draw(st.booleans()):
        start = Position(start.write("fen"), board)
    cause = draw(st.sampled_from(Cause))
    # After a fault one side has lost, or it is unknown whose fault it was.
    results = {Cause.NORMAL: list(Outcome), Cause.INTERRUPTED: [None]}
    result = draw(
        st.sampled_from(results.get(cause, [Outcome.RED_WINS, Outcome.YELLOW_WINS, None]))
    )
    visits = st.lists(st.integers(0, 2**40), max_size=board.columns).map(tuple)
    seconds = st.floats(0, 1e5).map(lambda value: round(value, 6))
    thought = st.builds(Thought, st.none() | st.floats(-1, 1), st.none() | visits, seconds)
    played = len(moves) - opening
    # One per move, or none.
    thoughts = draw(st.just([]) | st.lists(thought, min_size=played, max_size=played))
    return Record(
        start, tuple(moves[opening:]), result, cause, draw(st.text(max_size=20)), tuple(thoughts)
    )


@given(invented=st.lists(records(), min_size=1, max_size=5))
@examples(60)
def test_generated_games_are_read_back_unchanged(invented: list[Record]) -> None:
    with folder_in_memory() as folder, Store(folder / "games.sqlite") as store:
        store.add(stored(number, record) for number, record in enumerate(invented))
        for game, record in zip(store.games(thoughts=True), invented, strict=True):
            check_same(game, record)


def test_thinking_time_is_added_up_by_side(file: Path) -> None:
    record = Record(
        Position("4"),
        (3, 3, 3),
        None,
        Cause.INTERRUPTED,
        "",
        tuple(Thought(None, None, seconds) for seconds in (1, 20, 300)),
    )
    game = stored(0, record)
    assert (game.red_seconds, game.yellow_seconds) == (20, 301)


def test_thoughts_are_read_only_on_request(file: Path) -> None:
    with Store(file) as store:
        store.add([stored(0, RECORDS["thoughts"])])
        assert [game.record.thoughts for game in store.games()] == [()]
        assert [game.record.thoughts for game in store.games(thoughts=True)] == [THOUGHTS]


def test_a_solved_game_has_scores_and_is_otherwise_unchanged(file: Path) -> None:
    with Store(file) as store:
        store.add([game(0), game(1)])
        store.set_scores(1, (0, -1, 18))
        assert [row.exact_scores for row in store.games()] == [None, (0, -1, 18)]
        assert [row._replace(scores=None) for row in store.games(thoughts=True)] == [
            game(0),
            game(1),
        ]
        assert [row.number for row in store.games("scores IS NULL")] == [0]


def test_games_come_in_the_order_of_their_numbers(file: Path) -> None:
    numbers = random.Random(1).sample(range(1000), 200)
    with Store(file) as store:
        for number in numbers:
            store.add([game(number)])
        assert [row.number for row in store.games()] == sorted(numbers)


def test_games_from_a_number_on_are_deleted(file: Path) -> None:
    with Store(file) as store:
        store.add(map(game, range(10)))
        store.drop_from(4)
        assert [row.number for row in store.games()] == [0, 1, 2, 3]
        assert store.game(4) is None


def test_an_interrupted_game_is_not_finished_and_is_replaced(file: Path) -> None:
    with Store(file) as store:
        store.add(
            [game(0), stored(1, RECORDS["interrupted"]), stored(2, RECORDS["crash without result"])]
        )
        assert store.finished() == {0, 2}
        store.add([stored(1, RECORDS["normal"])])
        assert store.finished() == {0, 1, 2}
        assert [row.cause for row in store.games()] == ["crash", "normal", "crash"]


def test_progress_is_counted_without_reading_all_games(file: Path) -> None:
    with Store(file) as store:
        assert (store.end(), store.progress()) == (0, 0)
        store.add([game(number) for number in range(RECENT + 500) if number != RECENT])
        assert (store.end(), store.progress()) == (RECENT + 500, RECENT + 499)
        store.add([StoredGame.of(3 + RECENT, 0, "a", "b", RECORDS["interrupted"], 0)])
        assert store.progress() == RECENT + 498 == len(store.finished())


def test_a_reader_can_skip_the_check_of_the_file(file: Path) -> None:
    with Store(file) as store:
        store.add([game(number) for number in range(200)])
    data = bytearray(file.read_bytes())
    data[-4096:] = b"\xff" * 4096
    file.write_bytes(data)
    with pytest.raises(DamagedStore):
        Store(file, read_only=True)
    with Store(file, read_only=True, check=False) as store:
        assert next(store.games()).number == 0


def test_games_are_added_in_one_transaction(file: Path) -> None:
    with Store(file) as store:
        store.add([game(0)])
        with pytest.raises(StoreError, match="cannot write to"):
            store.add([game(1), game(2)._replace(red=None)])  # type: ignore[arg-type]
        assert store.finished() == {0}
        store.add([game(1)])
        assert store.finished() == {0, 1}


def test_games_are_read_while_they_are_written(file: Path) -> None:
    with Store(file) as writer, Store(file, read_only=True) as reader:
        for number in range(20):
            writer.add([game(number)])
            assert list(reader.games(thoughts=True)) == [
                game(before) for before in range(number + 1)
            ]


def test_a_reader_does_not_block_the_writer(file: Path) -> None:
    log = file.with_name("games.sqlite-wal")
    with Store(file) as writer, Store(file, read_only=True) as reader:
        writer.add(map(game, range(10)))
        reading = reader.games(thoughts=True)
        assert next(reading) == game(0)
        writer.add([game(10)])
        writer.checkpoint()
        assert log.stat().st_size > 0
        writer.add([game(11)])
        assert list(reading) == [game(number) for number in range(1, 10)], (
            "the games stored when reading began"
        )
        writer.checkpoint()
        assert log.stat().st_size == 0
        assert len(list(reader.games())) == 12


def test_a_reader_cannot_write(file: Path) -> None:
    Store(file).close()
    with Store(file, read_only=True) as reader, pytest.raises(StoreError, match="readonly"):
        reader.add([game(0)])


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_of_a_newer_version_is_refused_and_left_alone(file: Path, read_only: bool) -> None:
    Store(file).close()
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version={VERSION + 1}")
    for _ in range(2):
        with pytest.raises(UserError, match="newer Fourlab"):
            Store(file, read_only=read_only)


def test_without_a_file_there_are_no_games_to_read(file: Path) -> None:
    with pytest.raises(UserError, match="there are no games in"):
        Store(file, read_only=True)
    assert not file.exists()


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    "content", [b"Elo 1500\n" * 1000, bytes(range(256)) * 100], ids=["text", "bytes"]
)
def test_a_file_of_another_kind_is_refused_in_one_line_and_left_alone(
    file: Path, content: bytes, read_only: bool
) -> None:
    file.write_bytes(content)
    with pytest.raises(
        StoreError, match=r"^cannot open [^\n]*games.sqlite: file is not a database$"
    ):
        Store(file, read_only=read_only)
    assert file.read_bytes() == content


def test_a_schema_that_is_no_text_is_damage(file: Path) -> None:
    with Store(file) as store:
        store.add([game(0)])
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE games", b"CREATE TABL\xd4 games"))
    with pytest.raises(DamagedStore, match=r"cannot open .*games"):
        Store(file, read_only=True, check=False)


def test_a_missing_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^cannot open [^\n]*: unable to open database file$"):
        Store(tmp_path / "nowhere" / "games.sqlite")


def kill_writers(folder: Path, cycles: int) -> str:
    command = [
        sys.executable,
        "-m",
        "tests.arena.kill_writer",
        str(folder),
        str(cycles),
        "20250101",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_hundred_killed_writers_lose_no_game(quick_folder: Path) -> None:
    assert kill_writers(quick_folder, 100).startswith("100 writers killed")


@pytest.mark.soak
def test_five_thousand_killed_writers_lose_no_game_on_disk(tmp_path: Path) -> None:
    assert kill_writers(tmp_path, 5000).startswith("5000 writers killed")


@pytest.mark.parametrize("copies", [250, pytest.param(1000, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "checkpointed", [0, 30], ids=["all in the log", "thirty checkpointed before"]
)
def test_a_damaged_log_keeps_all_games_before_the_damage(
    quick_folder: Path, checkpointed: int, copies: int
) -> None:
    rng = random.Random(checkpointed)
    total = checkpointed + 60
    file, log, ends = dead_writers_files(quick_folder / "original", checkpointed, total)
    written = [game(number) for number in range(total + 1)]
    for i in range(copies):
        damaged, place = damage(log, rng)
        copy = quick_folder / str(i) / "games.sqlite"
        copy.parent.mkdir()
        copy.write_bytes(file)
        copy.with_name("games.sqlite-wal").write_bytes(damaged)
        with Store(copy, read_only=True) as store:
            left = list(store.games(thoughts=True))
        assert left == written[: len(left)], "a prefix of what was written"
        assert len(left) >= checkpointed + sum(end <= place for end in ends)
        with Store(copy) as store:
            assert list(store.games(thoughts=True)) == left
            assert integrity(copy) == "ok"
            store.add([written[len(left)]])
        with Store(copy, read_only=True) as store:
            assert list(store.games(thoughts=True)) == written[: len(left) + 1]
        assert integrity(copy) == "ok"


def dead_writers_files(
    folder: Path, checkpointed: int, total: int
) -> tuple[bytes, bytes, list[int]]:
    """Return a file, the log that a killed writer leaves, and where in the log each game ends."""
    folder.mkdir()
    file = folder / "games.sqlite"
    ends = []
    log = file.with_name("games.sqlite-wal")
    with Store(file) as store:
        store.add(map(game, range(checkpointed)))
        store.checkpoint()
        for number in range(checkpointed, total):
            store.add([game(number)])
            ends.append(log.stat().st_size)
        return file.read_bytes(), log.read_bytes(), ends


def damage(log: bytes, rng: random.Random) -> tuple[bytes, int]:
    """Return the log cut off, zeroed or with a flipped bit or byte, and where that begins."""
    place = rng.randrange(len(log))
    if rng.random() < 0.1:
        place %= 64  # the head, and the first frame's head
    match rng.choice(["cut", "zeros", "bit", "byte"]):
        case "cut":
            return log[:place], place
        case "zeros":
            end = min(len(log), place + int(10 ** rng.uniform(0, 5)))
            return log[:place] + bytes(end - place) + log[end:], place
        case "bit":
            byte = log[place] ^ 1 << rng.randrange(8)
        case _:
            byte = log[place] ^ rng.randrange(1, 256)
    return log[:place] + bytes([byte]) + log[place + 1 :], place


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
WRITER = """
import sys
from pathlib import Path
from fourlab.arena.store import Store, StoreError
from tests.arena.kill_writer import game
try:
    with Store(Path(sys.argv[1])) as store:
        for number in range(10_000):
            store.add([game(number)])
            print(number, flush=True)
except StoreError as error:
    sys.exit(str(error))
"""


def with_little_room(
    limit: int, *arguments: str, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run Python so that no file can grow beyond a limit, as on a full disk."""
    command = [sys.executable, "-c", LIMITED, str(limit), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize("limit", [40_000, 100_000, 1_000_000])
def test_on_a_full_disk_every_acknowledged_game_is_kept(file: Path, limit: int) -> None:
    done = with_little_room(limit, "-c", WRITER, str(file))
    assert done.returncode == 1
    assert done.stderr in {
        f"cannot write to {file}: {why}\n" for why in ("disk I/O error", "database or disk is full")
    }
    acknowledged = [int(line) for line in done.stdout.split()]
    assert acknowledged == list(range(len(acknowledged)))
    assert acknowledged
    with Store(file) as store:
        left = list(store.games(thoughts=True))
        assert left == [game(number) for number in range(len(left))]
        assert len(left) >= len(acknowledged)
        store.add([game(len(left))])
    assert integrity(file) == "ok"


def test_a_match_on_a_full_disk_says_how_to_resume_and_does(tmp_path: Path) -> None:
    match = [
        "match",
        "random",
        "rules",
        "--games",
        "1000",
        "--workers",
        "2",
        "--seed",
        "3",
        "--quiet",
        "--run",
    ]
    assert run_in_process([*match, "undisturbed"], tmp_path).returncode == 0
    resume = "fourlab resume full --workers 2"
    for limit in (20_000, 150_000):  # too little to begin with, and too little for all games
        done = with_little_room(limit, "-m", "fourlab", *match, "full", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("fourlab: cannot ")
        assert line.endswith(f"; what was saved is safe, resume with: {resume}")
    with Store(tmp_path / "full" / "games.sqlite", read_only=True) as store:
        assert 0 < len(store.finished()) < 1000
    assert run_in_process(resume.split()[1:], tmp_path).returncode == 0
    assert integrity(tmp_path / "full" / "games.sqlite") == "ok"
    tables = [
        run_in_process(("games", name, "--csv", "-"), tmp_path).stdout
        for name in ("undisturbed", "full")
    ]
    assert tables[0] == tables[1]
    assert tables[0].count("\n") == 1001
