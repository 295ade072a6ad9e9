"""The book: built right, resumed right, refused when damaged, and true."""

import json
from pathlib import Path

import numpy as np
import pytest

from fourlab import Position, Rules, UserError
from fourlab.solver import Book, Solver, many, shipped_book
from fourlab.solver.build import build_book, unfinished_positions
from tests.solver.sets import FIRST_MOVES, golden

SMALL = Rules(5, 4)
HEADING = f'{{"board": "5x4x4", "plies": 4, "chunk": {many.CHUNK}}}\n'


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("book") / "small.npz"
    build_book(file, SMALL, 6, workers=2)
    return file


def shipped() -> Book:
    book = shipped_book()
    assert book is not None
    return book


def test_a_book_holds_every_position_once_with_its_score(small: Path) -> None:
    book, solver = Book.load(small), Solver(book=None)
    levels = [level for level, _ in zip(unfinished_positions(SMALL), range(7), strict=False)]
    assert len(book) == sum(len(level) for level in levels)
    assert np.array_equal(np.sort(np.concatenate(levels)), book.keys)
    for key, score in zip(book.keys, book.scores, strict=True):
        position = Position.from_key(key, SMALL)
        assert solver.solve(position).score == score == book.score(position) == book.score(position.mirror())


def test_positions_outside_the_book_are_not_in_it(small: Path) -> None:
    book = Book.load(small)
    assert book.score(Position("1234512", SMALL)) is None
    assert book.score(Position("1234")) is None


def test_a_stopped_build_goes_on(small: Path, tmp_path: Path) -> None:
    file, journal = tmp_path / "again.npz", tmp_path / "again.npz.journal"
    last = list(zip(unfinished_positions(SMALL), range(7), strict=False))[-1][0]
    heading = {"board": "5x4x4", "plies": 6, "chunk": many.CHUNK}
    known = {"start": 0, "scores": many.solve_chunk(last[: many.CHUNK], "5x4x4", many.score)}
    journal.write_text(f'{json.dumps(heading)}\n{json.dumps(known)}\n{{"start": 16, "sco')  # and then the power failed
    told: list[tuple[int, int]] = []
    build_book(file, SMALL, 6, 1, lambda done, total: told.append((done, total)))
    assert told[0] == (many.CHUNK, len(last))
    assert told[-1] == (len(last), len(last))
    assert Book.load(file).checksum == Book.load(small).checksum
    assert not journal.exists()


def test_a_heading_cut_short_is_begun_again(tmp_path: Path) -> None:
    (tmp_path / "b.npz.journal").write_text('{"boa')
    assert len(build_book(tmp_path / "b.npz", SMALL, 3)) > 20
    assert not (tmp_path / "b.npz.journal").exists()


def test_where_nothing_can_be_written_nothing_is_solved(tmp_path: Path) -> None:
    for file in (tmp_path, tmp_path / "none" / "b.npz"):
        with pytest.raises(UserError, match="cannot write"):
            build_book(file, SMALL, 3)
    assert list(tmp_path.iterdir()) == []


def test_a_journal_of_another_book_is_refused(tmp_path: Path) -> None:
    journal = tmp_path / "b.npz.journal"
    for text, words in (
        ('{"board": "7x6x4"}\n', "another book"),
        ("hello\n", "not the journal"),
        (HEADING + "5\n", "not the journal"),
    ):
        journal.write_text(text)
        with pytest.raises(UserError, match=words):
            build_book(tmp_path / "b.npz", SMALL, 4)
        assert journal.read_text() == text


def test_a_book_deeper_than_the_game_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="lasts 12 plies"):
        build_book(tmp_path / "b.npz", Rules(3, 3), 12)


def test_a_book_to_the_end_of_a_tiny_game(tmp_path: Path) -> None:
    book = build_book(tmp_path / "b.npz", Rules(3, 3), 8)
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
            assert Book.load(tmp_path / "bad.npz").checksum == Book.load(small).checksum  # a bit that means nothing
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
    levels = [level for level, _ in zip(unfinished_positions(Rules()), range(book.plies + 1), strict=False)]
    assert np.array_equal(np.sort(np.concatenate(levels)), book.keys)


@pytest.mark.parametrize(("moves", "scores"), FIRST_MOVES.items())
def test_the_first_moves_from_the_book(moves: str, scores: list[int]) -> None:
    position = Position(moves)
    assert [-(shipped().score(position.play(column)) or 0) for column in range(7)] == scores


def test_the_shipped_book_agrees_with_what_was_solved_without_it() -> None:
    found = [(shipped().score(Position(moves)), score) for moves, score in golden()[:40]]
    compared = [(book, score) for book, score in found if book is not None]
    assert len(compared) >= 20
    assert all(book == score for book, score in compared)


def test_a_sample_of_the_shipped_book_is_solved_again() -> None:
    book, solver = shipped(), Solver(book=None)
    last = [key for key in book.keys if Position.from_key(key).ply == book.plies]
    for key in np.random.default_rng(1).choice(last, 6, replace=False):
        position = Position.from_key(key)
        assert solver.solve(position).score == book.score(position)


def test_the_solver_answers_from_the_book() -> None:
    solution = Solver().solve(Position())
    assert solution.book
    assert solution.nodes == 0
    assert str(solution) == "wins in 41"
