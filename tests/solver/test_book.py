"""Books: building, resuming, refusing damaged files, and correct scores."""

import json
from pathlib import Path

import numpy as np
import pytest

from fourlab import Position, Rules, UserError
from fourlab.files import check_target
from fourlab.jobs.executors import Executor
from fourlab.jobs.executors.local import Local
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.runner import begin, work
from fourlab.solver import Book, Solver, many, shipped_book
from fourlab.solver.build import BookJob, build_book, unfinished_positions
from fourlab.solver.many import OnProgress
from tests.solver.sets import FIRST_MOVES, golden

SMALL = Rules(5, 4)
HEADING = f'{{"board": "5x4x4", "plies": 4, "chunk": {many.CHUNK}}}\n'


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("book")
    file = folder / "small.npz"
    build(folder, SMALL, 6, executor=Local(2)).save(file)
    return file


def build(
    folder: Path,
    rules: Rules,
    plies: int,
    executor: Executor | None = None,
    on_progress: OnProgress = lambda done, of: None,
) -> Book:
    """Build a book with its journal in a folder."""
    book = build_book(rules, plies, folder / "journal", executor or Threads(1), on_progress)
    assert book is not None
    return book


def shipped() -> Book:
    book = shipped_book()
    assert book is not None
    return book


def test_a_book_has_every_position_once_with_its_score(small: Path) -> None:
    book = Book.load(small)
    solver = Solver(book=None)
    levels = [level for level, _ in zip(unfinished_positions(SMALL), range(7), strict=False)]
    assert len(book) == sum(len(level) for level in levels)
    assert np.array_equal(np.sort(np.concatenate(levels)), book.keys)
    for key, score in zip(book.keys, book.scores, strict=True):
        position = Position.from_key(key, SMALL)
        assert solver.solve(position).score == score
        assert book.score(position) == book.score(position.mirror()) == score


def test_positions_outside_the_book_have_no_score(small: Path) -> None:
    book = Book.load(small)
    assert book.score(Position("1234512", SMALL)) is None
    assert book.score(Position("1234")) is None


def test_a_stopped_build_is_resumed(small: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    last = list(zip(unfinished_positions(SMALL), range(7), strict=False))[-1][0]
    heading = {"board": "5x4x4", "plies": 6, "chunk": many.CHUNK}
    chunk = {"start": 0, "scores": many.solve_chunk(last[: many.CHUNK], "5x4x4", many.score)}
    incomplete = '{"start": 16, "sco'  # the line that was being written at a power failure
    journal.write_text(f"{json.dumps(heading)}\n{json.dumps(chunk)}\n{incomplete}")
    events: list[tuple[int, int]] = []
    again = build(tmp_path, SMALL, 6, on_progress=lambda done, total: events.append((done, total)))
    assert events[0] == (many.CHUNK, len(last))
    assert events[-1] == (len(last), len(last))
    assert again.checksum == Book.load(small).checksum


def test_a_journal_with_an_incomplete_heading_is_started_again(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text('{"boa')
    assert len(build(tmp_path, SMALL, 3)) > 20


def test_a_stopped_executor_gives_no_book(tmp_path: Path) -> None:
    stopped = Threads(1)
    stopped.stop()
    assert build_book(SMALL, 4, tmp_path / "journal", stopped) is None


def test_a_job_writes_the_book_to_its_file(tmp_path: Path) -> None:
    job = BookJob(SMALL, 4, tmp_path / "b.npz")
    run = begin(job, tmp_path / "runs")
    (tmp_path / "b.npz.journal").write_text(HEADING)  # where earlier versions kept it
    (tmp_path / "c.npz.journal").write_text("of other work\n")
    results = work(job, run)
    assert results is not None
    assert Book.load(tmp_path / "b.npz").checksum == results["sha256"]
    assert not (tmp_path / "b.npz.journal").exists()
    assert not (run.folder / "journal").exists()
    elsewhere = BookJob(SMALL, 4, tmp_path / "c.npz")
    assert begin(elsewhere, tmp_path / "runs") == run  # the same book in another file
    assert work(elsewhere, run) is not None
    assert (tmp_path / "c.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (tmp_path / "c.npz.journal").read_text() == "of other work\n"


def test_a_journal_of_other_work_beside_the_file_is_left_alone(tmp_path: Path) -> None:
    journal = tmp_path / "b.npz.journal"
    journal.write_text('{"board": "7x6x4"}\n')
    job = BookJob(SMALL, 3, tmp_path / "b.npz")
    assert work(job, begin(job, tmp_path / "runs")) is not None
    assert journal.read_text() == '{"board": "7x6x4"}\n'


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for file in (tmp_path, tmp_path / "none" / "b.npz"):
        with pytest.raises(UserError, match="cannot write"):
            check_target(file)


def test_a_journal_of_another_book_is_refused(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    for text, words in (
        ('{"board": "7x6x4"}\n', "another book"),
        ("hello\n", "not the journal"),
        (HEADING + "5\n", "not the journal"),
    ):
        journal.write_text(text)
        with pytest.raises(UserError, match=words):
            build(tmp_path, SMALL, 4)
        assert journal.read_text() == text


def test_a_book_deeper_than_the_game_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="lasts 12 plies"):
        build(tmp_path, Rules(3, 3), 12)


def test_a_book_to_the_end_of_a_tiny_game(tmp_path: Path) -> None:
    book = build(tmp_path, Rules(3, 3), 8)
    assert book.score(Position(board="3x3x4")) == 0


def test_damaged_books_are_refused(small: Path, tmp_path: Path) -> None:
    whole = small.read_bytes()
    for data in (b"", b"hello", whole[:-100], whole[: len(whole) // 2]):
        (tmp_path / "bad.npz").write_bytes(data)
        with pytest.raises(UserError, match=r"bad\.npz is not a book or is damaged"):
            Book.load(tmp_path / "bad.npz")
    rng = np.random.default_rng(6)
    for _ in range(300):
        flipped = bytearray(whole)
        flipped[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
        (tmp_path / "bad.npz").write_bytes(flipped)
        try:
            # Some bits of a zip file have no meaning.
            assert Book.load(tmp_path / "bad.npz").checksum == Book.load(small).checksum
        except UserError as error:
            assert "bad.npz" in str(error)
    book = Book.load(small)
    with np.load(small) as parts:
        arrays = dict(parts)
    arrays["scores"] = -book.scores
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(UserError, match="checksum"):
        Book.load(tmp_path / "bad.npz")
    with pytest.raises(UserError, match="there is no book"):
        Book.load(tmp_path / "none.npz")


def test_the_shipped_book_is_complete() -> None:
    book = shipped()
    levels = [
        level
        for level, _ in zip(unfinished_positions(Rules()), range(book.plies + 1), strict=False)
    ]
    assert np.array_equal(np.sort(np.concatenate(levels)), book.keys)


@pytest.mark.parametrize(("moves", "scores"), FIRST_MOVES.items())
def test_the_first_moves_from_the_book(moves: str, scores: list[int]) -> None:
    position = Position(moves)
    assert [-(shipped().score(position.play(column)) or 0) for column in range(7)] == scores


def test_the_shipped_book_agrees_with_the_golden_scores() -> None:
    pairs = [(shipped().score(Position(moves)), score) for moves, score in golden()[:40]]
    compared = [pair for pair in pairs if pair[0] is not None]
    assert len(compared) >= 20
    assert all(book_score == score for book_score, score in compared)


def test_a_sample_of_the_shipped_book_is_solved_again() -> None:
    book = shipped()
    solver = Solver(book=None)
    last = [key for key in book.keys if Position.from_key(key).ply == book.plies]
    for key in np.random.default_rng(1).choice(last, 6, replace=False):
        position = Position.from_key(key)
        assert solver.solve(position).score == book.score(position)


def test_the_solver_answers_from_the_book() -> None:
    solution = Solver().solve(Position())
    assert solution.book
    assert solution.nodes == 0
    assert str(solution) == "wins in 41"
