"""The reply book: its positions need no keys, and its replies keep the value."""

from pathlib import Path

import numpy as np
import pytest

from fourlab import Position, UserError
from fourlab.bridges.kaggle.replies import (
    Replies,
    ReplyBook,
    first_level,
    next_level,
    shipped_replies,
)
from fourlab.bridges.kaggle.replies_job import RepliesJob, reply
from fourlab.game.rules import Rules
from fourlab.jobs.job import Conduct, Session
from fourlab.jobs.runner import begin, work
from fourlab.solver import Solver
from tests.solver.brute_force import score

SMALL = Rules.parse("4x4x3")
PLIES = 8


def reached(rules: Rules, side: int, plies: int) -> dict[int, set[int]]:
    """The canonical keys of the positions in which a side moves, by ply: slow and obvious."""
    solver = Solver(book=None)
    levels: dict[int, set[int]] = {}
    positions = {Position(board=str(rules))}
    while positions:
        after = set()
        for position in positions:
            if position.to_move == side:
                levels.setdefault(position.ply, set()).add(position.canonical_key)
                columns = [reply(solver, position)]
            else:
                columns = list(position.legal_columns())
            after |= {position.play(column) for column in columns}
        positions = {p for p in after if p.outcome() is None and p.ply <= plies}
        # A position and its mirror image are one.
        positions = {Position.from_key(p.canonical_key, rules) for p in positions}
    return levels


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ReplyBook:
    folder = tmp_path_factory.mktemp("replies")
    job = RepliesJob(SMALL, PLIES, folder / "replies.npz")
    results = work(job, begin(job, folder / "runs"), Session(Conduct(1, "threads")))
    assert results is not None
    book = ReplyBook.load(folder / "replies.npz")
    assert (results["positions"], results["sha256"]) == (len(book), book.checksum)
    return book


def test_a_book_has_the_positions_that_its_replies_lead_to(small: ReplyBook) -> None:
    expected = reached(SMALL, 0, PLIES) | reached(SMALL, 1, PLIES)
    assert {ply: set(level.keys.tolist()) for ply, level in small.levels.items()} == expected
    assert small.plies == max(expected)


def test_its_replies_keep_the_result_and_lose_late(small: ReplyBook) -> None:
    results = set()
    for level in small.levels.values():
        for key, column in zip(level.keys, level.columns, strict=True):
            position = Position.from_key(int(key), SMALL)
            best = score(position)
            after = position.play(int(column))
            # The book has no positions so late that the next disc makes a draw.
            reached_score = -score(after) if after.outcome() is None else 1
            assert np.sign(reached_score) == np.sign(best)
            if best < 0:
                assert reached_score == best
            results.add(np.sign(best))
    assert results == {-1, 0, 1}


def test_mirror_images_have_mirrored_replies(small: ReplyBook) -> None:
    replies = 0
    for level in small.levels.values():
        for key in level.keys.tolist():
            position = Position.from_key(key, SMALL)
            mirrored = position.mirror()
            if mirrored.key != position.key:
                column = small.column(position)
                assert column is not None
                assert small.column(mirrored) == SMALL.columns - 1 - column
                replies += 1
    assert replies > 50


def test_other_positions_are_not_in_it(small: ReplyBook) -> None:
    column = small.column(Position(board=str(SMALL)))
    assert column is not None
    other = Position(board=str(SMALL)).play((column + 1) % 2).play(0)
    assert small.column(other) is None
    assert small.column(Position()) is None


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda red: red[:-1], "its replies do not fit its positions"),
        (lambda red: np.append(red, np.uint8(0)), "its replies do not fit its positions"),
        (lambda red: np.full_like(red, 9), "its replies do not fit its positions"),
        (lambda red: np.full_like(red, 1), "."),  # replies in full columns, or other positions
    ],
)
def test_replies_that_fit_no_positions_are_refused(
    small: ReplyBook, damage: object, said: str
) -> None:
    assert callable(damage)
    with pytest.raises(ValueError, match=said):
        ReplyBook(SMALL, damage(small.columns[0]), small.columns[1])


def test_a_damaged_file_is_refused(small: ReplyBook, tmp_path: Path) -> None:
    file = tmp_path / "replies.npz"
    with pytest.raises(UserError, match=r"cannot read .*: No such file"):
        ReplyBook.load(file)
    small.save(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(UserError, match="is not a reply book or is damaged"):
        ReplyBook.load(file)


def test_positions_of_tall_boards_are_found() -> None:
    rules = Rules.parse("2x30x3")
    keys = first_level(rules, 1)
    assert len(keys) == 1
    assert len(next_level(keys, [0], rules.geometry)) == 2


def test_the_shipped_book_keeps_the_result_against_random_replies() -> None:
    book = shipped_replies()
    assert book is not None
    assert str(book.rules) == "7x6x4"
    solver = Solver()
    rng = np.random.default_rng(5)
    late = 0
    for game in range(24):
        position = Position()
        while position.outcome() is None and position.ply <= book.plies:
            if position.to_move == game % 2:
                column = book.column(position)
                assert column is not None, position
                if position.ply >= 11:
                    assert column in solver.best_columns(position, weak=True)[1], position
                    late += 1
            else:
                column = int(rng.choice(position.legal_columns()))
            position = position.play(column)
    assert late >= 10


def test_the_agent_refuses_what_is_not_in_the_book() -> None:
    decision = Replies().decide(Position())
    assert (decision.column, decision.analysis.from_book) == (3, True)
    with pytest.raises(UserError, match="does not have this position"):
        Replies().decide(Position("12"))
